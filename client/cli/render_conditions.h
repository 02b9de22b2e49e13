// What is shown of the machine during samples, and of what they took of it.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_
#define SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/types.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

// Rows of "what" and "how much" on memory, energy and the machine; those alone of which something is known.
std::vector<std::vector<std::string>> ConditionRows(const BenchmarkResult& result);
// A line that tells how many of the times are too short for their clock, of which `what` begins to say it ("samples are"); empty if none
// is, or nobody knows.
std::string ClockRemark(absl::Span<const int64_t> times_ns, int64_t resolution_ns,
                        absl::string_view what);
// How many samples were too short for their clock, disturbed or throttled, a line each; empty if none was.
std::string ConditionRemarks(const BenchmarkResult& result);
// "clock_resolution_ns", "memory_...", "energy", "settled", "stamps" and what they come to.
void ConditionsJson(JsonWriter& json, const BenchmarkResult& result);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_
