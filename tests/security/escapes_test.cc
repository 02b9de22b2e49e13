// What a hostile program can do in a process of a user, and cannot in one that is confined as a runner is. Each escape is
// first seen to succeed without the confinement: what fails anyhow proves nothing.
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/types/span.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/code_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/security/attack.h"
#include "tests/security/hostile_code.h"

namespace slipway::testing {
namespace {

const Bounds& TheBounds() {
  static const Bounds* const bounds =
      new Bounds{RunnerConfinement("/nonexistent"), int64_t{4} << 30};
  return *bounds;
}

Outcome RunKernel(uint32_t kernel, pid_t victim) {
  absl::StatusOr<std::unique_ptr<CodeModule>> module =
      CodeModule::Load(HostileCode(), kHostileKernels, SLIPWAY_ABI_VERSION);
  if (!module.ok()) return Outcome::kBroken;
  float x = static_cast<float>(victim);
  float y = -1;
  slipway_buffer in = {};
  in.host = reinterpret_cast<uint8_t*>(&x);
  slipway_buffer out = {};
  out.host = reinterpret_cast<uint8_t*>(&y);
  void* none = nullptr;
  void* arguments[] = {&none, &in, &in, &out};
  // Threads that it has started may run its code until the process ends.
  const CodeModule& code = *module->release();
  if (code.kernel(kernel).function(arguments) != 0) return Outcome::kBroken;
  return y == 1 ? Outcome::kEscaped : y == 0 ? Outcome::kStopped : Outcome::kBroken;
}

Outcome Try(uint32_t kernel, bool confined, User user = User::kNobody) {
  return Attack([=](pid_t victim) { return RunKernel(kernel, victim); },
                confined ? &TheBounds() : nullptr, user);
}

class EscapeTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(EscapeTest, IsThereWithoutAConfinement) {
  EXPECT_EQ(static_cast<char>(Try(GetParam(), /*confined=*/false)), 'e')
      << "it " << kEscapeTexts[GetParam()];
}

TEST_P(EscapeTest, IsStoppedInARunner) {
  const ConfinementPart part = PartAgainst(static_cast<Escape>(GetParam()));
  if (Lacks(TheBounds().confinement, part))
    GTEST_SKIP() << "this kernel does not give: " << Name(part);
  EXPECT_EQ(static_cast<char>(Try(GetParam(), /*confined=*/true)), 's')
      << "it " << kEscapeTexts[GetParam()];
}

// Limits on tasks do not bind root, unless it is somebody else to them.
TEST(EscapeOfRoot, AThreadBombIsStoppedInARunner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root is root";
  const auto kernel = static_cast<uint32_t>(Escape::thread_bomb);
  EXPECT_EQ(static_cast<char>(Try(kernel, /*confined=*/false, User::kOurs)), 'e');
  if (Lacks(TheBounds().confinement, ConfinementPart::kTasks, User::kOurs)) {
    GTEST_SKIP() << "root may not become somebody else here";
  }
  EXPECT_EQ(static_cast<char>(Try(kernel, /*confined=*/true, User::kOurs)), 's');
}

INSTANTIATE_TEST_SUITE_P(All, EscapeTest, ::testing::Range(0u, kEscapes),
                         [](const ::testing::TestParamInfo<uint32_t>& info) {
                           return std::string(kEscapeNames[info.param]);
                         });

}  // namespace
}  // namespace slipway::testing
