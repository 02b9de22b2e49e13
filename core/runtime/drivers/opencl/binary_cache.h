// BinaryCache: programs as a device's own compiler made them, so that each is built once on a machine.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_BINARY_CACHE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_BINARY_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"

namespace slipway {

// All that decides over a binary. A binary of another device or driver is never handed to this one.
struct BinaryKey {
  std::string platform;  // Name and version.
  std::string device;    // Name and vendor.
  std::string driver;    // Version.
  std::string options;   // What it is built with.
  Digest source;

  Digest ToDigest() const;
};

// Files in one folder, named by their keys. What is found there is hostile until its head and digest have been checked, and
// the folder is its user's alone, since nobody can tell what a vendor's library does with a binary that was made up.
// Thread-safe; several processes may share the folder.
class BinaryCache {
 public:
  // A program of more bytes is not kept.
  static constexpr int64_t kMaxBinaryBytes = int64_t{64} << 20;
  // Of all files: with more, those that were longest unused go.
  static constexpr int64_t kMaxBytes = int64_t{256} << 20;

  // Errors of MakeOwnFolder.
  static absl::StatusOr<BinaryCache> Open(std::string folder, int64_t max_bytes = kMaxBytes);

  // Nothing where there is none that is whole; what is there and is not whole is removed.
  std::optional<std::string> Get(const BinaryKey& key) const;
  absl::Status Put(const BinaryKey& key, absl::string_view binary) const;
  void Drop(const BinaryKey& key) const;

 private:
  BinaryCache(std::string folder, int64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  std::string PathOf(const BinaryKey& key) const;

  std::string folder_;
  int64_t max_bytes_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_BINARY_CACHE_H_
