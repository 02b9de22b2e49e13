// What `slipway gate` prints: pure functions from values to text.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_GATE_H_
#define SLIPWAY_CLIENT_CLI_RENDER_GATE_H_

#include <optional>
#include <string>

#include "client/gate.h"
#include "client/gated_results.h"
#include "core/base/tag.h"

namespace slipway::cli {

struct GateReport {
  GatedResults results;
  Tag baseline;
  std::optional<Tag> candidate;  // Absent: the newest program was taken.
  double max_regression = 0;
  GateFinding finding;
  std::string not_timed;  // Why they were not timed in turns, where that was wanted; else empty.

  bool is_one_program() const {
    return results.baseline_artifact() == results.candidate_artifact();
  }
};

std::string RenderGate(const GateReport& report);
// The fields and their meaning are listed in client/README.md; schema_version 1.
std::string RenderGateJson(const GateReport& report);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_GATE_H_
