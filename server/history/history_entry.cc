#include "server/history/history_entry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/digest.h"
#include "core/base/version.h"

namespace slipway::server {
namespace {

constexpr int kConditionsBytes = 16;

void ClearContents(v1::RunSpec& run) {
  for (v1::Tensor& input : *run.mutable_inputs()) input.clear_content();
}

}  // namespace

v1::HistoryEntry BeginEntry(const JobRecord& record, const v1::DeviceDescription& device,
                            absl::string_view agent_version) {
  const v1::Job& job = record.job();
  v1::HistoryEntry entry;
  entry.set_id(job.id());
  entry.set_owner(job.owner());
  entry.set_model(job.subject());
  *entry.mutable_tags() = job.tags();
  *entry.mutable_manifest() = job.benchmark().run().manifest();
  entry.set_target(record.run().target());
  entry.set_compile_key(record.run().compile_key());
  *entry.mutable_tools() = record.run().tools();
  *entry.mutable_device() = device;
  entry.mutable_device()->clear_peaks();
  entry.set_agent_version(std::string(agent_version));
  entry.set_server_version(kVersion);
  *entry.mutable_spec() = job.benchmark();
  ClearContents(*entry.mutable_spec()->mutable_run());
  entry.set_conditions(ConditionsOf(entry.spec()));
  entry.set_create_time_ns(job.create_time_ns());
  entry.set_end_time_ns(job.end_time_ns());
  return entry;
}

void CompleteEntry(const v1::BenchmarkResult& result, v1::HistoryEntry* entry) {
  v1::BenchmarkResult& kept = *entry->mutable_result();
  kept = result;
  kept.clear_steps();
  kept.clear_peaks();
  *entry->mutable_summary() = Summarize(result);
}

std::string ConditionsOf(const v1::BenchmarkSpec& spec) {
  v1::BenchmarkSpec how = spec;
  how.clear_warmup();
  how.clear_samples();
  how.clear_profile();
  how.clear_precision_goal_ppm();
  v1::RunSpec& run = *how.mutable_run();
  ClearContents(run);
  run.clear_manifest();
  run.clear_name();
  run.clear_device();
  run.clear_seed();
  run.clear_threads();
  std::sort(run.mutable_inputs()->begin(), run.mutable_inputs()->end(),
            [](const v1::Tensor& a, const v1::Tensor& b) { return a.name() < b.name(); });
  return Digest::Of(how.SerializeAsString()).hex().substr(0, kConditionsBytes);
}

v1::SampleSummary Summarize(const v1::BenchmarkResult& result) {
  std::vector<int64_t> samples(result.samples_ns().begin(), result.samples_ns().end());
  const auto calls = static_cast<double>(result.iterations_per_sample());
  // By nearest rank.
  const auto quantile = [&](double p) {
    const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(samples.size())));
    const auto nth = samples.begin() + static_cast<ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
    std::nth_element(samples.begin(), nth, samples.end());
    return static_cast<double>(*nth) / calls;
  };
  v1::SampleSummary summary;
  summary.set_count(static_cast<int64_t>(samples.size()));
  summary.set_p50_ns(quantile(0.5));
  summary.set_p90_ns(quantile(0.9));
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  summary.set_min_ns(static_cast<double>(*least) / calls);
  summary.set_max_ns(static_cast<double>(*most) / calls);
  return summary;
}

absl::Status CheckEntry(const v1::HistoryEntry& entry) {
  if (!entry.has_spec() || !entry.has_result()) {
    return absl::DataLossError("it has no specification or no result");
  }
  if (entry.result().samples_ns().empty() || entry.result().iterations_per_sample() < 1) {
    return absl::DataLossError("it has no samples");
  }
  if (entry.summary().count() != entry.result().samples_ns_size()) {
    return absl::DataLossError("its samples are not those that it tells of");
  }
  return absl::OkStatus();
}

}  // namespace slipway::server
