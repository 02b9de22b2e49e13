// Sessions through a server: client library, server and agents as they are, on this machine.

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/session.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/grpc_session_wire.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Code = absl::StatusCode;

// Far less than the time for which nothing need be heard of a client.
constexpr absl::Duration kAtOnce = absl::Seconds(6);

class RelayedSessionTest : public ::testing::Test {
 protected:
  void StartCluster(Cluster::Options options = {.agents = 1}) {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start(std::move(options)));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  absl::StatusOr<Session> Open(SessionOptions options = {}) {
    options.address = cluster_->address();
    return Session::Open(options);
  }
  static Tensor Rows(float value) {
    Tensor tensor = Tensor::Zeros(DataType::kFloat32, {2, 8});
    for (float& element : tensor.mutable_values<float>()) element = value;
    return tensor;
  }
  // The end of a session, of which 0 is the first.
  absl::StatusOr<Job> AwaitEnd(size_t session) {
    absl::StatusOr<std::vector<Job>> jobs = client_->ListJobs({.limit = 10});
    if (!jobs.ok()) return jobs.status();
    if (jobs->size() <= session) return absl::NotFoundError("there is no such session");
    return client_->Wait((*jobs)[jobs->size() - 1 - session].id, nullptr);
  }
  // What y is in its last place, after x + 0..7.
  static absl::StatusOr<float> AddOnce(Session& session, float value) {
    absl::StatusOr<RemoteProgram> program = session.Load(TestProgram(TestKernel::kAdd));
    if (!program.ok()) return program.status();
    absl::StatusOr<RemoteTensor> x = session.Put(Rows(value));
    if (!x.ok()) return x.status();
    absl::StatusOr<std::vector<RemoteTensor>> outputs = program->Call({&*x});
    if (!outputs.ok()) return outputs.status();
    absl::StatusOr<Tensor> y = (*outputs)[0].Get();
    if (!y.ok()) return y.status();
    return y->values<float>()[7];
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(RelayedSessionTest, AProgramGoesThroughTheServerToTheDevice) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open({.purpose = "a test"}));
  EXPECT_EQ(session.device(), "agent0");
  ASSERT_OK_AND_ASSIGN(const float last, AddOnce(session, 100));
  EXPECT_EQ(last, 107.0f);
  // It is a job like others while it lasts, and the device is its.
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client_->ListJobs({.limit = 10}));
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(jobs[0].kind, JobKind::kSession);
  EXPECT_EQ(jobs[0].state, JobState::kRunning);
  EXPECT_EQ(jobs[0].purpose, "a test");
  ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
  EXPECT_EQ(devices[0].job_id, jobs[0].id);
  ASSERT_OK(session.Close());
  ASSERT_OK_AND_ASSIGN(const Job ended, client_->Wait(jobs[0].id, nullptr));
  EXPECT_EQ(ended.state, JobState::kSucceeded);
}

TEST_F(RelayedSessionTest, LargeTensorsComeBackAsTheyWere) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  Tensor large = Tensor::Zeros(DataType::kUint8, {(20 << 20) + 12345});
  char* const bytes = large.mutable_bytes();
  for (int64_t i = 0; i < large.byte_size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 5);
  ASSERT_OK_AND_ASSIGN(const RemoteTensor put, session.Put(large));
  ASSERT_OK_AND_ASSIGN(const Tensor back, put.Get());
  EXPECT_TRUE(back.bytes() == large.bytes());
}

TEST_F(RelayedSessionTest, ProgramsOfTheServerAreFetchedByTheAgent) {
  StartCluster();
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client_->PutArtifact(artifact));
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(artifact.digest()));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Rows(1)));
  EXPECT_OK(program.Call({&x}));
}

TEST_F(RelayedSessionTest, SessionsAndJobsTakeTurns) {
  StartCluster();
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client_->PutArtifact(artifact));
  ASSERT_OK_AND_ASSIGN(Session first, Open());
  // A job waits for the session's end, and a second session for the job's.
  ASSERT_OK_AND_ASSIGN(const std::string run, client_->SubmitRun(artifact.digest(), {}, {}));
  EXPECT_THAT(Open({.wait = absl::ZeroDuration()}), StatusIs(Code::kDeadlineExceeded));
  ASSERT_OK_AND_ASSIGN(const Job waits, client_->GetJob(run));
  EXPECT_EQ(waits.state, JobState::kQueued);
  ASSERT_OK(first.Close());
  ASSERT_OK_AND_ASSIGN(Session second, Open());
  ASSERT_OK_AND_ASSIGN(const Job ran, client_->Wait(run, nullptr));
  EXPECT_EQ(ran.state, JobState::kSucceeded);
  EXPECT_OK(AddOnce(second, 1));
}

