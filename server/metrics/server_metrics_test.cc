#include "server/metrics/server_metrics.h"

#include <cctype>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/jobs/job_record.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ServerMetricsTest : public ::testing::Test {
 protected:
  std::vector<MetricFamily> Families() {
    return ServerMetrics({.status = &status_,
                          .connections = &connections_,
                          .calls = &calls_,
                          .jobs = &jobs_,
                          .store = &store_,
                          .processor_time = absl::Milliseconds(1'500)});
  }
  std::string Text() { return RenderMetrics(Families()); }

  v1::ServerStatus status_;
  ListenerCounts connections_;
  CallCounts calls_;
  JobTally jobs_;
  JobWriter::Tally store_;
};

TEST_F(ServerMetricsTest, ShowsWhatTheServerIsDoing) {
  status_.set_version("1.2.3");
  status_.set_uptime_ns(2'500'000'000);
  status_.add_refusals()->set_cause(v1::ServerRefusal::STORE);
  v1::JobSum& sum = *status_.add_jobs();
  sum.set_kind("run");
  sum.set_state("RUNNING");
  sum.set_count(7);
  v1::WaitingSum& waiting = *status_.add_waiting();
  waiting.set_need(v1::WaitingSum::ANY_DEVICE);
  waiting.set_count(3);
  waiting.set_longest_ns(4'000'000'000);
  status_.set_devices_lost(2);
  status_.set_blob_bytes(int64_t{5} << 30);
  status_.mutable_counters()->set_kernels_cached(11);
  connections_.refused[static_cast<size_t>(ListenerRefusal::kFull)] = 6;
  calls_.Began(Rpc::kGetJob);
  calls_.Ended(Rpc::kGetJob, absl::StatusCode::kNotFound);
  calls_.Took(Rpc::kGetJob, absl::Milliseconds(2));
  v1::Job run;
  run.mutable_run();
  jobs_.Accepted(run);
  store_.stored.Add(absl::Milliseconds(30));
  store_.refused = 9;
  const std::string text = Text();
  for (const char* const line : {
           "slipway_build_info{version=\"1.2.3\"} 1",
           "slipway_uptime_seconds 2.5",
           "process_cpu_seconds_total 1.5",
           "slipway_refuses{cause=\"store\"} 1",
           "slipway_refuses{cause=\"memory\"} 0",
           "slipway_jobs{kind=\"run\",state=\"running\"} 7",
           "slipway_jobs{kind=\"run\",state=\"queued\"} 0",
           "slipway_waiting_jobs{need=\"any_device\"} 3",
           "slipway_waiting_jobs{need=\"worker\"} 0",
           "slipway_longest_waiting_seconds{need=\"any_device\"} 4",
           "slipway_devices{state=\"lost\"} 2",
           "slipway_blob_bytes 5368709120",
           "slipway_kernels_total{from=\"cache\"} 11",
           "slipway_connections_refused_total{reason=\"full\"} 6",
           "slipway_calls_total{method=\"JobService.GetJob\"} 1",
           "slipway_calls_ended_total{method=\"JobService.GetJob\",code=\"OK\"} 0",
           "slipway_calls_ended_total{method=\"JobService.GetJob\",code=\"NOT_FOUND\"} 1",
           "slipway_call_seconds_bucket{method=\"JobService.GetJob\",le=\"0.001\"} 0",
           "slipway_call_seconds_bucket{method=\"JobService.GetJob\",le=\"0.0025\"} 1",
           "slipway_jobs_accepted_total{kind=\"run\"} 1",
           "slipway_store_seconds_count 1",
           "slipway_store_refused_total 9",
       }) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
}

// Whatever anybody does, whoever keeps the series can count on it.
TEST_F(ServerMetricsTest, TheSeriesAreFewAndTheSameOnAQuietAndABusyServer) {
  const auto count = [this] {
    size_t series = 0;
    for (const MetricFamily& family : Families()) {
      for (const MetricSample& sample : family.samples) {
        series += family.kind == MetricKind::kHistogram ? sample.histogram.counts.size() + 2 : 1;
      }
    }
    return series;
  };
  const size_t quiet = count();
  EXPECT_LT(quiet, 1'500u);
  v1::JobSum& sum = *status_.add_jobs();
  sum.set_kind("a kind of the future");
  sum.set_state("QUEUED");
  sum.set_count(1);
  for (const AccessRow& row : kAccess) {
    calls_.Began(row.rpc);
    calls_.Ended(row.rpc, static_cast<absl::StatusCode>(99));
  }
  EXPECT_EQ(count(), quiet + kAccess.size());  // One code each.
}

TEST_F(ServerMetricsTest, NamesAreThoseOfPrometheus) {
  std::set<std::string> names;
  for (const MetricFamily& family : Families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_TRUE(absl::StartsWith(family.name, "slipway_") ||
                absl::StartsWith(family.name, "process_"))
        << family.name;
    for (const char c : family.name)
      EXPECT_TRUE(islower(c) || isdigit(c) || c == '_') << family.name;
    EXPECT_EQ(family.kind == MetricKind::kCounter, absl::EndsWith(family.name, "_total"))
        << family.name;
    EXPECT_THAT(family.help, Not(HasSubstr("\n")));
    EXPECT_TRUE(absl::EndsWith(family.help, ".")) << family.help;
    EXPECT_FALSE(family.samples.empty()) << family.name;
  }
}

// Every metric that the examples name, which ends where no letter, digit or _ follows.
TEST_F(ServerMetricsTest, TheExamplesNameMetricsThatThereAre) {
  std::set<std::string> names;
  for (const MetricFamily& family : Families()) {
    names.insert(family.name);
    if (family.kind == MetricKind::kHistogram) names.insert(family.name + "_bucket");
  }
  int found = 0;
  for (const char* const file : {"alerts.yml", "dashboard.json"}) {
    ASSERT_OK_AND_ASSIGN(const std::string text,
                         ReadFile(absl::StrCat("deploy/prometheus/", file), 1 << 20));
    for (const char* const prefix : {"slipway_", "process_"}) {
      for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
        size_t end = at;
        while (end < text.size() && (isalnum(text[end]) || text[end] == '_')) ++end;
        EXPECT_THAT(names, Contains(text.substr(at, end - at))) << file;
        ++found;
      }
    }
  }
  EXPECT_GT(found, 15);
}

}  // namespace
}  // namespace slipway::server
