// How requests and answers stand on a connection to the join door: after their length.
#ifndef SLIPWAY_CORE_RPC_JOIN_FRAME_H_
#define SLIPWAY_CORE_RPC_JOIN_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr size_t kJoinLengthBytes = 4;
// Of a request, and of an answer.
inline constexpr size_t kMaxJoinBytes = 16 << 10;

// REQUIRES: `bytes` has kJoinLengthBytes.
inline size_t JoinLength(absl::string_view bytes) {
  uint32_t length = 0;
  for (const char byte : bytes) length = length << 8 | static_cast<uint8_t>(byte);
  return length;
}

inline std::string JoinFrame(absl::string_view bytes) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
  }
  frame.append(bytes.data(), bytes.size());
  return frame;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_JOIN_FRAME_H_
