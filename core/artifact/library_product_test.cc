#include "core/artifact/library_product.h"

#include <functional>
#include <string>
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Proto = v1::ProgramNotes::LibraryProduct;

CheckedManifest Manifest() { return *CheckedManifest::Check(TestProductManifest()); }

TEST(LibraryProductTest, IsReadAsItIsDescribed) {
  ASSERT_OK_AND_ASSIGN(const LibraryProduct product,
                       CheckLibraryProduct(TestLibraryProduct(), Manifest()));
  EXPECT_EQ(product.function, 0u);
  EXPECT_EQ(product.first, 1u);
  EXPECT_EQ(product.end(), 3u);
  EXPECT_EQ(product.left.value, 2u);
  EXPECT_EQ(product.right.row_stride, 5);
  EXPECT_EQ(product.result.value, 4u);
  EXPECT_EQ(product.bias, 5u);
  EXPECT_EQ(product.added, std::nullopt);
  EXPECT_EQ(product.activation, LibraryProduct::Activation::kRelu);
  EXPECT_EQ(product.precision, Precision::kTensorFloat32);
  EXPECT_EQ(DescribeLibraryProduct(product), "tf32 1x3x5x4 f32(0,4,1) f32(0,5,1) bias relu");
}

TEST(LibraryProductTest, AMatrixMayLieColumnByColumn) {
  Proto proto = TestLibraryProduct();
  proto.mutable_right()->set_row_stride(1);
  proto.mutable_right()->set_column_stride(4);
  ASSERT_OK_AND_ASSIGN(const LibraryProduct product, CheckLibraryProduct(proto, Manifest()));
  EXPECT_EQ(product.right.column_stride, 4);
}

// One field at a time is wrong.
TEST(LibraryProductTest, WhatDoesNotFitIsRefused) {
  struct Row {
    std::function<void(Proto&)> spoil;
    const char* message;
  };
  const std::vector<Row> rows = {
      {[](Proto& p) { p.set_first_step(4); }, "no such step"},
      {[](Proto& p) { p.set_first_step(UINT32_MAX); }, "no such step"},
      {[](Proto& p) { p.set_steps(0); }, "of 0 steps"},
      {[](Proto& p) { p.set_steps(4); }, "of 4 steps"},
      {[](Proto& p) { p.set_steps(UINT32_MAX); }, "steps"},
      {[](Proto& p) { p.set_steps(3); }, "not launches of one queue"},
      {[](Proto& p) { p.set_first_step(0); }, "not launches of one queue"},
      {[](Proto& p) { p.set_steps(1); }, "result is not written by its last step"},
      {[](Proto& p) { p.set_batch(0); }, "an extent of 0"},
      {[](Proto& p) { p.set_batch(2); }, "result is not f32, one row behind the other"},
      {[](Proto& p) { p.set_m(-1); }, "an extent of -1"},
      {[](Proto& p) { p.set_m(4); }, "left ends beyond its value"},
      {[](Proto& p) { p.set_m(2); }, "result is not f32, one row behind the other"},
      {[](Proto& p) { p.set_n(6); }, "right has neither whole rows nor columns"},
      {[](Proto& p) { p.set_k(int64_t{1} << 31); }, "an extent of 2147483648"},
      {[](Proto& p) { p.set_k(5); }, "left has neither whole rows nor columns"},
      {[](Proto& p) { p.mutable_left()->set_value(99); }, "left is no value"},
      {[](Proto& p) { p.mutable_left()->set_value(0); }, "left is not read"},
      {[](Proto& p) { p.mutable_left()->set_row_stride(5); }, "left ends beyond its value"},
      {[](Proto& p) { p.mutable_left()->set_row_stride(INT64_MAX); }, "left ends beyond its value"},
      {[](Proto& p) { p.mutable_left()->set_row_stride(-4); }, "left has neither"},
      {[](Proto& p) { p.mutable_left()->set_batch_stride(-1); }, "left has a stride of -1"},
      {[](Proto& p) { p.mutable_right()->set_column_stride(2); }, "right has neither"},
      {[](Proto& p) { p.mutable_result()->set_value(3); }, "result is not written"},
      {[](Proto& p) { p.mutable_result()->set_row_stride(6); }, "result ends beyond its value"},
      {[](Proto& p) { p.set_bias(1); }, "bias is not of 5 elements"},
      {[](Proto& p) { p.set_bias(6); }, "bias is not read"},
      {[](Proto& p) { p.set_bias_is_of_rows(true); }, "bias is not of 3 elements"},
      {[](Proto& p) { p.clear_bias(), p.set_bias_is_of_rows(true); }, "a bias of rows"},
      {[](Proto& p) { p.set_added(5); }, "added is not of 15 elements"},
      {[](Proto& p) { p.set_added(4); }, "added is not read"},
      {[](Proto& p) { p.set_activation(static_cast<Proto::Activation>(9)); }, "an activation"},
      {[](Proto& p) { p.set_precision(static_cast<v1::Precision>(99)); }, "precision 99"},
  };
  for (const Row& row : rows) {
    Proto proto = TestLibraryProduct();
    row.spoil(proto);
    EXPECT_THAT(CheckLibraryProduct(proto, Manifest()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(row.message)))
        << proto.DebugString();
  }
}

TEST(LibraryProductTest, WhatIsReadIsNotWritten) {
  v1::Manifest program = TestProductManifest();
  // The second launch reads what it writes to, as a kernel may.
  program.mutable_functions(0)->mutable_steps(2)->mutable_kernel()->set_inputs(0, 4);
  program.mutable_functions(0)->mutable_steps(1)->mutable_kernel()->set_outputs(0, 4);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(program));
  Proto proto = TestLibraryProduct();
  ASSERT_OK(CheckLibraryProduct(proto, manifest).status());
  proto.set_added(4);
  EXPECT_THAT(CheckLibraryProduct(proto, manifest),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lies where")));
}

TEST(LibraryProductTest, FactorsAreOfThePrecision) {
  v1::Manifest program = TestProductManifest();
  program.mutable_values(1)->set_dtype(v1::DATA_TYPE_FLOAT16);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(program));
  Proto proto = TestLibraryProduct();
  EXPECT_THAT(CheckLibraryProduct(proto, manifest),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("right is of f16")));
  proto.set_precision(v1::PRECISION_F16);
  EXPECT_OK(CheckLibraryProduct(proto, manifest).status());
}

std::vector<LibraryProduct> ReadFrom(const v1::ProgramNotes& notes) {
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
  return LibraryProductsOf(*artifact);
}

TEST(LibraryProductTest, OfAnArtifactThoseThatFitAreTold) {
  v1::ProgramNotes notes;
  EXPECT_THAT(ReadFrom(notes), IsEmpty());
  Proto bad = TestLibraryProduct();
  bad.set_k(7);
  *notes.add_library_products() = bad;
  *notes.add_library_products() = TestLibraryProduct();
  // Of the same steps.
  *notes.add_library_products() = TestLibraryProduct();
  const std::vector<LibraryProduct> products = ReadFrom(notes);
  ASSERT_EQ(products.size(), 1u);
  EXPECT_EQ(products[0].k, 4);
}

}  // namespace
}  // namespace slipway
