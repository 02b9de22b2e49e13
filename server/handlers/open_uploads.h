// OpenUploads: the transfers into the server that hold a file open, so that there are few of them, and none for long.
#ifndef SLIPWAY_SERVER_HANDLERS_OPEN_UPLOADS_H_
#define SLIPWAY_SERVER_HANDLERS_OPEN_UPLOADS_H_

#include <list>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway::server {

// A transfer, as far as this is concerned.
class OpenUpload {
 public:
  virtual ~OpenUpload() = default;
  // Closes its file, which is opened again when the next piece comes; false when it is being used just now. Waits for nobody.
  virtual bool LetGo() = 0;
};

// Thread-safe.
class OpenUploads {
 public:
  struct Limits {
    int in_all;
    int of_owner;
    absl::Duration idle;
  };
  // `clock` must outlive this.
  OpenUploads(const Clock* clock, const Limits& limits) : clock_(*clock), limits_(limits) {}

  // The upload has its file open and has just used it. Where there are too many now, those not used for the longest time let
  // go, those of the same owner first.
  void Used(OpenUpload* upload, const std::string& owner);
  // It has no file open any more. Waits until nobody tells it to let go.
  void Closed(OpenUpload* upload);
  // Those idle for too long let go.
  void CloseIdle();

  int size() const;

 private:
  struct Entry {
    OpenUpload* upload;
    std::string owner;
    absl::Duration used;  // Monotonic.
  };
  using Entries = std::list<Entry>;

  void Remove(OpenUpload* upload) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets the first go that `may` and is not in use; false when there is none.
  template <typename May>
  bool LetGoOf(May may) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  const Limits limits_;
  mutable absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // The one used last is the last.
  absl::flat_hash_map<OpenUpload*, Entries::iterator> index_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int> by_owner_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_OPEN_UPLOADS_H_
