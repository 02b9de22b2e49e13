#include "core/importers/onnx/functions.h"

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/names.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

// One string for all three: their lengths tell where each begins.
std::string Key(absl::string_view domain, absl::string_view name, absl::string_view overload) {
  if (domain == "ai.onnx") domain = "";
  return absl::StrCat(domain.size(), ":", name.size(), ":", domain, name, overload);
}

absl::flat_hash_set<std::string> DeclaredAttributes(const onnx::FunctionProto& function) {
  absl::flat_hash_set<std::string> names(function.attribute().begin(), function.attribute().end());
  for (const onnx::AttributeProto& attribute : function.attribute_proto()) {
    names.insert(attribute.name());
  }
  return names;
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
  const absl::flat_hash_set<std::string> declared = DeclaredAttributes(function);
  for (const onnx::AttributeProto& attribute : call.attribute()) {
    const std::string context =
        absl::StrCat(Describe(call), " attribute \"", attribute.name(), "\"");
    if (!declared.contains(attribute.name())) {
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
