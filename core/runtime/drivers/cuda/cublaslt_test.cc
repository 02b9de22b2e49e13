// Products by a libcublasLt over the libcuda without a GPU, against sums on the host.
#include <stdlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/testing/library_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Status = absl::StatusCode;
using Activation = VendorStep::Activation;

VendorMatrix Rows(int64_t rows, int64_t columns, DataType dtype = DataType::kFloat32) {
  return {0, dtype, rows * columns, columns, 1};
}
VendorMatrix Columns(int64_t rows, int64_t columns, DataType dtype = DataType::kFloat32) {
  return {0, dtype, rows * columns, 1, rows};
}

// A step that is a product, and that.
VendorProduct& ProductOf(VendorStep& step) { return std::get<VendorProduct>(step.computed); }
const VendorProduct& ProductOf(const VendorStep& step) {
  return std::get<VendorProduct>(step.computed);
}

VendorStep Product(int64_t batch, int64_t m, int64_t n, int64_t k) {
  VendorStep step;
  VendorProduct& product = ProductOf(step);
  product.batch = batch;
  product.m = m;
  product.n = n;
  product.k = k;
  product.left = Rows(m, k);
  product.right = Rows(k, n);
  return step;
}

float At(const VendorMatrix& matrix, int64_t batch, int64_t row, int64_t column) {
  return NumberAt(batch * matrix.batch_stride + row * matrix.row_stride +
                  column * matrix.column_stride);
}

std::vector<float> Expected(const VendorStep& step) {
  const VendorProduct& product = ProductOf(step);
  std::vector<float> result;
  for (int64_t b = 0; b < product.batch; ++b) {
    for (int64_t i = 0; i < product.m; ++i) {
      for (int64_t j = 0; j < product.n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < product.k; ++p) {
          sum += double{At(product.left, b, i, p)} * double{At(product.right, b, p, j)};
        }
        if (step.bias.has_value()) sum += double{NumberAt(product.bias_is_of_rows ? i : j)};
        if (step.added.has_value()) sum += double{At(Rows(product.m, product.n), b, i, j)};
        result.push_back(Activated(step.activation, sum));
      }
    }
  }
  return result;
}

HeldStep::Sizes SizesOf(const VendorStep& step) {
  const VendorProduct& product = ProductOf(step);
  return {.factors = {product.batch * product.m * product.k, product.batch * product.k * product.n},
          .types = {product.left.dtype, product.right.dtype},
          .result = product.batch * product.m * product.n,
          .bias = product.bias_is_of_rows ? product.m : product.n};
}

class CublasLtTest : public LibraryFixture {
 protected:
  void ExpectMakes(const VendorStep& product) {
    SCOPED_TRACE(DescribeVendorStep(product));
    VendorLibrary* const library = device_->library_for(VendorStep());
    ASSERT_NE(library, nullptr);
    ASSERT_OK_AND_ASSIGN(const auto ways, library->Find(product, 4));
    ASSERT_THAT(ways, SizeIs(2));
    for (const auto& way : ways) {
      ExpectRuns(*way, HeldStep(*device_, product, SizesOf(product)), Expected(product));
    }
  }
};

TEST_F(CublasLtTest, TellsWhatItIs) {
  VendorLibrary* const library = device_->library_for(VendorStep());
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->name(), "cublasLt 12.4.5");
  EXPECT_THAT(library->key(), AllOf(StartsWith("cublasLt 12.4.5, Fake GPU, sm_"),
                                    HasSubstr("driver for CUDA 12.4")));
  EXPECT_EQ(device_->library_for(VendorStep()), library);
  ASSERT_OK_AND_ASSIGN(const auto names, ListCudaDevices());
  EXPECT_EQ(names.at(0).libraries, "cublasLt 12.4.5");
  Open("", LibraryUse::kNever);
  EXPECT_EQ(device_->library_for(VendorStep()), nullptr);
}

TEST_F(CublasLtTest, MakesProductsOfEveryLayout) {
  for (const bool left_has_rows : {true, false}) {
    for (const bool right_has_rows : {true, false}) {
      for (const int64_t batch : {1, 3}) {
        VendorStep product = Product(batch, 5, 6, 7);
        if (!left_has_rows) ProductOf(product).left = Columns(5, 7);
        if (!right_has_rows) ProductOf(product).right = Columns(7, 6);
        ExpectMakes(product);
        product.bias = 0;
        ProductOf(product).bias_is_of_rows = true;
        ExpectMakes(product);
      }
    }
  }
  VendorStep shared = Product(3, 4, 5, 6);
  ProductOf(shared).left.batch_stride = 0;
  ExpectMakes(shared);
  ExpectMakes(Product(1, 1, 1, 1));
  ExpectMakes(Product(1, 1, 9, 4));
  ExpectMakes(Product(1, 9, 1, 4));
}

TEST_F(CublasLtTest, DoesWhatIsBehindAProduct) {
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kGeluTanh}) {
    for (int with = 0; with < 6; ++with) {
      VendorStep product = Product(with % 2 + 1, 5, 6, 7);
      product.activation = activation;
      if (with >= 2) product.bias = 0;
      ProductOf(product).bias_is_of_rows = with >= 4;
      if (with % 2 == 1) product.added = 0;
      ExpectMakes(product);
    }
  }
}

TEST_F(CublasLtTest, FactorsMayLieInSixteenBits) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16}) {
    const Precision precision =
        dtype == DataType::kFloat16 ? Precision::kFloat16 : Precision::kBfloat16;
    for (const bool left_is_narrow : {true, false}) {
      for (const bool right_is_narrow : {true, false}) {
        VendorStep product = Product(2, 5, 6, 7);
        product.precision = precision;
        product.bias = 0;
        if (left_is_narrow) ProductOf(product).left = Rows(5, 7, dtype);
        if (right_is_narrow) ProductOf(product).right = Columns(7, 6, dtype);
        ExpectMakes(product);
      }
    }
  }
}

