// What the command prints of each result: pure functions from values to text. Every text ends in a newline.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_H_
#define SLIPWAY_CLIENT_CLI_RENDER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/artifact_summary.h"
#include "client/cli/lists/device_columns.h"
#include "client/cli/render_tuning.h"
#include "client/comparison.h"
#include "client/output_accuracy.h"
#include "client/output_check.h"
#include "client/server_status.h"
#include "client/types.h"
#include "client/value_differences.h"
#include "core/selector/labels.h"

namespace slipway::cli {

// --- compile ---

// `total` is what the user waited for, without tuning, of which JSON has what came of it.
std::string RenderCompilation(const Job& job, absl::Duration total);
std::string RenderCompilationJson(const Job& job, absl::Duration total,
                                  const std::optional<TuningReport>& tuning = {});

// --- run ---

// An output and the file it was written to; an empty file: none.
struct WrittenOutput {
  NamedTensor output;
  std::string file;
};
// With a check, what came of it.
std::string RenderRun(const Job& job, const std::vector<WrittenOutput>& outputs,
                      const std::optional<OutputCheck>& check = {});
std::string RenderRunJson(const Job& job, const std::vector<WrittenOutput>& outputs,
                          const std::optional<OutputCheck>& check = {});

// --- bench ---

// What a benchmark's numbers are about.
struct BenchmarkContext {
  std::string job;
  std::string model;
  ArtifactSummary artifact;
  std::vector<std::pair<std::string, std::string>> versions;  // Name and version.
  std::vector<Tag> tags = {};
  std::optional<OutputCheck> check = {};  // That it has passed, where one was asked for.
};
std::string RenderBenchmark(const BenchmarkContext& context, const BenchmarkResult& result);
// The fields and their meaning are listed in client/README.md; schema_version 1.
std::string RenderBenchmarkJson(const BenchmarkContext& context, const BenchmarkResult& result);

// --- comparisons of two programs' values ---

// The actual ones are the first program's, the expected ones the second's. The text has the first rows, JSON all.
std::string RenderDifferences(const ValueDifferences& differences);
std::string RenderDifferencesJson(const ValueDifferences& differences);

// --- compare ---

struct ComparisonReport {
  struct Program {
    std::string name;  // The model or artifact, for people.
    Digest artifact;
    std::string target;
  };
  Program a, b;
  std::string device;
  int threads = 1;
  double margin = 0;
  Comparison comparison = {};
};
std::string RenderComparison(const ComparisonReport& report);
std::string RenderComparisonJson(const ComparisonReport& report);

// --- quantize ---

// A model in 8 bits, beside the same in f32.
struct QuantizationReport {
  std::string model;
  std::string device;
  int64_t examples = 0;
  Compilation floats;
  Compilation integers;
  // The shortest calls on the device, with `threads` threads.
  absl::Duration float_time;
  absl::Duration integer_time;
  int threads = 1;
  std::vector<OutputAccuracy> outputs;
  std::string file;  // That the artifact in 8 bits was written to; empty: none.
};
std::string RenderQuantization(const QuantizationReport& report);
std::string RenderQuantizationJson(const QuantizationReport& report);

// --- devices, jobs, job ---

// With the usual columns; with those that are given.
std::string RenderDevices(const std::vector<Device>& devices, absl::Time now);
std::string RenderDevices(const std::vector<Device>& devices, absl::Time now,
                          const std::vector<const DeviceColumn*>& columns);
// What else there is to be said of each: its system, what it is made of, and what it does at most.
std::string RenderDeviceFacts(const std::vector<Device>& devices);
std::string RenderDevicesJson(const std::vector<Device>& devices);

std::string RenderDeviceJson(const Device& device);
// Whether a device is given work.
std::string RenderAvailability(const Device& device);
// All that administrators say of a device.
std::string RenderLabels(const std::string& device, const Labels& labels);
std::string RenderLabelsJson(const std::string& device, const Labels& labels);

// Who holds what; the JSON of it is that of the devices.
std::string RenderLeases(const std::vector<Device>& devices);

// A session that was opened and left to be taken up.
struct TakenLease {
  std::string session;
  std::string ticket;
  std::string device;
  std::string target;
  absl::Time until;  // Unless it is taken up.
};
std::string RenderTakenLease(const TakenLease& lease);
std::string RenderTakenLeaseJson(const TakenLease& lease);

// With a column of whose they are, or without.
std::string RenderJobs(const std::vector<Job>& jobs, bool with_owners);
// One of those that come one by one, in a line without titles.
std::string RenderJobLine(const Job& job, bool with_owners);
std::string RenderJobsJson(const std::vector<Job>& jobs);
std::string RenderJob(const Job& job, absl::Time now);
std::string RenderJobJson(const Job& job);

// --- queue, reserve, reservations, unreserve ---

std::string RenderQueue(const Queue& queue, absl::Time now);
std::string RenderQueueJson(const Queue& queue);
std::string RenderOffers(const std::vector<AgentRollout>& rollouts);
std::string RenderOffersJson(const std::vector<AgentRollout>& rollouts);
std::string RenderOffer(const AgentOffer& offer);
std::string RenderOfferJson(const AgentOffer& offer);
std::string RenderReservations(const std::vector<Reservation>& reservations);
std::string RenderReservationsJson(const std::vector<Reservation>& reservations);
std::string RenderReservationJson(const Reservation& reservation);

// --- targets, inspect ---

// `host` is the target of this machine; `server` what a server compiles for, empty when none was asked.
std::string RenderTargets(const std::vector<std::string>& targets, const std::string& host,
                          const std::vector<std::string>& server);
std::string RenderTargetsJson(const std::vector<std::string>& targets, const std::string& host,
                              const std::vector<std::string>& server);

// What lacks first, if anything does; then sums; then what waits for what, and why.
std::string RenderStatus(const ServerStatus& status);
// The same, with its `schema_version` of 1.
std::string RenderStatusJson(const ServerStatus& status);
// Why jobs wait that need the same, as far as sums tell.
std::string WhyWaiting(const WaitingSum& sum, const ServerStatus& status);

std::string RenderArtifact(const ArtifactSummary& artifact);
std::string RenderArtifactJson(const ArtifactSummary& artifact);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_H_
