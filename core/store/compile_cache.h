// CompileCache: from a compile key to the artifact that answers it. The blobs
// themselves are in a BlobStore, which may have removed them: a hit counts only
// if they are all there.
#ifndef SLIPWAY_CORE_STORE_COMPILE_CACHE_H_
#define SLIPWAY_CORE_STORE_COMPILE_CACHE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/digest.h"

namespace slipway {

// Largest report kept with an entry.
inline constexpr int64_t kMaxCachedReportBytes = 4 << 20;

// Largest statement kept with an entry.
inline constexpr int64_t kMaxCachedStatementBytes = 64 << 10;

// What a compilation made.
struct CachedCompilation {
  Digest manifest;
  // Bytes of whatever the user of the cache keeps with it.
  std::string report;
  // Bytes that say who made it, which others who write to the same folder
  // cannot make; empty: none.
  std::string statement = {};
};

// Thread-safe. Keys are 64 lower-case hexadecimal digits; others are
// INVALID_ARGUMENT.
class CompileCache {
 public:
  virtual ~CompileCache() = default;
  // Counts as a use. NOT_FOUND.
  virtual absl::StatusOr<CachedCompilation> Find(absl::string_view key) = 0;
  // Replaces what was there. INVALID_ARGUMENT for a report or
  // statement over the limit; RESOURCE_EXHAUSTED on a full disk.
  virtual absl::Status Record(absl::string_view key, const CachedCompilation& compilation) = 0;
  // OK if it is not there.
  virtual absl::Status Remove(absl::string_view key) = 0;
};

// A folder with a small file for each entry; several processes may share it. An
// entry that is not readable is as good as none, and removed.
class FileCompileCache final : public CompileCache {
 public:
  // `folder` is made if it is not there; it may be that of a FileBlobStore.
  // `clock` is not owned; null: the machine's.
  static absl::StatusOr<std::unique_ptr<FileCompileCache>> Create(std::string folder,
                                                                  const Clock* clock = nullptr);

  absl::StatusOr<CachedCompilation> Find(absl::string_view key) override;
  absl::Status Record(absl::string_view key, const CachedCompilation& compilation) override;
  absl::Status Remove(absl::string_view key) override;

  // Removes entries that were not used for `age`.
  absl::Status Prune(absl::Duration age);

 private:
  FileCompileCache(std::string folder, const Clock* clock);
  std::string Path(absl::string_view key) const;

  const std::string folder_;
  const SystemClock system_clock_;
  const Clock& clock_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_COMPILE_CACHE_H_
