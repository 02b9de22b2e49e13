// The escapes of the hostile program through a real agent: each as a job that attacks the agent.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "core/confinement/confinement.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"
#include "tests/security/hostile_code.h"

namespace slipway::testing {
namespace {

using ::testing::IsEmpty;

class ConfinedAgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  Tensor Victim() {
    Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
    x.mutable_values<float>()[0] = static_cast<float>(cluster_->agent(0).pid());
    return x;
  }

  // Whether a runner of the cluster has worked for a while.
  bool IsAtWork() {
    for (const RunningProcess& process : cluster_->Processes()) {
      if (!process.arguments.empty() && process.arguments[0] == "runner" &&
          ProcessorTime(process.pid) > absl::Milliseconds(50)) {
        return true;
      }
    }
    return false;
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(ConfinedAgentTest, NoEscapeOfAProgramSucceeds) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
  ASSERT_EQ(devices.size(), 1);
  ASSERT_TRUE(devices[0].confinement.has_value());
  const std::vector<std::string>& missing = devices[0].confinement->missing;
  const auto lacks = [&](ConfinementPart part) {
    return std::any_of(missing.begin(), missing.end(),
                       [&](const std::string& text) { return absl::StartsWith(text, Name(part)); });
  };
  int tried = 0;
  for (uint32_t kernel = 0; kernel < kEscapes; ++kernel) {
    if (lacks(PartAgainst(static_cast<Escape>(kernel)))) continue;
    const Artifact artifact = HostileProgram(kernel);
    ASSERT_OK(client_->PutArtifact(artifact));
    ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> outputs,
                         client_->Run(artifact.digest(), {{"x", Victim()}}, {}));
    EXPECT_EQ(outputs[0].tensor.values<float>()[0], 0) << "it " << kEscapeTexts[kernel];
    ++tried;
  }
  if (tried == 0) GTEST_SKIP() << "this kernel gives nothing to confine with";
}

// What cannot be ended by asking ends with its agent, whatever ended that.
TEST_F(ConfinedAgentTest, ADeafProgramDoesNotOutliveItsAgent) {
  const Artifact artifact = HostileProgram(kDeafKernel);
  ASSERT_OK(client_->PutArtifact(artifact));
  ASSERT_OK(client_->SubmitRun(artifact.digest(), {{"x", Victim()}}, {}).status());
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (!IsAtWork() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));
  ASSERT_TRUE(IsAtWork());
  cluster_->agent(0).Kill();
  cluster_->server().Kill();
  EXPECT_THAT(cluster_->AwaitNoProcess(), IsEmpty());
}

}  // namespace
}  // namespace slipway::testing
