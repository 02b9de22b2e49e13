// Convolutions by a libcudnn over the libcuda without a GPU, against sums on the host.
#include <stdlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"
#include "core/runtime/drivers/cuda/testing/library_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Status = absl::StatusCode;
using Activation = VendorStep::Activation;
using Dimension = VendorConvolution::Dimension;

VendorConvolution& ConvolutionOf(VendorStep& step) {
  return std::get<VendorConvolution>(step.computed);
}
const VendorConvolution& ConvolutionOf(const VendorStep& step) {
  return std::get<VendorConvolution>(step.computed);
}

// 3 x 3 of 2 planes of 2 channels, to 3 channels, with a pad of 1.
VendorStep Convolution() {
  VendorStep step;
  step.computed = VendorConvolution();
  VendorConvolution& convolution = ConvolutionOf(step);
  convolution.batch = 2;
  convolution.input_channels = 2;
  convolution.output_channels = 3;
  convolution.height = {3, 3, 3, 1, 1, 1};
  convolution.width = {4, 4, 3, 1, 1, 1};
  return step;
}

// The same in another precision, with weights of that type, which have channels inside where it is one of 16 bits.
VendorStep Narrow(DataType weights, Precision precision) {
  VendorStep step = Convolution();
  step.precision = precision;
  ConvolutionOf(step).weights.dtype = weights;
  ConvolutionOf(step).weights_have_channels_inside = weights != DataType::kFloat32;
  return step;
}

std::vector<float> Expected(const VendorStep& step) {
  const VendorConvolution& of = ConvolutionOf(step);
  const int64_t channels = of.input_channels / of.groups;
  const auto x = [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    if (row < 0 || row >= of.height.input || column < 0 || column >= of.width.input) return 0.0F;
    return NumberAt(((n * of.input_channels + c) * of.height.input + row) * of.width.input +
                    column);
  };
  const auto w = [&](int64_t k, int64_t c, int64_t r, int64_t s) {
    if (of.weights_have_channels_inside) {
      return NumberAt(((k * of.height.kernel + r) * of.width.kernel + s) * channels + c);
    }
    return NumberAt(((k * channels + c) * of.height.kernel + r) * of.width.kernel + s);
  };
  std::vector<float> result;
  for (int64_t n = 0; n < of.batch; ++n) {
    for (int64_t k = 0; k < of.output_channels; ++k) {
      const int64_t first = k / (of.output_channels / of.groups) * channels;
      for (int64_t p = 0; p < of.height.output; ++p) {
        for (int64_t q = 0; q < of.width.output; ++q) {
          double sum = 0;
          for (int64_t c = 0; c < channels; ++c) {
            for (int64_t r = 0; r < of.height.kernel; ++r) {
              for (int64_t s = 0; s < of.width.kernel; ++s) {
                const int64_t row = p * of.height.stride + r * of.height.dilation - of.height.pad;
                const int64_t column = q * of.width.stride + s * of.width.dilation - of.width.pad;
                sum += double{x(n, first + c, row, column)} * double{w(k, c, r, s)};
              }
            }
          }
          if (step.bias.has_value()) sum += double{NumberAt(k)};
          if (step.added.has_value()) sum += double{NumberAt(static_cast<int64_t>(result.size()))};
          result.push_back(Activated(step.activation, sum));
        }
      }
    }
  }
  return result;
}

HeldStep::Sizes SizesOf(const VendorStep& step) {
  const VendorConvolution& of = ConvolutionOf(step);
  return {.factors = {of.batch * of.input_channels * of.height.input * of.width.input,
                      of.output_channels * of.input_channels / of.groups * of.height.kernel *
                          of.width.kernel},
          .types = {of.planes.dtype, of.weights.dtype},
          .result = of.batch * of.output_channels * of.height.output * of.width.output,
          .bias = of.output_channels};
}

class CudnnTest : public LibraryFixture {
 protected:
  VendorLibrary* library() { return device_->library_for(Convolution()); }

