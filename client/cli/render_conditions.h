// What is shown of the machine during samples, and of what they took of it.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_
#define SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_

#include <string>
#include <vector>

#include "client/types.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

// Rows of "what" and "how much" on memory, energy and the machine; those alone of which something is known.
std::vector<std::vector<std::string>> ConditionRows(const BenchmarkResult& result);
// How many samples were disturbed or throttled, a line each; empty if none was.
std::string ConditionRemarks(const BenchmarkResult& result);
// "memory_...", "energy", "settled", "stamps" and what they come to.
void ConditionsJson(JsonWriter& json, const BenchmarkResult& result);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_CONDITIONS_H_
