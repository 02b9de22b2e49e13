// Why no device is the one that is wanted, told by how many are what.
#ifndef SLIPWAY_CORE_SELECTOR_EXPLANATION_H_
#define SLIPWAY_CORE_SELECTOR_EXPLANATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

// Why a device is not chosen: what is said of one, and of several: "lacks avx2", "lack avx2".
struct Reason {
  std::string of_one;
  std::string of_several;

  friend bool operator==(const Reason& a, const Reason& b) = default;
};

// Of devices that are what is wanted, and are not to be had: "matches but is lost", "match but are lost".
Reason MatchesBut(absl::string_view state);

// "no device matches WANTED: of 12 devices, 7 have arch x86-64, 3 match but are quarantined, 2 lack avx2": the reasons of all devices there are,
// the most frequent first, of equal ones in the order of their text; where they are many, the rest are counted together.
std::string ExplainNone(absl::string_view wanted, absl::Span<const Reason> reasons);

}  // namespace slipway

#endif  // SLIPWAY_CORE_SELECTOR_EXPLANATION_H_
