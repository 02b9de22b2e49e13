// OperatorColumn: one kind of knowledge about operators (kernels, lowerings, gradients), by name.
#ifndef SLIPWAY_CORE_GRAPH_OPERATOR_COLUMN_H_
#define SLIPWAY_CORE_GRAPH_OPERATOR_COLUMN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Filled by explicit Add calls, read-only afterwards; reading is thread-safe.
template <typename T>
class OperatorColumn {
 public:
  // ALREADY_EXISTS names the operator.
  absl::Status Add(absl::string_view op, T entry) {
    if (!entries_.emplace(std::string(op), std::move(entry)).second) {
      return absl::AlreadyExistsError(absl::StrCat("operator \"", op, "\" is registered twice"));
    }
    return absl::OkStatus();
  }

  // Null when there is none. Valid as long as the column.
  const T* Find(absl::string_view op) const {
    const auto found = entries_.find(std::string(op));
    return found == entries_.end() ? nullptr : &found->second;
  }

  std::vector<std::string> Names() const {  // Sorted.
    std::vector<std::string> names;
    names.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, T> entries_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPERATOR_COLUMN_H_
