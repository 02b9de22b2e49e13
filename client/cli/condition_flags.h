// ConditionFlags: in what state of the machine samples are taken, and which are counted.
#ifndef SLIPWAY_CLIENT_CLI_CONDITION_FLAGS_H_
#define SLIPWAY_CLIENT_CLI_CONDITION_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/types.h"
#include "core/base/flags.h"

namespace slipway::cli {

struct ConditionFlags {
  std::string cool_down;
  bool settle = false;
  absl::Duration settle_limit = absl::Minutes(1);
  std::vector<std::string> leave_out;

  void AddTo(FlagSet& flags);
  // A wrong call for what cannot be; `scenario` is the one that is asked for.
  absl::Status Check(const std::optional<Scenario>& scenario) const;
  // REQUIRES: Check is OK. Absent where nothing is waited for.
  std::optional<Settling> ReadSettling() const;
  // The result that is to be shown. Errors of slipway::LeaveOut.
  absl::StatusOr<BenchmarkResult> Apply(const BenchmarkResult& result) const;
};

// What did not come about of what was waited for, a line each with a newline; empty if all did.
std::string AboutSettling(const std::optional<Settling>& asked, const BenchmarkResult& result);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_CONDITION_FLAGS_H_
