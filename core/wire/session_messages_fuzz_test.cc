// Any bytes as a message of a session: an error, or the message that protocol buffers read.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/wire/session_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  // Behind a beginning that is large enough for data to be looked for, too.
  std::string large = std::string(70'000, '\0');
  for (size_t i = 0; i + 1 < large.size(); i += 2) large[i] = 8;  // acked: 0
  for (const std::string& message : {bytes, bytes + large, large + bytes}) {
    const absl::StatusOr<slipway::SessionRequestParts> parts =
        slipway::ParseSessionRequests(absl::Cord(message));
    slipway::v1::SessionRequests whole;
    if (!parts.ok()) continue;
    SLIPWAY_CHECK(whole.ParseFromString(message), "only what is a message is read as one");
    SLIPWAY_CHECK(whole.requests_size() == parts->message.requests_size(), "all of it");
  }
  return 0;
}
