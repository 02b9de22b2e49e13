// BareStream: a bare runner as the host hears it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_STREAM_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_STREAM_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/bare_runner/protocol.h"
#include "core/base/files.h"

namespace slipway {

// What a runner said of itself at its end.
struct BareEnd {
  bool is_told = false;  // Otherwise the stream ended, or broke a rule, and the rest means nothing.
  int exit_code = 0;     // Meaningful when signal is 0.
  int signal = 0;
  uint32_t command = UINT32_MAX;  // Of the list under way.
  std::string text;               // The rule that the host broke, or the stream.
};

// A bare runner's hello (core/bare_runner/protocol.h) from its bytes. FAILED_PRECONDITION for another protocol; INVALID_ARGUMENT for
// what is none.
absl::StatusOr<slipway_bare_hello> ParseBareHello(absl::string_view bytes);

// Requests and replies, one after the other. Thread-safe. What it hears may be anybody's: sizes and kinds are held against what was
// asked. There are no deadlines: who has them ends the stream.
class BareStream {
 public:
  struct Reply {
    slipway_bare_reply head = {};
    std::string data;
  };

  // `stream` is a socket or a pipe behind the greeting. `ended` is called once, by whoever finds out that the runner has ended, and may
  // end the process.
  BareStream(UniqueFd stream, std::function<void(const BareEnd&)> ended = {})
      : stream_(std::move(stream)), ended_(std::move(ended)) {}

  // Of a request of parts that has no reply. UNAVAILABLE when the stream has ended; ABORTED, with how, when the runner has; from then on
  // always.
  absl::Status Tell(uint32_t kind, std::vector<absl::string_view> parts);
  // Of one that has. Replies that say an error are OK here. `died` hears of a runner that ends in place of a reply, before `ended`.
  absl::StatusOr<Reply> Ask(uint32_t kind, std::vector<absl::string_view> parts,
                            const std::function<void(const BareEnd&)>& died = {});

  // To wait on: nothing is to be read there while nothing is asked, but the end, which TakeEnd then hears.
  int fd() const { return stream_.get(); }
  void TakeEnd();

 private:
  absl::Status Send(uint32_t kind, std::vector<absl::string_view> parts);
  absl::StatusOr<Reply> Receive(uint32_t kind);
  absl::Status ReceiveAll(void* to, size_t bytes);
  absl::Status End(const BareEnd& end);

  const UniqueFd stream_;
  const std::function<void(const BareEnd&)> ended_;
  std::mutex mutex_;
  const std::function<void(const BareEnd&)>* died_ = nullptr;  // Of what is asked.
  absl::Status end_;                                           // Not OK once it has ended.
};

// What state the machine is in now. Errors of Ask, which are its end; INTERNAL for an answer of another size. What it says may be anything.
absl::StatusOr<slipway_bare_state> ReadBareState(BareStream& stream);

// A value's bytes as they go over the stream.
template <typename T>
absl::string_view BytesOf(const T& value) {
  return absl::string_view(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_STREAM_H_
