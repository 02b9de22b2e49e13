// What a compiler compiles for, as it says itself.
#ifndef SLIPWAY_SERVER_WORKERS_TARGET_FINGERPRINTS_H_
#define SLIPWAY_SERVER_WORKERS_TARGET_FINGERPRINTS_H_

#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/worker.pb.h"

namespace slipway::server {

// The compiler's fingerprint, 64 hexadecimal digits, by family of targets (FamilyOf of core/target). A family that
// this server does not know is kept like others: its worker may be newer.
using TargetFingerprints = absl::btree_map<std::string, std::string>;

// Of a worker's report; one from before `targets` compiles for the two families that there were then.
// INVALID_ARGUMENT names what is malformed.
absl::StatusOr<TargetFingerprints> TargetFingerprintsOf(const v1::WorkerState& state);

// Of lines "FAMILY FINGERPRINT", as slipway-compile-worker --print-targets prints them. INVALID_ARGUMENT names
// what is malformed.
absl::StatusOr<TargetFingerprints> ParseTargetFingerprints(absl::string_view lines);
std::string FormatTargetFingerprints(const TargetFingerprints& targets);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORKERS_TARGET_FINGERPRINTS_H_
