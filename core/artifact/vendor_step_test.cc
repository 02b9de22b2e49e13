#include "core/artifact/vendor_step.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/artifact/program_notes.h"
#include "core/artifact/test_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Proto = v1::ProgramNotes::VendorStep;

CheckedManifest Manifest() { return *CheckedManifest::Check(TestProductManifest()); }

TEST(VendorStepTest, AProductIsReadAsItIsDescribed) {
  ASSERT_OK_AND_ASSIGN(const VendorStep step, CheckVendorStep(TestVendorStep(), Manifest()));
  EXPECT_EQ(step.function, 0u);
  EXPECT_EQ(step.first, 1u);
  EXPECT_EQ(step.end(), 3u);
  EXPECT_THAT(step.factors(), ElementsAre(2u, 1u));
  EXPECT_EQ(std::get<VendorProduct>(step.computed).right.row_stride, 5);
  EXPECT_EQ(step.result, 4u);
  EXPECT_EQ(step.bias, 5u);
  EXPECT_EQ(step.added, std::nullopt);
  EXPECT_EQ(step.activation, VendorStep::Activation::kRelu);
  EXPECT_EQ(step.precision, Precision::kTensorFloat32);
  EXPECT_EQ(DescribeVendorStep(step), "tf32 1x3x5x4 f32(0,4,1) f32(0,5,1) bias relu");
}

TEST(VendorStepTest, AConvolutionIsReadAsItIsDescribed) {
  ASSERT_OK_AND_ASSIGN(const VendorStep step, CheckVendorStep(TestVendorConvolution(), Manifest()));
  EXPECT_THAT(step.factors(), ElementsAre(2u, 1u));
  const auto& convolution = std::get<VendorConvolution>(step.computed);
  EXPECT_EQ(convolution.output_channels, 5);
  EXPECT_EQ(convolution.height.stride, 2);
  EXPECT_EQ(convolution.width.output, 3);
  EXPECT_EQ(step.bias, 5u);
  EXPECT_EQ(DescribeVendorStep(step),
            "tf32 conv 1x1x3x4 to 5x1x3 by 2x2 strides 2x1 dilations 1x1 pads 0x0 groups 1 f32 f32 "
            "bias relu");
  Proto inside = TestVendorConvolution();
  inside.mutable_convolution()->set_weights_have_channels_inside(true);
  ASSERT_OK_AND_ASSIGN(const VendorStep other, CheckVendorStep(inside, Manifest()));
  EXPECT_THAT(DescribeVendorStep(other), HasSubstr("f32 f32(channels inside) bias"));
}

TEST(VendorStepTest, AMatrixMayLieColumnByColumn) {
  Proto proto = TestVendorStep();
  proto.mutable_product()->mutable_right()->set_row_stride(1);
  proto.mutable_product()->mutable_right()->set_column_stride(4);
  ASSERT_OK_AND_ASSIGN(const VendorStep step, CheckVendorStep(proto, Manifest()));
  EXPECT_EQ(std::get<VendorProduct>(step.computed).right.column_stride, 4);
}

TEST(VendorStepTest, PadsAndGapsOfAWindowCount) {
  // A row of 12 by a window of 4 elements, 2 apart, from one before the first on, each 3 behind the last.
  Proto proto = TestVendorConvolution();
  Proto::Convolution& convolution = *proto.mutable_convolution();
  convolution.mutable_height()->set_input(1);
  convolution.mutable_height()->set_output(1);
  convolution.mutable_height()->set_kernel(1);
  Proto::Convolution::Dimension& width = *convolution.mutable_width();
  width.set_input(12);
  width.set_kernel(4);
  width.set_dilation(2);
  width.set_stride(3);
  width.set_pad(1);
  for (const int64_t output : {1, 2, 3, 4}) {
    width.set_output(output);
    const auto step = CheckVendorStep(proto, Manifest());
    // (12 + 1 - 7) / 3 + 1; with something behind the plane as well there may be one more.
    EXPECT_EQ(step.ok(), output == 3) << step.status();
    if (output < 3) EXPECT_THAT(step.status().message(), HasSubstr("a window of 7"));
  }
}

using Spoil = std::function<void(Proto&)>;

