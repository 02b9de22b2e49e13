// A session's host with a real runner, and connections without a network.
#include "device_agent/session/session_host.h"

#include <stdlib.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/machine_lock.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/program_builder.h"
#include "core/runtime/test_programs/small_kernels.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "core/wire/session_messages.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/session/session_limits.h"
#include "device_agent/testing/runner_place.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Request = v1::SessionRequest;

// Keeps what the host sends. ReadNext is counted, not answered: tests call Take when they like.
class Connection final : public SessionConnection {
 public:
  void Attached(std::shared_ptr<SessionHost>) override {}
  void Send(absl::Cord message, bool) override {
    absl::StatusOr<SessionResponseParts> parts = ParseSessionResponses(message);
    ASSERT_OK(parts);
    absl::MutexLock lock(&mutex_);
    if (holds_) held_.push_back(message);
    for (v1::SessionResponse& response : *parts->message.mutable_responses()) {
      if (response.id() == 0) {
        // Behind so many answers.
        response.set_message(absl::StrCat(responses_.size()));
        news_.push_back(response);
        continue;
      }
      responses_.push_back(response);
    }
    if (!parts->data.empty()) data_.push_back(std::move(parts->data));
  }
  void ReadNext() override {
    absl::MutexLock lock(&mutex_);
    ++reads_;
  }
  void End(const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    end_ = status;
    has_ended_ = true;
  }

  // Waits until there are so many.
  std::vector<v1::SessionResponse> Responses(size_t count) {
    const auto are_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return responses_.size() >= count || has_ended_;
    };
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&are_there), absl::Seconds(60));
    return responses_;
  }
  absl::Status AwaitEnd() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&has_ended_));
    return end_;
  }
  std::vector<v1::SessionResponse> news() {
    absl::MutexLock lock(&mutex_);
    return news_;
  }
  std::string Data(size_t index) {
    absl::MutexLock lock(&mutex_);
    return std::string(data_.at(index));
  }
  // From now on nothing of what is sent goes out.
  void Hold() {
    absl::MutexLock lock(&mutex_);
    holds_ = true;
  }
  int reads() {
    absl::MutexLock lock(&mutex_);
    return reads_;
  }
  void DropData() {
    absl::MutexLock lock(&mutex_);
    data_.clear();
  }

 private:
  absl::Mutex mutex_;
  std::vector<v1::SessionResponse> responses_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::SessionResponse> news_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Cord> data_ ABSL_GUARDED_BY(mutex_);
  bool holds_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<absl::Cord> held_ ABSL_GUARDED_BY(mutex_);
  int reads_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

