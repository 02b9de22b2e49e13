// The agent's binary that listens, and clients that speak the protocol of sessions to it.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/grpc_session_wire.h"
#include "tests/common/service_process.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;
using Wire = SessionWire;
using Request = v1::SessionRequest;

constexpr char kAgent[] = "device_agent/slipway-agent";

class SessionProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("session");
    setenv("SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks").c_str(), 1);
    address_ = "unix:" + JoinPath(folder_.path(), "socket");
    StartAgent();
  }
  void StartAgent() {
    ServiceProcess::Options options;
    options.name = "agent";
    options.argv = {
        kAgent, "--listen", address_,       "--state-dir", JoinPath(folder_.path(), "state"),
        "--id", "board",    "--no-measure", "--label",     "lab=berlin"};
    options.log_file = JoinPath(folder_.path(), "log");
    agent_ = std::make_unique<ServiceProcess>(std::move(options));
    ASSERT_OK(agent_->Start());
  }

  std::unique_ptr<Wire> Open(absl::Duration idle = absl::Seconds(30)) {
    auto wire = std::make_unique<Wire>(address_);
    wire->Send(OpenFor(idle));
    v1::SessionResponse response = wire->Next();
    while (response.has_waiting()) response = wire->Next();
    EXPECT_EQ(response.opened().device(), "board") << response.ShortDebugString();
    opened_ = response.opened();
    return wire;
  }
  std::unique_ptr<Wire> Resume(uint64_t received) {
    auto wire = std::make_unique<Wire>(address_);
    Request request;
    request.mutable_resume()->set_session(opened_.session());
    request.mutable_resume()->set_ticket(opened_.ticket());
    request.mutable_resume()->set_received(received);
    wire->Send(request);
    return wire;
  }
  // Sends what the device lacks, and loads.
  v1::SessionResponse Load(Wire& wire, const Artifact& artifact, uint64_t handle) {
    Request load;
    load.mutable_load()->set_program(handle);
    load.mutable_load()->set_name("net");
    *load.mutable_load()->mutable_manifest() = ToProto(artifact.digest());
    v1::SessionResponse response = wire.Do(load);
    while (response.loaded().missing_size() > 0) {
      for (const v1::Digest& missing : response.loaded().missing()) {
        const Digest digest = *FromProto(missing);
        Request write;
        *write.mutable_write_blob()->mutable_blob() = missing;
        write.set_data(std::string(digest == artifact.digest()
                                       ? absl::string_view(artifact.manifest().bytes())
                                       : artifact.blob(digest).bytes()));
        const v1::SessionResponse written = wire.Do(write);
        EXPECT_EQ(written.code(), 0) << written.message();
        EXPECT_EQ(written.blob_written().size(), digest.size_bytes());
      }
      response = wire.Do(load);
    }
    return response;
  }
  // Children of any of the agent's threads.
  std::vector<pid_t> Runners() {
    std::vector<pid_t> pids;
    const std::string tasks = absl::StrCat("/proc/", agent_->pid(), "/task");
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      const absl::StatusOr<std::string> found = ReadFile(task.path().string() + "/children", 4096);
      if (!found.ok()) continue;  // A thread that has ended.
      for (const absl::string_view text : absl::StrSplit(*found, ' ', absl::SkipEmpty())) {
        pid_t child = 0;
        if (absl::SimpleAtoi(text, &child)) pids.push_back(child);
      }
    }
    return pids;
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<ServiceProcess> agent_;
  v1::SessionResponse::Opened opened_;
};

TEST_F(SessionProcessTest, LoadsWritesCallsAndReads) {
  const std::unique_ptr<Wire> wire = Open();
  const v1::SessionResponse loaded = Load(*wire, TestProgram(TestKernel::kAdd), 1);
  ASSERT_EQ(loaded.code(), 0) << loaded.message();
  EXPECT_EQ(loaded.loaded().functions(0).outputs(0).type(), "f32[2, 8]");
  Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  for (float& value : x.mutable_values<float>()) value = 100;
  // All at once, answered in order.
  wire->Ask(AllocateOf(2, x.type()));
  wire->Ask(WriteOf(2, std::string(x.bytes())));
  wire->Ask(CallOf(1, 2, 3));
  const uint64_t last = wire->Ask(ReadOf(3, 64));
  for (uint64_t id = last - 3; id < last; ++id) {
    const v1::SessionResponse response = wire->Next();
    EXPECT_EQ(response.id(), id);
    EXPECT_EQ(response.code(), 0) << response.message();
  }
  const v1::SessionResponse read = wire->Next();
  ASSERT_OK_AND_ASSIGN(const Tensor y,
                       Tensor::FromBytes({DataType::kFloat32, {2, 8}}, read.data()));
  EXPECT_EQ(y.values<float>()[5], 105.0f);
  Request close;
  close.mutable_close();
  wire->Send(close);
  EXPECT_OK(wire->End());
}

