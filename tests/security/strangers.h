// Strangers: connections of those whom a server does not know, made to cost it something. For tests and benchmarks of servers
// at 127.0.0.1; they come from 127.0.0.2 and further addresses of this machine, and go nowhere else.
#ifndef SLIPWAY_TESTS_SECURITY_STRANGERS_H_
#define SLIPWAY_TESTS_SECURITY_STRANGERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::testing {

// What a stranger does once he is connected; then he reads what comes, and stays until he is shown out.
enum class StrangerKind {
  kIdle,            // Nothing.
  kHello,           // Sends the first message of TLS that callers send, and no more.
  kHalfHello,       // Sends half of that.
  kRapidReset,      // Sends HTTP/2 without TLS: requests, each of them cancelled at once.
  kSilentJoin,      // Completes TLS at the join door.
  kWrongCode,       // The same, and asks to join by a code that nobody was given.
  kOtherAuthority,  // Completes TLS as a caller, with a certificate that another authority has signed.
  // Is no stranger: completes TLS as a caller who may, of `identity_file`, or without a certificate where tokens are taken. Makes calls, each of them
  // cancelled at once.
  kJoinedReset,
};
inline constexpr StrangerKind kStrangerKinds[] = {
    StrangerKind::kIdle,           StrangerKind::kHello,      StrangerKind::kHalfHello,
    StrangerKind::kRapidReset,     StrangerKind::kSilentJoin, StrangerKind::kWrongCode,
    StrangerKind::kOtherAuthority,
};

// "half-hello", and its inverse.
absl::string_view StrangerName(StrangerKind kind);
std::optional<StrangerKind> StrangerNamed(absl::string_view name);

// What has come of them so far, of connections where nothing else is said.
struct StrangerCounts {
  int64_t made = 0;    // Came about.
  int64_t failed = 0;  // Did not, whatever the reason.
  int64_t open = 0;    // Are there now.
  int64_t most_open = 0;
  int64_t acted = 0;      // Did what their kind does.
  int64_t shown_out = 0;  // Were ended by the server.
  int64_t refused = 0;    // Got an answer of the join door that says no.
  int64_t let_in = 0;     // Got what callers alone shall get: an identity, or HTTP/2.
  int64_t sent_bytes = 0;
  // From the beginning of a connection until the server has ended it; of all of them together, and of the longest.
  absl::Duration lives;
  absl::Duration longest_life;
};

// Connects from construction to destruction, on a thread of its own. Thread-safe.
class Strangers {
 public:
  struct Options {
    std::string address;  // "127.0.0.1:PORT"
    StrangerKind kind = StrangerKind::kIdle;
    // Connections that are there at a time: for each that ends, another one comes.
    int at_a_time = 0;
    // When as many were made or have failed, no more come.
    int64_t in_all = INT64_MAX;
    std::string identity_file;  // Of kJoinedReset (core/identity/identity_file.h); may be empty.
  };
  // INVALID_ARGUMENT for another address; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Strangers>> Come(const Options& options);
  virtual ~Strangers() = default;

  virtual StrangerCounts Counts() const = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SECURITY_STRANGERS_H_