class SessionHostTest : public ::testing::TestWithParam<RunnerPlace> {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("session_host");
    setenv("SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks").c_str(), 1);
    FileBlobStore::Options options;
    options.folder = JoinPath(folder_.path(), "cache");
    options.durable = false;
    store_ = *FileBlobStore::Create(options);
    for (const TestKernel kernel : {TestKernel::kAdd, TestKernel::kCrash}) {
      Store(TestProgram(kernel));
    }
    tools_.start_runner = [this] {
      RunnerOptions runner;
      runner.executable = "device_agent/slipway-agent";
      runner.cache_folder = JoinPath(folder_.path(), "cache");
      runner.log_level = "debug";
      if (GetParam() == RunnerPlace::kAttached) {
        runner.attached = StandInDevice(JoinPath(folder_.path(), "device"));
      }
      return RunnerProcess::Start(runner);
    };
    tools_.blobs = {.cache = store_.get(), .pinned = &pinned_, .fetch = nullptr};
    tools_.memory_bytes = int64_t{1} << 30;
    tools_.clock = &clock_;
    Start(absl::Seconds(60));
  }
  void Start(absl::Duration idle) {
    SessionTerms terms;
    terms.session = "session";
    terms.ticket = "ticket";
    terms.idle = idle;
    terms.longest = absl::Hours(1);
    ASSERT_OK_AND_ASSIGN(host_, SessionHost::Start(terms, tools_, [this](const absl::Status& why) {
                           absl::MutexLock lock(&mutex_);
                           why_ = why;
                         }));
    connection_ = std::make_shared<Connection>();
    host_->Attach(connection_, 0);
  }
  void Restart(absl::Duration idle) {
    host_ = nullptr;
    last_ = acked_ = 0;
    {
      absl::MutexLock lock(&mutex_);
      why_.reset();
    }
    Start(idle);
  }
  absl::Status AwaitEnd() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::optional<absl::Status>* why) { return why->has_value(); }, &why_));
    return *why_;
  }
  void TearDown() override { host_ = nullptr; }

  uint64_t Ask(Request request, const std::string& data = "") {
    request.set_id(++last_);
    absl::Cord message = WriteSessionAck(acked_);
    message.Append(WriteSessionRequest(request, absl::Cord(data)));
    host_->Take(connection_.get(), message);
    return last_;
  }
  static Request Load(const Digest& artifact, uint64_t handle) {
    Request request;
    request.mutable_load()->set_program(handle);
    *request.mutable_load()->mutable_manifest() = ToProto(artifact);
    return request;
  }
  static Request Load(TestKernel kernel, uint64_t handle) {
    return Load(TestProgram(kernel).digest(), handle);
  }
  void Store(const Artifact& artifact) {
    ASSERT_OK(store_->Put(artifact.digest(), artifact.manifest().bytes()));
    for (const Digest& digest : artifact.manifest().blobs()) {
      ASSERT_OK(store_->Put(digest, artifact.blob(digest).bytes()));
    }
  }
  // A program on the device: x f32[1] -> y f32[1], by so many additions whose steps have names of this length.
  Digest ManySteps(int steps, size_t name_bytes) {
    ProgramBuilder builder;
    const auto value = [&](v1::Buffer::Class kind) {
      return builder.AddValue(kind, DataType::kFloat32, {1});
    };
    const uint32_t x = value(v1::Buffer::CLASS_EXTERNAL);
    std::vector<uint32_t> sums = {x};
    for (int i = 1; i < steps; ++i) sums.push_back(value(v1::Buffer::CLASS_STATIC));
    sums.push_back(value(v1::Buffer::CLASS_EXTERNAL));
    v1::Function& main = builder.AddFunction("main");
    ProgramBuilder::AddInput(main, "x", x);
    ProgramBuilder::AddOutput(main, "y", sums.back());
    const std::string name(name_bytes, 's');
    for (int i = 0; i < steps; ++i) {
      const auto at = static_cast<size_t>(i);
      ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {sums[at], x}, {sums[at + 1]})
          .set_name(name);
    }
    const absl::StatusOr<Artifact> artifact = builder.Build();
    EXPECT_OK(artifact);
    Store(*artifact);
    return artifact->digest();
  }
  static Request Profiled(Request call) {
    call.mutable_call()->set_profile(true);
    return call;
  }
  static Request Allocate(uint64_t handle, const TensorType& type) {
    Request request;
    request.mutable_allocate()->set_tensor(handle);
    *request.mutable_allocate()->mutable_type() = ToProto(type);
    return request;
  }
  static Request Call(uint64_t program, uint64_t input, uint64_t output) {
    Request request;
    request.mutable_call()->set_program(program);
    request.mutable_call()->add_inputs(input);
    request.mutable_call()->add_outputs(output);
    return request;
  }
  static Request Read(uint64_t handle, int64_t size) {
    Request request;
    request.mutable_read()->set_tensor(handle);
    request.mutable_read()->set_size(size);
    return request;
  }

  SystemClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<BlobStore> store_;
  PinnedBlobs pinned_;
  SessionTools tools_;
  absl::Mutex mutex_;
  std::optional<absl::Status> why_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SessionHost> host_;
  std::shared_ptr<Connection> connection_;
  uint64_t last_ = 0;
  uint64_t acked_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Places, SessionHostTest, kRunnerPlaces, NameOfPlace);

const TensorType kRows{DataType::kFloat32, {2, 8}};

TEST_P(SessionHostTest, AnswersManyRequestsInOrder) {
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Allocate(2, kRows));
  Ask(Allocate(3, kRows));
  for (int i = 0; i < 300; ++i) Ask(i % 2 == 0 ? Call(1, 2, 3) : Call(1, 3, 2));
  Ask(Read(2, 64));
  const std::vector<v1::SessionResponse> responses = connection_->Responses(last_);
  ASSERT_EQ(responses.size(), last_);
  for (size_t i = 0; i < responses.size(); ++i) {
    EXPECT_EQ(responses[i].id(), i + 1);
    EXPECT_EQ(responses[i].code(), 0) << responses[i].message();
  }
  ASSERT_OK_AND_ASSIGN(const Tensor y, Tensor::FromBytes(kRows, connection_->Data(0)));
  EXPECT_EQ(y.values<float>()[7], 300 * 7.0f);
}