  std::vector<std::unique_ptr<LibraryWay>> Find(const VendorStep& step, int most = 4) {
    auto ways = library()->Find(step, most);
    EXPECT_OK(ways.status());
    return ways.ok() ? *std::move(ways) : std::vector<std::unique_ptr<LibraryWay>>();
  }

  void ExpectMakes(const VendorStep& step, int most = 1) {
    SCOPED_TRACE(DescribeVendorStep(step));
    const auto ways = Find(step, most);
    ASSERT_THAT(ways, SizeIs(most));
    for (const auto& way : ways) {
      ASSERT_OK(way->Load());
      ExpectRuns(*way, HeldStep(*device_, step, SizesOf(step)), Expected(step));
    }
  }
};

TEST_F(CudnnTest, TellsWhatItIs) {
  ASSERT_NE(library(), nullptr);
  EXPECT_EQ(library()->name(), "cudnn 9.8.0");
  EXPECT_THAT(library()->key(),
              AllOf(StartsWith("cudnn 9.8.0, Fake GPU, sm_"), HasSubstr("driver for CUDA 12.4")));
  // Without cuBLASLt.
  EXPECT_EQ(device_->library_for(VendorStep()), nullptr);
  ASSERT_OK_AND_ASSIGN(const auto names, ListCudaDevices());
  EXPECT_EQ(names.at(0).libraries, "cudnn 9.8.0");
  Open("", LibraryUse::kNever);
  EXPECT_EQ(library(), nullptr);
}

TEST_F(CudnnTest, MakesConvolutionsOfEveryWindow) {
  ExpectMakes(Convolution(), 3);  // One of them is a fallback.
  const struct {
    Dimension height;
    Dimension width;
  } rows[] = {
      {{5, 3, 3, 1, 1, 0}, {7, 5, 3, 1, 1, 0}},  // Without pads.
      {{6, 3, 3, 2, 1, 1},
       {7, 4, 3, 2, 1, 1}},  // Every other place; of 6 rows the last pad is not met.
      {{1, 1, 1, 1, 1, 0}, {12, 3, 4, 3, 2, 1}},  // One row, with gaps in the window.
      {{4, 2, 1, 2, 1, 0}, {4, 2, 1, 2, 1, 0}},   // Every other element by single places.
      {{2, 3, 2, 1, 1, 0},
       {3, 4, 2, 1, 1, 1}},  // A pad behind the rows alone, and one before the columns.
      {{2, 2, 1, 1, 1, 0}, {33, 17, 3, 2, 1, 1}},  // Planes of several tiles.
  };
  for (const auto& row : rows) {
    VendorStep step = Convolution();
    ConvolutionOf(step).height = row.height;
    ConvolutionOf(step).width = row.width;
    ExpectMakes(step);
    VendorStep narrow = Narrow(DataType::kFloat32, Precision::kFloat16);
    ConvolutionOf(narrow).height = row.height;
    ConvolutionOf(narrow).width = row.width;
    ExpectMakes(narrow);
  }
}

TEST_F(CudnnTest, ChannelsMayBeGroups) {
  for (const int64_t groups : {2, 4}) {
    for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
      VendorStep step = Narrow(DataType::kFloat32, precision);
      ConvolutionOf(step).groups = groups;
      ConvolutionOf(step).input_channels = 4;
      ConvolutionOf(step).output_channels = 8;
      step.bias = 0;
      ExpectMakes(step);
    }
  }
}

TEST_F(CudnnTest, WeightsMayHaveChannelsInside) {
  VendorStep step = Convolution();
  step.precision = Precision::kTensorFloat32;
  ConvolutionOf(step).weights_have_channels_inside = true;
  ExpectMakes(step);
}