TEST_F(SessionProcessTest, LargeTensorsGoInPieces) {
  const std::unique_ptr<Wire> wire = Open();
  const int64_t piece = opened_.max_data_bytes();
  const int64_t size = 3 * piece + 100;
  ASSERT_EQ(wire->Do(AllocateOf(1, {DataType::kUint8, {size}})).code(), 0);
  std::string bytes(static_cast<size_t>(size), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 >> 4);
  for (int64_t at = 0; at < size; at += piece) {
    Request write = WriteOf(1, bytes.substr(static_cast<size_t>(at), static_cast<size_t>(piece)));
    write.mutable_write()->set_offset(at);
    wire->Ask(write);
  }
  for (int64_t at = 0; at < size; at += piece) {
    Request read = ReadOf(1, std::min(piece, size - at));
    read.mutable_read()->set_offset(at);
    wire->Ask(read);
  }
  std::string back;
  while (wire->last_ > 0) {
    const v1::SessionResponse response = wire->Next();
    ASSERT_EQ(response.code(), 0) << response.message();
    back += response.data();
    if (response.id() == wire->last_) break;
  }
  EXPECT_TRUE(back == bytes);
}

TEST_F(SessionProcessTest, AConnectionIsTakenUpAgainWithNothingLostOrDoneTwice) {
  std::unique_ptr<Wire> wire = Open();
  ASSERT_EQ(Load(*wire, TestProgram(TestKernel::kAdd), 1).code(), 0);
  ASSERT_EQ(wire->Do(AllocateOf(2, {DataType::kFloat32, {2, 8}})).code(), 0);
  const uint64_t received = wire->last_;
  // In place, so that a call made twice would show.
  wire->Ask(AllocateOf(3, {DataType::kFloat32, {2, 8}}));
  wire->Ask(CallOf(1, 2, 3));
  wire->Ask(CallOf(1, 3, 2));
  const uint64_t last = wire->last_;
  wire->Next();
  wire.reset();
  wire = Resume(received);
  const v1::SessionResponse opened = wire->Next();
  ASSERT_TRUE(opened.has_opened()) << opened.ShortDebugString();
  // The client does not know how many came, and sends all again.
  v1::SessionRequests again;
  *again.add_requests() = AllocateOf(3, {DataType::kFloat32, {2, 8}});
  *again.add_requests() = CallOf(1, 2, 3);
  *again.add_requests() = CallOf(1, 3, 2);
  for (uint64_t i = 0; i < 3; ++i)
    again.mutable_requests(static_cast<int>(i))->set_id(received + 1 + i);
  wire->Send(again);
  for (uint64_t id = received + 1; id <= last; ++id) {
    const v1::SessionResponse response = wire->Next();
    EXPECT_EQ(response.id(), id);
    EXPECT_EQ(response.code(), 0) << response.message();
  }
  wire->last_ = last;
  const v1::SessionResponse read = wire->Do(ReadOf(2, 64));
  ASSERT_OK_AND_ASSIGN(const Tensor y,
                       Tensor::FromBytes({DataType::kFloat32, {2, 8}}, read.data()));
  EXPECT_EQ(y.values<float>()[5], 10.0f);
}

