// What is new in a list since it was last looked at. Pure.
#ifndef SLIPWAY_SERVER_WEB_CHANGES_H_
#define SLIPWAY_SERVER_WEB_CHANGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway::web {

// A list as JSON, by id.
using Snapshot = std::map<std::string, std::string>;

struct SnapshotChange {
  std::vector<std::string> changed;  // JSON of what is new or another.
  std::vector<std::string> gone;     // Ids.
  bool any() const { return !changed.empty() || !gone.empty(); }
};
SnapshotChange ChangeBetween(const Snapshot& before, const Snapshot& after);

// Data of an event: {"changed":[...],"gone":[...]}.
std::string ChangeJson(const SnapshotChange& change);

// A server-sent event (HTML standard, 9.2). `data` is one line of JSON; an `id` of 0 is none.
std::string EventText(absl::string_view name, absl::string_view data, int64_t id = 0);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_CHANGES_H_
