// HistoryStore: the benchmarks that have succeeded, kept beyond their jobs.
#ifndef SLIPWAY_SERVER_HISTORY_HISTORY_STORE_H_
#define SLIPWAY_SERVER_HISTORY_HISTORY_STORE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/history.pb.h"
#include "server/history/history_filter.h"
#include "server/page.h"

namespace slipway::server {

// Thread-safe. Errors are those of JobStore. Entries come by JobStore::Commit, in one with the end of their job.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  // Newest first; without their samples unless these are asked for.
  virtual absl::StatusOr<Page<v1::HistoryEntry>> ListHistory(const HistoryFilter& filter,
                                                             const PageLimits& limits,
                                                             bool with_samples) const = 0;

  // With its samples. NOT_FOUND.
  virtual absl::StatusOr<v1::HistoryEntry> GetHistoryEntry(absl::string_view id) const = 0;

  // Of each owner's entries drops the oldest, until he has at most so many, of so many bytes together; returns how many.
  virtual absl::StatusOr<int64_t> DropHistoryBeyond(int64_t max_entries, int64_t max_bytes) = 0;
};

// What stores say alike.
absl::Status NoSuchEntry(absl::string_view id);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HISTORY_HISTORY_STORE_H_