TEST_P(SessionHostTest, WhatIsNotAckedComesAgainAndWhatWasTakenIsNotDoneAgain) {
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Allocate(2, kRows));
  Ask(Allocate(3, kRows));
  Ask(Call(1, 2, 3));
  ASSERT_EQ(connection_->Responses(4).size(), 4u);
  const auto second = std::make_shared<Connection>();
  host_->Attach(second, 2);
  EXPECT_THAT(connection_->AwaitEnd(), StatusIs(Code::kAborted));
  const std::vector<v1::SessionResponse> again = second->Responses(2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].id(), 3u);
  ASSERT_EQ(second->news().size(), 1u);
  EXPECT_EQ(second->news()[0].opened().taken(), 4u);
  // Of the connection that was replaced nothing is taken.
  Ask(Allocate(9, kRows));
  connection_ = second;
  last_ = 3;
  Ask(Call(1, 2, 3));
  Ask(Read(3, 64));
  ASSERT_EQ(second->Responses(3).size(), 3u);
  ASSERT_OK_AND_ASSIGN(const Tensor y, Tensor::FromBytes(kRows, second->Data(0)));
  EXPECT_EQ(y.values<float>()[7], 7.0f);
}

TEST_P(SessionHostTest, MorePiecesThanThereAreComeWhenSomeAreAcked) {
  Ask(Allocate(1, {DataType::kUint8, {1000}}));
  for (int i = 0; i < kWindowPieces + 5; ++i) Ask(Read(1, 1000));
  const std::vector<v1::SessionResponse> first =
      connection_->Responses(1 + static_cast<size_t>(kWindowPieces));
  EXPECT_EQ(first.size(), 1u + kWindowPieces);
  connection_->DropData();
  acked_ = first.size();
  Ask(Allocate(2, kRows));
  EXPECT_EQ(connection_->Responses(last_).size(), last_);
}

TEST_P(SessionHostTest, ConnectionsComeAndGoWhileRequestsAreCarriedOut) {
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Allocate(2, kRows));
  Ask(Allocate(3, kRows));
  connection_->Responses(3);
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([this] {
      for (int turn = 0; turn < 20; ++turn) {
        const auto other = std::make_shared<Connection>();
        host_->Attach(other, 3);
        Request heartbeat;
        heartbeat.mutable_heartbeat();
        host_->Take(other.get(), WriteSessionRequest(heartbeat));
        host_->Detach(other.get());
      }
    });
  }
  for (std::thread& other : others) other.join();
  connection_ = std::make_shared<Connection>();
  host_->Attach(connection_, 3);
  Ask(Call(1, 2, 3));
  ASSERT_EQ(connection_->Responses(1).size(), 1u);
  EXPECT_EQ(connection_->Responses(1)[0].id(), 4u);
}

TEST_P(SessionHostTest, TheMachineIsHeldForWhatIsTimedAlone) {
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Allocate(2, kRows));
  Request time;
  time.mutable_time()->mutable_call()->set_program(1);
  time.mutable_time()->mutable_call()->add_inputs(2);
  time.mutable_time()->set_samples(2);
  Request bad = time;
  bad.mutable_time()->set_samples(-1);
  Ask(time);
  Ask(Load(TestKernel::kAdd, 3));
  Ask(time);
  Ask(bad);
  const std::vector<v1::SessionResponse> responses = connection_->Responses(6);
  ASSERT_EQ(responses.size(), 6u);
  EXPECT_EQ(responses[2].timed().result().samples_ns_size(), 2);
  EXPECT_EQ(responses[4].timed().result().samples_ns_size(), 2);
  EXPECT_EQ(responses[5].code(), static_cast<int>(Code::kInvalidArgument));
  EXPECT_OK(MachineLock::Acquire(MachineLock::Mode::kExclusive, absl::Seconds(5)));
}

