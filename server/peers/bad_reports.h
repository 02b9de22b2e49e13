// Reports that every registry of peers must refuse: what CheckReportHeader checks, spoiled a field at a time.
#ifndef SLIPWAY_SERVER_PEERS_BAD_REPORTS_H_
#define SLIPWAY_SERVER_PEERS_BAD_REPORTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/limits.h"

namespace slipway::server::testing {

// State is v1::AgentState or v1::WorkerState.
template <typename State>
struct BadReport {
  absl::StatusCode code;
  std::string says;
  std::function<void(State&)> spoil;
};

template <typename State>
std::vector<BadReport<State>> BadReports() {
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  constexpr auto kSkewed = absl::StatusCode::kFailedPrecondition;
  return {
      {kBad, "instance_id", [](State& s) { s.clear_instance_id(); }},
      {kBad, "instance_id",
       [](State& s) { s.set_instance_id(std::string(kMaxInstanceIdBytes + 1, 'i')); }},
      {kBad, "a version", [](State& s) { s.set_version(std::string(kMaxVersionBytes + 1, 'v')); }},
      {kBad, "a version",
       [](State& s) { s.set_applied_version(std::string(kMaxVersionBytes + 1, 'v')); }},
      {kBad, "attempts",
       [](State& s) {
         for (int i = 0; i <= kMaxAttemptsReported; ++i) s.add_attempts();
       }},
      {kBad, "park_ns", [](State& s) { s.set_park_ns(-1); }},
      {kSkewed, "protocol", [](State& s) { s.set_max_protocol(0); }},
      {kSkewed, "protocol",
       [](State& s) {
         s.set_min_protocol(99);
         s.set_max_protocol(99);
       }},
  };
}

}  // namespace slipway::server::testing

#endif  // SLIPWAY_SERVER_PEERS_BAD_REPORTS_H_
