// Sessions of the client library on a real agent that listens: programs, tensors, crashes, and parties that go away.
#include "client/session.h"

#include <signal.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/session/response_status.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/service_process.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TMPDIR", "/tmp", 1);  // A socket's path has at most 107 bytes.
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("session"));
    setenv("SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks").c_str(), 1);
    address_ = "unix:" + JoinPath(folder_.path(), "socket");
    agent_ = std::make_unique<ServiceProcess>(ServiceProcess::Options{
        .name = "agent",
        .argv = {RunfilePath("device_agent/slipway-agent"), "--listen", address_, "--state-dir",
                 JoinPath(folder_.path(), "state"), "--id", "board"},
        .log_file = JoinPath(folder_.path(), "log")});
    ASSERT_THAT(agent_->Start(), IsOk());
  }
  Session Open(SessionOptions options = {}) {
    options.address = address_;
    absl::StatusOr<Session> session = Session::Open(options);
    EXPECT_THAT(session, IsOk());
    return *std::move(session);
  }
  static RemoteProgram Load(Session& session, TestKernel kernel) {
    absl::StatusOr<RemoteProgram> program = session.Load(TestProgram(kernel));
    EXPECT_THAT(program, IsOk());
    return *std::move(program);
  }
  static RemoteTensor PutOnes(Session& session) {
    Tensor ones = Tensor::Zeros(DataType::kFloat32, {2, 8});
    for (float& value : ones.mutable_values<float>()) value = 1;
    absl::StatusOr<RemoteTensor> tensor = session.Put(ones, "ones");
    EXPECT_THAT(tensor, IsOk());
    return *std::move(tensor);
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<ServiceProcess> agent_;
};

TEST_F(SessionTest, RunsWhatTheManifestCanSay) {
  Session session = Open();
  for (HandWrittenProgram& written :
       std::vector<HandWrittenProgram>{FreeWidth(), FoundShape(), SharedBuffer(), Branches(),
                                       While(), Scan(), NestedControl(), SeveralEntries()}) {
    SCOPED_TRACE(written.name);
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, written.builder.Build());
    ASSERT_OK_AND_ASSIGN(const RemoteProgram program,
                         session.Load(artifact, {.name = written.name}));
    std::vector<RemoteTensor> inputs;
    std::vector<const RemoteTensor*> pointers;
    for (const Tensor& input : written.inputs) {
      ASSERT_OK_AND_ASSIGN(RemoteTensor remote, session.Put(input));
      inputs.push_back(std::move(remote));
    }
    for (const RemoteTensor& input : inputs) pointers.push_back(&input);
    ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs, program.Call(pointers));
    ASSERT_EQ(outputs.size(), written.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_OK_AND_ASSIGN(const Tensor output, outputs[i].Get());
      EXPECT_EQ(output.type(), written.outputs[i].type());
      EXPECT_TRUE(output.bytes() == written.outputs[i].bytes());
    }
  }
  EXPECT_THAT(session.Close(), IsOk());
}

TEST_F(SessionTest, TensorsComeBackAsTheyWent) {
  Session session = Open();
  const TensorType type = {DataType::kFloat32, {7, 1000, 701}};  // Some 19 MiB.
  ASSERT_OK_AND_ASSIGN(const Tensor expected, RandomTensor(type, 5, "x"));
  ASSERT_OK_AND_ASSIGN(RemoteTensor random, session.Random(type, 5, "x"));
  ASSERT_OK_AND_ASSIGN(const Tensor made, random.Get());
  EXPECT_TRUE(made.bytes() == expected.bytes());
  ASSERT_OK_AND_ASSIGN(const RemoteTensor put, session.Put(expected));
  ASSERT_OK_AND_ASSIGN(const Tensor back, put.Get());
  EXPECT_TRUE(back.bytes() == expected.bytes());

  // One row of each of two matrices, to another place.
  ASSERT_OK_AND_ASSIGN(const RemoteTensor box, put.Slice({3, 10, 0}, {2, 1, 701}));
  ASSERT_OK_AND_ASSIGN(RemoteTensor zeros, session.Zeros(type));
  ASSERT_THAT(zeros.Assign({5, 20, 0}, box), IsOk());
  std::vector<float> row(701);
  const int64_t offset = ((6 * 1000 + 20) * 701) * int64_t{sizeof(float)};
  ASSERT_THAT(zeros.Read(offset, absl::MakeSpan(reinterpret_cast<char*>(row.data()),
                                                row.size() * sizeof(float))),
              IsOk());
  const float* const from = expected.values<float>().data() + (4 * 1000 + 10) * 701;
  EXPECT_EQ(std::memcmp(row.data(), from, row.size() * sizeof(float)), 0);
}

TEST_F(SessionTest, CallsOneAfterTheOtherWithoutWaiting) {
  Session session = Open();
  const RemoteProgram add = Load(session, TestKernel::kAdd);
  StartedTensor x = session.PutAsync(Tensor::Zeros(DataType::kFloat32, {2, 8}));
  std::vector<StartedCall> calls;
  for (int i = 0; i < 1000; ++i) {
    calls.push_back(add.CallAsync({i == 0 ? &x.tensor : &calls.back().outputs[0]}));
  }
  ASSERT_THAT(calls.back().done.Get(), IsOk());
  ASSERT_OK_AND_ASSIGN(const Tensor sum, calls.back().outputs[0].Get());
  EXPECT_EQ(sum.values<float>()[7], 7000);  // A thousand times the bias of the last column.
  ASSERT_OK_AND_ASSIGN(
      const BenchmarkResult timed,
      add.Time({&x.tensor}, {.call = {.profile = true}, .warmup = 1, .samples = 5}));
  EXPECT_EQ(timed.samples_ns.size(), 5u);
  EXPECT_EQ(timed.steps.size(), 2u);
}

