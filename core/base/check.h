// SLIPWAY_CHECK: ends the process where only a bug of ours can lead. Never for what a peer, a file
// or the machine can cause: that is a Status.
#ifndef SLIPWAY_CORE_BASE_CHECK_H_
#define SLIPWAY_CORE_BASE_CHECK_H_

#include "absl/base/optimization.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Writes "FILE:LINE: check failed: CONDITION: message" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              absl::string_view message);

}  // namespace slipway

// SLIPWAY_CHECK(!queue.empty(), "pop of an empty queue"); the message, any absl::string_view
// expression, is evaluated only on failure.
#define SLIPWAY_CHECK(condition, message)                                \
  do {                                                                   \
    if (ABSL_PREDICT_FALSE(!(condition))) {                              \
      ::slipway::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                    \
  } while (false)

#endif  // SLIPWAY_CORE_BASE_CHECK_H_
