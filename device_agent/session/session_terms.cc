#include "device_agent/session/session_terms.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_cat.h"

namespace slipway {

std::string RandomName() {
  std::random_device random;
  const auto word = [&random] {
    return absl::Hex(uint64_t{random()} << 32 | random(), absl::kZeroPad16);
  };
  return absl::StrCat(word(), word());
}

}  // namespace slipway