TEST_F(SessionTest, ACrashIsToldWholeAndTheSessionLivesOn) {
  Session session = Open();
  const RemoteProgram crash = Load(session, TestKernel::kCrash);
  const RemoteTensor x = PutOnes(session);
  const absl::Status status = crash.Call({&x}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted,
                               AllOf(HasSubstr("signal 11"), HasSubstr("Kernel"))));
  EXPECT_FALSE(x.Get().ok());
  EXPECT_FALSE(crash.Call({&x}).ok());
  const RemoteProgram add = Load(session, TestKernel::kAdd);
  const RemoteTensor y = PutOnes(session);
  ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs, add.Call({&y}));
  ASSERT_OK_AND_ASSIGN(const Tensor sum, outputs[0].Get());
  EXPECT_EQ(sum.values<float>()[3], 4);
}

TEST_F(SessionTest, ACallThatNeverEndsHasADeadline) {
  Session session = Open();
  const RemoteProgram loop = Load(session, TestKernel::kLoop);
  const RemoteTensor x = PutOnes(session);
  EXPECT_THAT(loop.Call({&x}, {.deadline = absl::Milliseconds(300)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(session.Facts(), IsOk());
}

TEST_F(SessionTest, AnAgentIsNoServerForJobs) {
  EXPECT_THAT(Client::Connect({.server = address_}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("sessions alone")));
}

TEST_F(SessionTest, ThreadsOvertakeEachOther) {
  Session session = Open();
  const RemoteProgram program = Load(session, TestKernel::kAdd);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const RemoteTensor x = PutOnes(session);
        const absl::StatusOr<std::vector<RemoteTensor>> outputs = program.Call({&x});
        ASSERT_THAT(outputs, IsOk());
        ASSERT_THAT((*outputs)[0].Get(), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SessionTest, AnotherClientTakesUpWhatThisOneLeft) {
  std::string id;
  std::string ticket;
  {
    Session session = Open({.idle = absl::Seconds(30)});
    id = session.id();
    ticket = session.ticket();
    const RemoteProgram program = Load(session, TestKernel::kAdd);
    const RemoteTensor x = PutOnes(session);
    ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs,
                         program.Call({&x}, {.output_names = {"sum"}}));
    ASSERT_THAT(session.Detach(), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(ResumedSession resumed, Session::Resume({.address = address_}, id, ticket));
  ASSERT_EQ(resumed.programs.size(), 1u);
  ASSERT_EQ(resumed.tensors.size(), 2u);
  EXPECT_EQ(resumed.tensors[0].name(), "ones");
  EXPECT_EQ(resumed.tensors[1].name(), "sum");
  ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs,
                       resumed.programs[0].Call({&resumed.tensors[1]}));
  ASSERT_OK_AND_ASSIGN(const Tensor twice, outputs[0].Get());
  EXPECT_EQ(twice.values<float>()[7], 15.0f);
  // Whoever takes it up next ends this one.
  ASSERT_OK_AND_ASSIGN(ResumedSession next, Session::Resume({.address = address_}, id, ticket));
  EXPECT_EQ(next.tensors.size(), 3u);
  EXPECT_THAT(outputs[0].Get(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(next.session.Close(), IsOk());
  EXPECT_THAT(Session::Resume({.address = address_}, id, ticket),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SessionTest, TheNextClientWaitsForTheDevice) {
  auto first = std::make_unique<Session>(Open());
  EXPECT_THAT(Session::Open({.address = address_, .wait = absl::ZeroDuration()}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  absl::Notification waits;
  std::thread second([&] {
    Session session = Open({.on_waiting = [&](int64_t, const std::string&) {
      if (!waits.HasBeenNotified()) waits.Notify();
    }});
    EXPECT_THAT(session.Facts(), IsOk());
  });
  waits.WaitForNotification();
  EXPECT_THAT(first->Close(), IsOk());
  second.join();
}

TEST_F(SessionTest, AnAgentThatIsStoppedOrKilledIsTold) {
  for (const int how : {SIGSTOP, SIGKILL}) {
    // The device is let go of that long after it has seen its client last.
    Session session = Open({.idle = absl::Seconds(4)});
    const RemoteProgram loop = Load(session, TestKernel::kLoop);
    const RemoteTensor x = PutOnes(session);
    StartedCall call = loop.CallAsync({&x}, {.deadline = absl::Seconds(30)});
    ASSERT_FALSE(call.done.Wait(absl::Now() + absl::Milliseconds(100)));
    const absl::Time start = absl::Now();
    ASSERT_EQ(kill(agent_->pid(), how), 0);
    EXPECT_THAT(call.done.Get(),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("the server at \"" + address_ + "\" does not answer")));
    EXPECT_LT(absl::Now() - start, absl::Seconds(5));
    if (how == SIGSTOP) kill(agent_->pid(), SIGCONT);
  }
}

TEST_F(SessionTest, AnAgentThatStartsAnewKnowsNothingOfTheSession) {
  Session session = Open();
  const RemoteTensor x = PutOnes(session);
  agent_->Kill();
  ASSERT_THAT(agent_->Start(), IsOk());
  EXPECT_THAT(x.Get(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("session")));
  Session again = Open();
  EXPECT_THAT(PutOnes(again).Get(), IsOk());
}

}  // namespace
}  // namespace slipway::testing
