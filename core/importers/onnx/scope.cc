#include "core/importers/onnx/scope.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/names.h"

namespace slipway {
namespace {

absl::Status Take(int64_t count, int64_t limit, absl::string_view what, int64_t& taken) {
  taken += count;
  if (taken <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the model has ", taken, " ", what, ", more than the limit of ", limit));
}

}  // namespace

absl::Status ModelBudget::TakeNodes(int64_t count) {
  return Take(count, kMaxNodes, "nodes, bodies and functions included", nodes_);
}

absl::Status ModelBudget::TakeValue() {
  return Take(1, kMaxValues, "values, bodies and functions included", values_);
}

absl::Status ModelBudget::TakeRepeatedBytes(int64_t count) {
  return Take(count, kMaxRepeatedBytes, "bytes in functions that are called again",
              repeated_bytes_);
}

absl::StatusOr<ValueId> Scope::Define(const std::string& name, absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(CheckValueName(name, what));
  SLIPWAY_RETURN_IF_ERROR(budget_.TakeValue());
  if (ids_.contains(name)) {
    return absl::InvalidArgumentError(absl::StrCat("the value \"", name, "\" is defined twice"));
  }
  const auto expected = expected_.find(name);
  ValueId id = kNoValue;
  if (expected != expected_.end()) {
    id = expected->second;
    expected_.erase(expected);
  } else {
    id = emitter_.AddValue(absl::StrCat(prefix_, name));
  }
  ids_.emplace(name, id);
  return id;
}

const ValueId* Scope::FindOwn(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? nullptr : &found->second;
}

absl::StatusOr<std::optional<ValueId>> Scope::Find(const std::string& name) {
  if (const ValueId* own = FindOwn(name)) return *own;
  if (around_ == nullptr) return std::nullopt;
  SLIPWAY_ASSIGN_OR_RETURN(const std::optional<ValueId> outer, around_->Find(name));
  if (!outer.has_value() || *outer == kNoValue) return outer;
  SLIPWAY_RETURN_IF_ERROR(budget_.TakeValue());
  const Value& value = around_->emitter_.graph().values[*outer];
  ValueId inner = kNoValue;
  if (value.constant.has_value()) {
    inner = emitter_.AddConstant(value.name, *value.constant);
  } else {
    inner = emitter_.AddValue(value.name);
    captures_.push_back({*outer, inner});
  }
  ids_.emplace(name, inner);
  return inner;
}

}  // namespace slipway
