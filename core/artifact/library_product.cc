#include "core/artifact/library_product.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/program_notes.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

using Proto = v1::ProgramNotes::LibraryProduct;

constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
// A product divided by its depth has two launches; more of one are a description that somebody made up.
constexpr uint32_t kMostSteps = 16;

class Checker {
 public:
  Checker(const Proto& proto, const CheckedManifest& manifest)
      : proto_(proto), manifest_(manifest), program_(manifest.proto()) {}

  absl::StatusOr<LibraryProduct> Run() {
    SLIPWAY_RETURN_IF_ERROR(FindSteps());
    SLIPWAY_RETURN_IF_ERROR(ReadExtents());
    LibraryProduct& made = product_;
    SLIPWAY_ASSIGN_OR_RETURN(made.left, Factor(proto_.left(), made.m, made.k, "left"));
    SLIPWAY_ASSIGN_OR_RETURN(made.right, Factor(proto_.right(), made.k, made.n, "right"));
    SLIPWAY_RETURN_IF_ERROR(ReadResult());
    SLIPWAY_RETURN_IF_ERROR(ReadBehind());
    return made;
  }

 private:
  absl::Status FindSteps() {
    uint32_t first = proto_.first_step();
    int function = 0;
    for (; function < program_.functions_size(); ++function) {
      const auto steps = static_cast<uint32_t>(program_.functions(function).steps_size());
      if (first < steps) break;
      first -= steps;
    }
    if (function == program_.functions_size()) return absl::InvalidArgumentError("no such step");
    const v1::Function& found = program_.functions(function);
    const auto left = static_cast<uint32_t>(found.steps_size()) - first;
    if (proto_.steps() < 1 || proto_.steps() > std::min(left, kMostSteps)) {
      return absl::InvalidArgumentError(absl::StrCat("of ", proto_.steps(), " steps"));
    }
    const v1::Step& head = found.steps(static_cast<int>(first));
    for (uint32_t i = first; i < first + proto_.steps(); ++i) {
      const v1::Step& step = found.steps(static_cast<int>(i));
      if (!step.has_kernel() || step.device() == 0 || step.device() != head.device() ||
          step.queue() != head.queue()) {
        return absl::InvalidArgumentError("its steps are not launches of one queue of a device");
      }
      const auto& reads = step.kernel().inputs();
      read_.insert(read_.end(), reads.begin(), reads.end());
    }
    product_.function = static_cast<uint32_t>(function);
    product_.first = first;
    product_.steps = proto_.steps();
    last_ = &found.steps(static_cast<int>(product_.end()) - 1).kernel();
    return absl::OkStatus();
  }

  absl::Status ReadExtents() {
    for (const int64_t extent : {proto_.batch(), proto_.m(), proto_.n(), proto_.k()}) {
      if (extent < 1 || extent > kMostExtent) {
        return absl::InvalidArgumentError(absl::StrCat("an extent of ", extent));
      }
    }
    product_.batch = proto_.batch();
    product_.m = proto_.m();
    product_.n = proto_.n();
    product_.k = proto_.k();
    SLIPWAY_ASSIGN_OR_RETURN(product_.precision, FromProto(proto_.precision()));
    return absl::OkStatus();
  }

