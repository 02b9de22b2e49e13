// Blob: immutable bytes and whoever keeps them alive.
#ifndef SLIPWAY_CORE_BASE_BLOB_H_
#define SLIPWAY_CORE_BASE_BLOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/base/files.h"

namespace slipway {

// A cheap handle: copies share the bytes, which nobody changes. Thread-safe.
// The default holds no bytes.
class Blob {
 public:
  Blob() = default;
  // Bytes that live as long as `owner` does.
  Blob(absl::string_view bytes, std::shared_ptr<const void> owner)
      : Blob(bytes, std::move(owner), false) {}

  // Takes over `bytes`.
  static Blob Own(std::string bytes) {
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    const absl::string_view view(*owner);
    return Blob(view, std::move(owner));
  }
  // The bytes of a mapped file, which the blob keeps mapped.
  static Blob Own(MappedFile file) {
    auto owner = std::make_shared<const MappedFile>(std::move(file));
    const absl::string_view view = owner->bytes();
    return Blob(view, std::move(owner), true);
  }

  absl::string_view bytes() const { return bytes_; }
  int64_t size_bytes() const { return static_cast<int64_t>(bytes_.size()); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // A part of it that shares its bytes. REQUIRES: 0 <= offset, offset + size <=
  // size_bytes().
  Blob Part(int64_t offset, int64_t size) const {
    return Blob(bytes_.substr(static_cast<size_t>(offset), static_cast<size_t>(size)), owner_,
                is_mapped_);
  }

  // For who has read it and will not soon again: bytes mapped from a file no longer take memory, until they are
  // looked at.
  void LetGo() const {
    if (is_mapped_) MappedFile::LetGo(bytes_);
  }

 private:
  Blob(absl::string_view bytes, std::shared_ptr<const void> owner, bool is_mapped)
      : bytes_(bytes), owner_(std::move(owner)), is_mapped_(is_mapped) {}

  absl::string_view bytes_;
  std::shared_ptr<const void> owner_;
  bool is_mapped_ = false;  // From a file.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_BLOB_H_
