// What the server keeps of benchmarks, with real processes: each that succeeded once, whenever the server was killed, and named as people named it.
#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

TEST(History, HasEachBenchmarkOnceThoughTheServerIsKilled) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client->PutArtifact(artifact));
  BenchmarkOptions options;
  options.warmup = 0;
  options.samples = 3;
  options.run.tags = {{"commit", "1f0c9ad"}};
  std::vector<std::string> ids;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 4; ++i) {
      ASSERT_OK_AND_ASSIGN(ids.emplace_back(),
                           client->SubmitBenchmark(artifact.digest(), {}, options));
    }
    // Some of them are waiting then, one is being measured or has just been reported.
    ASSERT_OK(client->Wait(ids[ids.size() - 3], nullptr));
    cluster->server().Kill();
    ASSERT_OK(cluster->server().Start());
  }
  for (const std::string& id : ids) {
    ASSERT_OK_AND_ASSIGN(const Job job, client->Wait(id, nullptr));
    EXPECT_OK(job.error);
    EXPECT_EQ(job.subject, artifact.manifest().proto().name());
    EXPECT_THAT(job.tags, ElementsAre(Tag{"commit", "1f0c9ad"}));
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<HistorySeries> all,
                       client->ReadHistory({.limit = 1'000, .with_samples = true}));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].model, artifact.manifest().proto().name());
  std::vector<std::string> kept;
  for (const HistoryEntry& entry : all[0].entries) {
    kept.push_back(entry.id);
    EXPECT_THAT(entry.result.samples_ns, SizeIs(3));
    EXPECT_EQ(entry.artifact, artifact.digest());
    EXPECT_NE(entry.device.os, "");
    EXPECT_NE(entry.agent_version, "");
  }
  EXPECT_THAT(kept, UnorderedElementsAreArray(ids));
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> listed,
                       client->ListJobs({.limit = 3,
                                         .states = {JobState::kSucceeded},
                                         .kinds = {JobKind::kBenchmark},
                                         .tags = options.run.tags,
                                         .subject = all[0].model}));
  EXPECT_THAT(listed, SizeIs(3));
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> none,
                       client->ListJobs({.tags = {{"commit", "other"}}}));
  EXPECT_THAT(none, SizeIs(0));
  EXPECT_OK(cluster->StopAll());
}

// From the command that measures to that which checks what was measured, over TLS.
TEST(History, ARecordIsGoodForWhoTrustsTheServersAuthority) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({.tcp = true}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client->PutArtifact(artifact));
  ASSERT_OK_AND_ASSIGN(const std::string id,
                       client->SubmitBenchmark(artifact.digest(), {}, {.samples = 5}));
  ASSERT_OK(client->Wait(id, nullptr));
  const std::string file = cluster->Path("add.record");
  const CommandResult written = cluster->Slipway({"record", id, "-o", file});
  ASSERT_TRUE(written.status.ok()) << written.ToString();
  ASSERT_OK(cluster->StopAll());

  const CommandResult verified =
      cluster->Slipway({"verify", file, "--authority", cluster->Identity(Role::kUser)});
  EXPECT_TRUE(verified.status.ok()) << verified.ToString();
  EXPECT_THAT(verified.out, HasSubstr("the record is as its server signed it"));
  EXPECT_THAT(verified.out, HasSubstr(artifact.digest().hex()));
  EXPECT_THAT(verified.out, HasSubstr("samples    5 of "));
}

}  // namespace
}  // namespace slipway::testing
