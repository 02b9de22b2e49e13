// What is shown of a scenario, beside the times of calls.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_SCENARIO_H_
#define SLIPWAY_CLIENT_CLI_RENDER_SCENARIO_H_

#include <optional>
#include <string>
#include <vector>

#include "client/statistics.h"
#include "client/types.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

// Rows of "what" and "how much"; none of calls that simply follow each other.
std::vector<std::vector<std::string>> ScenarioRows(const BenchmarkResult& result);
// The name of the scenario's percentile, "p99.9"; absent where there is none, or it is one that is always shown.
std::optional<std::string> ScenarioPercentile(const BenchmarkResult& result);
// Of a result whose samples are times, `statistics` of them: name, time and interval of the minimum and of percentiles, also that of
// the scenario; where the sample does not support one, what it would take.
std::vector<std::vector<std::string>> TimeRows(const BenchmarkResult& result,
                                               const SampleStatistics& statistics);
// The verdict on the bound and the rates that were tried; empty where there are none.
std::string ScenarioVerdict(const BenchmarkResult& result);
// "scenario", where there is one.
void ScenarioJson(JsonWriter& json, const BenchmarkResult& result);
// What a sample is: "100 of 24 calls", "100 queries of 8 calls".
std::string SamplesText(const BenchmarkResult& result);
// Samples are times of calls or queries; not the ends of calls that were all made at once.
bool HasTimes(const BenchmarkResult& result);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_SCENARIO_H_