TEST_F(CudnnTest, DoesWhatIsBehindAConvolution) {
  for (const Precision precision : {Precision::kTensorFloat32, Precision::kFloat16}) {
    for (const Activation activation :
         {Activation::kNone, Activation::kRelu, Activation::kGeluTanh}) {
      for (int with = 0; with < 4; ++with) {
        VendorStep step = Narrow(DataType::kFloat32, precision);
        step.activation = activation;
        if (with % 2 == 1) step.bias = 0;
        if (with >= 2) step.added = 0;
        // As the library has told of itself.
        const bool is_bare = with == 0 && activation == Activation::kNone;
        const bool has_none =
            precision == Precision::kTensorFloat32 &&
            (activation == Activation::kGeluTanh || (!step.bias.has_value() && !is_bare));
        if (has_none) EXPECT_THAT(Find(step), IsEmpty());
        if (!has_none) ExpectMakes(step);
      }
    }
  }
}

TEST_F(CudnnTest, FactorsAreMultipliedInSixteenBits) {
  for (const DataType dtype : {DataType::kFloat16, DataType::kBfloat16}) {
    const Precision precision =
        dtype == DataType::kFloat16 ? Precision::kFloat16 : Precision::kBfloat16;
    ExpectMakes(Narrow(dtype, precision));
    ExpectMakes(Narrow(DataType::kFloat32, precision));
    // Weights that nothing brings to another form.
    VendorStep outside = Narrow(dtype, precision);
    ConvolutionOf(outside).weights_have_channels_inside = false;
    EXPECT_THAT(Find(outside), IsEmpty());
    ConvolutionOf(outside).groups = ConvolutionOf(outside).output_channels = 2;
    ExpectMakes(outside);  // One channel is as if it lay inside.
    VendorStep planes = Narrow(dtype, precision);
    ConvolutionOf(planes).planes.dtype = dtype;
    EXPECT_THAT(Find(planes), IsEmpty());
  }
  // Devices before sm_80 round nothing.
  Open("capability=75");
  EXPECT_THAT(Find(Narrow(DataType::kFloat16, Precision::kFloat16)), IsEmpty());
  EXPECT_THAT(Find(Convolution()), SizeIs(3));
}

// f32 by no tensor cores, nothing by sums of fewer bits, and the same result each time.
TEST_F(CudnnTest, WaysAreOfTheNumbersThatAreAskedFor) {
  const struct {
    Precision precision;
    const char* notes;
    size_t ways;
  } rows[] = {{Precision::kFloat32, "-", 3},       {Precision::kFloat32, "0", 2},
              {Precision::kFloat32, "1,9", 2},     {Precision::kFloat32, "4,4,4", 0},
              {Precision::kTensorFloat32, "0", 3}, {Precision::kTensorFloat32, "1,0", 2},
              {Precision::kFloat16, "0,2", 2},     {Precision::kFloat16, "4", 2}};
  for (const auto& row : rows) {
    SCOPED_TRACE(absl::StrCat(Name(row.precision), " ", row.notes));
    Set(absl::StrCat("notes=", row.notes));
    EXPECT_THAT(Find(Narrow(DataType::kFloat32, row.precision)), SizeIs(row.ways));
  }
  Set("ways=9");
  EXPECT_THAT(Find(Convolution()), SizeIs(4));
  EXPECT_THAT(Find(Convolution(), 1), SizeIs(1));
}

// Work that comes again is a graph, and the library's convolutions are within it.
TEST_F(CudnnTest, ConvolutionsAreCaptured) {
  VendorStep step = Narrow(DataType::kFloat16, Precision::kFloat16);
  step.bias = 0;
  step.added = 0;
  const auto ways = Find(step, 1);
  ASSERT_THAT(ways, SizeIs(1));
  ASSERT_OK(ways[0]->Load());
  const HeldStep first(*device_, step, SizesOf(step));
  const HeldStep second(*device_, step, SizesOf(step));
  std::string told;
  ExpectRepeats(*ways[0], first, second, Expected(step), told);
  // Planes, what is added and the result are turned.
  EXPECT_THAT(told, AllOf(HasSubstr("captures: cudnn_convolution"),
                          HasSubstr("captures: slipway_transpose_f16"), HasSubstr("graph of 12"),
                          Not(HasSubstr("slipway_round"))));
}

