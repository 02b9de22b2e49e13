#include "core/importers/onnx/functions.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/names.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

std::string Key(const std::string& domain, const std::string& name, const std::string& overload) {
  // No name can hold the separator and stay apart from another one: it is cut at its lengths.
  return absl::StrCat(domain.size(), ":", name.size(), ":", domain == "ai.onnx" ? "" : domain, name,
                      overload);
}

bool Declares(const onnx::FunctionProto& function, const std::string& attribute) {
  const auto& names = function.attribute();
  const auto& defaults = function.attribute_proto();
  return std::count(names.begin(), names.end(), attribute) > 0 ||
         std::any_of(defaults.begin(), defaults.end(),
                     [&](const auto& proto) { return proto.name() == attribute; });
}

}  // namespace

absl::StatusOr<FunctionTable> FunctionTable::Create(const onnx::ModelProto& model) {
  FunctionTable table;
  for (const onnx::FunctionProto& function : model.functions()) {
    const std::string key = Key(function.domain(), function.name(), function.overload());
    if (table.by_key_.emplace(key, &function).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("the function \"", function.name(),
                                                   "\" of domain \"", function.domain(),
                                                   "\" is there twice"));
  }
  return table;
}

const onnx::FunctionProto* FunctionTable::Find(const onnx::NodeProto& node) const {
  if (by_key_.empty()) return nullptr;
  const auto found = by_key_.find(Key(node.domain(), node.op_type(), node.overload()));
  return found == by_key_.end() ? nullptr : found->second;
}

absl::StatusOr<const onnx::AttributeProto*> ResolveAttribute(const onnx::AttributeProto& attribute,
                                                             const FunctionAttributes* around) {
  if (attribute.ref_attr_name().empty()) return &attribute;
  if (around == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("it refers to a function's attribute \"",
                                                   attribute.ref_attr_name(),
                                                   "\" outside of any function"));
  }
  const auto found = around->find(attribute.ref_attr_name());
  return found == around->end() ? nullptr : found->second;
}

absl::StatusOr<FunctionAttributes> AttributesOfCall(const onnx::NodeProto& call,
                                                    const onnx::FunctionProto& function,
                                                    const FunctionAttributes* around) {
  FunctionAttributes attributes;
  for (const onnx::AttributeProto& attribute : call.attribute()) {
    const std::string context =
        absl::StrCat(Describe(call), " attribute \"", attribute.name(), "\"");
    if (!Declares(function, attribute.name())) {
      return absl::InvalidArgumentError(
          absl::StrCat(context, ": its function has no such attribute"));
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const onnx::AttributeProto* resolved,
                                  ResolveAttribute(attribute, around), context);
    if (resolved != nullptr) attributes[attribute.name()] = resolved;
  }
  for (const onnx::AttributeProto& attribute : function.attribute_proto()) {
    attributes.emplace(attribute.name(), &attribute);
  }
  return attributes;
}

}  // namespace slipway