  // The type of a value that the steps have, of known extents.
  absl::StatusOr<TensorType> TypeOf(uint32_t value, absl::string_view role) const {
    if (value >= static_cast<uint32_t>(program_.values_size())) {
      return absl::InvalidArgumentError(absl::StrCat(role, " is no value"));
    }
    for (const v1::Dimension& dimension : program_.values(static_cast<int>(value)).shape()) {
      if (!dimension.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(role, " has open extents"));
      }
    }
    return manifest_.TypeOf(value);
  }

  absl::StatusOr<LibraryMatrix> Matrix(const Proto::Matrix& proto, int64_t rows, int64_t columns,
                                       absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(proto.value(), role));
    const bool has_whole_rows = proto.column_stride() == 1 && proto.row_stride() >= columns;
    const bool has_whole_columns = proto.row_stride() == 1 && proto.column_stride() >= rows;
    if (!has_whole_rows && !has_whole_columns) {
      return absl::InvalidArgumentError(absl::StrCat(role, " has neither whole rows nor columns"));
    }
    int64_t left = NumElements(type.shape);
    const std::pair<int64_t, int64_t> strides[] = {{product_.batch, proto.batch_stride()},
                                                   {rows, proto.row_stride()},
                                                   {columns, proto.column_stride()}};
    for (const auto& [extent, stride] : strides) {
      if (stride < 0) {
        return absl::InvalidArgumentError(absl::StrCat(role, " has a stride of ", stride));
      }
      if (stride > 0 && extent - 1 > (left - 1) / stride) {
        return absl::InvalidArgumentError(absl::StrCat(role, " ends beyond its value"));
      }
      left -= (extent - 1) * stride;
    }
    if (left < 1) return absl::InvalidArgumentError(absl::StrCat(role, " has no element"));
    return LibraryMatrix{proto.value(), type.dtype, proto.batch_stride(), proto.row_stride(),
                         proto.column_stride()};
  }

  absl::Status CheckIsRead(uint32_t value, absl::string_view role) const {
    if (absl::c_linear_search(read_, value)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(role, " is not read by its steps"));
  }

  absl::StatusOr<LibraryMatrix> Factor(const Proto::Matrix& proto, int64_t rows, int64_t columns,
                                       absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const LibraryMatrix matrix, Matrix(proto, rows, columns, role));
    SLIPWAY_RETURN_IF_ERROR(CheckIsRead(matrix.value, role));
    const bool is_of_precision =
        matrix.dtype == DataType::kFloat32 ||
        (matrix.dtype == DataType::kFloat16 && product_.precision == Precision::kFloat16) ||
        (matrix.dtype == DataType::kBfloat16 && product_.precision == Precision::kBfloat16);
    if (is_of_precision) return matrix;
    return absl::InvalidArgumentError(absl::StrCat(role, " is of ", Name(matrix.dtype)));
  }

  absl::Status ReadResult() {
    SLIPWAY_ASSIGN_OR_RETURN(product_.result,
                             Matrix(proto_.result(), product_.m, product_.n, "result"));
    const LibraryMatrix& result = product_.result;
    if (!absl::c_linear_search(last_->outputs(), result.value)) {
      return absl::InvalidArgumentError("result is not written by its last step");
    }
    // No element is written twice, and none stays as it was. It has them all: a product of the extents does not overflow.
    if (result.dtype != DataType::kFloat32 || result.column_stride != 1 ||
        result.row_stride != product_.n ||
        (product_.batch > 1 && result.batch_stride != product_.m * product_.n) ||
        NumElements(manifest_.TypeOf(result.value).shape) !=
            product_.batch * product_.m * product_.n) {
      return absl::InvalidArgumentError("result is not f32, one row behind the other");
    }
    for (const uint32_t value : {product_.left.value, product_.right.value}) {
      SLIPWAY_RETURN_IF_ERROR(CheckIsApart(value));
    }
    return absl::OkStatus();
  }

  absl::Status CheckIsApart(uint32_t value) const {
    const auto buffer = [this](uint32_t of) {
      return program_.values(static_cast<int>(of)).buffer();
    };
    if (buffer(value) != buffer(product_.result.value)) return absl::OkStatus();
    return absl::InvalidArgumentError("result lies where something is read");
  }

  absl::Status ReadBehind() {
    product_.bias_is_of_rows = proto_.bias_is_of_rows();
    if (proto_.has_bias()) {
      SLIPWAY_RETURN_IF_ERROR(
          CheckVector(proto_.bias(), product_.bias_is_of_rows ? product_.m : product_.n, "bias"));
      product_.bias = proto_.bias();
    } else if (product_.bias_is_of_rows) {
      return absl::InvalidArgumentError("a bias of rows that there is not");
    }
    if (proto_.has_added()) {
      SLIPWAY_RETURN_IF_ERROR(CheckVector(
          proto_.added(), NumElements(manifest_.TypeOf(product_.result.value).shape), "added"));
      product_.added = proto_.added();
    }
    switch (proto_.activation()) {
      case Proto::ACTIVATION_UNSPECIFIED:
        product_.activation = LibraryProduct::Activation::kNone;
        return absl::OkStatus();
      case Proto::ACTIVATION_RELU:
        product_.activation = LibraryProduct::Activation::kRelu;
        return absl::OkStatus();
      case Proto::ACTIVATION_GELU_TANH:
        product_.activation = LibraryProduct::Activation::kGeluTanh;
        return absl::OkStatus();
      default:
        return absl::InvalidArgumentError("an activation that nobody knows");
    }
  }

  // A tensor of f32 that the steps read, of so many elements.
  absl::Status CheckVector(uint32_t value, int64_t elements, absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(value, role));
    SLIPWAY_RETURN_IF_ERROR(CheckIsRead(value, role));
    SLIPWAY_RETURN_IF_ERROR(CheckIsApart(value));
    if (type.dtype == DataType::kFloat32 && NumElements(type.shape) == elements) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(role, " is not of ", elements, " elements of f32"));
  }

  const Proto& proto_;
  const CheckedManifest& manifest_;
  const v1::Manifest& program_;
  LibraryProduct product_;
  std::vector<uint32_t> read_;  // By its steps.
  const v1::Step::Kernel* last_ = nullptr;
};

std::string DescribeMatrix(const LibraryMatrix& matrix) {
  return absl::StrCat(Name(matrix.dtype), "(", matrix.batch_stride, ",", matrix.row_stride, ",",
                      matrix.column_stride, ")");
}

absl::string_view Name(LibraryProduct::Activation activation) {
  switch (activation) {
    case LibraryProduct::Activation::kNone:
      return "";
    case LibraryProduct::Activation::kRelu:
      return " relu";
    case LibraryProduct::Activation::kGeluTanh:
      return " gelu";
  }
  return "";
}

}  // namespace

absl::StatusOr<LibraryProduct> CheckLibraryProduct(const Proto& proto,
                                                   const CheckedManifest& manifest) {
  return Checker(proto, manifest).Run();
}

std::vector<LibraryProduct> LibraryProductsOf(const Artifact& artifact) {
  std::vector<LibraryProduct> products;
  const v1::ProgramNotes notes = NotesOf(artifact);
  for (const Proto& proto : notes.library_products()) {
    const absl::StatusOr<LibraryProduct> product = CheckLibraryProduct(proto, artifact.manifest());
    if (!product.ok()) continue;
    if (!products.empty()) {
      const LibraryProduct& last = products.back();
      if (std::pair(product->function, product->first) < std::pair(last.function, last.end())) {
        continue;
      }
    }
    products.push_back(*product);
  }
  return products;
}

std::string DescribeLibraryProduct(const LibraryProduct& product) {
  const char* const bias = !product.bias.has_value() ? ""
                           : product.bias_is_of_rows ? " row-bias"
                                                     : " bias";
  return absl::StrCat(Name(product.precision), " ", product.batch, "x", product.m, "x", product.n,
                      "x", product.k, " ", DescribeMatrix(product.left), " ",
                      DescribeMatrix(product.right), bias,
                      product.added.has_value() ? " added" : "", Name(product.activation));
}

}  // namespace slipway
