#include "client/history.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace slipway {

std::vector<HistorySeries> SeriesOf(std::vector<HistoryEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const HistoryEntry& a, const HistoryEntry& b) {
    return std::tie(a.create_time, a.id) < std::tie(b.create_time, b.id);
  });
  using Key = std::tuple<std::string, std::string, std::string, int, std::string>;
  std::map<Key, HistorySeries> by_key;
  for (HistoryEntry& entry : entries) {
    HistorySeries& series = by_key[{entry.model, entry.target, entry.device.id,
                                    entry.result.threads, entry.conditions}];
    if (series.entries.empty()) {
      series.model = entry.model;
      series.target = entry.target;
      series.device = entry.device.id;
      series.threads = entry.result.threads;
      series.conditions = entry.conditions;
    }
    series.entries.push_back(std::move(entry));
  }
  std::vector<HistorySeries> all;
  for (auto& [key, series] : by_key) all.push_back(std::move(series));
  return all;
}

HistoryChange ChangeBetween(const HistoryEntry& before, const HistoryEntry& after) {
  const auto device = [](const MeasuredDevice& d) {
    return std::tie(d.target, d.model, d.os, d.cores, d.memory_bytes);
  };
  return {.artifact = before.artifact != after.artifact,
          .compiler = before.tools != after.tools,
          .agent = before.agent_version != after.agent_version,
          .device = device(before.device) != device(after.device)};
}

}  // namespace slipway
