// OpenDownloads: the blobs that are being read from the server, so that what is under way to readers is bounded, however
// many they are and however slowly they take it.
#ifndef SLIPWAY_SERVER_HANDLERS_OPEN_DOWNLOADS_H_
#define SLIPWAY_SERVER_HANDLERS_OPEN_DOWNLOADS_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace slipway::server {

// Thread-safe.
class OpenDownloads {
 public:
  struct Limits {
    int in_all;
    int of_owner;
    int64_t bytes;  // Of all pieces together, as far as the least piece allows.
    int64_t least_piece;
    int64_t largest_piece;
  };
  explicit OpenDownloads(const Limits& limits) : limits_(limits) {}

  // Counts one more. UNAVAILABLE when there are as many as may be, in all or of the owner.
  absl::Status Begin(absl::string_view owner);
  // Counts one less. REQUIRES: it has begun.
  void End(absl::string_view owner);

  // How large the next piece of each may be now.
  int64_t PieceBytes() const;

 private:
  const Limits limits_;
  mutable absl::Mutex mu_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, int> by_owner_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_OPEN_DOWNLOADS_H_
