#include "tests/load/fleet_ledger.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using v1::Job;

constexpr absl::Duration At(int ms) { return absl::Milliseconds(ms); }

// All that is seen of a job that goes as it should.
void Pass(FleetLedger& ledger, int64_t request, const std::string& job) {
  ledger.Asked(request, At(0));
  ledger.Accepted(request, job, At(1));
  ledger.Given(job, At(2));
  ledger.Worked(job, request + 100);
  ledger.Ended(job, {Job::SUCCEEDED, 7, request + 100}, At(3));
  ledger.Listed(request, job, Job::SUCCEEDED, 7);
}

TEST(FleetLedgerTest, WhatGoesWell) {
  FleetLedger ledger;
  Pass(ledger, 1, "a");
  Pass(ledger, 2, "b");
  // Told again by a watch that was begun anew.
  ledger.Ended("b", {Job::SUCCEEDED, 7, 102}, At(9));
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.asked, 2);
  EXPECT_EQ(verdict.accepted, 2);
  EXPECT_EQ(verdict.finished, 2);
  EXPECT_EQ(verdict.lost, 0);
  EXPECT_EQ(verdict.doubled, 0);
  EXPECT_EQ(verdict.unfinished, 0);
  EXPECT_EQ(verdict.worked_again, 0);
  EXPECT_THAT(verdict.complaints, IsEmpty());
  const FleetTimes times = ledger.Times();
  EXPECT_THAT(times.accept, ElementsAre(At(1), At(1)));
  EXPECT_THAT(times.give, ElementsAre(At(2), At(2)));
  EXPECT_THAT(times.finish, ElementsAre(At(3), At(3)));
}

TEST(FleetLedgerTest, WhoWasNotAnsweredHasLostNothing) {
  FleetLedger ledger;
  ledger.Asked(1, At(0));
  // Its answer was lost with the server, and it is not asked again any more.
  ledger.Asked(2, At(0));
  ledger.Listed(2, "b", Job::SUCCEEDED, 7);
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.asked, 2);
  EXPECT_EQ(verdict.accepted, 0);
  EXPECT_EQ(verdict.lost, 0);
  EXPECT_EQ(verdict.doubled, 0);
}

TEST(FleetLedgerTest, LostJobs) {
  FleetLedger ledger;
  // The server has forgotten it.
  ledger.Asked(1, At(0));
  ledger.Accepted(1, "a", At(1));
  // It ended, but nobody was told.
  ledger.Asked(2, At(0));
  ledger.Accepted(2, "b", At(1));
  ledger.Worked("b", 5);
  ledger.Listed(2, "b", Job::SUCCEEDED, 7);
  // It failed.
  ledger.Asked(3, At(0));
  ledger.Accepted(3, "c", At(1));
  ledger.Ended("c", {Job::FAILED, 7, 0}, At(2));
  ledger.Listed(3, "c", Job::FAILED, 7);
  // It has the result of another one.
  ledger.Asked(4, At(0));
  ledger.Accepted(4, "d", At(1));
  ledger.Worked("d", 6);
  ledger.Ended("d", {Job::SUCCEEDED, 7, 5}, At(2));
  ledger.Listed(4, "d", Job::SUCCEEDED, 7);
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.accepted, 4);
  EXPECT_EQ(verdict.finished, 0);
  EXPECT_EQ(verdict.lost, 4);
  EXPECT_EQ(verdict.doubled, 0);
  EXPECT_THAT(verdict.complaints, ::testing::UnorderedElementsAre(
                                      HasSubstr("does not know it"), HasSubstr("never told"),
                                      HasSubstr("FAILED"), HasSubstr("none of its")));
}

TEST(FleetLedgerTest, DoubledJobs) {
  FleetLedger ledger;
  // Two jobs for one request: as answers say,
  Pass(ledger, 1, "a");
  ledger.Accepted(1, "a2", At(5));
  // and as the list says.
  Pass(ledger, 2, "b");
  ledger.Listed(2, "b2", Job::SUCCEEDED, 9);
  // Two results.
  Pass(ledger, 3, "c");
  ledger.Worked("c", 200);
  ledger.Ended("c", {Job::SUCCEEDED, 8, 200}, At(5));
  // It changed after its end, unseen by its client.
  Pass(ledger, 4, "d");
  ledger.Listed(4, "d", Job::SUCCEEDED, 8);
  Pass(ledger, 5, "e");
  ledger.Listed(5, "e", Job::RUNNING, 7);
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.accepted, 5);
  EXPECT_EQ(verdict.doubled, 5);
  EXPECT_EQ(verdict.lost, 0);
}

TEST(FleetLedgerTest, AnAttemptThatWasMadeAgainIsNoMistake) {
  FleetLedger ledger;
  Pass(ledger, 1, "a");
  ledger.Worked("a", 200);
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.finished, 1);
  EXPECT_EQ(verdict.worked_again, 1);
  EXPECT_EQ(verdict.doubled, 0);
}

TEST(FleetLedgerTest, WhatTheServerStillHasIsNotLost) {
  FleetLedger ledger;
  ledger.Asked(1, At(0));
  ledger.Accepted(1, "a", At(1));
  ledger.Listed(1, "a", Job::QUEUED, 3);
  const FleetVerdict verdict = ledger.Judge();
  EXPECT_EQ(verdict.unfinished, 1);
  EXPECT_EQ(verdict.lost, 0);
}

}  // namespace
}  // namespace slipway::testing
