#include "device_agent/update/update_state.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Digest kInstalled = Digest::Of("installed");

agent::KeptBinary Binary(const std::string& name) {
  agent::KeptBinary kept;
  *kept.mutable_binary() = ToProto(Digest::Of(name));
  kept.set_offer(absl::StrCat("offer of ", name));
  kept.set_version(name);
  return kept;
}

absl::Status AllThere(const Digest&) { return absl::OkStatus(); }

BinaryChoice Choose(const agent::UpdateState& state) {
  return ChooseBinary(state, kInstalled, AllThere);
}
std::string Runs(const BinaryChoice& choice) {
  if (!choice.kept.has_value()) return "installed";
  return absl::StrCat(choice.kept->version(), choice.is_trial ? " on trial" : "");
}
// After which `name` runs.
agent::UpdateState Updated(const std::string& name, agent::UpdateState state = {}) {
  return AfterRanWell(AfterReported(Choose(AfterTaken(state, kInstalled, Binary(name))).state));
}

TEST(UpdateStateTest, TheInstalledOneRunsAtFirst) { EXPECT_EQ(Runs(Choose({})), "installed"); }

TEST(UpdateStateTest, WhatIsTakenIsTriedAndRunsOnceItHasReported) {
  const agent::UpdateState taken = AfterTaken({}, kInstalled, Binary("a"));
  const BinaryChoice tried = Choose(taken);
  EXPECT_EQ(Runs(tried), "a on trial");
  const agent::UpdateState reported = AfterReported(tried.state);
  EXPECT_EQ(Runs(Choose(reported)), "a");
  EXPECT_EQ(reported.failure(), "");
  // Told twice, it is as told once.
  EXPECT_EQ(AfterReported(reported).SerializeAsString(), reported.SerializeAsString());
}

TEST(UpdateStateTest, WhatFailsIsGivenUpForWhatRanBefore) {
  for (const std::string before : {"", "a"}) {
    agent::UpdateState state = before.empty() ? agent::UpdateState() : Updated(before);
    state = Choose(AfterTaken(state, kInstalled, Binary("b"))).state;
    state = AfterTrialFailed(state, "ended");
    EXPECT_EQ(state.failed_offer(), "offer of b");
    EXPECT_EQ(state.failure(), "version b ended");
    EXPECT_EQ(Runs(Choose(state)), before.empty() ? "installed" : before);
  }
}

TEST(UpdateStateTest, ATrialThatIsCutOffIsMadeOnceMoreAndThenGivenUp) {
  agent::UpdateState state = AfterTaken(Updated("a"), kInstalled, Binary("b"));
  for (int i = 0; i < kMaxTrialStarts; ++i) {
    const BinaryChoice choice = Choose(state);
    EXPECT_EQ(Runs(choice), "b on trial");
    state = choice.state;
  }
  const BinaryChoice given_up = Choose(state);
  EXPECT_EQ(Runs(given_up), "a");
  EXPECT_EQ(given_up.state.failed_offer(), "offer of b");
  EXPECT_THAT(given_up.state.failure(), HasSubstr("2 times"));
  // One that was stopped in order was not cut off.
  state = AfterTaken({}, kInstalled, Binary("b"));
  for (int i = 0; i < 5; ++i) {
    const BinaryChoice choice = Choose(state);
    EXPECT_EQ(Runs(choice), "b on trial");
    state = AfterRanWell(choice.state);
  }
}

TEST(UpdateStateTest, WhatEndsAgainAndAgainIsGivenUpForWhatRanBefore) {
  agent::UpdateState state = Updated("b", Updated("a"));
  const auto crash = [&state](int times) {
    for (int i = 0; i < times; ++i) state = Choose(state).state;
  };
  crash(kMaxQuickStarts);
  EXPECT_EQ(Runs(Choose(state)), "a");
  EXPECT_EQ(Choose(state).state.failed_offer(), "offer of b");
  crash(kMaxQuickStarts);
  EXPECT_EQ(Runs(Choose(state)), "installed");
  EXPECT_EQ(Choose(state).state.failed_offer(), "offer of a");
  // What ran well in between begins anew.
  state = Updated("c");
  crash(kMaxQuickStarts - 1);
  state = AfterRanWell(state);
  crash(kMaxQuickStarts - 1);
  EXPECT_EQ(Runs(Choose(state)), "c");
}

