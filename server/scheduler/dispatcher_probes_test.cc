// Probes, and what attempts say of devices.
#include <cstring>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/wire/tensor_proto.h"
#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server::testing {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using v1::Availability;

class DispatcherProbesTest : public DispatcherTest {
 protected:
  DispatcherProbesTest() {
    probes_ = &programs_;
    Restart();
    agent_ = Agent("d");
  }

  // What the agent is to hold, as one that holds nothing.
  v1::DesiredAgentState Idle() {
    agent_.set_sequence(++sequence_);
    agent_.clear_attempts();
    return Sync(agent_);
  }
  // The agent comes, and the dispatcher has looked at it.
  void Arrive() {
    Idle();
    EXPECT_EQ(After(absl::Milliseconds(1)).attempts_size(), 0);
  }
  // Lets so much time pass with the agent there, and tells what it is to hold then.
  v1::DesiredAgentState After(absl::Duration time) {
    clock_.Advance(time);
    Idle();
    dispatcher_->Tick();
    return Idle();
  }
  // The agent has done what it was to do; what is next.
  v1::DesiredAgentState Done(const v1::DesiredAgentState& desired,
                             const v1::RunAttemptState& attempt) {
    return Sync(Holding(agent_, desired, attempt));
  }
  // A result of the run of a probe: of a device that is sound or not.
  v1::RunAttemptState Ran(const v1::DesiredAgentState& desired, bool is_sound) {
    v1::RunAttemptState attempt =
        Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED);
    if (is_sound) {
      *attempt.mutable_run_result() = SoundResult();
    } else {
      *attempt.mutable_run_result()->add_outputs() =
          ToInlineProto("y", Tensor::Zeros(DataType::kUint32, {512}));
    }
    return attempt;
  }
  v1::RunAttemptState Measured(const v1::DesiredAgentState& desired, int call_us) {
    v1::RunAttemptState attempt;
    attempt.set_attempt_id(desired.attempts(0).attempt_id());
    attempt.set_state(v1::RunAttemptState::SUCCEEDED);
    attempt.mutable_benchmark_result()->add_samples_ns(int64_t{9'000'000'000});
    attempt.mutable_benchmark_result()->add_samples_ns(int64_t{call_us} * 10'000);
    attempt.mutable_benchmark_result()->set_iterations_per_sample(10);
    return attempt;
  }
  // A whole probe, which is due.
  void Pass(const v1::DesiredAgentState& run, int call_us = 2'000) {
    ASSERT_EQ(run.attempts_size(), 1);
    const v1::DesiredAgentState measure = Done(run, Ran(run, true));
    ASSERT_EQ(measure.attempts_size(), 1);
    ASSERT_TRUE(measure.attempts(0).has_benchmark());
    EXPECT_EQ(Done(measure, Measured(measure, call_us)).attempts_size(), 0);
  }
  v1::RunAttemptState FailedAttempt(const v1::DesiredAgentState& desired, absl::StatusCode code,
                                    bool retriable) {
    v1::RunAttemptState attempt =
        Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::FAILED);
    attempt.mutable_error()->set_code(static_cast<int>(code));
    attempt.mutable_error()->set_message("smoke");
    attempt.set_retriable(retriable);
    return attempt;
  }
  // A job whose attempt on the device ends so; it is over then.
  void RunBadly(const std::string& request, absl::StatusCode code, bool retriable) {
    const std::string id = AcceptRun(request, "d");
    const v1::DesiredAgentState desired = Idle();
    ASSERT_EQ(desired.attempts_size(), 1);
    Done(desired, FailedAttempt(desired, code, retriable));
    dispatcher_->Cancel(caller_, id).IgnoreError();
  }
  v1::Device Shown() { return dispatcher_->Devices(caller_).at(0); }

  static v1::RunResult SoundResult();

  const ProbePrograms programs_ = *ProbePrograms::Create();
  v1::AgentState agent_;
  // Long enough for the first, and for the others.
  const absl::Duration first_ = 2 * kDefaultProbeEvery;
};

v1::RunResult DispatcherProbesTest::SoundResult() {
  std::vector<uint32_t> outputs;
  for (uint32_t i = 0; i < 512; ++i) {
    uint32_t hash = i;
    float number = 1;
    for (int round = 0; round < 2000; ++round) {
      hash = hash * 1664525 + 1013904223;
      hash ^= hash >> 13;
      number = static_cast<float>(number * 0.5 + (hash & 0xffff));
    }
    uint32_t bits;
    static_assert(sizeof(bits) == sizeof(number));
    std::memcpy(&bits, &number, sizeof(bits));
    outputs.push_back(hash ^ bits);
  }
  v1::RunResult result;
  *result.add_outputs() =
      ToInlineProto("y", Tensor::Of<uint32_t>({512}, absl::MakeConstSpan(outputs)));
  return result;
}

TEST_F(DispatcherProbesTest, AnIdleDeviceIsProbedInTurn) {
  Arrive();
  EXPECT_EQ(After(kDefaultProbeEvery - absl::Seconds(1)).attempts_size(), 0);
  v1::DesiredAgentState probe = After(kDefaultProbeEvery + absl::Seconds(1));
  ASSERT_EQ(probe.attempts_size(), 1);
  EXPECT_TRUE(probe.attempts(0).has_run());
  // Others see that the device is busy, and with what.
  EXPECT_EQ(Shown().state(), v1::Device::BUSY);
  EXPECT_EQ(Shown().lease().owner(), kServerOwner);
  EXPECT_EQ(Shown().lease().purpose(), "probe");
  EXPECT_EQ(Shown().lease().job_id() + Shown().job_id(), "");
  Pass(probe);
  EXPECT_EQ(Shown().health().probe_end_ns(), absl::ToUnixNanos(clock_.Now()));
  EXPECT_EQ(Shown().health().probe_call_ns(), 2'000'000);
  // Nothing of it is stored, nor can it be touched.
  EXPECT_THAT(*store_.ListLive(), IsEmpty());
  EXPECT_EQ(After(kDefaultProbeEvery - absl::Seconds(1)).attempts_size(), 0);
  probe = After(absl::Seconds(6));
  ASSERT_EQ(probe.attempts_size(), 1);
  const Caller admin{.owner = "root", .roles = {Role::kAdmin}};
  EXPECT_THAT(dispatcher_->Cancel(admin, probe.attempts(0).job_id()),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DispatcherProbesTest, ADeviceThatWorksIsNotDisturbed) {
  Arrive();
  AcceptRun("1", "d");
  const v1::DesiredAgentState desired = Idle();
  ASSERT_EQ(desired.attempts_size(), 1);
  clock_.Advance(first_);
  const v1::RunAttemptState running =
      Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING);
  // Its run deadline would have passed.
  Sync(Holding(agent_, desired, running));
  EXPECT_EQ(Sync(Holding(agent_, desired, running)).attempts(0).attempt_id(),
            desired.attempts(0).attempt_id());
}

TEST_F(DispatcherProbesTest, AServerThatStartsAnewForgetsAProbe) {
  Arrive();
  const v1::DesiredAgentState probe = After(first_);
  ASSERT_EQ(probe.attempts_size(), 1);
  Restart();
  EXPECT_EQ(Sync(Holding(agent_, probe,
                         Attempt(probe.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING)))
                .attempts_size(),
            0);
}

TEST_F(DispatcherProbesTest, WrongResultsPutADeviceInQuarantineAndRightOnesBringItBack) {
  Arrive();
  v1::DesiredAgentState probe = After(first_);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(probe.attempts_size(), 1);
    EXPECT_EQ(Shown().availability().state(), Availability::AVAILABLE);
    EXPECT_EQ(Done(probe, Ran(probe, /*is_sound=*/false)).attempts_size(), 0);
    EXPECT_EQ(Shown().health().failures(), i + 1);
    if (i < 2) probe = After(kProbeDoubtedEvery + absl::Seconds(5));
  }
  EXPECT_EQ(Shown().availability().state(), Availability::QUARANTINED);
  EXPECT_THAT(Shown().availability().reason(),
              AllOf(HasSubstr("3 failures in a row"), HasSubstr("wrong results")));
  const std::string run = AcceptRun("1", "d");
  EXPECT_EQ(Idle().attempts_size(), 0);
  for (int i = 0; i < kPassesToReturn; ++i) {
    EXPECT_EQ(Get(run).assignee(), "");
    probe = After(kProbeDoubtedEvery + absl::Seconds(5));
    if (i + 1 < kPassesToReturn) {
      Pass(probe);
    } else {
      const v1::DesiredAgentState measure = Done(probe, Ran(probe, true));
      Done(measure, Measured(measure, 2'000));
    }
  }
  EXPECT_EQ(Get(run).assignee(), "d");
  EXPECT_EQ(Shown().availability().state(), Availability::AVAILABLE);
}

TEST_F(DispatcherProbesTest, ADeviceFarFromWhatIsUsualFails) {
  Arrive();
  Pass(After(first_));
  for (int i = 1; i < kUsualProbes; ++i) Pass(After(kDefaultProbeEvery + absl::Seconds(5)));
  EXPECT_EQ(Shown().health().usual_call_ns(), 2'000'000);
  Pass(After(kDefaultProbeEvery + absl::Seconds(5)), /*call_us=*/20'000);
  EXPECT_EQ(Shown().health().failures(), 1);
  EXPECT_THAT(Shown().health().probe_error(), HasSubstr("a call took 20ms"));
  // It is looked at again soon.
  Pass(After(kProbeDoubtedEvery + absl::Seconds(5)));
  EXPECT_EQ(Shown().health().failures(), 0);
}

TEST_F(DispatcherProbesTest, AttemptsThatTheDeviceIsToBlameForCount) {
  Arrive();
  RunBadly("1", absl::StatusCode::kDataLoss, true);
  RunBadly("2", absl::StatusCode::kResourceExhausted, true);
  EXPECT_EQ(Shown().health().failures(), 2);
  // One that works clears that.
  AcceptRun("3", "d");
  const v1::DesiredAgentState desired = Idle();
  Done(desired, Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED));
  EXPECT_EQ(Shown().health().failures(), 0);
  for (const char* request : {"4", "5", "6"}) {
    RunBadly(request, absl::StatusCode::kInternal, true);
  }
  EXPECT_EQ(Shown().availability().state(), Availability::QUARANTINED);
  EXPECT_THAT(Shown().availability().reason(), HasSubstr("smoke"));
  // Over a restart, too.
  Restart();
  EXPECT_EQ(Shown().availability().state(), Availability::QUARANTINED);
}

TEST_F(DispatcherProbesTest, ProgramsThatFailQuarantineNothing) {
  Arrive();
  for (int i = 0; i < 5; ++i) {
    RunBadly(absl::StrCat("crash ", i), absl::StatusCode::kAborted, false);
    RunBadly(absl::StrCat("memory ", i), absl::StatusCode::kAborted, true);
    RunBadly(absl::StrCat("late ", i), absl::StatusCode::kDeadlineExceeded, false);
  }
  EXPECT_EQ(Shown().health().failures(), 0);
  EXPECT_EQ(Shown().availability().state(), Availability::AVAILABLE);
}

TEST_F(DispatcherProbesTest, WhatAnAgentDoesNotTakeSaysNothing) {
  Arrive();
  const v1::DesiredAgentState probe = After(first_);
  Done(probe, FailedAttempt(probe, absl::StatusCode::kPermissionDenied, false));
  EXPECT_EQ(Shown().health().failures(), 0);
  EXPECT_THAT(*store_.LoadStandings(), IsEmpty());
}

TEST_F(DispatcherProbesTest, AnAgentThatVanishesInAProbeCounts) {
  Arrive();
  ASSERT_EQ(After(first_).attempts_size(), 1);
  Advance(kSilence);
  EXPECT_EQ(Shown().health().failures(), 1);
  // There was one attempt.
  EXPECT_EQ(Idle().attempts_size(), 0);
}

TEST_F(DispatcherProbesTest, ADrainedDeviceIsNotProbed) {
  Arrive();
  ASSERT_OK(dispatcher_->SetAvailability(caller_, "d", DrainAsked{}));
  EXPECT_EQ(After(first_).attempts_size(), 0);
}

}  // namespace
}  // namespace slipway::server::testing
