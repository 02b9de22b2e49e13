// Any bytes: an error, or a manifest every accessor can follow.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto manifest = slipway::CheckedManifest::Parse(bytes);
  if (!manifest.ok()) return 0;
  for (const slipway::ProgramSpace& space : manifest->spaces()) {
    if (space.arena_bytes < 0) __builtin_trap();
  }
  if (slipway::SerializeManifest(manifest->proto()) != bytes) __builtin_trap();
  return 0;
}
