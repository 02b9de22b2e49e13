// Random numbers that nobody can guess. For the files of this folder alone.
#ifndef SLIPWAY_CORE_IDENTITY_RANDOM_BYTES_H_
#define SLIPWAY_CORE_IDENTITY_RANDOM_BYTES_H_

#include <cstddef>
#include <string>

namespace slipway {

// From the system; at most 256. Waits, early in the machine's start, until there are any. Thread-safe.
std::string RandomBytes(size_t count);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_RANDOM_BYTES_H_
