// What a server keeps, looked over while none uses it: slipwayd check.
#ifndef SLIPWAY_SERVER_STATE_CHECK_H_
#define SLIPWAY_SERVER_STATE_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::server {

struct StateCheckOptions {
  std::string data_dir;
  std::string blob_dir;
  bool repair = false;
};

struct StateCheckResult {
  int64_t found = 0;   // What is damaged.
  int64_t mended = 0;  // Of these.
};

// Reads every row of the database and every byte of every blob. `tell` gets a line for each thing that is damaged, and for
// each part that was looked at. With `repair`, damaged rows are taken out of the database and kept in the data folder's
// lost+found, rotten blobs removed: who needs one sends or makes it anew. Otherwise nothing is changed.
//
// NOT_FOUND: there is no data folder. FAILED_PRECONDITION: a server uses it, or a later version wrote it. DATA_LOSS:
// the file is no database.
absl::StatusOr<StateCheckResult> CheckState(const StateCheckOptions& options,
                                            const std::function<void(absl::string_view)>& tell);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STATE_CHECK_H_
