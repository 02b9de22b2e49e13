// Artifacts for wasm-32 as the files that `slipway export` makes of them, for whoever runs them in a page or in Node.
#ifndef SLIPWAY_SERVER_WEB_EXPORTS_H_
#define SLIPWAY_SERVER_WEB_EXPORTS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/library/library_files.h"
#include "core/base/digest.h"
#include "core/http/http_message.h"
#include "server/web/upstream.h"

namespace slipway::web {

// Thread-safe. Keeps what was asked for last: the files of one are asked for one after the other, and a plan needs all weights.
class Exports {
 public:
  struct Limits {
    int64_t most_bytes = 256 << 20;       // Of one artifact.
    int64_t most_kept_bytes = 256 << 20;  // Of all that are kept.
  };
  explicit Exports(const Limits& limits) : limits_(limits) {}

  // The file of that name ("plan.json", "model.wasm", ...) of the artifact whose manifest that is, as `upstream` may read it. Its tag names what
  // it holds: 304 for whoever has `known_tag` of it. NOT_FOUND names what files there are; FAILED_PRECONDITION for an artifact of
  // another architecture; RESOURCE_EXHAUSTED for one of more than `most_bytes`; errors of PlanLibrary and of reading. May wait.
  absl::StatusOr<HttpResponse> Answer(Upstream& upstream, const Digest& manifest,
                                      absl::string_view name, absl::string_view known_tag);

 private:
  using Files = std::vector<LibraryFile>;
  struct Kept {
    Digest manifest;
    int64_t bytes = 0;
    std::shared_ptr<const Files> files;
  };
  absl::StatusOr<std::shared_ptr<const Files>> Find(Upstream& upstream, const Digest& manifest);
  std::shared_ptr<const Files> FindKept(const Digest& manifest);
  void Keep(Kept kept);

  const Limits limits_;
  absl::Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // The last used in front.
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_EXPORTS_H_
