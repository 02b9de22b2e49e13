// Programs that attack or abuse whoever runs them, beyond what core/runtime/test_programs has.
#ifndef SLIPWAY_TESTS_INTEGRATION_PROGRAMS_HOSTILE_PROGRAM_H_
#define SLIPWAY_TESTS_INTEGRATION_PROGRAMS_HOSTILE_PROGRAM_H_

#include <cstdint>

#include "core/artifact/artifact.h"

namespace slipway::testing {

// In the order of the table in hostile.c.
enum class HostileKernel : uint32_t {
  kCrash = 0,   // Writes "last words of a kernel" to stderr, then to address 8.
  kHang,        // Sleeps for ever.
  kMapMemory,   // Maps memory past the runtime and touches it, until there is none.
  kLeave,       // Ends the process with exit code 0.
  kLeaveChild,  // Leaves a process behind, then crashes.
  kPrintMuch,   // Writes 4 MB to stderr, then crashes.
};

// x: f32[2, 8] -> y: f32[2, 8] for x86-64-linux, as TestProgram.
Artifact HostileProgram(HostileKernel kernel);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_INTEGRATION_PROGRAMS_HOSTILE_PROGRAM_H_
