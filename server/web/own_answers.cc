#include "server/web/own_answers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/artifact_summary.h"
#include "client/cli/render.h"
#include "client/cli/render_history.h"
#include "client/convert.h"
#include "client/history.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/web/model_graph.h"
#include "server/web/transcode.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {
namespace {

constexpr int64_t kMaxManifestBytes = 64 << 20;
// Nobody reads more; `slipway compile --print-after` prints it.
constexpr int kDevicesPerPage = 100;
constexpr int kMostDevicesPerPage = 1'000;
constexpr size_t kMostResults = 2'000;
constexpr int kResultsPerPage = 500;
// A filter may leave little of a page; so many are asked for at most.
constexpr int kMostHistoryPages = 20;

absl::StatusOr<bool> ReadTruth(const Url& url, absl::string_view name) {
  const std::string text = QueryValue(url, name);
  if (text.empty() || text == "false") return false;
  if (text == "true") return true;
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is to be \"true\" or \"false\""));
}

absl::StatusOr<CheckedManifest> ReadManifest(Upstream& upstream, const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(const Blob bytes, upstream.ReadBlob(digest, kMaxManifestBytes));
  return CheckedManifest::Parse(bytes.bytes());
}

// What is measured, in short.
struct Measured {
  cli::BenchmarkContext context;
  Digest artifact;
  BenchmarkResult result;
};

absl::StatusOr<Measured> OfJob(const slipway::v1::Job& proto) {
  SLIPWAY_ASSIGN_OR_RETURN(Job job, JobFromProto(proto));
  if (!job.benchmark.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job \"", job.id, "\" has no benchmark's result: it is ", Name(job.state)));
  }
  return Measured{
      {.job = job.id, .model = job.subject, .artifact = {}, .versions = {}, .tags = job.tags},
      job.artifact,
      *std::move(job.benchmark)};
}

absl::StatusOr<Measured> OfHistory(Upstream& upstream, const std::string& id) {
  slipway::v1::GetHistoryEntryRequest request;
  request.set_id(id);
  slipway::v1::HistoryEntry proto;
  SLIPWAY_RETURN_IF_ERROR(
      upstream.Call("slipway.v1.HistoryService.GetHistoryEntry", request, proto));
  SLIPWAY_ASSIGN_OR_RETURN(HistoryEntry entry, HistoryEntryFromProto(proto));
  Measured measured = {
      {.job = entry.id, .model = entry.model, .artifact = {}, .versions = {}, .tags = entry.tags},
      entry.artifact,
      std::move(entry.result)};
  measured.context.artifact.target = entry.target;
  measured.context.artifact.compile_key = entry.compile_key;
  return measured;
}

}  // namespace

absl::StatusOr<std::string> AnswerDevices(Upstream& upstream, const Url& url) {
  slipway::v1::ListDevicesRequest request;
  request.set_selector(QueryValue(url, "selector"));
  SLIPWAY_ASSIGN_OR_RETURN(const bool available, ReadTruth(url, "available"));
  request.set_available(available);
  int page_size = kDevicesPerPage;
  const std::string size_text = QueryValue(url, "pageSize");
  if (!size_text.empty() && (!absl::SimpleAtoi(size_text, &page_size) || page_size < 1 ||
                             page_size > kMostDevicesPerPage)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"pageSize\" is to be 1 to ", kMostDevicesPerPage));
  }
  slipway::v1::ListDevicesResponse list;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.FleetService.ListDevices", request, list));
  v1::DevicesPage page;
  page.set_total(list.devices_size());
  page.set_explanation(list.explanation());
  const std::string after = QueryValue(url, "pageToken");
  for (slipway::v1::Device& device : *list.mutable_devices()) {
    page.set_idle(page.idle() + (device.state() == slipway::v1::Device::IDLE));
    page.set_busy(page.busy() + (device.state() == slipway::v1::Device::BUSY));
    page.set_lost(page.lost() + (device.state() == slipway::v1::Device::LOST));
    if (device.description().id() <= after) continue;
    if (page.devices_size() == page_size) {
      page.set_next_page_token(page.devices().rbegin()->description().id());
      continue;
    }
    *page.add_devices() = std::move(device);
  }
  return WriteJson(page, QueryValue(url, kFieldsParameter));
}