TEST_P(SessionHostTest, ACrashIsAnsweredAndTheRestGoesOn) {
  Ask(Load(TestKernel::kCrash, 1));
  Ask(Allocate(2, kRows));
  Ask(Call(1, 2, 3));
  Ask(Read(2, 64));
  Ask(Allocate(4, kRows));
  const std::vector<v1::SessionResponse> responses = connection_->Responses(5);
  ASSERT_EQ(responses.size(), 5u);
  EXPECT_EQ(responses[2].code(), static_cast<int>(Code::kAborted));
  EXPECT_THAT(responses[3].message(), HasSubstr("was lost"));
  EXPECT_EQ(responses[4].code(), 0);
}

TEST_P(SessionHostTest, ACallThatWouldNotEndCanBeCancelled) {
  HandWrittenProgram program = NestedControl();
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, program.builder.Build());
  Store(artifact);
  Request load = Load(artifact.digest(), 1);
  load.mutable_load()->set_loop_turns(INT64_MAX);
  Ask(load);
  Request call;
  call.mutable_call()->set_program(1);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    // Loops over all numbers of turns that there are.
    const Tensor input = program.inputs[i].dtype() == DataType::kInt64
                             ? Tensor::Scalar<int64_t>(INT64_MAX)
                             : program.inputs[i];
    const uint64_t handle = 2 + i;
    Ask(Allocate(handle, input.type()));
    Request write;
    write.mutable_write()->set_tensor(handle);
    Ask(write, std::string(input.bytes()));
    call.mutable_call()->add_inputs(handle);
  }
  call.mutable_call()->add_outputs(100);
  const size_t before = last_;
  const uint64_t called = Ask(call);
  ASSERT_EQ(connection_->Responses(before).size(), before);
  // It may begin before it is cancelled, or not.
  absl::SleepFor(absl::Milliseconds(50));
  Request cancel;
  cancel.mutable_cancel()->set_request(called);
  host_->Take(connection_.get(), WriteSessionRequest(cancel, absl::Cord()));
  const std::vector<v1::SessionResponse> responses = connection_->Responses(called);
  ASSERT_EQ(responses.size(), called);
  EXPECT_EQ(responses.back().code(), static_cast<int>(Code::kCancelled))
      << responses.back().message();
}

TEST_P(SessionHostTest, ALoadThatFetchesHoldsUpNobodyAndCanBeCancelled) {
  const Artifact slow = TestProgram(TestKernel::kSlow);
  ASSERT_OK(store_->Put(slow.digest(), slow.manifest().bytes()));
  for (const Digest& digest : slow.manifest().blobs()) {
    ASSERT_OK(store_->Put(digest, slow.blob(digest).bytes()));
  }
  tools_.blobs.fetch = [](const Digest&, absl::Time, std::stop_token stop) {
    absl::Notification stopped;
    const std::stop_callback callback(stop, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return absl::CancelledError("stopped");
  };
  Restart(absl::Seconds(60));
  Ask(Load(TestKernel::kSlow, 1));
  Ask(Allocate(2, kRows));
  Tensor turns = Tensor::Zeros(DataType::kFloat32, {2, 8});
  turns.mutable_values<float>()[0] = 30;
  Request write;
  write.mutable_write()->set_tensor(2);
  Ask(write, std::string(turns.bytes()));
  Ask(Call(1, 2, 3));
  // Begins to fetch while that runs.
  const uint64_t fetches = Ask(Load(TestKernel::kCount, 4));
  Ask(Allocate(5, kRows));
  std::vector<v1::SessionResponse> responses = connection_->Responses(4);
  ASSERT_EQ(responses.size(), 4u);
  EXPECT_EQ(responses[3].code(), 0) << responses[3].message();
  Request cancel;
  cancel.mutable_cancel()->set_request(fetches);
  host_->Take(connection_.get(), WriteSessionRequest(cancel));
  // What follows needs the thread that fetched.
  Ask(Load(TestKernel::kAdd, 6));
  responses = connection_->Responses(7);
  ASSERT_EQ(responses.size(), 7u);
  EXPECT_EQ(responses[4].code(), static_cast<int>(Code::kCancelled));
  EXPECT_EQ(responses[5].code(), 0) << responses[5].message();
  EXPECT_EQ(responses[6].code(), 0) << responses[6].message();
}

TEST_P(SessionHostTest, WhoWaitsForTheMachineIsStillGivenUp) {
  ASSERT_OK_AND_ASSIGN(const MachineLock other,
                       MachineLock::Acquire(MachineLock::Mode::kShared, absl::Seconds(5)));
  Restart(absl::Seconds(1));
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Allocate(2, kRows));
  Request time;
  time.mutable_time()->mutable_call()->set_program(1);
  time.mutable_time()->mutable_call()->add_inputs(2);
  time.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Hours(1)));
  Ask(time);
  const absl::Status why = AwaitEnd();
  EXPECT_THAT(why, StatusIs(Code::kDeadlineExceeded));
  EXPECT_THAT(std::string(why.message()), HasSubstr("nothing was heard of its client for 1s"));
}

