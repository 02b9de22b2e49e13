#include "core/importers/onnx/attribute_conversion.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/tensor_conversion.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {

absl::StatusOr<Attribute> ConvertAttribute(const onnx::AttributeProto& proto,
                                           const OnnxFiles& files) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      return Attribute(static_cast<int64_t>(proto.i()));
    case onnx::AttributeProto::FLOAT:
      return Attribute(proto.f());
    case onnx::AttributeProto::STRING:
      return Attribute(proto.s());
    case onnx::AttributeProto::INTS:
      return Attribute(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case onnx::AttributeProto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case onnx::AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case onnx::AttributeProto::TENSOR: {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ConvertTensor(proto.t(), files));
      return Attribute(std::move(tensor));
    }
    case onnx::AttributeProto::UNDEFINED:
      return absl::InvalidArgumentError("it has no kind");
    default:
      return absl::UnimplementedError(absl::StrCat(
          "attributes of kind ", onnx::AttributeProto::AttributeType_Name(proto.type()),
          " are not supported"));
  }
}

}  // namespace slipway