TEST_F(RelayedSessionTest, WhoWaitsIsToldWhoHoldsTheDevice) {
  StartCluster({.agents = 2});
  ASSERT_OK_AND_ASSIGN(Session first, Open({.device = "agent0", .purpose = "tuning"}));
  const auto open_second = [this](const std::string& device) {
    std::stop_source stop;
    std::string told = "nobody";
    SessionOptions options;
    options.device = device;
    options.stop = stop.get_token();
    options.on_waiting = [&](int64_t, const std::string& holder) {
      told = holder;
      stop.request_stop();
    };
    EXPECT_THAT(Open(options), StatusIs(Code::kCancelled));
    return told;
  };
  EXPECT_EQ(open_second("agent0"), "a session of local: tuning");
  // With a second device busy too, either will do.
  ASSERT_OK_AND_ASSIGN(Session other, Open({.device = "agent1"}));
  EXPECT_EQ(open_second(""), "");
  EXPECT_EQ(open_second("agent1"), "a session of local");
}

TEST_F(RelayedSessionTest, WhoLeavesTheLineIsNotWaitedFor) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session first, Open());
  std::stop_source stop;
  SessionOptions options;
  options.stop = stop.get_token();
  options.on_waiting = [&stop](int64_t, const std::string&) { stop.request_stop(); };
  EXPECT_THAT(Open(options), StatusIs(Code::kCancelled));
  ASSERT_OK_AND_ASSIGN(const Job left, AwaitEnd(/*session=*/1));
  EXPECT_EQ(left.state, JobState::kCancelled);
  EXPECT_LT(left.end_time - left.create_time, kAtOnce);
  EXPECT_OK(AddOnce(first, 1));
}

TEST_F(RelayedSessionTest, WhoDiesInTheLineLeavesItThoughTheServerDiesToo) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session first, Open({.idle = absl::Seconds(30)}));
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Subprocess> waits,
      Subprocess::Start({.argv = {RunfilePath("tests/integration/session_user"), "--server",
                                  cluster_->address(), "--idle", "2s", "--purpose", "to wait"},
                         .environment = cluster_->environment()}));
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  std::vector<Job> jobs;
  while (jobs.size() < 2 && absl::Now() < deadline) {
    ASSERT_OK_AND_ASSIGN(jobs, client_->ListJobs({.limit = 10}));
  }
  ASSERT_THAT(jobs, SizeIs(2));
  cluster_->server().Kill();
  waits->Kill();
  ASSERT_OK(waits->Wait());
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const Job left, client_->Wait(jobs[0].id, nullptr));
  EXPECT_EQ(left.state, JobState::kCancelled);
  EXPECT_EQ(left.attempts, 0);
  EXPECT_OK(AddOnce(first, 1));
}

TEST_F(RelayedSessionTest, AServerThatIsBackAtTheLastMomentIsWaitedFor) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session first, Open({.idle = absl::Seconds(30)}));
  absl::Notification waits;
  SessionOptions options;
  options.patience = absl::Seconds(2);
  options.on_waiting = [&](int64_t, const std::string&) {
    if (waits.HasBeenNotified()) return;
    EXPECT_OK(cluster_->server().Suspend());
    waits.Notify();
  };
  absl::StatusOr<Session> second = absl::UnknownError("not opened yet");
  std::thread opens([&] { second = Open(options); });
  waits.WaitForNotification();
  // What a server takes to start on a busy machine.
  absl::SleepFor(options.patience - absl::Milliseconds(300));
  cluster_->server().Kill();
  EXPECT_OK(cluster_->server().Start());
  EXPECT_OK(first.Close());
  opens.join();
  ASSERT_OK(second);
  EXPECT_OK(AddOnce(*second, 1));
}

TEST_F(RelayedSessionTest, WhoIsGivenADeviceThatDoesNotAnswerLeavesItAtOnce) {
  StartCluster();
  ASSERT_OK(cluster_->agent(0).Suspend());
  EXPECT_THAT(Open({.idle = absl::Seconds(30), .patience = absl::Seconds(1)}),
              StatusIs(Code::kUnavailable, HasSubstr("agent")));
  ASSERT_OK_AND_ASSIGN(const Job left, AwaitEnd(/*session=*/0));
  EXPECT_EQ(left.state, JobState::kCancelled);
  EXPECT_LT(left.end_time - left.create_time, kAtOnce);
  cluster_->agent(0).Resume();
  ASSERT_OK_AND_ASSIGN(Session next, Open());
  EXPECT_OK(AddOnce(next, 1));
}

