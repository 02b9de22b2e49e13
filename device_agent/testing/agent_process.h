// The agent's binary against a fake server.
#ifndef SLIPWAY_DEVICE_AGENT_TESTING_AGENT_PROCESS_H_
#define SLIPWAY_DEVICE_AGENT_TESTING_AGENT_PROCESS_H_

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "device_agent/testing/grpc_fake_server.h"
#include "device_agent/testing/runner_place.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {

// An agent's process and the server it works for, which is the test.
class AgentProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("agent");
    setenv("SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks").c_str(), 1);
    address_ = "unix:" + JoinPath(folder_.path(), "socket");
    server_ = std::make_unique<FakeServer>(address_);
  }

  SubprocessOptions AgentOptions(const std::vector<std::string>& flags = {}) {
    SubprocessOptions options;
    options.argv = {"device_agent/slipway-agent",
                    "--server",
                    address_,
                    "--state-dir",
                    JoinPath(folder_.path(), "state"),
                    "--id",
                    "test-device",
                    measures_ ? "--measure" : "--no-measure"};
    for (const std::string& flag : flags_) options.argv.push_back(flag);
    for (const std::string& flag : flags) options.argv.push_back(flag);
    options.stderr_stream = ChildStream::Tail();
    options.follow_parent = true;
    return options;
  }
  // What every agent of this test works with is a device that another shell reaches, with a home folder of its own.
  void AttachDevice() { flags_ = {"--exec-prefix", StandInPrefix(device_home())}; }
  std::string device_home() const { return JoinPath(folder_.path(), "device"); }
  void StartAgent(const std::vector<std::string>& flags = {}) {
    agent_ = *Subprocess::Start(AgentOptions(flags));
  }

  v1::RunAssignment Assign(const Artifact& artifact) {
    for (const Digest& digest : artifact.manifest().blobs()) {
      EXPECT_OK(server_->blobs().blobs().Put(digest, artifact.blob(digest).bytes()));
    }
    v1::RunAssignment assignment;
    assignment.set_attempt_id(absl::StrCat("attempt-", ++attempts_));
    assignment.set_job_id("job");
    assignment.set_device("test-device");
    assignment.set_manifest(artifact.manifest().bytes());
    *assignment.mutable_run()->mutable_manifest() = ToProto(artifact.digest());
    assignment.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Seconds(30)));
    return assignment;
  }
  v1::RunAssignment Assign(const v1::Manifest& manifest) {
    return Assign(*Artifact::Create(manifest, GetTestProgramBlob));
  }
  v1::RunAssignment Assign(TestKernel kernel) { return Assign(TestProgramManifest(kernel)); }

  std::optional<v1::RunAttemptState> RunToEnd(const v1::RunAssignment& assignment) {
    server_->Want({assignment});
    return server_->WaitForEnd(assignment.attempt_id());
  }
  void ExpectSucceeds(const v1::RunAssignment& assignment) {
    const std::optional<v1::RunAttemptState> end = RunToEnd(assignment);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->state(), v1::RunAttemptState::SUCCEEDED) << end->ShortDebugString();
  }
  bool WaitUntilRunning(const v1::RunAssignment& assignment) {
    return server_
        ->WaitFor([&](const v1::AgentState& state) {
          return state.attempts_size() == 1 &&
                 state.attempts(0).attempt_id() == assignment.attempt_id() &&
                 state.attempts(0).state() == v1::RunAttemptState::RUNNING;
        })
        .has_value();
  }
  // Of the agent's child processes, which are runners: each is the child of a thread.
  std::vector<pid_t> Runners() {
    std::vector<pid_t> pids;
    const std::string tasks = absl::StrCat("/proc/", agent_->pid(), "/task");
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      const absl::StatusOr<std::string> found = ReadFile(task.path().string() + "/children", 4096);
      if (!found.ok()) continue;  // The thread has ended.
      for (const absl::string_view text : absl::StrSplit(*found, ' ', absl::SkipEmpty())) {
        pid_t pid = 0;
        if (absl::SimpleAtoi(text, &pid)) pids.push_back(pid);
      }
    }
    return pids;
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<Subprocess> agent_;
  std::vector<std::string> flags_;  // Of every agent.
  int attempts_ = 0;
  bool measures_ = false;  // What the machine does at most.
};

inline Tensor Rows(int64_t rows, float value) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {rows, 8});
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

// TestKernel::kAdd over so many rows.
inline v1::Manifest AddRows(int64_t rows) {
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  for (const int index : {0, 2, 3}) {
    manifest.mutable_buffers(index)->mutable_size()->set_constant(rows * 32);
    manifest.mutable_values(index)->mutable_shape(0)->set_value(rows);
  }
  return manifest;
}

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_TESTING_AGENT_PROCESS_H_
