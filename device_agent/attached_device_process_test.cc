// An agent whose device is attached by a command: what can happen between the two.
#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/base/version.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/store/blob_store.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/testing/agent_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using State = v1::RunAttemptState;

class AttachedDeviceProcess : public AgentProcess {
 protected:
  void SetUp() override {
    AgentProcess::SetUp();
    AttachDevice();
  }
  // As a cable that is pulled: whatever runs there ends without a word.
  void Unplug() {
    for (const testing::RunningProcess& process : testing::ListProcesses(mark())) {
      kill(process.pid, SIGKILL);
    }
  }
  // The next one, which is there ahead.
  void AwaitRunner() {
    const auto is_runner = [](const testing::RunningProcess& process) {
      return !process.arguments.empty() && process.arguments.front() == "runner";
    };
    while (!absl::c_any_of(testing::ListProcesses(mark()), is_runner)) {
      absl::SleepFor(absl::Milliseconds(10));
    }
  }
  // Where the agent keeps things there.
  std::string folder() const { return JoinPath(device_home(), ".cache/slipway/attached"); }
  // Finds the processes there.
  std::string mark() const { return absl::StrCat("NONE=", device_home()); }
};

TEST_F(AttachedDeviceProcess, NothingIsInstalledAndNothingStaysRunning) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  EXPECT_TRUE(std::filesystem::exists(JoinPath(folder(), "cache/blobs")));
  AwaitRunner();
  agent_->Kill();
  for (const testing::RunningProcess& left : testing::AwaitNoProcess(mark(), absl::Seconds(30))) {
    ADD_FAILURE() << left.ToString() << " is left";
  }
}

TEST_F(AttachedDeviceProcess, ADeviceThatIsUnpluggedMayBeTriedAgain) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  Unplug();
  const std::optional<State> end = server_->WaitForEnd(assignment.attempt_id());
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_TRUE(end->retriable());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kUnavailable))
      << end->ShortDebugString();
  EXPECT_THAT(end->error().message(), HasSubstr("the attached device is lost"));
  // It is plugged in again, as another one: nothing of before is there, nor the next runner.
  AwaitRunner();
  Unplug();
  ASSERT_TRUE(testing::AwaitNoProcess(mark(), absl::Seconds(30)).empty());
  ASSERT_OK(RemoveTree(device_home()));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, AnAgentWhoseDeviceIsNotThereEndsAndSaysWhy) {
  flags_ = {"--exec-prefix", R"(sh -c 'echo error: device not found >&2; exit 1')"};
  StartAgent();
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, agent_->Wait(absl::Seconds(60)));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(agent_->OutputTail(), HasSubstr("error: device not found"));
}

TEST_F(AttachedDeviceProcess, WhereACallStoodWhenItsTimeWasUpIsTold) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  assignment.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Milliseconds(2500)));
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(end->error().message(), HasSubstr("in step 0"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, ADeviceWithoutRoomForAProgramSaysSo) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  agent_.reset();
  // A limit on file sizes stands in for a disk that is full: of 20 MiB, more than memory that processes share.
  flags_ = {"--exec-prefix",
            absl::StrCat(R"(sh -c 'ulimit -f 40960; exec $0 $1 "$2" ' )",
                         "device_agent/testing/stand_in_shell.sh ", device_home())};
  StartAgent();
  constexpr int64_t kManyRows = 1 << 20;
  const Tensor input = Rows(kManyRows, 5);
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(server_->blobs().blobs(), input.bytes()));
  v1::RunAssignment assignment = Assign(AddRows(kManyRows));
  *assignment.mutable_run()->add_inputs() = ToBlobProto("x", input.type(), digest);
  const std::optional<State> full = RunToEnd(assignment);
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->state(), State::FAILED);
  EXPECT_EQ(full->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted))
      << full->ShortDebugString();
  EXPECT_THAT(full->error().message(), HasSubstr("bringing a blob to the device"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

// A binary on the device that says what it is as the agent's would, and then what it likes.
class HostileDevice : public AttachedDeviceProcess {
 protected:
  void Answer(const std::vector<attached::FromDevice>& messages) {
    const std::string said = JoinPath(folder_.path(), "said");
    std::string bytes(kStreamGreeting, sizeof(kStreamGreeting) - 1);
    attached::Greeting greeting;
    greeting.set_version(kVersion);
    Append(greeting, bytes);
    for (const attached::FromDevice& message : messages) Append(message, bytes);
    ASSERT_OK(WriteFileAtomically(said, bytes, /*durable=*/false));
    const std::string binary = JoinPath(folder_.path(), "binary");
    const std::string agent =
        std::filesystem::absolute("device_agent/slipway-agent").lexically_normal().string();
    ASSERT_OK(WriteFileAtomically(binary,
                                  absl::StrCat("#!/bin/sh\ntest $1 = describe && exec ", agent,
                                               " \"$@\"\ncat ", said, "\nexec sleep 60\n"),
                                  /*durable=*/false));
    flags_.insert(flags_.end(), {"--exec-binary", binary});
    StartAgent();
  }
  void ExpectLost(const std::string& why) {
    const std::optional<State> end = RunToEnd(Assign(TestKernel::kAdd));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kUnavailable))
        << end->ShortDebugString();
    EXPECT_THAT(end->error().message(), HasSubstr(why));
    EXPECT_TRUE(end->retriable());
  }

 private:
  static void Append(const google::protobuf::MessageLite& message, std::string& bytes) {
    const size_t size = message.ByteSizeLong();
    for (size_t i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(size >> (8 * i)));
    message.AppendToString(&bytes);
  }
};

TEST_F(HostileDevice, AnswersWhatNobodyAsked) {
  attached::FromDevice message;
  message.mutable_response();
  // The first may come in time for a request.
  Answer(std::vector<attached::FromDevice>(1000, message));
  ExpectLost("a response to nothing");
}

TEST_F(HostileDevice, WantsWhatIsNotForIt) {
  attached::FromDevice message;
  *message.mutable_need()->add_rests()->mutable_blob() = ToProto(Digest::Of("another's"));
  Answer({message});
  ExpectLost("a blob that nothing it was sent names");
}

TEST_F(HostileDevice, SaysNothingThatIsKnown) {
  Answer({attached::FromDevice()});
  ExpectLost("a message of no kind");
}

TEST_F(HostileDevice, EndsByASignalThatWouldStopTheLink) {
  attached::FromDevice message;
  message.mutable_end()->set_signal(SIGSTOP);
  Answer({message});
  ExpectLost("the attached device is lost");
}

TEST_F(HostileDevice, EndsByASignalThatEndsNobody) {
  attached::FromDevice message;
  message.mutable_end()->set_signal(SIGCHLD);
  Answer({message});
  ExpectLost("the attached device is lost");
}

}  // namespace
}  // namespace slipway
