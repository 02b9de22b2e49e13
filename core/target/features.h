// The lexicon of CPU features: their names, what implies what. Internal to core/target; the meaning
// of each is in features.md.
#ifndef SLIPWAY_CORE_TARGET_FEATURES_H_
#define SLIPWAY_CORE_TARGET_FEATURES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/target/target.h"

namespace slipway {

struct Feature {
  absl::string_view name;
  // The lowest level of the architecture that has it; 0 when no level does. Architectures without
  // levels have level 0, and what they always have belongs in no lexicon.
  int level;
  // The feature that any processor with this one also has, or empty. Implications are chains; where
  // a feature rests on a whole level, `implied_level` says so.
  absl::string_view implied;
  int implied_level = 0;
};

// All features of an architecture; empty for GPUs.
absl::Span<const Feature> FeaturesOf(Arch arch);

// Adds all that the level and the features imply, sorts, and raises the level to the highest one
// whose features are all present. REQUIRES: the features are in the lexicon.
void Canonicalize(DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_FEATURES_H_
