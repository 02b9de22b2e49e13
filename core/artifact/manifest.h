// The manifest as bytes and back, and the check that makes a hostile one
// harmless.
#ifndef SLIPWAY_CORE_ARTIFACT_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_MANIFEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/limits.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The canonical bytes; their digest names the artifact.
std::string SerializeManifest(const v1::Manifest& manifest);

// Parses and validates. INVALID_ARGUMENT for bytes that are no manifest, are not
// in canonical form or hold unknown fields; RESOURCE_EXHAUSTED over the limits;
// otherwise as ValidateManifest.
absl::StatusOr<v1::Manifest> ParseManifest(absl::string_view bytes,
                                           const ReaderLimits& limits = {});

// Checks that whoever follows the manifest touches only memory it may touch and
// reads only what was written: every index, extent, size, offset, alignment,
// overflow and the order of steps. After OK the functions below, and a runtime,
// may follow every index without looking.
//
// INVALID_ARGUMENT names the entry that is wrong; UNIMPLEMENTED names what this
// reader does not support (a newer format or ABI, a feature, another device than
// one CPU, symbols, dynamic buffers, library calls, control, an init function,
// element types kernels lack); RESOURCE_EXHAUSTED names the limit.
absl::Status ValidateManifest(const v1::Manifest& manifest, const ReaderLimits& limits = {});

// --- For validated manifests only. ---

// An input or output of a program.
struct NamedType {
  std::string name;
  TensorType type;
};

// What a program takes and gives, in the model's order.
struct ProgramSignature {
  std::vector<NamedType> inputs;
  std::vector<NamedType> outputs;
};
ProgramSignature SignatureOf(const v1::Manifest& manifest);

TensorType TypeOfValue(const v1::Manifest& manifest, uint32_t value);

// Bytes of the arena of device 0; a multiple of 64.
int64_t ArenaBytes(const v1::Manifest& manifest);

// The blobs the manifest names, code first, each once, in the order they are
// first named.
std::vector<Digest> ReferencedBlobs(const v1::Manifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_MANIFEST_H_
