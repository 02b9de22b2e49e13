// The names of things: the one place where ids are made and checked.
#ifndef SLIPWAY_SERVER_NAMES_H_
#define SLIPWAY_SERVER_NAMES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace slipway::server {

// Makes ids of 26 characters of Crockford's base 32: 48 bits of milliseconds since 1970 and 80 random
// bits. Ids made by one generator rise strictly, even when the clock goes back. Thread-safe.
class IdGenerator {
 public:
  // `random` yields 64 random bits a call.
  explicit IdGenerator(std::function<uint64_t()> random);
  // An id that sorts by `now`.
  std::string Next(absl::Time now);

 private:
  const std::function<uint64_t()> random_;
  absl::Mutex mu_;
  uint64_t last_millis_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t last_high_ ABSL_GUARDED_BY(mu_) = 0;  // Upper 16 of the 80 random bits.
  uint64_t last_low_ ABSL_GUARDED_BY(mu_) = 0;   // Lower 64.
};

// No id made for `now` or later sorts below it.
std::string FirstIdAt(absl::Time now);

// Sorts above every id.
inline constexpr char kAboveAllIds[] = "~";

// An unpredictable source for IdGenerator: the system's.
uint64_t SystemRandom();

// INVALID_ARGUMENT unless `id` has the form that IdGenerator makes.
absl::Status CheckJobId(absl::string_view id);

// INVALID_ARGUMENT unless `id` is 1 to 128 printable ASCII characters.
absl::Status CheckRequestId(absl::string_view id);

// INVALID_ARGUMENT unless `id` matches "[a-z0-9][a-z0-9._-]*" and has at most 64 bytes. `what` is what the
// message calls it, such as "agent_id".
absl::Status CheckPeerId(absl::string_view what, absl::string_view id);

// The id of the server's own worker number `index`.
std::string LocalWorkerId(int index);

// Whose probes are: no identity has this name.
inline constexpr char kServerOwner[] = "the server";

// Keys of ChangeHub; those of agents and workers also name the holders of leases.
std::string JobKey(absl::string_view job_id);
std::string AgentKey(absl::string_view agent_id);
std::string WorkerKey(absl::string_view worker_id);
// Of a key of an agent or worker: what it is, "agent" or "worker"; its id; and what messages call it, "agent 'ID'".
absl::string_view KindOfKey(absl::string_view key);
absl::string_view IdOfKey(absl::string_view key);
std::string PeerName(absl::string_view key);
// Whether it is the key of one of the server's own workers.
bool IsLocalWorker(absl::string_view key);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_NAMES_H_
