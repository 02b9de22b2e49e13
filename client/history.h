// What a history says when it is read in order: series of results that can be compared. Pure.
#ifndef SLIPWAY_CLIENT_HISTORY_H_
#define SLIPWAY_CLIENT_HISTORY_H_

#include <string>
#include <vector>

#include "client/types.h"

namespace slipway {

// Results of one model, for one target, on one device, on as many threads, measured in the same way.
struct HistorySeries {
  std::string model;
  std::string target;
  std::string device;  // Its id.
  int threads = 1;
  std::string conditions;
  std::vector<HistoryEntry> entries;  // Oldest first; at least one.
};

// Puts entries, in any order, into their series, which are sorted by model, target, device and threads.
std::vector<HistorySeries> SeriesOf(std::vector<HistoryEntry> entries);

// What is not the same as it was at the entry before, when both are of one series.
struct HistoryChange {
  bool artifact = false;
  // Who made the program; the artifact then differs, too, unless what it wrote is the same.
  bool compiler = false;
  bool agent = false;   // Its version.
  bool device = false;  // How it describes itself.

  bool any() const { return artifact || compiler || agent || device; }
};
HistoryChange ChangeBetween(const HistoryEntry& before, const HistoryEntry& after);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_HISTORY_H_
