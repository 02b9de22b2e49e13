#include "server/history/history_entry.h"

#include <functional>
#include <string>
#include <vector>

#include "core/base/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::BenchmarkResult Result(const std::vector<int64_t>& samples, int64_t iterations = 1) {
  v1::BenchmarkResult result;
  for (const int64_t sample : samples) result.add_samples_ns(sample);
  result.set_iterations_per_sample(iterations);
  return result;
}

JobRecord Record() {
  JobRecord record;
  v1::Job& job = *record.mutable_job();
  job.set_id("id");
  job.set_owner("ann");
  job.set_subject("net.onnx");
  job.set_create_time_ns(5);
  job.set_end_time_ns(7);
  job.add_tags()->set_key("commit");
  v1::RunSpec& run = *job.mutable_benchmark()->mutable_run();
  run.mutable_manifest()->set_sha256("digest");
  run.add_inputs()->set_name("x");
  run.mutable_inputs(0)->set_inline_data("secret");
  record.mutable_run()->set_target("x86-64-linux");
  record.mutable_run()->set_compile_key("key");
  record.mutable_run()->add_tools("halide 14");
  return record;
}

TEST(HistoryEntryTest, HasAllThatIsKnown) {
  v1::DeviceDescription device;
  device.set_id("board");
  device.set_model("AMD EPYC");
  device.mutable_peaks()->add_on_threads();
  v1::HistoryEntry entry = BeginEntry(Record(), device, "1.5");
  v1::BenchmarkResult result = Result({3});
  result.set_first_run_ns(9);
  result.mutable_before()->set_governor("performance");
  result.add_steps()->set_name("step");
  CompleteEntry(result, &entry);
  EXPECT_EQ(entry.id(), "id");
  EXPECT_EQ(entry.owner(), "ann");
  EXPECT_EQ(entry.model(), "net.onnx");
  EXPECT_EQ(entry.tags(0).key(), "commit");
  EXPECT_EQ(entry.manifest().sha256(), "digest");
  EXPECT_EQ(entry.target(), "x86-64-linux");
  EXPECT_EQ(entry.compile_key(), "key");
  EXPECT_THAT(entry.tools(), ElementsAre("halide 14"));
  EXPECT_EQ(entry.device().model(), "AMD EPYC");
  EXPECT_FALSE(entry.device().has_peaks());
  EXPECT_EQ(entry.agent_version(), "1.5");
  EXPECT_EQ(entry.server_version(), kVersion);
  EXPECT_EQ(entry.spec().run().inputs(0).name(), "x");
  EXPECT_FALSE(entry.spec().run().inputs(0).has_inline_data());
  EXPECT_EQ(entry.result().first_run_ns(), 9);
  EXPECT_EQ(entry.result().before().governor(), "performance");
  EXPECT_THAT(entry.result().steps(), IsEmpty());
  EXPECT_EQ(entry.create_time_ns(), 5);
  EXPECT_EQ(entry.end_time_ns(), 7);
  EXPECT_OK(CheckEntry(entry));
}

TEST(HistoryEntryTest, ConditionsAreEqualWhereTimesCanBeCompared) {
  v1::BenchmarkSpec spec = Record().job().benchmark();
  const std::string conditions = ConditionsOf(spec);
  EXPECT_THAT(conditions, SizeIs(16));
  v1::BenchmarkSpec same = spec;
  same.set_samples(9);
  same.set_warmup(9);
  same.set_profile(true);
  same.set_precision_goal_ppm(9);
  v1::RunSpec& run = *same.mutable_run();
  run.mutable_manifest()->set_sha256("other");
  run.set_device("board");
  run.set_name("other");
  run.set_seed(9);
  run.set_threads(9);
  run.mutable_inputs(0)->set_inline_data("other");
  EXPECT_EQ(ConditionsOf(same), conditions);

  for (const std::function<void(v1::RunSpec&)>& change :
       std::vector<std::function<void(v1::RunSpec&)>>{
           [](auto& r) { r.mutable_inputs(0)->mutable_type()->add_shape(3); },
           [](auto& r) { r.mutable_inputs(0)->set_name("y"); },
           [](auto& r) { r.set_loop_turns(7); }, [](auto& r) { r.set_dynamic_bytes(7); }}) {
    v1::BenchmarkSpec other = spec;
    change(*other.mutable_run());
    EXPECT_NE(ConditionsOf(other), conditions);
  }
  // Inputs have names, so that their order says nothing.
  spec.mutable_run()->add_inputs()->set_name("a");
  v1::BenchmarkSpec turned = spec;
  turned.mutable_run()->mutable_inputs()->SwapElements(0, 1);
  EXPECT_EQ(ConditionsOf(turned), ConditionsOf(spec));
}

TEST(HistoryEntryTest, SummaryIsByNearestRank) {
  const v1::SampleSummary summary = Summarize(Result({50, 15, 40, 20, 35}, 2));
  EXPECT_EQ(summary.count(), 5);
  EXPECT_EQ(summary.min_ns(), 7.5);
  EXPECT_EQ(summary.p50_ns(), 17.5);
  EXPECT_EQ(summary.p90_ns(), 25);
  EXPECT_EQ(summary.max_ns(), 25);
  const v1::SampleSummary one = Summarize(Result({3}));
  EXPECT_EQ(one.min_ns(), 3);
  EXPECT_EQ(one.p50_ns(), 3);
  EXPECT_EQ(one.p90_ns(), 3);
  std::vector<int64_t> many;
  for (int64_t i = 1; i <= 1'000; ++i) many.push_back(i * 3 % 1'001);  // Each of 1 to 1,000.
  EXPECT_EQ(Summarize(Result(many)).p50_ns(), 500);
  EXPECT_EQ(Summarize(Result(many)).p90_ns(), 900);
}

TEST(HistoryEntryTest, WhatIsDamagedIsFound) {
  v1::HistoryEntry good = BeginEntry(Record(), {}, "");
  CompleteEntry(Result({3, 4}), &good);
  ASSERT_OK(CheckEntry(good));
  struct Case {
    std::function<void(v1::HistoryEntry&)> spoil;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {[](auto& e) { e.clear_spec(); }, "no specification"},
           {[](auto& e) { e.clear_result(); }, "no result"},
           {[](auto& e) { e.mutable_result()->clear_samples_ns(); }, "no samples"},
           {[](auto& e) { e.mutable_result()->set_iterations_per_sample(0); }, "no samples"},
           {[](auto& e) { e.mutable_result()->add_samples_ns(1); }, "not those that it tells of"},
       }) {
    v1::HistoryEntry entry = good;
    c.spoil(entry);
    EXPECT_THAT(CheckEntry(entry), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(c.says)));
  }
}

}  // namespace
}  // namespace slipway::server
