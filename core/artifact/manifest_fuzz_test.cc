// Any bytes: an error, or a manifest every accessor can follow.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/artifact/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto manifest = slipway::ParseManifest(bytes);
  if (!manifest.ok()) return 0;
  slipway::SignatureOf(*manifest);
  slipway::ReferencedBlobs(*manifest);
  if (slipway::ArenaBytes(*manifest) < 0) __builtin_trap();
  if (slipway::SerializeManifest(*manifest) != bytes) __builtin_trap();
  return 0;
}
