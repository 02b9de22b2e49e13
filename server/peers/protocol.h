// What agents' and workers' reports have in common, checked.
#ifndef SLIPWAY_SERVER_PEERS_PROTOCOL_H_
#define SLIPWAY_SERVER_PEERS_PROTOCOL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::server {

struct ReportHeader {
  absl::string_view instance_id;
  absl::string_view version;
  absl::string_view applied_version;
  int min_protocol = 0;
  int max_protocol = 0;
  int attempts = 0;
  int64_t park_ns = 0;
};

// INVALID_ARGUMENT names what is missing or too large; FAILED_PRECONDITION when the protocol versions do not
// overlap with the server's.
absl::Status CheckReportHeader(const ReportHeader& header);

// How long a call may be parked: what the caller allows, at most kMaxPark, less up to a tenth of it so that
// the calls of many peers spread. `random` is uniform over all values.
absl::Duration ParkTime(int64_t park_ns, uint64_t random);

// Names what a peer is told: a set of attempts, in any order, what its log is to show and the offer it is to take, by its id, if
// these are said. Equal for equal ones.
std::string DesiredVersion(std::vector<std::string> attempt_ids, absl::string_view log_level = "",
                           absl::string_view offer = "");

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_PROTOCOL_H_
