#include "core/artifact/vendor_step.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/artifact/program_notes.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

using Proto = v1::ProgramNotes::VendorStep;

constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
// A product divided by its depth has two launches; more of one are a description that somebody made up.
constexpr uint32_t kMostSteps = 16;

absl::Status CheckExtents(const std::vector<int64_t>& extents) {
  for (const int64_t extent : extents) {
    if (extent < 1 || extent > kMostExtent) {
      return absl::InvalidArgumentError(absl::StrCat("an extent of ", extent));
    }
  }
  return absl::OkStatus();
}

// Whether so many elements are all that there are of these extents, whose product may be no number of 64 bits.
bool AreAllOf(int64_t elements, const std::vector<int64_t>& extents) {
  for (const int64_t extent : extents) {
    if (elements % extent != 0) return false;
    elements /= extent;
  }
  return elements == 1;
}

class Checker {
 public:
  Checker(const Proto& proto, const CheckedManifest& manifest)
      : proto_(proto), manifest_(manifest), program_(manifest.proto()) {}

  absl::StatusOr<VendorStep> Run() {
    SLIPWAY_RETURN_IF_ERROR(FindSteps());
    SLIPWAY_ASSIGN_OR_RETURN(step_.precision, FromProto(proto_.precision()));
    switch (proto_.computed_case()) {
      case Proto::kProduct:
        SLIPWAY_RETURN_IF_ERROR(ReadProduct(proto_.product()));
        break;
      case Proto::kConvolution:
        SLIPWAY_RETURN_IF_ERROR(ReadConvolution(proto_.convolution()));
        break;
      case Proto::COMPUTED_NOT_SET:
        return absl::InvalidArgumentError("nothing that is computed");
    }
    for (const uint32_t value : step_.factors()) SLIPWAY_RETURN_IF_ERROR(CheckIsApart(value));
    SLIPWAY_RETURN_IF_ERROR(ReadBehind());
    return step_;
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
    step_.function = static_cast<uint32_t>(function);
    step_.first = first;
    step_.steps = proto_.steps();
    last_ = &found.steps(static_cast<int>(step_.end()) - 1).kernel();
    return absl::OkStatus();
  }

  absl::Status ReadProduct(const Proto::Product& proto) {
    SLIPWAY_RETURN_IF_ERROR(CheckExtents({proto.batch(), proto.m(), proto.n(), proto.k()}));
    VendorProduct product;
    product.batch = proto.batch();
    product.m = proto.m();
    product.n = proto.n();
    product.k = proto.k();
    SLIPWAY_ASSIGN_OR_RETURN(product.left,
                             Matrix(proto.left(), product.batch, product.m, product.k, "left"));
    SLIPWAY_ASSIGN_OR_RETURN(product.right,
                             Matrix(proto.right(), product.batch, product.k, product.n, "right"));
    product.bias_is_of_rows = proto.bias_is_of_rows();
    if (product.bias_is_of_rows && !proto_.has_bias()) {
      return absl::InvalidArgumentError("a bias of rows that there is not");
    }
    bias_elements_ = product.bias_is_of_rows ? product.m : product.n;
    step_.computed = product;
    return ReadResult({product.batch, product.m, product.n});
  }

  absl::Status ReadConvolution(const Proto::Convolution& proto) {
    VendorConvolution made;
    made.batch = proto.batch();
    made.groups = proto.groups();
    made.input_channels = proto.input_channels();
    made.output_channels = proto.output_channels();
    SLIPWAY_RETURN_IF_ERROR(
        CheckExtents({made.batch, made.groups, made.input_channels, made.output_channels}));
    if (made.input_channels % made.groups != 0 || made.output_channels % made.groups != 0) {
      return absl::InvalidArgumentError("its groups do not divide its channels");
    }
    SLIPWAY_ASSIGN_OR_RETURN(made.height, Dimension(proto.height()));
    SLIPWAY_ASSIGN_OR_RETURN(made.width, Dimension(proto.width()));
    SLIPWAY_ASSIGN_OR_RETURN(
        made.planes,
        Whole(proto.planes(),
              {made.batch, made.input_channels, made.height.input, made.width.input}, "planes"));
    SLIPWAY_ASSIGN_OR_RETURN(made.weights,
                             Whole(proto.weights(),
                                   {made.output_channels, made.input_channels / made.groups,
                                    made.height.kernel, made.width.kernel},
                                   "weights"));
    made.weights_have_channels_inside = proto.weights_have_channels_inside();
    bias_elements_ = made.output_channels;
    step_.computed = made;
    return ReadResult({made.batch, made.output_channels, made.height.output, made.width.output});
  }

