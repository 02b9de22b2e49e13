// OperatorColumn: one kind of knowledge about operators (kernels, lowerings, gradients), by name; and
// OperatorFamily, the operators of one file, which has the same name in every folder.
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

// A family's part of a column (or of the registry): what the file `name` adds. Folders list their
// families in tables of these; //tests/conformance:operator_lists_test holds the tables against each
// other.
template <typename Column>
struct OperatorFamily {
  absl::string_view name;
  absl::Status (*add)(Column&);
};

// Adds them in order; the first error ends it.
template <typename Families, typename Column>
absl::Status AddFamilies(const Families& families, Column& column) {
  for (const auto& family : families) {
    const absl::Status added = family.add(column);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPERATOR_COLUMN_H_