TEST_F(RelayedSessionTest, ADeviceThatComesBackIsNotHeldForWhoGaveItUp) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session,
                       Open({.idle = absl::Seconds(30), .patience = absl::Seconds(1)}));
  ASSERT_OK(cluster_->agent(0).Suspend());
  EXPECT_THAT(session.Facts(), StatusIs(Code::kUnavailable, HasSubstr("agent")));
  cluster_->agent(0).Resume();
  ASSERT_OK_AND_ASSIGN(const Job left, AwaitEnd(/*session=*/0));
  EXPECT_LT(left.end_time - left.create_time, kAtOnce);
}

TEST_F(RelayedSessionTest, WhatNobodyHasIsRefused) {
  StartCluster();
  EXPECT_THAT(Open({.device = "agent7"}), StatusIs(Code::kNotFound));
  EXPECT_THAT(Open({.target = "arm-64-linux"}), StatusIs(Code::kFailedPrecondition));
  EXPECT_THAT(Open({.target = "abacus"}), StatusIs(Code::kInvalidArgument));
}

TEST_F(RelayedSessionTest, WhatIsAskedBeforeTheDeviceIsThereIsAnsweredThen) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session first, Open());
  SessionWire wire(cluster_->address());
  wire.Send(OpenFor(absl::Seconds(10)));
  const uint64_t asked = wire.Ask(AllocateOf(1, {DataType::kFloat32, {2, 8}}));
  const uint64_t asked_next = wire.Ask(ReadOf(1, 64));
  ASSERT_TRUE(wire.Next().has_waiting());
  ASSERT_OK(first.Close());
  v1::SessionResponse answer;
  while (!answer.has_opened()) {
    answer = wire.Next();
    ASSERT_TRUE(answer.has_waiting() || answer.has_opened());
  }
  EXPECT_EQ(wire.Next().id(), asked);
  answer = wire.Next();
  EXPECT_EQ(answer.id(), asked_next);
  EXPECT_EQ(answer.data().size(), 64u);
}

TEST_F(RelayedSessionTest, ALeaseThatIsReleasedEndsTheSession) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client_->ListJobs({.limit = 10}));
  ASSERT_OK(client_->CancelJob(jobs[0].id));
  absl::Status ended;
  while (ended.ok()) ended = session.Facts().status();
  EXPECT_THAT(ended, StatusIs(Code::kCancelled));
  ASSERT_OK_AND_ASSIGN(Session next, Open());
  EXPECT_OK(AddOnce(next, 1));
}

TEST_F(RelayedSessionTest, AnAgentThatGoesAwaySaysSo) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK(cluster_->agent(0).Stop());
  // At once: it is no connection that broke and may come back.
  const absl::Status ended = session.Facts().status();
  EXPECT_THAT(ended, StatusIs(Code::kUnavailable,
                              AllOf(HasSubstr("the agent of device \"agent0\" is going away"),
                                    HasSubstr("open a session on another device"))));
  ASSERT_OK_AND_ASSIGN(const Job job, AwaitEnd(0));
  EXPECT_THAT(job.error, StatusIs(Code::kUnavailable, HasSubstr("is going away")));
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_OK_AND_ASSIGN(Session next, Open());
  EXPECT_OK(AddOnce(next, 1));
}

TEST_F(RelayedSessionTest, AnotherClientTakesUpWhatThisOneLeft) {
  StartCluster();
  std::string id;
  std::string ticket;
  {
    ASSERT_OK_AND_ASSIGN(Session session, Open({.idle = absl::Seconds(30)}));
    id = session.id();
    ticket = session.ticket();
    ASSERT_OK_AND_ASSIGN(const RemoteProgram program,
                         session.Load(TestProgram(TestKernel::kAdd), {.name = "net"}));
    ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Rows(1), "x"));
    ASSERT_OK(session.Detach());
  }
  const SessionOptions options = {.address = cluster_->address()};
  EXPECT_THAT(Session::Resume(options, id, "forged"), StatusIs(Code::kPermissionDenied));
  ASSERT_OK_AND_ASSIGN(ResumedSession first, Session::Resume(options, id, ticket));
  ASSERT_THAT(first.programs, SizeIs(1));
  ASSERT_THAT(first.tensors, SizeIs(1));
  ASSERT_OK(first.programs[0].Call({&first.tensors[0]}));
  // Of two that take it up the earlier ends.
  ASSERT_OK_AND_ASSIGN(ResumedSession second, Session::Resume(options, id, ticket));
  EXPECT_THAT(first.session.Facts(), StatusIs(Code::kAborted));
  ASSERT_OK(second.programs[0].Call({&second.tensors[0]}));
  ASSERT_OK(second.session.Close());
  EXPECT_THAT(Session::Resume(options, id, ticket), StatusIs(Code::kNotFound));
}

