#include "tests/conformance/packed_data.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/onnx_tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {

// Both messages keep elements in fields of the same numbers: 3 tensors, 5 sequences, 7 optionals.
absl::StatusOr<Tensor> ParsePackedData(absl::string_view bytes, PackKind kind) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromString(std::string(bytes))) {
    return absl::InvalidArgumentError("no sequence or optional");
  }
  Pack pack{kind, {}};
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (field.number() == 3) {
      SLIPWAY_ASSIGN_OR_RETURN(NamedTensor tensor, ParseOnnxTensor(field.length_delimited()));
      pack.elements.push_back(std::move(tensor.tensor));
    } else if (field.number() == 5 || field.number() == 7) {
      SLIPWAY_ASSIGN_OR_RETURN(
          pack.elements.emplace_back(),
          ParsePackedData(field.length_delimited(),
                          field.number() == 5 ? PackKind::kSequence : PackKind::kOptional));
    }
  }
  return ToTensor(pack);
}

absl::Status CheckCloseData(const Tensor& actual, const Tensor& expected,
                            const Tolerance& tolerance) {
  if (!IsPack(expected)) return CheckClose(actual, expected, tolerance);
  SLIPWAY_ASSIGN_OR_RETURN(const Pack a, ToPack(actual));
  SLIPWAY_ASSIGN_OR_RETURN(const Pack b, ToPack(expected));
  if (a.kind != b.kind || a.elements.size() != b.elements.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(a.elements.size(), " elements instead of ", b.elements.size(),
                     a.kind == b.kind ? "" : " in a pack of another kind"));
  }
  for (size_t i = 0; i < a.elements.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckCloseData(a.elements[i], b.elements[i], tolerance),
                                 absl::StrCat("element ", i));
  }
  return absl::OkStatus();
}

}  // namespace slipway