TEST_F(SessionProcessTest, ASelectorMustMatchTheDevice) {
  const auto end_for = [this](const std::string& device) {
    Wire wire(address_);
    Request request = OpenFor(absl::Seconds(30));
    request.mutable_open()->set_device(device);
    wire.Send(request);
    return wire.End();
  };
  EXPECT_THAT(end_for("label:lab=munich"),
              StatusIs(Code::kNotFound, HasSubstr("only device \"board\", which has label "
                                                  "lab=berlin and does not match")));
  EXPECT_THAT(end_for("memory>=lots"), StatusIs(Code::kInvalidArgument, HasSubstr("^")));
  EXPECT_THAT(end_for("boat"), StatusIs(Code::kNotFound, HasSubstr("only \"board\"")));
  Wire wire(address_);
  Request request = OpenFor(absl::Seconds(30));
  request.mutable_open()->set_device("id=bo* label:lab=berlin memory>=1MiB");
  wire.Send(request);
  EXPECT_EQ(wire.Next().opened().device(), "board");
}

TEST_F(SessionProcessTest, OneConnectionAtATime) {
  const std::unique_ptr<Wire> first = Open();
  const std::unique_ptr<Wire> second = Resume(0);
  EXPECT_TRUE(second->Next().has_opened());
  EXPECT_THAT(first->End(), StatusIs(Code::kAborted));
  opened_.set_ticket("forged");
  EXPECT_THAT(Resume(0)->End(), StatusIs(Code::kPermissionDenied));
  opened_.set_session("unknown");
  EXPECT_THAT(Resume(0)->End(), StatusIs(Code::kNotFound));
}

TEST_F(SessionProcessTest, AClientFromElsewhereGoesOnBehindTheOther) {
  const std::unique_ptr<Wire> first = Open();
  EXPECT_EQ(opened_.next_handle(), 1u);
  ASSERT_EQ(Load(*first, TestProgram(TestKernel::kAdd), 1).code(), 0);
  Request named = AllocateOf(2, {DataType::kFloat32, {2, 8}});
  named.mutable_allocate()->set_name("x");
  ASSERT_EQ(first->Do(named).code(), 0);
  Request call = CallOf(1, 2, 5);
  call.mutable_call()->add_output_names("y");
  ASSERT_EQ(first->Do(call).code(), 0);
  // Refused, but nobody else should take its handle.
  ASSERT_NE(first->Do(AllocateOf(9, {DataType::kFloat32, {1 << 30, 1 << 30}})).code(), 0);
  const std::unique_ptr<Wire> second = Resume(UINT64_MAX);
  const v1::SessionResponse opened = second->Next();
  EXPECT_EQ(opened.opened().taken(), first->last_);
  EXPECT_EQ(opened.opened().next_handle(), 10u);
  EXPECT_THAT(first->End(), StatusIs(Code::kAborted));
  // Answers that the other did not ack are not sent again.
  second->last_ = opened.opened().taken();
  Request list;
  list.mutable_list();
  const v1::SessionResponse response = second->Do(list);
  const v1::SessionResponse::Listed& listed = response.listed();
  ASSERT_EQ(listed.programs_size(), 1) << response.ShortDebugString();
  EXPECT_EQ(listed.programs(0).name(), "net");
  ASSERT_EQ(listed.tensors_size(), 2);
  EXPECT_EQ(listed.tensors(0).name(), "x");
  EXPECT_EQ(listed.tensors(1).name(), "y");
  EXPECT_EQ(listed.tensors(1).handle(), 5u);
  EXPECT_EQ(second->Do(CallOf(1, 5, 10)).code(), 0);
}

TEST_F(SessionProcessTest, OthersWaitInLine) {
  std::unique_ptr<Wire> first = Open();
  Wire second(address_);
  Request open = OpenFor(absl::Seconds(5));
  second.Send(open);
  const v1::SessionResponse waiting = second.Next();
  EXPECT_EQ(waiting.waiting().ahead(), 0) << waiting.ShortDebugString();
  Wire third(address_);
  third.Send(open);
  EXPECT_EQ(third.Next().waiting().ahead(), 1);
  Wire impatient(address_);
  open.mutable_open()->set_wait_ns(-1);
  impatient.Send(open);
  EXPECT_THAT(impatient.End(), StatusIs(Code::kDeadlineExceeded));
  Request close;
  close.mutable_close();
  first->Send(close);
  EXPECT_OK(first->End());
  v1::SessionResponse response = second.Next();
  while (response.has_waiting()) response = second.Next();
  EXPECT_TRUE(response.has_opened());
  // One that does not wait any more is no longer in line.
  EXPECT_THAT(third.Finish(), StatusIs(Code::kCancelled));
}