TEST_F(CudnnTest, AWayIsLoadedOnceAndMayTurnOutNotToBeThere) {
  Set("planless=0");
  const auto ways = Find(Convolution());
  ASSERT_THAT(ways, SizeIs(3));
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT(ways[0]->Load(),
                StatusIs(Status::kUnimplemented, HasSubstr("CUDNN_STATUS_NOT_SUPPORTED (3000)")));
    Set("");
  }
  EXPECT_OK(ways[1]->Load());
  EXPECT_OK(ways[1]->Load());
}

TEST_F(CudnnTest, WorkspacesAreBounded) {
  // 32 MiB, and as much as there is of tensors: 48 elements of planes, 54 of weights, 72 of the result.
  constexpr int64_t kMost = (32 << 20) + 4 * (48 + 54 + 72);
  for (const int64_t bytes : {kMost, kMost + 1}) {
    Open(absl::StrCat("workspace=", bytes));
    const auto ways = Find(Convolution(), 1);
    ASSERT_THAT(ways, SizeIs(1));
    if (bytes == kMost) EXPECT_OK(ways[0]->Load());
    if (bytes > kMost)
      EXPECT_THAT(ways[0]->Load(), StatusIs(Status::kUnimplemented, HasSubstr("bytes")));
  }
  Open("workspace=0");
  ExpectMakes(Convolution());
  // What is turned: 2^20 rows of 2 channels in 16 bits, and of one of the result in f32.
  VendorStep step = Narrow(DataType::kFloat32, Precision::kFloat16);
  VendorConvolution& convolution = ConvolutionOf(step);
  convolution.batch = 1;
  convolution.output_channels = 1;
  convolution.height = {1 << 20, 1 << 20, 1, 1, 1, 0};
  convolution.width = {60, 60, 1, 1, 1, 0};
  EXPECT_THAT(Find(step, 1), SizeIs(1));
  convolution.width = {70, 70, 1, 1, 1, 0};
  EXPECT_THAT(Find(step, 1), IsEmpty());
}

TEST_F(CudnnTest, ErrorsOfTheLibraryAreTyped) {
  Open("cudnnCreate=1001");
  EXPECT_EQ(library(), nullptr);
  Open("");
  const struct {
    const char* setting;
    Status code;
  } rows[] = {
      {"cudnnBackendCreateDescriptor=4003", Status::kResourceExhausted},
      {"cudnnBackendSetAttribute=2000", Status::kInvalidArgument},
      {"cudnnBackendFinalize=4000", Status::kInternal},
      {"cudnnBackendGetAttribute=1001", Status::kFailedPrecondition},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.setting);
    Set(row.setting);
    EXPECT_THAT(library()->Find(Convolution(), 4),
                StatusIs(row.code,
                         AllOf(HasSubstr("cuda 0 (Fake GPU): "), HasSubstr("as a setting says"))));
  }
  // What it does not know at all has no way.
  Set("cudnnBackendFinalize=3001");
  EXPECT_THAT(Find(Convolution()), IsEmpty());
  Set("");
  EXPECT_THAT(Find(Convolution()), SizeIs(3));
}

TEST_F(CudnnTest, WhatFailsWhileRunningIsTheStepsError) {
  const VendorStep step = Convolution();
  const auto ways = Find(step, 1);
  ASSERT_OK(ways[0]->Load());
  const HeldStep held(*device_, step, SizesOf(step));
  ASSERT_OK_AND_ASSIGN(const auto queues, device_->NewQueues({}));
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->PrepareLibrary(*ways[0], held.arguments, "step 7 'Conv'"));
  for (const char* setting : {"cudnnBackendExecute=5000", "cudnnSetStream=4000"}) {
    Set(setting);
    ASSERT_OK(queues->Launch(0, *launch, {}));
    EXPECT_THAT(queues->Finish(),
                StatusIs(Status::kInternal, AllOf(HasSubstr("step 7 'Conv'"),
                                                  HasSubstr("cudnn 9.8.0's convolution"))));
  }
  Set("");
  ASSERT_OK(queues->Launch(0, *launch, {}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(held.result.Read(),
              ::testing::Pointwise(::testing::FloatNear(1e-5F), Expected(step)));
}

}  // namespace
}  // namespace slipway
