#include "core/rpc/call_flood.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace slipway {

std::vector<std::string> CallFlood::Look(absl::Duration now,
                                         absl::Span<const ConnectionCalls> connections) {
  const double paid =
      absl::ToDoubleSeconds(now - looked_) * static_cast<double>(limits_.broken_off_each_second);
  looked_ = now;
  for (auto it = owed_.begin(); it != owed_.end();) {
    it->second -= paid;
    if (it->second > 0) {
      ++it;
    } else {
      owed_.erase(it++);
    }
  }
  absl::flat_hash_map<std::string, int64_t> broken_off;
  absl::flat_hash_map<std::string, int64_t> open;
  for (const ConnectionCalls& each : connections) {
    open[each.caller] += std::max<int64_t>(each.open - limits_.open_of_each, 0);
    const auto before = broken_off_.find(each.connection);
    if (before != broken_off_.end() && each.broken_off > before->second) {
      owed_[each.caller] += static_cast<double>(each.broken_off - before->second);
    }
    broken_off[each.connection] = each.broken_off;
  }
  broken_off_ = std::move(broken_off);
  absl::flat_hash_set<std::string> beyond;
  for (const auto& [caller, count] : open) {
    if (count > limits_.open) beyond.insert(caller);
  }
  for (const auto& [caller, count] : owed_) {
    if (count > static_cast<double>(limits_.broken_off)) beyond.insert(caller);
  }
  return {beyond.begin(), beyond.end()};
}

}  // namespace slipway
