// The hostile program (hostile_program.c) as code and as an artifact.
#ifndef SLIPWAY_TESTS_SECURITY_HOSTILE_CODE_H_
#define SLIPWAY_TESTS_SECURITY_HOSTILE_CODE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/confinement/confinement.h"
#include "tests/security/escapes.h"

namespace slipway::testing {

// Its kernels.
enum class Escape : uint32_t {
#define SLIPWAY_ENUMERATOR(name, what) name,
  SLIPWAY_ESCAPES(SLIPWAY_ENUMERATOR)
#undef SLIPWAY_ENUMERATOR
};
inline constexpr const char* kEscapeNames[] = {
#define SLIPWAY_NAME(name, what) #name,
    SLIPWAY_ESCAPES(SLIPWAY_NAME)
#undef SLIPWAY_NAME
};
inline constexpr const char* kEscapeTexts[] = {
#define SLIPWAY_TEXT(name, what) what,
    SLIPWAY_ESCAPES(SLIPWAY_TEXT)
#undef SLIPWAY_TEXT
};
inline constexpr uint32_t kEscapes = sizeof(kEscapeNames) / sizeof(kEscapeNames[0]);
// The kernel behind them, which never ends and ignores all signals that it can.
inline constexpr uint32_t kDeafKernel = kEscapes;
inline constexpr uint32_t kHostileKernels = kEscapes + 1;

// What holds an escape back.
ConfinementPart PartAgainst(Escape escape);

// A shared object of kHostileKernels kernels.
absl::string_view HostileCode();

// x: f32[2, 8] -> y: f32[2, 8]: x[0] is the process to attack, y[0] is 1 if the kernel did what it wanted, else 0.
Artifact HostileProgram(uint32_t kernel);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SECURITY_HOSTILE_CODE_H_
