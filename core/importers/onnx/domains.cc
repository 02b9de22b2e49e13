#include "core/importers/onnx/domains.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/names.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

bool IsOnnxDomain(absl::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

// Domains whose operators are known by name and domain.
bool IsFurtherDomain(absl::string_view domain) {
  return domain == "ai.onnx.ml" || domain == "ai.onnx.preview" ||
         domain == "ai.onnx.preview.training" || domain == "com.microsoft";
}

// Of the imports of a model or function, which `what` names. Absent where ONNX's own opset is not among them.
template <typename Proto>
absl::StatusOr<std::optional<int>> FindOwnOpset(const Proto& proto, absl::string_view what) {
  for (const onnx::OperatorSetIdProto& opset : proto.opset_import()) {
    if (!IsOnnxDomain(opset.domain())) continue;
    if (opset.version() >= kMinOnnxOpset && opset.version() <= kMaxOnnxOpset) {
      return static_cast<int>(opset.version());
    }
    return absl::UnimplementedError(absl::StrCat(what, " has opset ", opset.version(),
                                                 ", supported are ", kMinOnnxOpset, " to ",
                                                 kMaxOnnxOpset));
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<int> FindOpset(const onnx::ModelProto& model) {
  const auto own = FindOwnOpset(model, "the model");
  if (!own.ok()) return own.status();
  if (own->has_value()) return **own;
  bool has_further = model.functions_size() > 0;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    has_further |= IsFurtherDomain(opset.domain());
  }
  if (has_further) return 0;
  if (model.opset_import_size() > 0) {
    return absl::UnimplementedError(absl::StrCat("the model uses only operators of the domain \"",
                                                 model.opset_import(0).domain(),
                                                 "\", which is not supported"));
  }
  return absl::InvalidArgumentError("the model names no opset: is it an ONNX model?");
}

absl::StatusOr<int> FindOpset(const onnx::FunctionProto& function) {
  const auto own = FindOwnOpset(function, absl::StrCat("the function \"", function.name(), "\""));
  if (!own.ok()) return own.status();
  return own->value_or(0);
}

absl::StatusOr<std::string> OperatorName(const onnx::NodeProto& node, int opset) {
  const bool is_further = IsFurtherDomain(node.domain());
  // Internal operators have a prefix that no model may use.
  if ((!is_further && !IsOnnxDomain(node.domain())) || absl::StrContains(node.op_type(), '.')) {
    return absl::UnimplementedError(absl::StrCat(Describe(node), ": the operator \"",
                                                 node.op_type(), "\" of domain \"", node.domain(),
                                                 "\" is not supported"));
  }
  if (is_further) return absl::StrCat(node.domain(), ".", node.op_type());
  if (opset != 0) return node.op_type();
  return absl::InvalidArgumentError(
      absl::StrCat(Describe(node), ": the model imports no opset of ONNX's own"));
}

}  // namespace slipway
