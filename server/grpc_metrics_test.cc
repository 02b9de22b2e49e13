// A whole server, whose metrics are read over HTTP.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/grpc_test_client.h"
#include "server/server_context.h"
#include "tests/common/plain_connection.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MetricsOfServerTest : public ::testing::Test {
 protected:
  void Start(const std::string& metrics_listen) {
    ServerOptions options;
    options.listen = "unix:" + JoinPath(folder_.path(), "socket");
    options.data_dir = JoinPath(folder_.path(), "data");
    options.cache_dir = JoinPath(folder_.path(), "cache");
    options.workers = 0;
    options.probe_every = absl::ZeroDuration();  // The programs of probes are blobs, too.
    options.metrics_listen = metrics_listen;
    ASSERT_OK_AND_ASSIGN(options, Complete(options));
    ASSERT_OK_AND_ASSIGN(server_, ServerContext::Create(options));
    client_ = std::make_unique<TestClient>(server_->address());
  }
  std::string Metrics() const {
    return testing::Ask(server_->metrics_address(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("metrics");
  std::unique_ptr<ServerContext> server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(MetricsOfServerTest, NobodyListensUnlessItIsSaid) {
  Start("");
  EXPECT_EQ(server_->metrics_address(), "");
}

TEST_F(MetricsOfServerTest, TellWhatBecameOfCallsAndJobs) {
  Start("127.0.0.1:0");
  const std::string manifest = SerializeManifest(TestManifest());
  ASSERT_OK(client_->Write(manifest));
  ASSERT_OK(client_->Write(TestCode()));
  ASSERT_OK(client_->Write(TestConstants()));
  v1::CreateRunRequest request;
  request.set_request_id("r");
  *request.mutable_spec()->mutable_manifest() = ToProto(Digest::Of(manifest));
  ASSERT_OK(TestClient::Call(*client_->runs, &v1::RunService::Stub::CreateRun, request));
  v1::GetJobRequest unknown;
  unknown.set_id("01234567890123456789012345");
  EXPECT_THAT(TestClient::Call(*client_->jobs, &v1::JobService::Stub::GetJob, unknown),
              StatusIs(absl::StatusCode::kNotFound));
  const std::string text = Metrics();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* const line :
       {"slipway_jobs{kind=\"run\",state=\"queued\"} 1",
        "slipway_waiting_jobs{need=\"any_device\"} 1",
        "slipway_jobs_accepted_total{kind=\"run\"} 1",
        "slipway_calls_total{method=\"RunService.CreateRun\"} 1",
        "slipway_calls_ended_total{method=\"RunService.CreateRun\",code=\"OK\"} 1",
        "slipway_calls_ended_total{method=\"JobService.GetJob\",code=\"NOT_FOUND\"} 1",
        "slipway_call_seconds_count{method=\"RunService.CreateRun\"} 1",
        "slipway_calls_total{method=\"BlobService.Write\"} 3", "slipway_connections 1",
        "slipway_store_refused_total 0", "slipway_refuses{cause=\"store\"} 0"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
  const int64_t bytes =
      static_cast<int64_t>(manifest.size() + TestCode().size() + TestConstants().size());
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\nslipway_blob_bytes ", bytes, "\n")));
}

TEST_F(MetricsOfServerTest, AnAddressThatIsNoneIsAWrongCall) {
  EXPECT_THAT(Complete({.metrics_listen = "9411"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--metrics-listen")));
}

}  // namespace
}  // namespace slipway::server