// One field at a time is wrong.
void ExpectRefused(const Proto& right, const std::vector<std::pair<Spoil, const char*>>& rows) {
  ASSERT_OK(CheckVendorStep(right, Manifest()).status());
  for (const auto& [spoil, message] : rows) {
    Proto proto = right;
    spoil(proto);
    EXPECT_THAT(CheckVendorStep(proto, Manifest()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << proto.DebugString();
  }
}

TEST(VendorStepTest, WhatDoesNotFitIsRefused) {
  for (const Proto& right : {TestVendorStep(), TestVendorConvolution()}) {
    ExpectRefused(
        right,
        {{[](Proto& p) { p.set_first_step(4); }, "no such step"},
         {[](Proto& p) { p.set_first_step(UINT32_MAX); }, "no such step"},
         {[](Proto& p) { p.set_steps(0); }, "of 0 steps"},
         {[](Proto& p) { p.set_steps(4); }, "of 4 steps"},
         {[](Proto& p) { p.set_steps(UINT32_MAX); }, "steps"},
         {[](Proto& p) { p.set_steps(3); }, "not launches of one queue"},
         {[](Proto& p) { p.set_first_step(0); }, "not launches of one queue"},
         {[](Proto& p) { p.set_steps(1); }, "result is not written by its last step"},
         {[](Proto& p) { p.clear_computed(); }, "nothing that is computed"},
         {[](Proto& p) { p.set_result(3); }, "result is not written"},
         {[](Proto& p) { p.set_result(99); }, "result is no value"},
         {[](Proto& p) { p.set_bias(1); }, "bias is not of 5 elements"},
         {[](Proto& p) { p.set_bias(6); }, "bias is not read"},
         {[](Proto& p) { p.set_added(5); }, "added is not of 15 elements"},
         {[](Proto& p) { p.set_added(4); }, "added is not read"},
         {[](Proto& p) { p.set_activation(static_cast<Proto::Activation>(9)); }, "an activation"},
         {[](Proto& p) { p.set_precision(static_cast<v1::Precision>(99)); }, "precision 99"}});
  }
}

TEST(VendorStepTest, AProductThatDoesNotFitIsRefused) {
  const auto left = [](Proto& p) { return p.mutable_product()->mutable_left(); };
  const auto right = [](Proto& p) { return p.mutable_product()->mutable_right(); };
  ExpectRefused(
      TestVendorStep(),
      {{[](Proto& p) { p.mutable_product()->set_batch(0); }, "an extent of 0"},
       {[](Proto& p) { p.mutable_product()->set_batch(2); }, "result is not 2x3x5 elements"},
       {[](Proto& p) { p.mutable_product()->set_m(-1); }, "an extent of -1"},
       {[](Proto& p) { p.mutable_product()->set_m(4); }, "left ends beyond its value"},
       {[](Proto& p) { p.mutable_product()->set_m(2); }, "result is not 1x2x5 elements"},
       {[](Proto& p) { p.mutable_product()->set_n(6); }, "right has neither whole rows nor"},
       {[](Proto& p) { p.mutable_product()->set_k(int64_t{1} << 31); }, "an extent of 2147483648"},
       {[](Proto& p) { p.mutable_product()->set_k(5); }, "left has neither whole rows nor columns"},
       {[&](Proto& p) { left(p)->set_value(99); }, "left is no value"},
       {[&](Proto& p) { left(p)->set_value(0); }, "left is not read"},
       {[&](Proto& p) { left(p)->set_row_stride(5); }, "left ends beyond its value"},
       {[&](Proto& p) { left(p)->set_row_stride(INT64_MAX); }, "left ends beyond its value"},
       {[&](Proto& p) { left(p)->set_row_stride(-4); }, "left has neither"},
       {[&](Proto& p) { left(p)->set_batch_stride(-1); }, "left has a stride of -1"},
       {[&](Proto& p) { right(p)->set_column_stride(2); }, "right has neither"},
       {[](Proto& p) { p.mutable_product()->set_bias_is_of_rows(true); }, "not of 3 elements"},
       {[](Proto& p) { p.clear_bias(), p.mutable_product()->set_bias_is_of_rows(true); },
        "a bias of rows"}});
}

TEST(VendorStepTest, AConvolutionThatDoesNotFitIsRefused) {
  const auto of = [](Proto& p) { return p.mutable_convolution(); };
  const auto height = [](Proto& p) { return p.mutable_convolution()->mutable_height(); };
  const auto width = [](Proto& p) { return p.mutable_convolution()->mutable_width(); };
  ExpectRefused(
      TestVendorConvolution(),
      {{[&](Proto& p) { of(p)->set_batch(0); }, "an extent of 0"},
       {[&](Proto& p) { of(p)->set_batch(2); }, "planes are not 2x1x3x4 elements"},
       {[&](Proto& p) { of(p)->set_groups(0); }, "an extent of 0"},
       {[&](Proto& p) { of(p)->set_groups(5); }, "groups do not divide"},
       {[&](Proto& p) { of(p)->set_input_channels(2); }, "planes are not 1x2x3x4 elements"},
       {[&](Proto& p) { of(p)->set_input_channels(INT64_MAX); }, "an extent of"},
       {[&](Proto& p) { of(p)->set_output_channels(6); }, "weights are not 6x1x2x2 elements"},
       {[&](Proto& p) { of(p)->set_planes(99); }, "planes is no value"},
       {[&](Proto& p) { of(p)->set_planes(0); }, "planes is not read"},
       {[&](Proto& p) { of(p)->set_weights(2); }, "weights are not 5x1x2x2 elements"},
       {[&](Proto& p) { of(p)->clear_height(); }, "an extent of 0"},
       {[&](Proto& p) { height(p)->set_input(2); }, "planes are not 1x1x2x4 elements"},
       {[&](Proto& p) { height(p)->set_kernel(4); }, "weights are not 5x1x4x2 elements"},
       {[&](Proto& p) { height(p)->set_stride(1); }, "a window of 2"},
       {[&](Proto& p) { height(p)->set_dilation(INT32_MAX); }, "a window of 2147483648"},
       {[&](Proto& p) { width(p)->set_pad(-1); }, "a window of 2"},
       {[&](Proto& p) { width(p)->set_pad(2); }, "a window of 2"},
       {[&](Proto& p) { width(p)->set_output(2); }, "a window of 2"},
       {[&](Proto& p) { width(p)->set_output(4); }, "result is not 1x5x1x4 elements"},
       {[&](Proto& p) { width(p)->set_output(5); }, "a window of 2"}});
}

TEST(VendorStepTest, WhatIsReadIsNotWritten) {
  v1::Manifest program = TestProductManifest();
  // The second launch reads what it writes to, as a kernel may.
  program.mutable_functions(0)->mutable_steps(2)->mutable_kernel()->set_inputs(0, 4);
  program.mutable_functions(0)->mutable_steps(1)->mutable_kernel()->set_outputs(0, 4);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(program));
  for (Proto proto : {TestVendorStep(), TestVendorConvolution()}) {
    ASSERT_OK(CheckVendorStep(proto, manifest).status());
    proto.set_added(4);
    EXPECT_THAT(CheckVendorStep(proto, manifest),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lies where")));
  }
}

TEST(VendorStepTest, FactorsAreOfThePrecision) {
  v1::Manifest program = TestProductManifest();
  program.mutable_values(1)->set_dtype(v1::DATA_TYPE_FLOAT16);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(program));
  for (Proto proto : {TestVendorStep(), TestVendorConvolution()}) {
    EXPECT_THAT(CheckVendorStep(proto, manifest),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(" is of f16")));
    proto.set_precision(v1::PRECISION_F16);
    EXPECT_OK(CheckVendorStep(proto, manifest).status());
  }
}