  static absl::StatusOr<VendorConvolution::Dimension> Dimension(
      const Proto::Convolution::Dimension& proto) {
    const VendorConvolution::Dimension made{proto.input(),  proto.output(),   proto.kernel(),
                                            proto.stride(), proto.dilation(), proto.pad()};
    SLIPWAY_RETURN_IF_ERROR(
        CheckExtents({made.input, made.output, made.kernel, made.stride, made.dilation}));
    // Each window sees something of the plane, and there is no place for one more.
    const int64_t last = (made.output - 1) * made.stride - made.pad;
    if (made.pad < 0 || made.pad >= made.window() || last >= made.input ||
        made.input - made.window() - last >= made.stride || made.window() > kMostExtent) {
      return absl::InvalidArgumentError(absl::StrCat("a window of ", made.window(), " in ",
                                                     made.output, " places from -", made.pad,
                                                     " on over ", made.input));
    }
    return made;
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

  absl::Status CheckIsRead(uint32_t value, absl::string_view role) const {
    if (absl::c_linear_search(read_, value)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(role, " is not read by its steps"));
  }

  absl::StatusOr<TensorType> Factor(uint32_t value, absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(value, role));
    SLIPWAY_RETURN_IF_ERROR(CheckIsRead(value, role));
    const bool is_of_precision =
        type.dtype == DataType::kFloat32 ||
        (type.dtype == DataType::kFloat16 && step_.precision == Precision::kFloat16) ||
        (type.dtype == DataType::kBfloat16 && step_.precision == Precision::kBfloat16);
    if (is_of_precision) return type;
    return absl::InvalidArgumentError(absl::StrCat(role, " is of ", Name(type.dtype)));
  }

  absl::StatusOr<VendorMatrix> Matrix(const Proto::Product::Matrix& proto, int64_t batch,
                                      int64_t rows, int64_t columns, absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, Factor(proto.value(), role));
    const bool has_whole_rows = proto.column_stride() == 1 && proto.row_stride() >= columns;
    const bool has_whole_columns = proto.row_stride() == 1 && proto.column_stride() >= rows;
    if (!has_whole_rows && !has_whole_columns) {
      return absl::InvalidArgumentError(absl::StrCat(role, " has neither whole rows nor columns"));
    }
    int64_t left = NumElements(type.shape);
    const std::pair<int64_t, int64_t> strides[] = {{batch, proto.batch_stride()},
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
    return VendorMatrix{proto.value(), type.dtype, proto.batch_stride(), proto.row_stride(),
                        proto.column_stride()};
  }

