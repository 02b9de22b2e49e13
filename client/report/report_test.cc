#include "client/report/report.h"

#include <string>

#include "client/cli/test_results.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Report BenchmarkReport() {
  Report report;
  report.subject = "net.onnx";
  report.written = cli::kTime;
  Job& job = report.job;
  job.id = "01JB";
  job.kind = JobKind::kBenchmark;
  job.state = JobState::kSucceeded;
  job.tags = {{"branch", "main"}};
  job.create_time = cli::kTime;
  job.end_time = cli::kTime + absl::Seconds(1);
  job.benchmark = cli::Benchmark();
  job.benchmark->steps = {{"conv1", {"Conv", "Relu"}, 3'000'000, StepWork{500, 64, 16}},
                          {"dense", {"Gemm"}, 1'000'000}};
  report.artifact = cli::Context().artifact;
  report.artifact->steps = {{"conv1", {"Conv", "Relu"}, ""}, {"dense", {"Gemm"}, ""}};
  report.versions = {{"server", "9.8.7"}};
  report.history =
      HistoryEntry{.device = {.model = "A Board", .cores = 4}, .agent_version = "5.4.3"};
  return report;
}

TEST(ReportTest, ABenchmark) {
  const std::string html = RenderReport(BenchmarkReport());
  EXPECT_THAT(html, HasSubstr("<h1>benchmark of net.onnx</h1>"));
  EXPECT_THAT(html, HasSubstr("p50 1.00 ms, min 1.00 ms on 1 thread"));
  EXPECT_THAT(html, HasSubstr("distribution of 100 samples"));
  EXPECT_THAT(html, HasSubstr("needs 368"));
  EXPECT_THAT(html, AllOf(HasSubstr("A Board"), HasSubstr("5.4.3"), HasSubstr("9.8.7"),
                          HasSubstr("tag branch")));
  EXPECT_THAT(html, HasSubstr("Steps of a call, 4.00 ms together"));
  // The second step stands in the last quarter of the call.
  EXPECT_THAT(html, HasSubstr("<rect x=\"75.000\" y=\"0\" width=\"25.000\""));
}

TEST(ReportTest, StepsThatTheArtifactDoesNotHaveAreListedAndNotDrawn) {
  Report report = BenchmarkReport();
  report.artifact->steps.pop_back();
  const std::string html = RenderReport(report);
  EXPECT_THAT(html, AllOf(HasSubstr("conv1"), HasSubstr("dense"), Not(HasSubstr("WHEN"))));
}

TEST(ReportTest, NamesAreTextWhateverIsInThem) {
  const std::string evil = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"\x27";
  Report report = BenchmarkReport();
  report.subject = evil;
  report.job.owner = report.job.assignee = evil;
  report.job.tags = {{evil, evil}};
  report.job.benchmark->device = report.job.benchmark->device_target = evil;
  report.job.benchmark->steps[0].name = report.artifact->steps[0].name = evil;
  report.job.benchmark->steps[0].operators = {evil};
  report.job.benchmark->before.governor = report.job.benchmark->energy_unknown = evil;
  report.artifact->target = report.artifact->compile_key = evil;
  report.versions = {{evil, evil}};
  report.history->device.model = report.history->device.os = evil;
  const std::string html = RenderReport(report);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(ReportTest, NothingIsFetched) {
  const std::string html = RenderReport(BenchmarkReport());
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"));
  for (const char* part : {"http://", "https://", "src=", "href=", "url(", "@import", "<script"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(ReportTest, AScenarioWhoseSamplesAreNoTimes) {
  Report report = BenchmarkReport();
  report.job.benchmark->scenario =
      ScenarioResult{.scenario = {.kind = ScenarioKind::kOffline, .instances = 2},
                     .duration = absl::Seconds(1),
                     .calls = 1'000};
  const std::string html = RenderReport(report);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("p50")), HasSubstr("offline")));
}

TEST(ReportTest, ACompilation) {
  Report report;
  report.subject = "resnet50.onnx";
  report.job = cli::CompiledJob();
  const std::string html = RenderReport(report);
  EXPECT_THAT(html, AllOf(HasSubstr("compilation of resnet50.onnx"), HasSubstr("compile kernels"),
                          HasSubstr("FuseOps"), HasSubstr("53, 20 compiled, 33 from the cache")));
}

TEST(ReportTest, AFailedJobSaysWhy) {
  Report report;
  report.subject = "net.onnx";
  report.job = cli::FailedJob();
  report.job.error_log = "<b>line</b>\n";
  const std::string html = RenderReport(report);
  EXPECT_THAT(html, HasSubstr("operator &quot;X&quot; of node &quot;n&quot;"));
  EXPECT_THAT(html, HasSubstr("<pre>&lt;b&gt;line&lt;/b&gt;\n</pre>"));
}

TEST(ReportTest, ARun) {
  Report report;
  report.subject = "net.onnx";
  report.job = cli::RunJob();
  report.job.run->outputs = {{.name = "y", .type = {DataType::kFloat32, {1, 2}}}};
  EXPECT_THAT(RenderReport(report), AllOf(HasSubstr("f32[1, 2]"), HasSubstr("250 us")));
}

}  // namespace
}  // namespace slipway
