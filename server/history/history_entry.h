// What is kept of a benchmark that has succeeded. Pure.
#ifndef SLIPWAY_SERVER_HISTORY_HISTORY_ENTRY_H_
#define SLIPWAY_SERVER_HISTORY_HISTORY_ENTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// All that a job's record and its agent tell, but the result. Takes no time worth mentioning. REQUIRES: a benchmark, with
// its specification.
v1::HistoryEntry BeginEntry(const JobRecord& record, const v1::DeviceDescription& device,
                            absl::string_view agent_version);

// Adds the result and what its samples say. REQUIRES: it has samples.
void CompleteEntry(const v1::BenchmarkResult& result, v1::HistoryEntry* entry);

// HistoryEntry.conditions
std::string ConditionsOf(const v1::BenchmarkSpec& spec);

// REQUIRES: it has samples. Takes O(n) time.
v1::SampleSummary Summarize(const v1::BenchmarkResult& result);

// DATA_LOSS, saying what, unless the entry is one that is made by the above, with its samples.
absl::Status CheckEntry(const v1::HistoryEntry& entry);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HISTORY_HISTORY_ENTRY_H_