std::vector<VendorStep> ReadFrom(const v1::ProgramNotes& notes) {
  v1::Manifest manifest = TestProductManifest();
  const std::string bytes = AddNotes(notes, manifest);
  const auto get = [&](const Digest& digest) -> absl::StatusOr<Blob> {
    for (const std::string& each : {TestCode(), TestConstants(), bytes}) {
      if (Digest::Of(each) == digest) return Blob::Own(each);
    }
    return absl::NotFoundError("no such blob");
  };
  absl::StatusOr<Artifact> artifact = Artifact::Create(std::move(manifest), get);
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  return VendorStepsOf(*artifact);
}

TEST(VendorStepTest, OfAnArtifactThoseThatFitAreTold) {
  v1::ProgramNotes notes;
  EXPECT_THAT(ReadFrom(notes), IsEmpty());
  Proto bad = TestVendorStep();
  bad.mutable_product()->set_k(7);
  *notes.add_vendor_steps() = bad;
  *notes.add_vendor_steps() = TestVendorStep();
  // Of the same steps.
  *notes.add_vendor_steps() = TestVendorStep();
  const std::vector<VendorStep> steps = ReadFrom(notes);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(std::get<VendorProduct>(steps[0].computed).k, 4);
}

}  // namespace
}  // namespace slipway