TEST(UpdateStateTest, WhatIsDamagedIsNotRun) {
  const auto lacks = [](const std::string& name) {
    return [name](const Digest& binary) {
      return binary == Digest::Of(name) ? absl::DataLossError("other bytes") : absl::OkStatus();
    };
  };
  agent::UpdateState state = AfterTaken(Updated("b", Updated("a")), kInstalled, Binary("c"));
  const BinaryChoice no_c = ChooseBinary(state, kInstalled, lacks("c"));
  EXPECT_EQ(Runs(no_c), "b");
  EXPECT_THAT(no_c.state.failure(), HasSubstr("damaged: other bytes"));
  EXPECT_EQ(Runs(ChooseBinary(no_c.state, kInstalled, lacks("b"))), "a");
  agent::UpdateState nonsense = state;
  nonsense.mutable_trial()->mutable_binary()->set_sha256("?");
  EXPECT_EQ(Runs(Choose(nonsense)), "b");
}

TEST(UpdateStateTest, WhoInstallsAnotherOneMeansThat) {
  const BinaryChoice choice = ChooseBinary(Updated("a"), Digest::Of("installed by hand"), AllThere);
  EXPECT_EQ(Runs(choice), "installed");
  EXPECT_THAT(NamedBinaries(choice.state), IsEmpty());
  // What it takes then is its own.
  EXPECT_FALSE(
      AfterTaken(Updated("a"), Digest::Of("installed by hand"), Binary("b")).has_current());
}

TEST(UpdateStateTest, WhatWasRefusedIsRememberedAndChangesNothingElse) {
  const agent::UpdateState state =
      AfterRefused(Updated("a"), kInstalled, "offer of b", std::string(5000, 'x'));
  EXPECT_EQ(state.failed_offer(), "offer of b");
  EXPECT_EQ(state.failure().size(), 1024u);
  EXPECT_EQ(Runs(Choose(state)), "a");
}

TEST(UpdateStateTest, KeepsWhatItNames) {
  EXPECT_THAT(NamedBinaries(AfterTaken(Updated("b", Updated("a")), kInstalled, Binary("c"))),
              ElementsAre(Digest::Of("b"), Digest::Of("a"), Digest::Of("c")));
  EXPECT_THAT(NamedBinaries({}), IsEmpty());
}

// From every state that some steps lead to, cutting the machine off again and again ends in a binary that is not cut off: the
// installed one, which is all that is known to work.
TEST(UpdateStateTest, WhateverIsCutOffEndsInTheInstalledOne) {
  std::vector<agent::UpdateState> states = {{}};
  const std::vector<std::function<agent::UpdateState(agent::UpdateState)>> steps = {
      [](agent::UpdateState s) { return AfterTaken(s, kInstalled, Binary("a")); },
      [](agent::UpdateState s) { return AfterTaken(s, kInstalled, Binary("b")); },
      [](agent::UpdateState s) { return Choose(s).state; },
      [](agent::UpdateState s) { return AfterReported(s); },
      [](agent::UpdateState s) { return AfterRanWell(s); },
      [](agent::UpdateState s) { return AfterTrialFailed(s, "ended"); },
      [](agent::UpdateState s) { return AfterRefused(s, kInstalled, "offer of a", "no"); }};
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<agent::UpdateState> next;
    for (const agent::UpdateState& state : states) {
      for (const auto& step : steps) next.push_back(step(state));
    }
    states = std::move(next);
  }
  ASSERT_EQ(states.size(), 2401u);
  for (agent::UpdateState state : states) {
    int starts = 0;
    while (Runs(Choose(state)) != "installed") {
      state = Choose(state).state;
      ASSERT_LE(++starts, kMaxTrialStarts + 2 * kMaxQuickStarts);
    }
  }
}

}  // namespace
}  // namespace slipway
