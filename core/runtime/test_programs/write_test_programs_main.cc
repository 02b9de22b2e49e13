// Writes the test programs as .slip files, for tests that start whole processes.
// Usage: write_test_programs DIR
#include <stdio.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_test_programs DIR\n");
    return 2;
  }
  using slipway::TestKernel;
  constexpr std::pair<TestKernel, const char*> kPrograms[] = {
      {TestKernel::kAdd, "add.slip"},
      {TestKernel::kFail, "fail.slip"},
      {TestKernel::kCrash, "crash.slip"},
      {TestKernel::kLoop, "loop.slip"},
      {TestKernel::kEatMemory, "eat_memory.slip"},
      {TestKernel::kSlow, "slow.slip"},
  };
  for (const auto& [kernel, name] : kPrograms) {
    const absl::Status status =
        slipway::WriteSlip(slipway::TestProgram(kernel), slipway::JoinPath(argv[1], name));
    if (!status.ok()) {
      fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}
