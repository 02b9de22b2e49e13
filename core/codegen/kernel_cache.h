// KernelCache: compiled kernels by key, shared by all models and, on disk, by all processes of a user.
#ifndef SLIPWAY_CORE_CODEGEN_KERNEL_CACHE_H_
#define SLIPWAY_CORE_CODEGEN_KERNEL_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"

namespace slipway {

// Thread-safe. A cache may forget anything at any time; what it returns is what was put.
class KernelCache {
 public:
  virtual ~KernelCache() = default;
  // The object file stored under `key`; empty when there is none that is whole.
  virtual std::optional<std::string> Get(const Digest& key) = 0;
  // RESOURCE_EXHAUSTED on a full disk; INTERNAL. A cache that cannot store is no reason to fail.
  virtual absl::Status Put(const Digest& key, absl::string_view object) = 0;
};

// One file a kernel in a folder: safe for any number of processes, since files are written beside their
// place and renamed into it. Each carries its own digest; one that is damaged is removed and counts as
// absent. When the files exceed `max_bytes`, Put removes the oldest of them.
class FileKernelCache final : public KernelCache {
 public:
  struct Options {
    std::string folder;
    int64_t max_bytes = int64_t{256} << 20;
  };
  // Makes the folder. Errors of MakeFolders.
  static absl::StatusOr<std::unique_ptr<FileKernelCache>> Create(Options options);

  std::optional<std::string> Get(const Digest& key) override;
  absl::Status Put(const Digest& key, absl::string_view object) override;

 private:
  explicit FileKernelCache(Options options) : options_(std::move(options)) {}
  std::string PathOf(const Digest& key) const;

  const Options options_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_KERNEL_CACHE_H_
