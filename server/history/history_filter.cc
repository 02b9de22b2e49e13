#include "server/history/history_filter.h"

#include "core/wire/tag_proto.h"

namespace slipway::server {
namespace {

bool Fits(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

}  // namespace

bool Matches(const HistoryFilter& filter, const v1::HistoryEntry& entry) {
  const absl::Time time = absl::FromUnixNanos(entry.create_time_ns());
  return (filter.of_everybody || entry.owner() == filter.owner) &&
         (filter.before_id.empty() || entry.id() < filter.before_id) &&
         Fits(filter.model, entry.model()) && Fits(filter.device, entry.device().id()) &&
         Fits(filter.target, entry.target()) && Fits(filter.artifact, entry.manifest().sha256()) &&
         (filter.threads == 0 || entry.result().threads() == filter.threads) &&
         time >= filter.since && time < filter.until && HasTags(entry.tags(), filter.tags);
}

}  // namespace slipway::server
