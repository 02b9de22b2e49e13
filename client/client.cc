#include "client/client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// The job if it succeeded, else the error it ended with.
absl::StatusOr<Job> Succeeded(absl::StatusOr<Job> job) {
  if (!job.ok()) return job;
  if (job->state == JobState::kFailed) return job->error;
  if (job->state == JobState::kCancelled) {
    return absl::CancelledError(absl::StrCat("job \"", job->id, "\" was cancelled"));
  }
  return job;
}

}  // namespace

absl::StatusOr<Compilation> Client::Compile(const std::string& model,
                                            const CompileOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const ModelFiles files, ReadModelFiles(model, max_model_bytes()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string id, SubmitCompilation(files, options));
  SLIPWAY_ASSIGN_OR_RETURN(Job job, Succeeded(Wait(id, nullptr)));
  return *std::move(job.compilation);
}

absl::StatusOr<std::vector<NamedTensor>> Client::Run(const Digest& artifact,
                                                     const std::vector<NamedTensor>& inputs,
                                                     const RunOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string id, SubmitRun(artifact, inputs, options));
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, Succeeded(Wait(id, nullptr)));
  return FetchOutputs(*job.run);
}

absl::StatusOr<BenchmarkResult> Client::Benchmark(const Digest& artifact,
                                                  const std::vector<NamedTensor>& inputs,
                                                  const BenchmarkOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string id, SubmitBenchmark(artifact, inputs, options));
  SLIPWAY_ASSIGN_OR_RETURN(Job job, Succeeded(Wait(id, nullptr)));
  return *std::move(job.benchmark);
}

absl::StatusOr<std::vector<HistorySeries>> Client::ReadHistory(const HistoryOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, ListHistory(options));
  return SeriesOf(std::move(entries));
}

absl::StatusOr<std::vector<Device>> Client::ListDevices() {
  SLIPWAY_ASSIGN_OR_RETURN(DeviceList list, FindDevices({}));
  return std::move(list.devices);
}

}  // namespace slipway