TEST_P(SessionHostTest, AnAgentThatWasAsleepForgivesItsClient) {
  FakeClock machine;
  // Runners compare times of requests with their own.
  machine.Advance(clock_.Monotonic());
  tools_.clock = &machine;
  const auto start = tools_.start_runner;
  int started = 0;
  // The agent sleeps before it starts another runner, and looks at the times after that.
  tools_.start_runner = [&] {
    if (++started > 1) machine.Advance(absl::Minutes(10));
    return start();
  };
  Restart(absl::Seconds(5));
  for (uint64_t handle : {1, 2, 3}) {
    for (Request request : {Load(TestKernel::kCrash, handle), Allocate(10 + handle, kRows),
                            Call(handle, 10 + handle, 20 + handle)}) {
      request.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Hours(1)));
      Ask(request);
    }
  }
  EXPECT_EQ(connection_->Responses(last_).size(), last_);
  host_ = nullptr;
  EXPECT_GE(started, 3);
}

TEST_P(SessionHostTest, WhatARunnerWritesComesBeforeTheAnswer) {
  Ask(Load(TestKernel::kAdd, 1));
  Ask(Load(TestKernel::kFail, 2));
  Ask(Allocate(3, kRows));
  connection_->Responses(3);
  Ask(Call(1, 3, 4));
  ASSERT_EQ(connection_->Responses(4).size(), 4u);
  std::string before_the_call;
  std::string before_its_answer;
  for (const v1::SessionResponse& news : connection_->news()) {
    EXPECT_TRUE(news.has_opened() || absl::EndsWith(news.log().text(), "\n"));
    if (news.message() == "3") before_its_answer += news.log().text();
    if (news.message() != "4") before_the_call += news.log().text();
  }
  EXPECT_THAT(before_the_call, HasSubstr("loads a program"));
  EXPECT_THAT(before_its_answer, HasSubstr("calls the program"));
}

TEST_P(SessionHostTest, TellsWhenNothingIsHeardAndWhenItIsAgain) {
  SessionTerms terms;
  terms.idle = absl::Hours(1);
  terms.longest = absl::Hours(1);
  terms.silence = absl::Milliseconds(20);
  absl::Mutex mutex;
  std::vector<absl::Duration> told;
  const auto await = [&](size_t count) {
    const auto are_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
      return told.size() >= count;
    };
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(&are_there));
    return told[count - 1];
  };
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<SessionHost> host,
                       SessionHost::Start(
                           terms, tools_, [](const absl::Status&) {},
                           [&](absl::Duration silence) {
                             absl::MutexLock lock(&mutex);
                             told.push_back(silence);
                           }));
  EXPECT_GE(await(1), absl::Milliseconds(20));
  host->Attach(std::make_shared<Connection>(), 0);
  EXPECT_EQ(await(2), absl::ZeroDuration());
  // Also of a client that is connected.
  EXPECT_GE(await(3), absl::Milliseconds(20));
}

