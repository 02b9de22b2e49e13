#include "server/workers/worker_registry.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/peers/bad_reports.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::BadReport;
using slipway::server::testing::BadReports;
using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kSilence = absl::Seconds(10);

class WorkerRegistryTest : public ::testing::Test {
 protected:
  v1::WorkerState State(const std::string& id) {
    v1::WorkerState state;
    state.set_worker_id(id);
    state.set_instance_id("i");
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.set_fingerprint(std::string(64, 'f'));
    state.set_capacity(2);
    return state;
  }
  absl::StatusOr<ReportKind> Report(const v1::WorkerState& state) {
    return workers_.Report(state, "here", wall_, now_);
  }

  WorkerRegistry workers_{kSilence};
  absl::Time wall_ = absl::FromUnixSeconds(1'000);
  absl::Duration now_ = absl::ZeroDuration();
  int64_t sequence_ = 0;
};

TEST_F(WorkerRegistryTest, KnowsWhatWasReported) {
  EXPECT_EQ(workers_.Find("w"), nullptr);
  v1::WorkerState state = State("w");
  int attempts = 0;
  for (const v1::CompileAttemptState::State kind :
       {v1::CompileAttemptState::RUNNING, v1::CompileAttemptState::SUCCEEDED,
        v1::CompileAttemptState::FAILED, v1::CompileAttemptState::STOPPED}) {
    v1::CompileAttemptState& attempt = *state.add_attempts();
    attempt.set_attempt_id(absl::StrCat("attempt", attempts++));
    attempt.set_state(kind);
  }
  EXPECT_EQ(Report(state).value(), ReportKind::kNewInstance);
  const RegisteredWorker* worker = workers_.Find("w");
  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(worker->targets.at("x86-64-linux"), std::string(64, 'f'));
  EXPECT_EQ(worker->capacity, 2);
  EXPECT_EQ(worker->last_seen, wall_);
  EXPECT_THAT(worker->active, ElementsAre("attempt0"));
  // The next report replaces all of it.
  wall_ += absl::Hours(1);
  v1::WorkerState next = State("w");
  next.set_capacity(1);
  next.set_fingerprint(std::string(64, 'a'));
  EXPECT_EQ(Report(next).value(), ReportKind::kNewer);
  EXPECT_EQ(worker->targets.at("x86-64-linux"), std::string(64, 'a'));
  EXPECT_EQ(worker->capacity, 1);
  EXPECT_EQ(worker->last_seen, wall_);
  EXPECT_THAT(worker->active, ElementsAre());
}

TEST_F(WorkerRegistryTest, AnOutdatedReportChangesNothing) {
  v1::WorkerState late = State("w");
  late.set_capacity(7);
  ASSERT_OK(Report(State("w")));
  EXPECT_EQ(Report(late).value(), ReportKind::kOutdated);
  EXPECT_EQ(workers_.Find("w")->capacity, 2);
}

TEST_F(WorkerRegistryTest, RefusesWhatIsMalformed) {
  std::vector<BadReport<v1::WorkerState>> bad = BadReports<v1::WorkerState>();
  const std::vector<BadReport<v1::WorkerState>> own = {
      {absl::StatusCode::kInvalidArgument, "worker_id", [](auto& s) { s.set_worker_id(""); }},
      {absl::StatusCode::kInvalidArgument, "fingerprint", [](auto& s) { s.clear_fingerprint(); }},
      {absl::StatusCode::kInvalidArgument, "family",
       [](auto& s) { s.add_targets()->set_fingerprint(std::string(64, 'f')); }},
      {absl::StatusCode::kInvalidArgument, "capacity 0", [](auto& s) { s.set_capacity(0); }},
      {absl::StatusCode::kInvalidArgument, "capacity 1001", [](auto& s) { s.set_capacity(1'001); }},
  };
  bad.insert(bad.end(), own.begin(), own.end());
  for (const auto& row : bad) {
    v1::WorkerState state = State("w");
    row.spoil(state);
    EXPECT_THAT(Report(state), StatusIs(row.code, HasSubstr(row.says)));
    EXPECT_TRUE(workers_.workers().empty()) << row.says;
  }
  v1::WorkerState largest = State("w");
  largest.set_capacity(1'000);
  largest.set_fingerprint(std::string(32, '0') + std::string(32, '9'));
  EXPECT_OK(Report(largest));
}

TEST_F(WorkerRegistryTest, TakesNoMoreThanItsLimitButKnowsThoseItHas) {
  for (int i = 0; i < kMaxPeers; ++i) ASSERT_OK(Report(State(absl::StrCat("w", i))));
  EXPECT_THAT(Report(State("late")), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(Report(State("w0")));
  workers_.Forget("w1");
  EXPECT_OK(Report(State("late")));
}

TEST_F(WorkerRegistryTest, ForgetsThoseThatAreLostAndNotSeenForLong) {
  ASSERT_OK(Report(State("old")));
  wall_ += absl::Hours(1);
  now_ += absl::Hours(1);
  ASSERT_OK(Report(State("new")));
  workers_.ForgetUnseenSince(wall_, now_);
  EXPECT_EQ(workers_.Find("old"), nullptr);
  EXPECT_EQ(workers_.peers().Find("old"), nullptr);
  EXPECT_NE(workers_.Find("new"), nullptr);
  // One with an open call is not lost, however long that takes.
  workers_.peers().CallBegan("new", "i");
  workers_.ForgetUnseenSince(wall_ + absl::Hours(9), now_ + absl::Hours(9));
  EXPECT_NE(workers_.Find("new"), nullptr);
}

TEST_F(WorkerRegistryTest, ForgetsOneByItsId) {
  ASSERT_OK(Report(State("w")));
  workers_.Forget("w");
  workers_.Forget("unknown");
  EXPECT_EQ(workers_.Find("w"), nullptr);
  EXPECT_EQ(workers_.peers().Find("w"), nullptr);
}

}  // namespace
}  // namespace slipway::server
