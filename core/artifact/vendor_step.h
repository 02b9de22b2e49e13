// VendorStep: a product of matrices or a convolution that a library of a device's vendor may make in place of a program's launches, checked against the program.
#ifndef SLIPWAY_CORE_ARTIFACT_VENDOR_STEP_H_
#define SLIPWAY_CORE_ARTIFACT_VENDOR_STEP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/tensor/dtype.h"
#include "core/tensor/precision.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Strides are in elements. One of those of rows and columns is 1, the other one at least as long as what it goes over.
struct VendorMatrix {
  uint32_t value = 0;
  DataType dtype = DataType::kFloat32;
  int64_t batch_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// As VendorStep::Product of ProgramNotes has it; extents are of 1 to 2^31 - 1 each.
struct VendorProduct {
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  VendorMatrix left;
  VendorMatrix right;
  bool bias_is_of_rows = false;  // Then it has m elements, else n.
};

// Elements lie one behind the other, all of the value's.
struct VendorTensor {
  uint32_t value = 0;
  DataType dtype = DataType::kFloat32;
};

// As VendorStep::Convolution of ProgramNotes has it; extents are of 1 to 2^31 - 1 each. A bias has an element for each channel of the result.
struct VendorConvolution {
  struct Dimension {
    int64_t input = 1;
    int64_t output = 1;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;  // Less than the window's extent.

    // From the window's first element to behind its last one.
    int64_t window() const { return (kernel - 1) * dilation + 1; }
  };
  int64_t batch = 1;
  int64_t groups = 1;  // Divides the channels.
  int64_t input_channels = 1;
  int64_t output_channels = 1;
  Dimension height;
  Dimension width;
  VendorTensor planes;
  VendorTensor weights;
  bool weights_have_channels_inside = false;
};

// As ProgramNotes::VendorStep has it. All elements lie within their values, whose extents are numbers, and the result in another buffer than what
// is read.
struct VendorStep {
  enum class Activation { kNone, kRelu, kGeluTanh };

  // The launches that it may stand for: steps of this function from `first` on, of one device and queue.
  uint32_t function = 0;
  uint32_t first = 0;
  uint32_t steps = 1;

  std::variant<VendorProduct, VendorConvolution> computed;
  uint32_t result = 0;            // All elements of a value of f32.
  std::optional<uint32_t> bias;   // A value of f32.
  std::optional<uint32_t> added;  // A value with elements where the result has them.
  Activation activation = Activation::kNone;
  Precision precision = Precision::kFloat32;

  // One behind the last of the launches.
  uint32_t end() const { return first + steps; }
  // Values that are multiplied: left and right, or planes and weights.
  std::array<uint32_t, 2> factors() const;
};

// INVALID_ARGUMENT says what of the description does not fit the program.
absl::StatusOr<VendorStep> CheckVendorStep(const v1::ProgramNotes::VendorStep& proto,
                                           const CheckedManifest& manifest);

// Those that an artifact's notes describe. What does not fit, or is of steps that one before it has, counts as not told.
std::vector<VendorStep> VendorStepsOf(const Artifact& artifact);

// All that a library is asked for, in one line without line breaks: "tf32 1x512x768x3072 f32(0,3072,1) f32(0,1,3072) bias relu" or "tf32 conv 8x64x56x28
// to 96x56x28 by 3x3 strides 1x1 dilations 1x1 pads 1x1 groups 1 f32 f32 bias". Equal steps have equal ones, whichever values they are of.
std::string DescribeVendorStep(const VendorStep& step);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_VENDOR_STEP_H_
