#include "tests/devices/emulated_instructions.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "tests/common/command.h"
#include "tests/library/exported.h"

namespace slipway::testing {
namespace {

struct Machine {
  Arch arch;
  Toolchain toolchain;
  // Of qemu that takes plugins; a static one does not.
  const char* counter;
};

const std::vector<Machine>& Machines() {
  static const auto& machines = *new std::vector<Machine>{
      {Arch::kArm64, ClangFor("arm_64", "aarch64-linux-gnu", "qemu-aarch64-static"),
       "qemu-aarch64"},
      {Arch::kArm32, ClangFor("arm_32", "armv7-linux-gnueabihf", "qemu-arm-static"), "qemu-arm"},
      {Arch::kRiscv64, GccForRiscv64(), "qemu-riscv64"},
  };
  return machines;
}

absl::StatusOr<const Machine*> MachineFor(const std::string& target) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target parsed, ParseTarget(target));
  for (const Machine& machine : Machines()) {
    if (machine.arch == parsed.host().arch) return &machine;
  }
  return absl::UnimplementedError(
      absl::StrCat("instructions are not counted for \"", target, "\""));
}

// Of the whole program.
absl::StatusOr<int64_t> Count(const std::string& counter, const std::string& program) {
  const CommandResult result =
      RunCommand({.argv = {"/bin/sh", "-ec",
                           absl::StrCat(counter, " -plugin ",
                                        RunfilePath("tests/devices/libcount_instructions.so"), " ",
                                        program, " < ", program, ".in > /dev/null")},
                  .timeout = absl::Seconds(600)});
  absl::string_view said = result.err;
  int64_t count = 0;
  if (!result.status.ok() || !absl::ConsumePrefix(&said, "instructions ") ||
      !absl::SimpleAtoi(said, &count)) {
    return absl::InternalError(absl::StrCat(counter, " did not count: ", result.ToString()));
  }
  return count;
}

}  // namespace

absl::StatusOr<int64_t> InstructionsPerRun(const ModelSource& model, const std::string& target,
                                           const std::string& name, const TempTree& tree) {
  SLIPWAY_ASSIGN_OR_RETURN(const Machine* const machine, MachineFor(target));
  LibraryOptions options;
  options.name = name;
  SLIPWAY_ASSIGN_OR_RETURN(const Exported library, Export(model, target, options, tree));
  int64_t counts[2];
  for (const int runs : {1, 2}) {
    Toolchain toolchain = machine->toolchain;
    toolchain.linking.push_back(absl::StrCat("-DDRIVER_RUNS=", runs));
    SLIPWAY_RETURN_IF_ERROR(Check({&library}, toolchain, tree));
    SLIPWAY_ASSIGN_OR_RETURN(counts[runs - 1],
                             Count(machine->counter, ProgramOf({&library}, toolchain, tree)));
  }
  return counts[1] - counts[0];
}

}  // namespace slipway::testing
