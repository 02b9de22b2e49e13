#include "server/web/changes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace slipway::web {

SnapshotChange ChangeBetween(const Snapshot& before, const Snapshot& after) {
  SnapshotChange change;
  for (const auto& [id, json] : after) {
    const auto found = before.find(id);
    if (found == before.end() || found->second != json) change.changed.push_back(json);
  }
  for (const auto& [id, json] : before) {
    if (after.find(id) == after.end()) change.gone.push_back(id);
  }
  return change;
}

std::string ChangeJson(const SnapshotChange& change) {
  // Ids are letters, digits and what needs no escape (JSON.parse on the page would say so).
  return absl::StrCat("{\"changed\":[", absl::StrJoin(change.changed, ","), "],\"gone\":[",
                      absl::StrJoin(change.gone, ",",
                                    [](std::string* out, const std::string& id) {
                                      absl::StrAppend(out, "\"", id, "\"");
                                    }),
                      "]}");
}

std::string EventText(absl::string_view name, absl::string_view data, int64_t id) {
  return absl::StrCat("event: ", name, "\n", id == 0 ? "" : absl::StrCat("id: ", id, "\n"),
                      "data: ", absl::StrReplaceAll(data, {{"\n", ""}, {"\r", ""}}), "\n\n");
}

}  // namespace slipway::web
