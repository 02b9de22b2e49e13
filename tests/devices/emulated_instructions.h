// How many instructions a model executes on a machine that is emulated: in place of time, of which an emulator says nothing.
#ifndef SLIPWAY_TESTS_DEVICES_EMULATED_INSTRUCTIONS_H_
#define SLIPWAY_TESTS_DEVICES_EMULATED_INSTRUCTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "core/compiler/compiler.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {

// Of one run on one thread, exactly: the model is exported as a C library for `target` (arm-64, arm-32 or riscv-64), linked into programs
// without a C library that run it once and twice, and qemu counts both (count_instructions.c). What it gives is held against the reference.
// Files are left in `tree`, by `name`, which is that of the library. Errors of Export and Check (tests/library); UNIMPLEMENTED for another
// target.
absl::StatusOr<int64_t> InstructionsPerRun(const ModelSource& model, const std::string& target,
                                           const std::string& name, const TempTree& tree);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_DEVICES_EMULATED_INSTRUCTIONS_H_
