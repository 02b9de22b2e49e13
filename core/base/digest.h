// Digest: the name of a blob, and the hasher that computes it.
#ifndef SLIPWAY_CORE_BASE_DIGEST_H_
#define SLIPWAY_CORE_BASE_DIGEST_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// SHA-256 (FIPS 180-4) of some bytes and their number. Two blobs are the same exactly when their
// digests are equal. A value type; the default is the digest of no bytes known ("unset").
class Digest {
 public:
  Digest() = default;

  // The digest of `bytes`.
  static Digest Of(absl::string_view bytes);

  // From 64 lower-case hexadecimal digits and a size. INVALID_ARGUMENT names what is wrong.
  static absl::StatusOr<Digest> FromHex(absl::string_view hex, int64_t size_bytes);

  // From "HEX/SIZE", the form of ToString().
  static absl::StatusOr<Digest> Parse(absl::string_view text);

  const std::string& hex() const { return hex_; }  // Empty when unset.
  int64_t size_bytes() const { return size_bytes_; }
  bool is_set() const { return !hex_.empty(); }
  std::string ToString() const;  // "HEX/SIZE"

  friend bool operator==(const Digest& a, const Digest& b) {
    return a.size_bytes_ == b.size_bytes_ && a.hex_ == b.hex_;
  }
  friend bool operator!=(const Digest& a, const Digest& b) { return !(a == b); }
  friend bool operator<(const Digest& a, const Digest& b) {
    return a.hex_ != b.hex_ ? a.hex_ < b.hex_ : a.size_bytes_ < b.size_bytes_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Digest& d) {
    return H::combine(std::move(h), d.hex_, d.size_bytes_);
  }

 private:
  friend class Hasher;
  Digest(std::string hex, int64_t size_bytes) : hex_(std::move(hex)), size_bytes_(size_bytes) {}
  std::string hex_;
  int64_t size_bytes_ = 0;
};

// Computes a Digest piece by piece. Not thread-safe.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(absl::string_view bytes);
  // The digest of all bytes so far. The hasher must not be used after this.
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
  int64_t size_bytes_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_DIGEST_H_
