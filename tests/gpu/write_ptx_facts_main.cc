// Writes tests/gpu/ptx_facts.txt: bazel run //tests/gpu:write_ptx_facts -- $PWD/tests/gpu/ptx_facts.txt
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/files.h"
#include "tests/gpu/ptx_facts.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::StatusOr<std::string> facts = slipway::testing::PtxFacts();
  const absl::Status status = facts.ok()
                                  ? slipway::WriteFileAtomically(argv[1], *facts, /*durable=*/false)
                                  : facts.status();
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