TEST_F(RelayedSessionTest, ALeaseIsTakenUsedAndReleasedByName) {
  StartCluster();
  const CommandResult taken = cluster_->Slipway({"lease", "take", "--purpose", "a test", "--json"});
  ASSERT_TRUE(taken.status.ok()) << taken.ToString();
  ASSERT_OK_AND_ASSIGN(const Json lease, ParseJson(taken.out));
  const std::string session = lease["session"];
  const std::string ticket = lease["ticket"];
  EXPECT_EQ(lease["device"], "agent0");
  const CommandResult listed = cluster_->Slipway({"lease", "list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("session: a test"), HasSubstr(session)));
  // Once nothing was heard of its client, it is told when it ends.
  const auto end_of_idle = [&]() -> Json {
    absl::StatusOr<Json> json = ParseJson(cluster_->Slipway({"lease", "list", "--json"}).out);
    return json.ok() ? (*json)["devices"][0]["lease"]["idle_until_ns"] : Json();
  };
  Json idle_until = end_of_idle();
  while (idle_until.is_null()) idle_until = end_of_idle();
  const absl::Time ends = absl::FromUnixNanos(idle_until.get<int64_t>());
  const absl::Time taken_until = absl::FromUnixNanos(lease["until_ns"].get<int64_t>());
  EXPECT_LT(ends - taken_until, absl::Seconds(10));
  EXPECT_GT(ends - taken_until, -absl::Seconds(10));
  const std::string script = cluster_->Path("script");
  ASSERT_OK(WriteFileAtomically(script, "x = random f32[2,8]\n", false));
  const std::vector<std::string> use = {"session", "--lease", session + ":" + ticket, "--script",
                                        script};
  EXPECT_TRUE(cluster_->Slipway(use).status.ok());
  ASSERT_OK(WriteFileAtomically(script, "get x\n", false));
  const CommandResult got = cluster_->Slipway(use);
  EXPECT_THAT(got.out, HasSubstr("x: f32[2, 8]")) << got.ToString();
  // Whoever has it is told who released it.
  ASSERT_OK_AND_ASSIGN(ResumedSession held,
                       Session::Resume({.address = cluster_->address()}, session, ticket));
  EXPECT_THAT(cluster_->Slipway({"lease", "release", session}).out, HasSubstr("is released"));
  absl::Status ended;
  while (ended.ok()) ended = held.session.Facts().status();
  EXPECT_THAT(ended, StatusIs(Code::kCancelled));
  EXPECT_THAT(std::string(ended.message()), HasSubstr("the lease was released by local at "));
  EXPECT_OK(Open());
}

TEST_F(RelayedSessionTest, ACrashLeavesTheSession) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(TestProgram(TestKernel::kCrash)));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Rows(1)));
  const absl::Status crashed = program.Call({&x}).status();
  EXPECT_THAT(crashed, StatusIs(Code::kAborted));
  EXPECT_THAT(std::string(crashed.message()), AllOf(HasSubstr("SIGSEGV"), HasSubstr("step 0")));
  EXPECT_OK(AddOnce(session, 1));
}

TEST_F(RelayedSessionTest, AnAgentThatDiesIsNamedAndItsDeviceIsFreeAgain) {
  StartCluster({.agents = 1, .server_flags = {"--silence=2s"}});
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  const absl::Time begin = absl::Now();
  cluster_->agent(0).Kill();
  absl::Status ended;
  while (ended.ok()) ended = session.Facts().status();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  EXPECT_THAT(std::string(ended.message()), HasSubstr("agent"));
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_OK_AND_ASSIGN(Session next, Open());
  EXPECT_OK(AddOnce(next, 1));
}

TEST_F(RelayedSessionTest, AServerThatRestartsLosesNothing) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open({.idle = absl::Seconds(30)}));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(TestProgram(TestKernel::kAdd)));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Rows(100)));
  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs, program.Call({&x}));
  ASSERT_OK_AND_ASSIGN(const Tensor y, outputs[0].Get());
  EXPECT_EQ(y.values<float>()[7], 107.0f);
}

}  // namespace
}  // namespace slipway::testing