TEST_F(SessionProcessTest, WhoWaitsInLineIsHeard) {
  const std::unique_ptr<Wire> first = Open();
  Wire leaves(address_);
  leaves.Send(OpenFor(absl::Seconds(30)));
  EXPECT_TRUE(leaves.Next().has_waiting());
  Wire stays(address_);
  stays.Send(OpenFor(absl::Seconds(30)));
  EXPECT_EQ(stays.Next().waiting().ahead(), 1);
  Request heartbeat;
  heartbeat.mutable_heartbeat();
  for (int i = 0; i < 3; ++i) {
    leaves.Send(heartbeat);
    stays.Send(heartbeat);
  }
  // At once, and not when its turn comes.
  Request close;
  close.mutable_close();
  leaves.Send(close);
  EXPECT_OK(leaves.End());
  // What is asked for already is done when the device is there.
  stays.Ask(AllocateOf(1, {DataType::kFloat32, {2, 8}}));
  stays.Ask(ReadOf(1, 64));
  first->Send(close);
  EXPECT_OK(first->End());
  v1::SessionResponse response = stays.Next();
  while (response.has_waiting() || response.has_opened()) response = stays.Next();
  EXPECT_EQ(response.id(), 1u);
  EXPECT_EQ(stays.Next().data().size(), 64u);
  stays.Send(close);
  EXPECT_OK(stays.End());
}

TEST_F(SessionProcessTest, WhoLosesItsConnectionInLineKeepsItsPlace) {
  const std::unique_ptr<Wire> first = Open();
  Wire breaks(address_);
  breaks.Send(OpenFor(absl::Seconds(30)));
  const v1::SessionResponse waiting = breaks.Next();
  EXPECT_THAT(breaks.Finish(), StatusIs(Code::kCancelled));
  Wire later(address_);
  later.Send(OpenFor(absl::Seconds(30)));
  EXPECT_EQ(later.Next().waiting().ahead(), 1);
  opened_.set_session(waiting.waiting().session());
  opened_.set_ticket(waiting.waiting().ticket());
  const std::unique_ptr<Wire> again = Resume(0);
  EXPECT_EQ(again->Next().waiting().ahead(), 0);
  Request close;
  close.mutable_close();
  first->Send(close);
  EXPECT_OK(first->End());
  v1::SessionResponse response = again->Next();
  while (response.has_waiting()) response = again->Next();
  EXPECT_EQ(response.opened().session(), waiting.waiting().session());
}

TEST_F(SessionProcessTest, WhoDoesNotComeBackLeavesTheLine) {
  const std::unique_ptr<Wire> first = Open();
  Wire breaks(address_);
  breaks.Send(OpenFor(absl::Seconds(1)));
  const v1::SessionResponse waiting = breaks.Next();
  EXPECT_THAT(breaks.Finish(), StatusIs(Code::kCancelled));
  Wire later(address_);
  later.Send(OpenFor(absl::Seconds(30)));
  // It is told of every change.
  v1::SessionResponse response = later.Next();
  EXPECT_EQ(response.waiting().ahead(), 1);
  while (response.waiting().ahead() == 1) response = later.Next();
  EXPECT_EQ(response.waiting().ahead(), 0);
  opened_.set_session(waiting.waiting().session());
  opened_.set_ticket(waiting.waiting().ticket());
  EXPECT_THAT(Resume(0)->End(), StatusIs(Code::kNotFound));
}

TEST_F(SessionProcessTest, ACrashEndsTheRunnerAndNotTheSession) {
  const std::unique_ptr<Wire> wire = Open();
  ASSERT_EQ(Load(*wire, TestProgram(TestKernel::kCrash), 1).code(), 0);
  ASSERT_EQ(wire->Do(AllocateOf(2, {DataType::kFloat32, {2, 8}})).code(), 0);
  wire->Ask(CallOf(1, 2, 3));
  wire->Ask(ReadOf(2, 64));
  wire->Ask(AllocateOf(4, {DataType::kFloat32, {2, 8}}));
  const v1::SessionResponse crashed = wire->Next();
  EXPECT_EQ(crashed.code(), static_cast<int>(Code::kAborted));
  EXPECT_THAT(crashed.message(),
              AllOf(HasSubstr("signal 11 (SIGSEGV)"), HasSubstr("in step 0 "),
                    HasSubstr("kernel 2 of code 0"), HasSubstr("program \"net\""),
                    HasSubstr("1 program and 1 tensor")));
  // What the runner does is not said beside what the program writes.
  EXPECT_THAT(crashed.log_tail(), Not(HasSubstr("calls the program")));
  const v1::SessionResponse lost = wire->Next();
  EXPECT_THAT(lost.message(),
              AllOf(HasSubstr("tensor of handle 2 was lost"), HasSubstr("SIGSEGV")));
  // What needs nothing that was lost is carried out.
  EXPECT_EQ(wire->Next().code(), 0);
  EXPECT_EQ(Load(*wire, TestProgram(TestKernel::kAdd), 5).code(), 0);
  EXPECT_EQ(wire->Do(CallOf(5, 4, 6)).code(), 0);
}

