// What the server's metrics are: one explicit list, from values read at one time.
#ifndef SLIPWAY_SERVER_METRICS_SERVER_METRICS_H_
#define SLIPWAY_SERVER_METRICS_SERVER_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/metrics/metric.h"
#include "core/rpc/listener_counts.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/jobs/job_tally.h"
#include "server/jobs/job_writer.h"
#include "server/services/call_counts.h"

namespace slipway::server {

// Where the values come from. Owns nothing; nothing is null.
struct MetricSources {
  const v1::ServerStatus* status = nullptr;
  const ListenerCounts* connections = nullptr;
  const CallCounts* calls = nullptr;
  const JobTally* jobs = nullptr;
  const JobWriter::Tally* store = nullptr;
  absl::Duration processor_time;  // Of the server's process.
};

// Each label is of a list of this server's: no series says who or what is behind it, and nobody makes more of them.
std::vector<MetricFamily> ServerMetrics(const MetricSources& sources);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_METRICS_SERVER_METRICS_H_