TEST_F(CublasLtTest, PrecisionsAreAskedFor) {
  VendorStep product = Product(1, 4, 4, 4);
  for (const Precision precision : {Precision::kFloat32, Precision::kTensorFloat32,
                                    Precision::kFloat16, Precision::kBfloat16}) {
    product.precision = precision;
    ExpectMakes(product);
  }
}

// Work that comes again is a graph, and the library's products are within it.
TEST_F(CublasLtTest, ProductsAreCaptured) {
  VendorStep product = Product(1, 5, 6, 7);
  product.bias = 0;
  product.precision = Precision::kFloat16;
  ProductOf(product).left = Rows(5, 7, DataType::kFloat16);  // So that the right one is rounded.
  ASSERT_OK_AND_ASSIGN(const auto ways, device_->library_for(VendorStep())->Find(product, 1));
  const HeldStep first(*device_, product, SizesOf(product));
  const HeldStep second(*device_, product, SizesOf(product));
  std::string told;
  ExpectRepeats(*ways[0], first, second, Expected(product), told);
  EXPECT_THAT(told, AllOf(HasSubstr("captures: cublaslt_product"),
                          HasSubstr("captures: slipway_round_f16"), HasSubstr("graph of 6")));
}

TEST_F(CublasLtTest, WhatTheLibraryDoesNotSupportHasNoWay) {
  VendorStep product = Product(1, 5, 6, 7);
  product.bias = 0;
  ProductOf(product).bias_is_of_rows = true;
  Open("row_bias=0");
  ASSERT_OK_AND_ASSIGN(const auto ways, device_->library_for(VendorStep())->Find(product, 4));
  EXPECT_THAT(ways, IsEmpty());
  // Devices before sm_80 round nothing.
  Open("capability=75");
  product = Product(1, 5, 6, 7);
  product.precision = Precision::kFloat16;
  ProductOf(product).left.dtype = DataType::kFloat16;
  ASSERT_OK_AND_ASSIGN(const auto none, device_->library_for(VendorStep())->Find(product, 4));
  EXPECT_THAT(none, IsEmpty());
}

TEST_F(CublasLtTest, ErrorsOfTheLibraryAreTyped) {
  const VendorStep product = Product(1, 5, 6, 7);
  Open("cublasLtCreate=3");
  EXPECT_EQ(device_->library_for(VendorStep()), nullptr);
  const struct {
    const char* setting;
    Status code;
  } rows[] = {
      {"cublasLtMatmulDescCreate=3", Status::kResourceExhausted},
      {"cublasLtMatmulDescSetAttribute=7", Status::kInvalidArgument},
      {"cublasLtMatrixLayoutCreate=3", Status::kResourceExhausted},
      {"cublasLtMatrixLayoutSetAttribute=7", Status::kInvalidArgument},
      {"cublasLtMatmulPreferenceCreate=3", Status::kResourceExhausted},
      {"cublasLtMatmulPreferenceSetAttribute=14", Status::kInternal},
      {"cublasLtMatmulAlgoGetHeuristic=8", Status::kUnimplemented},
      {"cublasLtMatmulAlgoGetHeuristic=1", Status::kFailedPrecondition},
      {"cublasLtMatmulAlgoGetHeuristic=99", Status::kInternal},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.setting);
    Open("");
    VendorLibrary* const library = device_->library_for(VendorStep());
    Set(row.setting);
    EXPECT_THAT(library->Find(product, 4), StatusIs(row.code, HasSubstr("cuda 0 (Fake GPU): ")));
    Set("");
    EXPECT_OK(library->Find(product, 4).status());
  }
}

TEST_F(CublasLtTest, AFailedProductIsAnErrorOfItsStep) {
  const VendorStep product = Product(1, 5, 6, 7);
  ASSERT_OK_AND_ASSIGN(const auto ways, device_->library_for(VendorStep())->Find(product, 1));
  const HeldStep held(*device_, product, SizesOf(product));
  ASSERT_OK_AND_ASSIGN(const auto queues, device_->NewQueues({}));
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->PrepareLibrary(*ways[0], held.arguments, "step 7 'MatMul'"));
  Set("cublasLtMatmul=13");
  ASSERT_OK(queues->Launch(0, *launch, {}));
  EXPECT_THAT(queues->Finish(),
              StatusIs(Status::kInternal,
                       AllOf(HasSubstr("step 7 'MatMul'"), HasSubstr("cublasLt 12.4.5's product"),
                             HasSubstr("CUBLAS_STATUS_EXECUTION_FAILED (13)"))));
  Set("");
  ASSERT_OK(queues->Launch(0, *launch, {}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(held.result.Read(),
              ::testing::Pointwise(::testing::FloatNear(1e-5F), Expected(product)));
}

TEST_F(CublasLtTest, TensorsAreAligned) {
  const VendorStep product = Product(1, 5, 6, 7);
  ASSERT_OK_AND_ASSIGN(const auto ways, device_->library_for(VendorStep())->Find(product, 1));
  HeldStep held(*device_, product, SizesOf(product));
  held.first.buffer.device += 4;
  ASSERT_OK_AND_ASSIGN(const auto queues, device_->NewQueues({}));
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->PrepareLibrary(*ways[0], held.arguments, "step 7 'MatMul'"));
  EXPECT_THAT(queues->Launch(0, *launch, {}),
              StatusIs(Status::kInvalidArgument, HasSubstr("step 7 'MatMul'")));
}

}  // namespace
}  // namespace slipway