  // A factor that has all elements of its value.
  absl::StatusOr<VendorTensor> Whole(uint32_t value, const std::vector<int64_t>& extents,
                                     absl::string_view role) const {
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, Factor(value, role));
    if (AreAllOf(NumElements(type.shape), extents)) return VendorTensor{value, type.dtype};
    return absl::InvalidArgumentError(
        absl::StrCat(role, " are not ", absl::StrJoin(extents, "x"), " elements"));
  }

  // No element is written twice, and none stays as it was.
  absl::Status ReadResult(const std::vector<int64_t>& extents) {
    step_.result = proto_.result();
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, TypeOf(step_.result, "result"));
    if (!absl::c_linear_search(last_->outputs(), step_.result)) {
      return absl::InvalidArgumentError("result is not written by its last step");
    }
    if (type.dtype == DataType::kFloat32 && AreAllOf(NumElements(type.shape), extents)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("result is not ", absl::StrJoin(extents, "x"), " elements of f32"));
  }

  absl::Status CheckIsApart(uint32_t value) const {
    const auto buffer = [this](uint32_t of) {
      return program_.values(static_cast<int>(of)).buffer();
    };
    if (buffer(value) != buffer(step_.result)) return absl::OkStatus();
    return absl::InvalidArgumentError("result lies where something is read");
  }

  absl::Status ReadBehind() {
    if (proto_.has_bias()) {
      SLIPWAY_RETURN_IF_ERROR(CheckVector(proto_.bias(), bias_elements_, "bias"));
      step_.bias = proto_.bias();
    }
    if (proto_.has_added()) {
      SLIPWAY_RETURN_IF_ERROR(
          CheckVector(proto_.added(), NumElements(manifest_.TypeOf(step_.result).shape), "added"));
      step_.added = proto_.added();
    }
    switch (proto_.activation()) {
      case Proto::ACTIVATION_UNSPECIFIED:
        step_.activation = VendorStep::Activation::kNone;
        return absl::OkStatus();
      case Proto::ACTIVATION_RELU:
        step_.activation = VendorStep::Activation::kRelu;
        return absl::OkStatus();
      case Proto::ACTIVATION_GELU_TANH:
        step_.activation = VendorStep::Activation::kGeluTanh;
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
  VendorStep step_;
  int64_t bias_elements_ = 0;
  std::vector<uint32_t> read_;  // By its steps.
  const v1::Step::Kernel* last_ = nullptr;
};

std::string DescribeMatrix(const VendorMatrix& matrix) {
  return absl::StrCat(Name(matrix.dtype), "(", matrix.batch_stride, ",", matrix.row_stride, ",",
                      matrix.column_stride, ")");
}

std::string Describe(const VendorProduct& product) {
  return absl::StrCat(product.batch, "x", product.m, "x", product.n, "x", product.k, " ",
                      DescribeMatrix(product.left), " ", DescribeMatrix(product.right),
                      product.bias_is_of_rows ? " row" : "");
}

std::string Describe(const VendorConvolution& step) {
  const auto both = [&](int64_t VendorConvolution::Dimension::*field) {
    return absl::StrCat(step.height.*field, "x", step.width.*field);
  };
  using Dimension = VendorConvolution::Dimension;
  return absl::StrCat(
      "conv ", step.batch, "x", step.input_channels, "x", both(&Dimension::input), " to ",
      step.output_channels, "x", both(&Dimension::output), " by ", both(&Dimension::kernel),
      " strides ", both(&Dimension::stride), " dilations ", both(&Dimension::dilation), " pads ",
      both(&Dimension::pad), " groups ", step.groups, " ", Name(step.planes.dtype), " ",
      Name(step.weights.dtype), step.weights_have_channels_inside ? "(channels inside)" : "");
}

absl::string_view Name(VendorStep::Activation activation) {
  switch (activation) {
    case VendorStep::Activation::kNone:
      return "";
    case VendorStep::Activation::kRelu:
      return " relu";
    case VendorStep::Activation::kGeluTanh:
      return " gelu";
  }
  return "";
}

}  // namespace

std::array<uint32_t, 2> VendorStep::factors() const {
  if (const auto* product = std::get_if<VendorProduct>(&computed)) {
    return {product->left.value, product->right.value};
  }
  const auto& convolution = std::get<VendorConvolution>(computed);
  return {convolution.planes.value, convolution.weights.value};
}

absl::StatusOr<VendorStep> CheckVendorStep(const Proto& proto, const CheckedManifest& manifest) {
  return Checker(proto, manifest).Run();
}

std::vector<VendorStep> VendorStepsOf(const Artifact& artifact) {
  std::vector<VendorStep> steps;
  const v1::ProgramNotes notes = NotesOf(artifact);
  for (const Proto& proto : notes.vendor_steps()) {
    const absl::StatusOr<VendorStep> step = CheckVendorStep(proto, artifact.manifest());
    if (!step.ok()) continue;
    if (!steps.empty()) {
      const VendorStep& last = steps.back();
      if (std::pair(step->function, step->first) < std::pair(last.function, last.end())) continue;
    }
    steps.push_back(*step);
  }
  return steps;
}

std::string DescribeVendorStep(const VendorStep& step) {
  const std::string computed =
      std::visit([](const auto& each) { return Describe(each); }, step.computed);
  return absl::StrCat(Name(step.precision), " ", computed, step.bias.has_value() ? " bias" : "",
                      step.added.has_value() ? " added" : "", Name(step.activation));
}

}  // namespace slipway
