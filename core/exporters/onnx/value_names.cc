#include "core/exporters/onnx/value_names.h"

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

bool SameConstant(const Tensor* around, const Value& value) {
  if (around == nullptr || !value.constant.has_value()) return false;
  if (around->type() != value.constant->type()) return false;
  const Tensor loaded[] = {around->Loaded(), value.constant->Loaded()};
  return loaded[0].bytes() == loaded[1].bytes();
}

}  // namespace

GraphNames ValueNames::Enter(const Graph& graph, const std::vector<std::string>& captured) {
  const size_t count = graph.values.size();
  GraphNames names{std::vector<std::string>(count), std::vector<bool>(count, false)};
  const size_t first = graph.inputs.size() - captured.size();
  for (size_t k = 0; k < captured.size(); ++k) {
    const ValueId id = graph.inputs[first + k];
    names.name[id] = captured[k];
    names.is_outer[id] = true;
  }
  own_.emplace_back();
  std::vector<size_t> renamed;
  for (size_t id = 0; id < count; ++id) {
    if (names.is_outer[id]) continue;
    const Value& value = graph.values[id];
    const auto around = taken_.find(value.name);
    if (around == taken_.end()) {
      names.name[id] = value.name;
    } else if (SameConstant(around->second, value)) {
      names.name[id] = value.name;
      names.is_outer[id] = true;
    } else {
      renamed.push_back(id);
    }
  }
  for (size_t id = 0; id < count; ++id) {
    if (names.is_outer[id] || names.name[id].empty()) continue;
    const Value& value = graph.values[id];
    taken_.emplace(value.name, value.constant.has_value() ? &*value.constant : nullptr);
    own_.back().push_back(value.name);
  }
  for (const size_t id : renamed) names.name[id] = Make(graph.values[id].name);
  return names;
}

void ValueNames::Leave() {
  for (const std::string& name : own_.back()) taken_.erase(name);
  own_.pop_back();
}

std::string ValueNames::Make(absl::string_view wanted) {
  std::string name(wanted);
  for (int suffix = 1; !taken_.emplace(name, nullptr).second; ++suffix) {
    name = absl::StrCat(wanted, "_", suffix);
  }
  own_.back().push_back(name);
  return name;
}

}  // namespace slipway