absl::StatusOr<std::string> AnswerBenchmark(Upstream& upstream, const std::string& id) {
  slipway::v1::GetJobRequest request;
  request.set_id(id);
  slipway::v1::Job job;
  const absl::Status known = upstream.Call("slipway.v1.JobService.GetJob", request, job);
  if (!known.ok() && !absl::IsNotFound(known)) return known;
  SLIPWAY_ASSIGN_OR_RETURN(Measured measured, known.ok() ? OfJob(job) : OfHistory(upstream, id));
  slipway::v1::ServerInfo info;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.ServerService.GetServerInfo",
                                        slipway::v1::GetServerInfoRequest(), info));
  // An artifact may be gone though its result is kept.
  const absl::StatusOr<CheckedManifest> manifest = ReadManifest(upstream, measured.artifact);
  if (manifest.ok()) {
    measured.context.artifact = Summarize(*manifest);
  } else if (!absl::IsNotFound(manifest.status())) {
    return Annotate(manifest.status(), "the artifact");
  }
  cli::BenchmarkContext& context = measured.context;
  context.artifact.digest = measured.artifact;
  context.versions = {{"client", kVersion}, {"server", info.version()}};
  for (const auto& [name, version] : context.artifact.tools) {
    context.versions.emplace_back(absl::StrCat("compiled_by_", name), version);
  }
  if (context.model.empty()) context.model = context.artifact.name;
  return cli::RenderBenchmarkJson(context, measured.result);
}

absl::StatusOr<std::string> AnswerModelGraph(Upstream& upstream, const std::string& id) {
  slipway::v1::GetJobRequest request;
  request.set_id(id);
  slipway::v1::Job job;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.JobService.GetJob", request, job));
  const std::string& text = job.compilation_result().report().printed_graph();
  const std::string& after = job.compilation().options().print_after();
  if (text.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", id, " printed no graph: it is no compilation with printAfter that has ended well"));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(v1::ModelGraph graph, DescribeGraph(text),
                                absl::StrCat("what job ", id, " printed after ", after));
  graph.set_after(after);
  return WriteJson(graph);
}

absl::StatusOr<std::string> AnswerHistorySeries(Upstream& upstream, const Url& url) {
  slipway::v1::ListHistoryRequest request;
  request.set_page_size(kResultsPerPage);
  request.set_model(QueryValue(url, "model"));
  request.set_device(QueryValue(url, "device"));
  SLIPWAY_ASSIGN_OR_RETURN(const bool everybody, ReadTruth(url, "everybody"));
  request.set_of_everybody(everybody);
  std::vector<HistoryEntry> entries;
  for (int page = 0; page < kMostHistoryPages; ++page) {
    slipway::v1::ListHistoryResponse response;
    SLIPWAY_RETURN_IF_ERROR(
        upstream.Call("slipway.v1.HistoryService.ListHistory", request, response));
    for (const slipway::v1::HistoryEntry& proto : response.entries()) {
      if (entries.size() == kMostResults) break;
      SLIPWAY_ASSIGN_OR_RETURN(HistoryEntry entry, HistoryEntryFromProto(proto));
      entries.push_back(std::move(entry));
    }
    if (response.next_page_token().empty() || entries.size() == kMostResults) break;
    request.set_page_token(response.next_page_token());
  }
  return cli::RenderHistoryJson(SeriesOf(std::move(entries)));
}

absl::StatusOr<std::string> AnswerArtifact(Upstream& upstream, const RoutedRequest& routed) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, NamedDigest(routed));
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest manifest, ReadManifest(upstream, digest));
  return cli::RenderArtifactJson(Summarize(manifest));
}

absl::StatusOr<std::string> AnswerManifest(Upstream& upstream, const RoutedRequest& routed) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, NamedDigest(routed));
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest manifest, ReadManifest(upstream, digest));
  slipway::v1::Manifest proto = manifest.proto();
  return WriteJson(proto);
}

absl::StatusOr<Digest> NamedDigest(const RoutedRequest& routed) {
  return Digest::Parse(
      absl::StrCat(routed.path_fields.at("sha256"), "/", routed.path_fields.at("size")));
}

slipway::v1::Job LightJob(slipway::v1::Job job) {
  if (job.has_compilation()) {
    job.mutable_compilation()->mutable_options()->clear_schedules();
  }
  for (slipway::v1::RunSpec* run :
       {job.has_run() ? job.mutable_run() : nullptr,
        job.has_benchmark() ? job.mutable_benchmark()->mutable_run() : nullptr}) {
    if (run == nullptr) continue;
    for (auto& input : *run->mutable_inputs()) input.clear_inline_data();
  }
  if (job.has_run_result()) {
    for (auto& output : *job.mutable_run_result()->mutable_outputs()) output.clear_inline_data();
  }
  if (job.has_benchmark_result()) {
    slipway::v1::BenchmarkResult& result = *job.mutable_benchmark_result();
    result.clear_samples_ns();
    result.clear_steps();
    result.clear_stamps();
    result.clear_peaks();
  }
  if (job.has_compilation_result()) {
    slipway::v1::CompileReport& report = *job.mutable_compilation_result()->mutable_report();
    if (report.printed_graph().size() > kMaxShownGraphBytes) report.clear_printed_graph();
    report.clear_printed_schedules();
    report.clear_candidates();
  }
  return job;
}

}  // namespace slipway::web
