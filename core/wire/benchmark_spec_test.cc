#include "core/wire/benchmark_spec.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

v1::BenchmarkSpec SpecOf(v1::Scenario::Kind kind) {
  v1::BenchmarkSpec spec;
  spec.mutable_scenario()->set_kind(kind);
  if (kind == v1::Scenario::SERVER) spec.mutable_scenario()->set_qps_millis(100'000);
  return spec;
}

TEST(CheckBenchmarkSpec, TakesWhatItMayBe) {
  EXPECT_OK(CheckBenchmarkSpec({}));
  for (const v1::Scenario::Kind kind : {v1::Scenario::SINGLE_STREAM, v1::Scenario::MULTI_STREAM,
                                        v1::Scenario::OFFLINE, v1::Scenario::SERVER}) {
    EXPECT_OK(CheckBenchmarkSpec(SpecOf(kind)));
  }
  v1::BenchmarkSpec search = SpecOf(v1::Scenario::SERVER);
  search.mutable_scenario()->set_qps_millis(0);
  search.mutable_scenario()->set_find_qps(true);
  search.mutable_scenario()->set_latency_bound_ns(1);
  EXPECT_OK(CheckBenchmarkSpec(search));
}

TEST(CheckBenchmarkSpec, NamesWhatMayNotBe) {
  struct Case {
    v1::Scenario::Kind kind;
    std::function<void(v1::BenchmarkSpec&)> change;
    std::string says;
  };
  using Spec = v1::BenchmarkSpec;
  const std::vector<Case> cases = {
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_qps_millis(0); },
       "qps_millis is 0; 1 to 1000000000 wanted"},
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_qps_millis(-5); },
       "qps_millis is -5"},
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_qps_millis(1'000'000'001); },
       "qps_millis is 1000000001"},
      {v1::Scenario::SERVER,
       [](Spec& s) {
         s.mutable_scenario()->set_qps_millis(1);
         s.set_samples(1'000'000);
       },
       "more than 24 hours"},
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_find_qps(true); },
       "latency_bound_ns is 0"},
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_latency_bound_ns(-1); },
       "latency_bound_ns is -1"},
      {v1::Scenario::SERVER, [](Spec& s) { s.mutable_scenario()->set_percentile_ppm(1'000'000); },
       "percentile_ppm"},
      {v1::Scenario::SERVER, [](Spec& s) { s.set_precision_goal_ppm(10); }, "precision_goal_ppm"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.mutable_scenario()->set_qps_millis(5); },
       "SERVER alone"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.mutable_scenario()->set_calls_per_query(5); },
       "MULTI_STREAM alone"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.mutable_scenario()->set_instances(257); },
       "instances is 257"},
      {v1::Scenario::OFFLINE,
       [](Spec& s) {
         s.mutable_scenario()->set_instances(256);
         s.mutable_run()->set_threads(5);
       },
       "1024 threads"},
      {v1::Scenario::SINGLE_STREAM, [](Spec& s) { s.mutable_scenario()->set_instances(2); },
       "one instance"},
      {v1::Scenario::MULTI_STREAM,
       [](Spec& s) { s.mutable_scenario()->set_calls_per_query(1 << 20); }, "calls_per_query"},
      {v1::Scenario::KIND_UNSPECIFIED, [](Spec&) {}, "scenario 0 is unknown"},
      {static_cast<v1::Scenario::Kind>(77), [](Spec&) {}, "scenario 77 is unknown"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.mutable_settling()->set_longest_ns(-1); },
       "longest_ns"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.mutable_settling()->set_cool_down_millicelsius(-1); },
       "cool_down"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.set_samples(1'000'001); }, "samples is 1000001"},
      {v1::Scenario::OFFLINE, [](Spec& s) { s.set_warmup(-2); }, "warmup is -2"},
  };
  for (const Case& c : cases) {
    v1::BenchmarkSpec spec = SpecOf(c.kind);
    c.change(spec);
    EXPECT_THAT(CheckBenchmarkSpec(spec),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.says)))
        << spec.DebugString();
  }
}

TEST(BenchmarkVersionOf, IsOfWhatIsAsked) {
  v1::BenchmarkSpec spec;
  spec.set_samples(5);
  EXPECT_EQ(BenchmarkVersionOf(spec), 0);
  spec.mutable_settling();
  EXPECT_EQ(BenchmarkVersionOf(spec), 1);
  EXPECT_EQ(BenchmarkVersionOf(SpecOf(v1::Scenario::OFFLINE)), 1);
}

TEST(WithDefaults, FillsProcessorsWithInstances) {
  v1::BenchmarkSpec spec = SpecOf(v1::Scenario::SERVER);
  EXPECT_EQ(WithDefaults(spec, 8).instances(), 8);
  EXPECT_EQ(WithDefaults(spec, 8).percentile_ppm(), 990'000);
  spec.mutable_run()->set_threads(3);
  EXPECT_EQ(WithDefaults(spec, 8).instances(), 2);
  spec.mutable_run()->set_threads(16);
  EXPECT_EQ(WithDefaults(spec, 8).instances(), 1);
  spec.mutable_run()->set_threads(1);
  EXPECT_EQ(WithDefaults(spec, 4096).instances(), 256);
  spec.mutable_scenario()->set_instances(5);
  EXPECT_EQ(WithDefaults(spec, 8).instances(), 5);
  EXPECT_EQ(WithDefaults(SpecOf(v1::Scenario::MULTI_STREAM), 2).calls_per_query(), 8);
  EXPECT_EQ(WithDefaults(SpecOf(v1::Scenario::SINGLE_STREAM), 8).instances(), 1);
}

}  // namespace
}  // namespace slipway
