// CheckedManifest: a manifest that is safe to follow.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECKED_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_CHECKED_MANIFEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/expressions.h"
#include "core/artifact/limits.h"
#include "core/artifact/signature.h"
#include "core/base/digest.h"
#include "core/target/target.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// A memory space: one that the manifest names or, where it names none, that of a device.
struct ProgramSpace {
  // The device that allocates it.
  uint32_t device = 0;
  // Other devices whose steps may touch it, ascending.
  std::vector<uint32_t> shared_with;
  // Of the arena that all static buffers of the space lie in; a multiple of 64.
  int64_t arena_bytes = 0;

  // Whether steps of the device may touch it.
  bool IsTouchedBy(uint32_t by) const;
};

// Exists only checked: whoever has one may follow every index of it without looking. Checked once, where bytes
// enter a process, and handed on. For any device and any kind of code: what a device supports is its driver's
// answer.
//
// What is proved: indices, extents, sizes, offsets, alignment, overflow, types of arguments and results, that
// nothing is read before it was written and nothing written over that is still read. README.md lists it, and
// what is left to the runtime because it depends on values ("bind-time checks").
//
// Immutable and thread-safe; copies share all data.
class CheckedManifest {
 public:
  // From a manifest's bytes. INVALID_ARGUMENT for bytes that are no manifest, are not in canonical form or hold
  // unknown fields; otherwise as Check.
  static absl::StatusOr<CheckedManifest> Parse(absl::string_view bytes,
                                               const ReaderLimits& limits = {});

  // From a manifest just made. INVALID_ARGUMENT names the entry that is wrong; UNIMPLEMENTED names what this
  // reader does not know or follow (a newer format, a feature, element types kernels lack);
  // RESOURCE_EXHAUSTED names the limit.
  static absl::StatusOr<CheckedManifest> Check(v1::Manifest manifest,
                                               const ReaderLimits& limits = {});

  const v1::Manifest& proto() const { return data_->proto; }
  // The canonical bytes, and their digest: the artifact's name.
  const std::string& bytes() const { return data_->bytes; }
  const Digest& digest() const { return data_->digest; }

  // What it was compiled for, a device for each of its devices.
  const Target& target() const { return data_->target; }
  // The function a call runs unless it names another, and what it takes and gives.
  const v1::Function& entry() const;
  const ProgramSignature& signature() const { return data_->signature; }
  // What another function takes and gives. REQUIRES: it exists.
  ProgramSignature SignatureOf(uint32_t function) const;

  // The numbers that dimensions and sizes name.
  const Expressions& expressions() const { return data_->expressions; }
  // Never empty: one a device where the manifest names none.
  const std::vector<ProgramSpace>& spaces() const { return data_->spaces; }
  // The blobs it names, code first, each once, in the order they are first named.
  const std::vector<Digest>& blobs() const { return data_->blobs; }
  // Bytes of the manifest and of all blobs it names.
  int64_t artifact_bytes() const { return data_->artifact_bytes; }

  // The type of a value. REQUIRES: it exists and has no symbolic dimension.
  TensorType TypeOf(uint32_t value) const;

 private:
  struct Data {
    v1::Manifest proto;
    std::string bytes;
    Digest digest;
    Target target;
    ProgramSignature signature;
    Expressions expressions;
    std::vector<ProgramSpace> spaces;
    std::vector<Digest> blobs;
    int64_t artifact_bytes = 0;
  };

  explicit CheckedManifest(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  // REQUIRES: `bytes` are the canonical ones of `proto`.
  static absl::StatusOr<CheckedManifest> Make(v1::Manifest proto, std::string bytes,
                                              const ReaderLimits& limits);

  std::shared_ptr<const Data> data_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECKED_MANIFEST_H_
