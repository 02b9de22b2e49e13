// Which entries of the history a list is asked for.
#ifndef SLIPWAY_SERVER_HISTORY_HISTORY_FILTER_H_
#define SLIPWAY_SERVER_HISTORY_HISTORY_FILTER_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/tag.h"
#include "proto/slipway/v1/history.pb.h"

namespace slipway::server {

// What is empty, 0 or infinite filters nothing but `owner`.
struct HistoryFilter {
  std::string owner;
  bool of_everybody = false;  // Whoever the owner is.
  std::string before_id;      // Only ids below this.
  std::string model;
  std::string device;
  std::string target;
  std::vector<Tag> tags;  // All of them.
  int threads = 0;
  std::string artifact;  // Hexadecimal.
  absl::Time since = absl::InfinitePast();
  absl::Time until = absl::InfiniteFuture();
};

bool Matches(const HistoryFilter& filter, const v1::HistoryEntry& entry);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HISTORY_HISTORY_FILTER_H_
