// What a hostile program can do in a process of a user, and cannot in one that is confined as a runner is. Each escape is
// first seen to succeed without the confinement: what fails anyhow proves nothing.
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/types/span.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/code_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/security/hostile_code.h"

namespace slipway::testing {
namespace {

constexpr int kNobody = 65534;
// Of a runner's address space, as its agent bounds it.
constexpr rlim_t kMemoryBytes = rlim_t{4} << 30;

enum class Outcome : char { kEscaped = 'e', kStopped = 's', kBroken = 'b' };

// Root is bound by less than others are, and an agent need not be root. Where root is nobody else's, as in a container of one
// user, it stays what it is.
void BecomeNobody() {
  if (geteuid() == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
      setresuid(kNobody, kNobody, kNobody) != 0) {
    _exit(2);
  }
  // So that only the confinement forbids the children to trace this process.
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

Confinement TheConfinement() { return RunnerConfinement("/nonexistent"); }

MissingParts FindMissing() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t pid = fork();
  if (pid == 0) {
    BecomeNobody();
    const absl::StatusOr<MissingParts> missing = ProbeConfinement(TheConfinement());
    for (const MissingPart& part : missing.value_or(MissingParts())) {
      const char letter = static_cast<char>(part.part);
      if (write(ends[1], &letter, 1) != 1) _exit(1);
    }
    _exit(missing.ok() ? 0 : 1);
  }
  close(ends[1]);
  MissingParts missing;
  char letter;
  while (read(ends[0], &letter, 1) == 1) {
    missing.push_back({static_cast<ConfinementPart>(letter), ""});
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the probe ended with " << status;
  return missing;
}

// In a process of its own, which then ends.
Outcome RunKernel(uint32_t kernel, bool confined, pid_t victim) {
  const rlimit memory = {kMemoryBytes, kMemoryBytes};
  if (confined) {
    setrlimit(RLIMIT_AS, &memory);
    if (!ApplyConfinement(TheConfinement()).ok()) return Outcome::kBroken;
  }
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

// A victim, and its child that attacks it.
Outcome Try(uint32_t kernel, bool confined) {
  int ends[2];
  if (pipe(ends) != 0) return Outcome::kBroken;
  const pid_t victim = fork();
  if (victim == 0) {
    BecomeNobody();
    const pid_t self = getpid();
    const pid_t attacker = fork();
    if (attacker == 0) {
      const Outcome outcome = RunKernel(kernel, confined, self);
      _exit(write(ends[1], &outcome, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    while (waitpid(attacker, nullptr, 0) < 0 && errno == EINTR) {
    }
    _exit(0);
  }
  close(ends[1]);
  auto outcome = Outcome::kBroken;
  if (read(ends[0], &outcome, 1) != 1) outcome = Outcome::kBroken;
  close(ends[0]);
  while (waitpid(victim, nullptr, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

class EscapeTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  static void SetUpTestSuite() { missing_ = new MissingParts(FindMissing()); }
  static MissingParts* missing_;
};
MissingParts* EscapeTest::missing_ = nullptr;

TEST_P(EscapeTest, IsThereWithoutAConfinement) {
  EXPECT_EQ(static_cast<char>(Try(GetParam(), /*confined=*/false)), 'e')
      << "it " << kEscapeTexts[GetParam()];
}

TEST_P(EscapeTest, IsStoppedInARunner) {
  const ConfinementPart part = PartAgainst(static_cast<Escape>(GetParam()));
  if (std::any_of(missing_->begin(), missing_->end(),
                  [&](const MissingPart& missing) { return missing.part == part; })) {
    GTEST_SKIP() << "this kernel does not give: " << Name(part);
  }
  EXPECT_EQ(static_cast<char>(Try(GetParam(), /*confined=*/true)), 's')
      << "it " << kEscapeTexts[GetParam()];
}

INSTANTIATE_TEST_SUITE_P(All, EscapeTest, ::testing::Range(0u, kEscapes),
                         [](const ::testing::TestParamInfo<uint32_t>& info) {
                           return std::string(kEscapeNames[info.param]);
                         });

}  // namespace
}  // namespace slipway::testing
