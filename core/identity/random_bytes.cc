#include "core/identity/random_bytes.h"

#include <unistd.h>

#include "core/base/check.h"

namespace slipway {

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  // Fails for a greater count, and where the kernel is older than what Slipway runs on.
  SLIPWAY_CHECK(getentropy(bytes.data(), bytes.size()) == 0, "the system has no random numbers");
  return bytes;
}

}  // namespace slipway