TEST_F(SessionProcessTest, ARequestThatDoesNotEndIsEnded) {
  const std::unique_ptr<Wire> wire = Open();
  ASSERT_EQ(Load(*wire, TestProgram(TestKernel::kLoop), 1).code(), 0);
  ASSERT_EQ(wire->Do(AllocateOf(2, {DataType::kFloat32, {2, 8}})).code(), 0);
  Request call = CallOf(1, 2, 3);
  call.set_deadline_ns(50'000'000);
  const v1::SessionResponse late = wire->Do(call);
  EXPECT_EQ(late.code(), static_cast<int>(Code::kDeadlineExceeded));
  EXPECT_THAT(late.message(), HasSubstr("step 0"));
  EXPECT_EQ(wire->Do(AllocateOf(4, {DataType::kFloat32, {2, 8}})).code(), 0);
}

TEST_F(SessionProcessTest, WhatWaitsCanBeCancelled) {
  const std::unique_ptr<Wire> wire = Open();
  ASSERT_EQ(Load(*wire, TestProgram(TestKernel::kLoop), 1).code(), 0);
  ASSERT_EQ(wire->Do(AllocateOf(2, {DataType::kFloat32, {2, 8}})).code(), 0);
  Request call = CallOf(1, 2, 3);
  call.set_deadline_ns(300'000'000);
  wire->Ask(call);
  const uint64_t waits = wire->Ask(AllocateOf(9, {DataType::kFloat32, {2, 8}}));
  Request cancel;
  cancel.mutable_cancel()->set_request(waits);
  wire->Send(cancel);
  EXPECT_EQ(wire->Next().code(), static_cast<int>(Code::kDeadlineExceeded));
  EXPECT_EQ(wire->Next().code(), static_cast<int>(Code::kCancelled));
}

TEST_F(SessionProcessTest, ARunnerThatIsStoppedOrKilledFromOutsideIsTold) {
  const std::unique_ptr<Wire> wire = Open();
  ASSERT_EQ(wire->Do(AllocateOf(1, {DataType::kFloat32, {2, 8}})).code(), 0);
  for (const pid_t pid : Runners()) kill(pid, SIGSTOP);
  const v1::SessionResponse stopped = wire->Do(ReadOf(1, 64));
  EXPECT_EQ(stopped.code(), static_cast<int>(Code::kAborted));
  EXPECT_THAT(stopped.message(), HasSubstr("stopped by a signal"));
  ASSERT_EQ(wire->Do(AllocateOf(2, {DataType::kFloat32, {2, 8}})).code(), 0);
  for (const pid_t pid : Runners()) {
    kill(pid, SIGKILL);
    // The spare one must not be taken while it dies.
    while (kill(pid, 0) == 0) absl::SleepFor(absl::Milliseconds(1));
  }
  // Whether the next request finds it dead or dying, its handle is lost.
  EXPECT_NE(wire->Do(ReadOf(2, 64)).code(), 0);
  EXPECT_EQ(wire->Do(AllocateOf(3, {DataType::kFloat32, {2, 8}})).code(), 0);
}

