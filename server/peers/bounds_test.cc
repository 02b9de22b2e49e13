#include "server/peers/bounds.h"

#include <cmath>
#include <string>

#include "core/wire/benchmark_spec.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/graph.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

TEST(BoundsTest, EveryLargeFieldIsThere) {
  // So that their messages are linked in.
  v1::AgentState::descriptor();
  v1::WorkerState::descriptor();
  for (const Bound& bound : LargeFields()) {
    const auto* field = google::protobuf::DescriptorPool::generated_pool()->FindFieldByName(
        std::string(bound.field));
    ASSERT_NE(field, nullptr) << bound.field;
    EXPECT_TRUE(field->is_repeated() ||
                field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING)
        << bound.field;
  }
}

TEST(BoundsTest, AnyTextAndAnyListIsBounded) {
  v1::RunAttemptState attempt;
  v1::RunResult& run = *attempt.mutable_run_result();
  run.set_device(std::string(kMaxReportedTextBytes, 'd'));
  for (int i = 0; i < kMaxReportedEntries; ++i) run.add_outputs();
  run.mutable_outputs(0)->set_inline_data(std::string(1 << 20, 'x'));
  EXPECT_OK(CheckBounds(attempt));
  run.mutable_outputs(0)->set_inline_data(std::string((1 << 20) + 1, 'x'));
  EXPECT_THAT(CheckBounds(attempt), StatusIs(kBad, HasSubstr("Tensor.inline_data")));
  run.mutable_outputs(0)->clear_content();
  run.mutable_outputs(9)->set_name(std::string(kMaxReportedTextBytes + 1, 'n'));
  EXPECT_THAT(CheckBounds(attempt), StatusIs(kBad, HasSubstr("Tensor.name")));
  run.mutable_outputs(9)->clear_name();
  run.add_outputs();
  EXPECT_THAT(CheckBounds(attempt), StatusIs(kBad, HasSubstr("RunResult.outputs")));
}

TEST(BoundsTest, SomeMayBeLarger) {
  v1::BenchmarkResult benchmark;
  for (int i = 0; i < kMaxSamples; ++i) benchmark.add_samples_ns(i);
  EXPECT_OK(CheckBounds(benchmark));
  benchmark.add_samples_ns(1);
  EXPECT_THAT(CheckBounds(benchmark), StatusIs(kBad, HasSubstr("samples_ns")));
  v1::CompilationResult compiled;
  compiled.mutable_report()->set_printed_graph(std::string(16 << 20, 'g'));
  EXPECT_OK(CheckBounds(compiled));
  compiled.mutable_report()->add_float_products()->set_reason(std::string(5'000, 'r'));
  EXPECT_THAT(CheckBounds(compiled), StatusIs(kBad, HasSubstr("FloatProduct.reason")));
}

TEST(BoundsTest, NumbersAreFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    v1::Graph::Attribute::Floats several;
    several.add_values(1);
    several.add_values(static_cast<float>(bad));
    EXPECT_THAT(CheckBounds(several), StatusIs(kBad, HasSubstr("finite")));
    v1::ValueRange one;
    one.set_greatest(static_cast<float>(bad));
    EXPECT_THAT(CheckBounds(one), StatusIs(kBad, HasSubstr("ValueRange.greatest")));
    v1::SampleSummary wide;
    wide.set_p50_ns(bad);
    EXPECT_THAT(CheckBounds(wide), StatusIs(kBad, HasSubstr("SampleSummary.p50_ns")));
    wide.set_p50_ns(1e300);
    EXPECT_OK(CheckBounds(wide));
  }
}

}  // namespace
}  // namespace slipway::server
