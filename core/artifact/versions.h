// Versions of the kernel ABI and of the manifest's format, and ranges of them: whoever reads artifacts says which
// ones, so that an artifact outlives the release that made it.
#ifndef SLIPWAY_CORE_ARTIFACT_VERSIONS_H_
#define SLIPWAY_CORE_ARTIFACT_VERSIONS_H_

#include <cstdint>
#include <string>

#include "core/artifact/limits.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {

// Both ends are part of it.
struct VersionRange {
  uint32_t lowest = 0;
  uint32_t highest = 0;

  constexpr bool Includes(uint32_t version) const {
    return lowest <= version && version <= highest;
  }
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

// "1", "1 to 3".
std::string ToString(const VersionRange& range);

// What this source loads and reads.
inline constexpr VersionRange kSpokenAbis{SLIPWAY_OLDEST_ABI_VERSION, SLIPWAY_ABI_VERSION};
inline constexpr VersionRange kReadFormats{1, kManifestFormatVersion};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_VERSIONS_H_