TEST_F(SessionProcessTest, ALeaseEndsWithoutHeartbeats) {
  const std::unique_ptr<Wire> wire = Open(absl::Seconds(1));
  Request heartbeat;
  heartbeat.mutable_heartbeat();
  wire->Send(heartbeat);
  EXPECT_TRUE(wire->Next().has_heartbeat());
  const absl::Status end = wire->End();
  EXPECT_THAT(end, StatusIs(Code::kDeadlineExceeded));
  EXPECT_THAT(std::string(end.message()), HasSubstr("nothing was heard of its client for 1s"));
  // When the device is another's, the session is gone for certain.
  const v1::SessionResponse::Opened ended = opened_;
  const std::unique_ptr<Wire> next = Open();
  opened_ = ended;
  EXPECT_THAT(Resume(0)->End(), StatusIs(Code::kNotFound));
}

TEST_F(SessionProcessTest, WhatBreaksTheProtocolEndsTheSession) {
  {
    const std::unique_ptr<Wire> wire = Open();
    Request request = AllocateOf(1, {DataType::kFloat32, {1}});
    request.set_id(7);
    wire->Send(request);
    EXPECT_THAT(wire->End(), StatusIs(Code::kInvalidArgument));
  }
  {
    const std::unique_ptr<Wire> wire = Open();
    wire->Ask(WriteOf(1, std::string(2 << 20, 'x')));
    EXPECT_THAT(wire->End(), StatusIs(Code::kInvalidArgument));
  }
  Wire wire(address_);
  wire.Send(AllocateOf(1, {DataType::kFloat32, {1}}));
  EXPECT_THAT(wire.End(), StatusIs(Code::kFailedPrecondition));
}

TEST_F(SessionProcessTest, MistakesAreAnsweredAndTheSessionGoesOn) {
  const std::unique_ptr<Wire> wire = Open();
  EXPECT_EQ(wire->Do(ReadOf(1, 4)).code(), static_cast<int>(Code::kNotFound));
  EXPECT_EQ(wire->Do(ReadOf(1, -4)).code(), static_cast<int>(Code::kInvalidArgument));
  EXPECT_EQ(wire->Do(ReadOf(1, 4 << 20)).code(), static_cast<int>(Code::kInvalidArgument));
  EXPECT_EQ(wire->Do(Request()).code(), static_cast<int>(Code::kUnimplemented));
  EXPECT_EQ(wire->Do(AllocateOf(1, {DataType::kFloat32, {1 << 30, 1 << 30}})).code(),
            static_cast<int>(Code::kResourceExhausted));
  EXPECT_EQ(wire->Do(AllocateOf(1, {DataType::kFloat32, {int64_t{1} << 38}})).code(),
            static_cast<int>(Code::kUnimplemented));
  Request load;
  load.mutable_load()->set_program(1);
  EXPECT_EQ(wire->Do(load).code(), static_cast<int>(Code::kInvalidArgument));
  Request piece;
  *piece.mutable_write_blob()->mutable_blob() = ToProto(Digest::Of("12345"));
  piece.mutable_write_blob()->set_offset(2);
  piece.set_data("345");
  const v1::SessionResponse gap = wire->Do(piece);
  EXPECT_EQ(gap.code(), static_cast<int>(Code::kOutOfRange));
  EXPECT_EQ(gap.blob_written().size(), 0);
  EXPECT_EQ(wire->Do(AllocateOf(1, {DataType::kFloat32, {2, 8}})).code(), 0);
  Request facts;
  facts.mutable_get_facts();
  const v1::SessionResponse told = wire->Do(facts);
  EXPECT_EQ(told.facts().tensors(), 1);
  EXPECT_GT(told.facts().free_bytes(), 0);
  EXPECT_GT(told.facts().limit_bytes(), 0);
}

TEST_F(SessionProcessTest, AnAgentThatEndsSaysSo) {
  const std::unique_ptr<Wire> wire = Open();
  Wire waits(address_);
  waits.Send(OpenFor(absl::Seconds(30)));
  EXPECT_TRUE(waits.Next().has_waiting());
  kill(agent_->pid(), SIGTERM);
  for (Wire* const told : {wire.get(), &waits}) {
    v1::SessionResponse response = told->Next();
    while (response.has_waiting()) response = told->Next();
    EXPECT_TRUE(response.has_ended()) << response.ShortDebugString();
    EXPECT_EQ(response.code(), static_cast<int>(Code::kUnavailable));
    EXPECT_THAT(told->End(), StatusIs(Code::kUnavailable,
                                      HasSubstr("the agent of device \"board\" is going away")));
  }
}

}  // namespace
}  // namespace slipway::testing