TEST_P(SessionHostTest, AProfileOfManySteps) {
  Ask(Load(ManySteps(50'000, 100), 1));
  Ask(Allocate(2, {DataType::kFloat32, {1}}));
  Ask(Profiled(Call(1, 2, 3)));
  const std::vector<v1::SessionResponse> responses = connection_->Responses(3);
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(responses[2].code(), 0) << responses[2].message();
  EXPECT_EQ(responses[2].called().steps_size(), 50'000);
  EXPECT_GT(responses[2].ByteSizeLong(), size_t{4} << 20);
}

TEST_P(SessionHostTest, AnAnswerThatIsTooLongIsAnErrorAndTheSessionLivesOn) {
  Ask(Load(ManySteps(20'000, 1000), 1));
  Ask(Allocate(2, {DataType::kFloat32, {1}}));
  Ask(Profiled(Call(1, 2, 3)));
  Ask(Call(1, 2, 4));
  Ask(Read(4, 4));
  const std::vector<v1::SessionResponse> responses = connection_->Responses(5);
  ASSERT_EQ(responses.size(), 5u);
  EXPECT_EQ(responses[2].code(), static_cast<int>(Code::kResourceExhausted));
  EXPECT_THAT(responses[2].message(), HasSubstr("without a profile"));
  EXPECT_EQ(responses[3].code(), 0) << responses[3].message();
  EXPECT_EQ(responses[4].code(), 0) << responses[4].message();
}

TEST_P(SessionHostTest, WhoReadsNothingIsNotSentMoreNews) {
  connection_->Hold();
  Request heartbeat;
  heartbeat.mutable_heartbeat();
  const size_t before = connection_->news().size();
  for (uint64_t i = 1; i <= 100; ++i) {
    host_->Take(connection_.get(), WriteSessionRequest(heartbeat));
    Ask(Load(TestKernel::kAdd, i));  // Which the runner has something to say about, each time.
  }
  EXPECT_EQ(connection_->Responses(100).size(), 100u);
  EXPECT_LE(connection_->news().size() - before, 2u);
}

TEST_P(SessionHostTest, WhatIsStuckOnAConnectionHoldsUpNoOther) {
  connection_->Hold();
  Request heartbeat;
  heartbeat.mutable_heartbeat();
  host_->Take(connection_.get(), WriteSessionRequest(heartbeat));
  Ask(Load(TestKernel::kAdd, 1));  // Which the runner has something to say about.
  connection_->Responses(1);
  auto next = std::make_shared<Connection>();
  host_->Attach(next, 1);
  host_->Take(next.get(), WriteSessionRequest(heartbeat));
  EXPECT_TRUE(next->news().back().has_heartbeat());
  connection_.swap(next);
  Ask(Load(TestKernel::kAdd, 2));
  connection_->Responses(1);
  bool has_log = false;
  for (const v1::SessionResponse& news : connection_->news()) has_log |= news.has_log();
  EXPECT_TRUE(has_log);
}

TEST_P(SessionHostTest, AnErrorQuotesNoMoreThanFits) {
  Ask(Load(TestKernel::kAdd, 1));
  Request call = Call(1, 2, 3);
  // Three times as much in a message for people, and more than a message may have.
  call.mutable_call()->set_function(std::string(3 << 20, '\1'));
  Ask(call);
  const std::vector<v1::SessionResponse> responses = connection_->Responses(2);
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[1].code(), static_cast<int>(Code::kNotFound));
  EXPECT_THAT(responses[1].message(), HasSubstr("no function"));
  EXPECT_EQ(responses[1].message().size(), kMaxErrorBytes);
}

TEST_P(SessionHostTest, WhoTakesNoNoteOfLargeAnswersIsNotReadOn) {
  Ask(Load(TestKernel::kAdd, 1));
  Request call = Call(1, 2, 3);
  call.mutable_call()->set_function(std::string(kMaxErrorBytes, 'x'));
  const size_t enough = static_cast<size_t>(kMostAnswersHeldBytes) / kMaxErrorBytes;
  for (size_t i = 0; i < enough; ++i) Ask(call);
  ASSERT_EQ(connection_->Responses(last_).size(), last_);
  const int reads = connection_->reads();
  Ask(Allocate(3, kRows));
  connection_->Responses(last_);
  EXPECT_EQ(connection_->reads(), reads);
  acked_ = last_;
  Ask(Allocate(4, kRows));
  connection_->Responses(last_);
  EXPECT_GT(connection_->reads(), reads);
}

TEST_P(SessionHostTest, CloseEndsItWhenAllIsAnswered) {
  Ask(Allocate(1, kRows));
  Request close;
  close.mutable_close();
  host_->Take(connection_.get(), WriteSessionRequest(close));
  EXPECT_OK(AwaitEnd());
  EXPECT_OK(connection_->AwaitEnd());
  EXPECT_EQ(connection_->Responses(1).size(), 1u);
}

TEST_P(SessionHostTest, GarbageEndsIt) {
  host_->Take(connection_.get(), absl::Cord("garbage"));
  EXPECT_THAT(AwaitEnd(), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(connection_->AwaitEnd(), StatusIs(Code::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
