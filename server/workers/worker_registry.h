// WorkerRegistry: what the server believes about workers. Soft state, rebuilt from what they report.
#ifndef SLIPWAY_SERVER_WORKERS_WORKER_REGISTRY_H_
#define SLIPWAY_SERVER_WORKERS_WORKER_REGISTRY_H_

#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/peers/peer_table.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

struct RegisteredWorker {
  TargetFingerprints targets;  // What it compiles for; never empty.
  int capacity = 0;
  absl::btree_set<std::string> active;  // Attempts it said it works on.
  absl::Time last_seen;                 // Wall clock.
};

// Not thread-safe.
class WorkerRegistry {
 public:
  explicit WorkerRegistry(absl::Duration silence);

  // Takes in a report from `address`. INVALID_ARGUMENT names what is malformed; FAILED_PRECONDITION when no
  // common version of the protocol is spoken; ALREADY_EXISTS as of PeerTable.
  absl::StatusOr<ReportKind> Report(const v1::WorkerState& state, absl::string_view address,
                                    absl::Time wall, absl::Duration now);

  PeerTable& peers() { return peers_; }
  const PeerTable& peers() const { return peers_; }

  // nullptr when unknown.
  const RegisteredWorker* Find(absl::string_view id) const;
  const absl::btree_map<std::string, RegisteredWorker>& workers() const { return workers_; }

  void Forget(absl::string_view id);
  // Forgets workers that are lost and were not seen since `time`.
  void ForgetUnseenSince(absl::Time time, absl::Duration now);

 private:
  PeerTable peers_;
  absl::btree_map<std::string, RegisteredWorker> workers_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORKERS_WORKER_REGISTRY_H_
