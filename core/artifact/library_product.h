// LibraryProduct: a product of matrices that a library of a device's vendor may make in place of a program's launches, checked against the program.
#ifndef SLIPWAY_CORE_ARTIFACT_LIBRARY_PRODUCT_H_
#define SLIPWAY_CORE_ARTIFACT_LIBRARY_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/tensor/dtype.h"
#include "core/tensor/precision.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Strides are in elements. One of those of rows and columns is 1, the other one at least as long as what it goes over.
struct LibraryMatrix {
  uint32_t value = 0;
  DataType dtype = DataType::kFloat32;
  int64_t batch_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// As ProgramNotes::LibraryProduct has it. All elements lie within their values, whose extents are numbers, and the result in another buffer than what
// is read.
struct LibraryProduct {
  enum class Activation { kNone, kRelu, kGeluTanh };

  // The launches that it may stand for: steps of this function from `first` on, of one device and queue.
  uint32_t function = 0;
  uint32_t first = 0;
  uint32_t steps = 1;

  // Of 1 to 2^31 - 1 each.
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  LibraryMatrix left;
  LibraryMatrix right;
  LibraryMatrix result;
  std::optional<uint32_t> bias;  // A value of n elements, or m.
  bool bias_is_of_rows = false;
  std::optional<uint32_t> added;  // A value with elements where the result has them.
  Activation activation = Activation::kNone;
  Precision precision = Precision::kFloat32;

  // One behind the last of the launches.
  uint32_t end() const { return first + steps; }
};

// INVALID_ARGUMENT says what of the description does not fit the program.
absl::StatusOr<LibraryProduct> CheckLibraryProduct(const v1::ProgramNotes::LibraryProduct& proto,
                                                   const CheckedManifest& manifest);

// Those that an artifact's notes describe. What does not fit, or is of steps that one before it has, counts as not told.
std::vector<LibraryProduct> LibraryProductsOf(const Artifact& artifact);

// All that a library is asked for, in one line without line breaks: "tf32 1x512x768x3072 f32(0,3072,1) f32(0,1,3072) bias relu". Equal products have
// equal ones, whichever values they are of.
std::string DescribeLibraryProduct(const LibraryProduct& product);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_LIBRARY_PRODUCT_H_
