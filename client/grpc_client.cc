// Client over gRPC.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stop_token>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/address.h"
#include "client/agent_offers.h"
#include "client/client.h"
#include "client/convert.h"
#include "client/listed_jobs.h"
#include "client/model_files.h"
#include "client/request_blobs.h"
#include "client/request_id.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/slip_file.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_renewal.h"
#include "core/rpc/request_id.h"
#include "core/selector/labels.h"
#include "core/selector/selector.h"
#include "core/store/memory_blob_store.h"
#include "core/target/target.h"
#include "core/tensor/strings.h"
#include "core/wire/device_attributes_proto.h"
#include "core/wire/digest_proto.h"
#include "core/wire/precision_proto.h"
#include "core/wire/record_file.h"
#include "core/wire/tag_proto.h"
#include "core/wire/tensor_proto.h"
#include "proto/slipway/v1/compile.grpc.pb.h"
#include "proto/slipway/v1/fleet.grpc.pb.h"
#include "proto/slipway/v1/history.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"
#include "proto/slipway/v1/queue.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"
#include "proto/slipway/v1/server.grpc.pb.h"

namespace slipway {
namespace {

// The version of proto/slipway/v1 that this client speaks.
constexpr int kProtocol = 1;
constexpr int kItemsPerPage = 100;
// A stream that is silent for longer is opened again, lest a job's end be missed behind a broken middlebox.
constexpr absl::Duration kWatchDeadline = absl::Minutes(10);

template <typename Request>
void SetDeadlines(const Deadlines& deadlines, Request& request) {
  request.set_queue_deadline_ns(absl::ToInt64Nanoseconds(deadlines.queue));
  request.set_run_deadline_ns(absl::ToInt64Nanoseconds(deadlines.run));
  request.set_total_deadline_ns(absl::ToInt64Nanoseconds(deadlines.total));
}

template <typename Request>
absl::Status SetTags(const std::vector<Tag>& tags, Request& request) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tag> checked, CheckTags(tags));
  *request.mutable_tags() = ToProto(checked);
  return absl::OkStatus();
}

int64_t NanosOf(absl::Time time) {
  return time == absl::InfinitePast() || time == absl::InfiniteFuture() ? 0
                                                                        : absl::ToUnixNanos(time);
}

class GrpcClient final : public Client {
 public:
  GrpcClient(const ClientOptions& options, const CallerProof& proof)
      : address_(options.server),
        retry_for_(options.retry_for),
        identity_file_(proof.authority_file.empty() ? proof.identity_file : ""),
        calls_(options.server, proof, options.on_waiting),
        blobs_(calls_),
        compiles_(v1::CompileService::NewStub(calls_.channel())),
        runs_(v1::RunService::NewStub(calls_.channel())),
        jobs_(v1::JobService::NewStub(calls_.channel())),
        fleet_(v1::FleetService::NewStub(calls_.channel())),
        history_(v1::HistoryService::NewStub(calls_.channel())),
        queue_(v1::QueueService::NewStub(calls_.channel())),
        server_(v1::ServerService::NewStub(calls_.channel())) {}

  // Asks the server what it is, once.
  absl::Status Greet(absl::Duration timeout) {
    v1::ServerInfo info;
    const RetryPolicy once = {.stop = interrupt_.get_token()};
    const absl::Status greeted = calls_.Make(timeout, once, [&](grpc::ClientContext& context) {
      return server_->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
    });
    if (absl::IsUnimplemented(greeted)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "\"", address_, "\" is no server for jobs; an agent that listens takes sessions alone"));
    }
    SLIPWAY_RETURN_IF_ERROR(greeted);
    if (info.min_protocol() > kProtocol || info.max_protocol() < kProtocol) {
      return absl::FailedPreconditionError(absl::StrCat(
          "server version ", info.version(), " speaks protocols ", info.min_protocol(), " to ",
          info.max_protocol(), ", this client ", kProtocol, "; update the older one"));
    }
    max_model_bytes_ = info.limits().max_model_bytes();
    selectors_ = info.selectors();
    server_version_ = info.version();
    return absl::OkStatus();
  }

  absl::Status TooOldForSelectors() const {
    return absl::FailedPreconditionError(
        absl::StrCat("the server, version \"", server_version_,
                     "\", knows devices by their ids alone: name one, or update the server"));
  }

  // Of what is named as a device: that a selector is one, and that the server will know it for one.
  absl::Status CheckDevice(const std::string& device) const {
    if (!IsSelector(device)) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR(Selector::Parse(device).status());
    return selectors_ == 0 ? TooOldForSelectors() : absl::OkStatus();
  }

  // What fails is tried again next time, while a third of the identity's time is left.
  void RenewIfDue() {
    if (identity_file_.empty()) return;
    const absl::StatusOr<absl::Time> due = RenewalTime(identity_file_);
    if (due.ok() && *due <= absl::Now()) Renew(calls_, identity_file_).IgnoreError();
  }

  absl::StatusOr<std::string> SubmitCompilation(const ModelFiles& model,
                                                const CompileOptions& options) override {
    v1::CreateCompilationRequest request;
    request.set_request_id(NewRequestId());
    SLIPWAY_ASSIGN_OR_RETURN(const Target target, options.target == "host"
                                                      ? absl::StatusOr<Target>(HostTarget())
                                                      : ParseTarget(options.target));
    v1::CompilationSpec& spec = *request.mutable_spec();
    spec.mutable_target()->set_name(target.ToString());
    spec.mutable_options()->set_print_after(options.print_after);
    spec.mutable_options()->set_precision(ToProto(options.precision));
    spec.mutable_options()->set_schedules(options.schedules);
    spec.mutable_options()->set_print_schedules(options.print_schedules);
    spec.mutable_options()->set_tell_candidates(options.tell_candidates);
    spec.mutable_options()->set_library_name(options.library_name);
    std::vector<DimensionBounds> dimensions = options.dimensions;
    std::sort(dimensions.begin(), dimensions.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const DimensionBounds& dimension : dimensions) {
      v1::DimensionBinding& binding = *spec.mutable_options()->add_dimensions();
      binding.set_symbol(dimension.name);
      binding.set_value(dimension.min);
      if (dimension.max != dimension.min) binding.set_max(dimension.max);
    }
    for (const std::string& name :
         std::set<std::string>(options.keep.begin(), options.keep.end())) {
      spec.mutable_options()->add_keep(name);
    }
    for (const std::string& name :
         std::set<std::string>(options.without.begin(), options.without.end())) {
      spec.mutable_options()->add_without(name);
    }
    std::map<std::string, NamedRange> ranges;
    for (const NamedRange& range : options.ranges) ranges[range.name] = range;
    for (const auto& [name, range] : ranges) {
      v1::ValueRange& sent = *spec.mutable_options()->add_ranges();
      sent.set_name(name);
      sent.set_least(range.least);
      sent.set_greatest(range.greatest);
    }
    spec.mutable_options()->set_observe(options.observe);
    std::vector<NamedBlob> blobs;
    if (options.evaluate.has_value())
      SetEvaluation(*options.evaluate, *spec.mutable_options(), blobs);
    SetDeadlines(options.deadlines, request);
    request.set_priority(options.priority);
    SLIPWAY_RETURN_IF_ERROR(SetTags(options.tags, request));

    spec.mutable_model()->set_format(model.format);
    spec.mutable_model()->set_display_name(model.display_name);
    for (const ModelFile& file : model.files) {
      v1::ModelFile& proto = *spec.mutable_model()->add_files();
      proto.set_name(file.name);
      *proto.mutable_digest() = ToProto(file.digest);
      blobs.push_back({file.digest, file.contents});
    }
    v1::CreateCompilationResponse response;
    SLIPWAY_RETURN_IF_ERROR(UploadThen(blobs, [&](grpc::ClientContext& context) {
      context.AddMetadata(kRequestIdName, request.request_id());
      return compiles_->CreateCompilation(&context, request, &response);
    }));
    return response.job_id();
  }

  absl::StatusOr<std::string> SubmitRun(const Digest& artifact,
                                        const std::vector<NamedTensor>& inputs,
                                        const RunOptions& options) override {
    SLIPWAY_RETURN_IF_ERROR(CheckDevice(options.device));
    v1::CreateRunRequest request;
    request.set_request_id(NewRequestId());
    SetDeadlines(options.deadlines, request);
    request.set_priority(options.priority);
    SLIPWAY_RETURN_IF_ERROR(SetTags(options.tags, request));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> numbers, SplitAllStrings(inputs));
    const std::vector<NamedBlob> blobs =
        SetRun(artifact, numbers, options, *request.mutable_spec());
    v1::CreateJobResponse response;
    SLIPWAY_RETURN_IF_ERROR(UploadThen(blobs, [&](grpc::ClientContext& context) {
      context.AddMetadata(kRequestIdName, request.request_id());
      return runs_->CreateRun(&context, request, &response);
    }));
    return response.job_id();
  }

  absl::StatusOr<std::string> SubmitBenchmark(const Digest& artifact,
                                              const std::vector<NamedTensor>& inputs,
                                              const BenchmarkOptions& options) override {
    SLIPWAY_RETURN_IF_ERROR(CheckDevice(options.run.device));
    v1::CreateBenchmarkRequest request;
    request.set_request_id(NewRequestId());
    SetDeadlines(options.run.deadlines, request);
    request.set_priority(options.run.priority);
    SLIPWAY_RETURN_IF_ERROR(SetTags(options.run.tags, request));
    v1::BenchmarkSpec& spec = *request.mutable_spec();
    spec.set_warmup(options.warmup);
    spec.set_samples(options.samples);
    spec.set_profile(options.profile);
    spec.set_precision_goal_ppm(static_cast<int32_t>(std::ceil(options.precision_goal * 1e6)));
    if (options.scenario.has_value()) *spec.mutable_scenario() = ToProto(*options.scenario);
    if (options.settling.has_value()) *spec.mutable_settling() = ToProto(*options.settling);
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> numbers, SplitAllStrings(inputs));
    const std::vector<NamedBlob> blobs =
        SetRun(artifact, numbers, options.run, *spec.mutable_run());
    v1::CreateJobResponse response;
    SLIPWAY_RETURN_IF_ERROR(UploadThen(blobs, [&](grpc::ClientContext& context) {
      context.AddMetadata(kRequestIdName, request.request_id());
      return runs_->CreateBenchmark(&context, request, &response);
    }));
    return response.job_id();
  }

  absl::StatusOr<Job> Wait(const std::string& job_id, const JobObserver& observer) override {
    Job job;
    absl::Status malformed;
    while (true) {
      bool told = false;
      bool expired = false;
      const auto watch = [&](grpc::ClientContext& context) {
        v1::WatchJobRequest request;
        request.set_id(job_id);
        request.set_after_revision(job.revision);
        const auto reader = jobs_->WatchJob(&context, request);
        v1::Job proto;
        while (reader->Read(&proto)) {
          told = true;
          absl::StatusOr<Job> next = JobFromProto(proto);
          if (!next.ok()) {
            malformed = next.status();
            context.TryCancel();
            break;
          }
          job = *std::move(next);
          if (observer) observer(job);
        }
        const grpc::Status status = reader->Finish();
        expired = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
        return expired ? grpc::Status::OK : status;
      };
      const absl::Status status = calls_.Persist(Interruptible(), [&](bool& progressed) {
        told = false;
        const absl::Status status = calls_.Once(kWatchDeadline, Interruptible(), watch);
        progressed = told;
        return status;
      });
      SLIPWAY_RETURN_IF_ERROR(malformed);
      if (job.ended()) return job;
      if (!status.ok()) return status;
      if (!told && !expired) {
        return absl::InternalError(
            absl::StrCat("the server stopped telling of job \"", job_id, "\" before its end"));
      }
    }
  }

  absl::StatusOr<Job> GetJob(const std::string& job_id) override {
    v1::GetJobRequest request;
    request.set_id(job_id);
    v1::Job job;
    SLIPWAY_RETURN_IF_ERROR(
        Call([&](grpc::ClientContext& context) { return jobs_->GetJob(&context, request, &job); }));
    return JobFromProto(job);
  }

  absl::StatusOr<std::vector<Job>> ListJobs(const JobListOptions& options) override {
    v1::ListJobsRequest request;
    request.set_of_everybody(options.of_everybody);
    for (const JobState state : options.states) request.add_states(ToProto(state));
    for (const JobKind kind : options.kinds) request.add_kinds(ToProto(kind));
    request.set_device(options.device);
    SLIPWAY_RETURN_IF_ERROR(SetTags(options.tags, request));
    request.set_subject(options.subject);
    request.set_since_ns(NanosOf(options.since));
    request.set_owner(options.owner);
    std::vector<Job> jobs;
    SLIPWAY_RETURN_IF_ERROR(ReadPages<v1::ListJobsResponse>(
        options.limit, request,
        [&](grpc::ClientContext& context, v1::ListJobsResponse& response) {
          return jobs_->ListJobs(&context, request, &response);
        },
        [&](const v1::ListJobsResponse& response) -> absl::StatusOr<int> {
          for (const v1::Job& proto : response.jobs()) {
            SLIPWAY_ASSIGN_OR_RETURN(Job job, JobFromProto(proto));
            SLIPWAY_RETURN_IF_ERROR(CheckPasses(options, job));
            jobs.push_back(std::move(job));
          }
          return response.jobs_size();
        }));
    return jobs;
  }

  absl::StatusOr<std::vector<HistoryEntry>> ListHistory(const HistoryOptions& options) override {
    v1::ListHistoryRequest request;
    request.set_of_everybody(options.of_everybody);
    request.set_owner(options.owner);
    request.set_model(options.model);
    request.set_device(options.device);
    request.set_target(options.target);
    SLIPWAY_RETURN_IF_ERROR(SetTags(options.tags, request));
    request.set_threads(options.threads);
    if (options.artifact.is_set()) request.set_artifact(options.artifact.hex());
    request.set_since_ns(NanosOf(options.since));
    request.set_until_ns(NanosOf(options.until));
    request.set_with_samples(options.with_samples);
    std::vector<HistoryEntry> entries;
    SLIPWAY_RETURN_IF_ERROR(ReadPages<v1::ListHistoryResponse>(
        options.limit, request,
        [&](grpc::ClientContext& context, v1::ListHistoryResponse& response) {
          return history_->ListHistory(&context, request, &response);
        },
        [&](const v1::ListHistoryResponse& response) -> absl::StatusOr<int> {
          for (const v1::HistoryEntry& proto : response.entries()) {
            SLIPWAY_ASSIGN_OR_RETURN(HistoryEntry entry, HistoryEntryFromProto(proto));
            entries.push_back(std::move(entry));
          }
          return response.entries_size();
        }));
    return entries;
  }

  absl::StatusOr<HistoryEntry> GetHistoryEntry(const std::string& id) override {
    v1::GetHistoryEntryRequest request;
    request.set_id(id);
    v1::HistoryEntry entry;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return history_->GetHistoryEntry(&context, request, &entry);
    }));
    return HistoryEntryFromProto(entry);
  }

  absl::StatusOr<std::string> GetRecord(const std::string& id) override {
    v1::GetHistoryEntryRequest request;
    request.set_id(id);
    v1::SignedRecord record;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return history_->GetRecord(&context, request, &record);
    }));
    return FormatRecord(record);
  }

  absl::StatusOr<Job> CancelJob(const std::string& job_id) override {
    v1::CancelJobRequest request;
    request.set_id(job_id);
    v1::Job job;
    SLIPWAY_RETURN_IF_ERROR(calls_.Make(
        kCallDeadline, Uninterruptible(),
        [&](grpc::ClientContext& context) { return jobs_->CancelJob(&context, request, &job); }));
    return JobFromProto(job);
  }

  absl::StatusOr<std::vector<NamedTensor>> FetchOutputs(const RunResult& result) override {
    std::vector<NamedTensor> tensors;
    for (const Output& output : result.outputs) {
      NamedTensor named = {output.name, output.tensor};
      if (output.blob.is_set()) {
        const std::string context = absl::StrCat("output \"", output.name, "\"");
        SLIPWAY_ASSIGN_OR_RETURN_WITH(const Blob blob, Download(output.blob), context);
        SLIPWAY_ASSIGN_OR_RETURN_WITH(named.tensor, Tensor::FromBytes(output.type, blob.bytes()),
                                      context);
      } else if (!named.tensor.is_set()) {
        return absl::FailedPreconditionError(
            absl::StrCat("output \"", output.name, "\" came without content; ask for the job"));
      }
      tensors.push_back(std::move(named));
    }
    return JoinAllStrings(std::move(tensors));
  }

  absl::Status PutArtifact(const Artifact& artifact) override {
    std::vector<NamedBlob> blobs;
    for (const Digest& digest : artifact.manifest().blobs()) {
      blobs.push_back({digest, artifact.blob(digest)});
    }
    blobs.push_back({artifact.digest(), Blob::Own(artifact.manifest().bytes())});
    return Upload(blobs);
  }

  absl::StatusOr<Artifact> GetArtifact(const Digest& digest) override {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Blob manifest, Download(digest), "manifest");
    return Artifact::Parse(manifest.bytes(), [this](const Digest& blob) { return Download(blob); });
  }

  absl::Status ExportArtifact(const Digest& digest, const std::string& path) override {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Blob bytes, Download(digest), "manifest");
    SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest manifest, CheckedManifest::Parse(bytes.bytes()));
    return WriteSlip(
        manifest, [this](const Digest& blob) { return Download(blob); }, path);
  }

  absl::StatusOr<ArtifactSummary> DescribeArtifact(const Digest& digest) override {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Blob bytes, Download(digest), "manifest");
    SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest manifest, CheckedManifest::Parse(bytes.bytes()));
    return Summarize(manifest);
  }

  absl::StatusOr<DeviceList> FindDevices(const DeviceListOptions& options) override {
    SLIPWAY_RETURN_IF_ERROR(CheckDevice(options.selector));
    if (selectors_ == 0 && (options.available || !options.selector.empty())) {
      return TooOldForSelectors();
    }
    v1::ListDevicesRequest request;
    request.set_selector(options.selector);
    request.set_available(options.available);
    v1::ListDevicesResponse response;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return fleet_->ListDevices(&context, request, &response);
    }));
    DeviceList list = {.devices = {}, .explanation = response.explanation()};
    for (const v1::Device& proto : response.devices()) {
      SLIPWAY_ASSIGN_OR_RETURN(Device device, DeviceFromProto(proto));
      list.devices.push_back(std::move(device));
    }
    return list;
  }

  absl::StatusOr<Labels> ChangeLabels(const std::string& device, const Labels& given,
                                      const std::vector<std::string>& removed) override {
    v1::SetDeviceLabelsRequest request;
    request.set_device(device);
    ToProto(given, request.mutable_labels());
    for (const std::string& key : removed) request.add_removed(key);
    v1::SetDeviceLabelsResponse response;
    const absl::Status status = Call([&](grpc::ClientContext& context) {
      return fleet_->SetDeviceLabels(&context, request, &response);
    });
    if (absl::IsUnimplemented(status)) {
      return absl::FailedPreconditionError(
          "the server knows no labels yet: update it, or start the agent with --label");
    }
    SLIPWAY_RETURN_IF_ERROR(status);
    return FromProto(response.labels());
  }

  absl::StatusOr<ServerInfo> Info() override {
    v1::ServerInfo info;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return server_->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
    }));
    return ServerInfoFromProto(info);
  }

  absl::StatusOr<ServerStatus> Status() override {
    v1::ServerStatus status;
    const absl::Status told = Call([&](grpc::ClientContext& context) {
      return server_->GetServerStatus(&context, v1::GetServerStatusRequest(), &status);
    });
    if (absl::IsUnimplemented(told)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the server at \"", address_, "\" is too old to say what it is doing; update it"));
    }
    SLIPWAY_RETURN_IF_ERROR(told);
    return ServerStatusFromProto(status);
  }

  absl::StatusOr<Queue> ListQueue(const QueueListOptions& options) override {
    v1::ListQueueRequest request;
    request.set_limit(options.limit);
    request.set_device(options.device);
    request.set_own(options.own);
    v1::ListQueueResponse response;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return queue_->ListQueue(&context, request, &response);
    }));
    return QueueFromProto(response);
  }

  absl::StatusOr<Reservation> Reserve(const ReserveOptions& options) override {
    v1::ReserveRequest request;
    request.set_request_id(NewRequestId());
    request.set_device(options.device);
    if (options.from != absl::InfinitePast()) request.set_from_ns(absl::ToUnixNanos(options.from));
    request.set_length_ns(absl::ToInt64Nanoseconds(options.length));
    request.set_purpose(options.purpose);
    v1::Reservation reservation;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return queue_->Reserve(&context, request, &reservation);
    }));
    return ReservationFromProto(reservation);
  }

  absl::StatusOr<std::vector<Reservation>> ListReservations(const std::string& device) override {
    v1::ListReservationsRequest request;
    request.set_device(device);
    v1::ListReservationsResponse response;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return queue_->ListReservations(&context, request, &response);
    }));
    std::vector<Reservation> reservations;
    for (const v1::Reservation& proto : response.reservations()) {
      SLIPWAY_ASSIGN_OR_RETURN(Reservation reservation, ReservationFromProto(proto));
      reservations.push_back(std::move(reservation));
    }
    return reservations;
  }

  absl::StatusOr<Reservation> Unreserve(const std::string& id) override {
    v1::UnreserveRequest request;
    request.set_id(id);
    v1::Reservation reservation;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return queue_->Unreserve(&context, request, &reservation);
    }));
    return ReservationFromProto(reservation);
  }

  absl::StatusOr<Device> SetAvailability(const std::string& device, DeviceAction action,
                                         const std::string& reason) override {
    v1::SetAvailabilityRequest request;
    request.set_device(device);
    request.set_action(ActionToProto(action));
    request.set_reason(reason);
    v1::Device proto;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return queue_->SetAvailability(&context, request, &proto);
    }));
    return DeviceFromProto(proto);
  }

  absl::StatusOr<AgentOffer> OfferAgent(const AgentOfferOptions& options) override {
    SLIPWAY_ASSIGN_OR_RETURN(const AgentBinary binary, ReadAgentBinary(options.path));
    const v1::OfferAgentRequest request = ToProto(options, binary);
    v1::AgentOffer offer;
    SLIPWAY_RETURN_IF_ERROR(
        UploadThen({{binary.digest, binary.contents}}, [&](grpc::ClientContext& context) {
          return fleet_->OfferAgent(&context, request, &offer);
        }));
    return AgentOfferFromProto(offer);
  }

  absl::StatusOr<std::vector<AgentRollout>> ListAgentOffers() override {
    v1::ListAgentOffersResponse response;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return fleet_->ListAgentOffers(&context, v1::ListAgentOffersRequest(), &response);
    }));
    return RolloutsFromProto(response);
  }

  absl::StatusOr<AgentOffer> WithdrawAgentOffer(const std::string& platform) override {
    v1::WithdrawAgentOfferRequest request;
    request.set_platform(platform);
    v1::AgentOffer offer;
    SLIPWAY_RETURN_IF_ERROR(Call([&](grpc::ClientContext& context) {
      return fleet_->WithdrawAgentOffer(&context, request, &offer);
    }));
    return AgentOfferFromProto(offer);
  }

  int64_t max_model_bytes() const override { return max_model_bytes_; }

  void Interrupt() override { interrupt_.request_stop(); }

 private:
  RetryPolicy Interruptible() const {
    return {.retry_for = retry_for_, .stop = interrupt_.get_token()};
  }
  RetryPolicy Uninterruptible() const { return {.retry_for = retry_for_}; }

  absl::Status Call(Calls::Call call) { return calls_.Make(kCallDeadline, Interruptible(), call); }

  // Reads pages of a list until `limit` items have come or there are no more. `take` tells how many a page had.
  template <typename Response, typename Request, typename MakeCall, typename Take>
  absl::Status ReadPages(int limit, Request& request, MakeCall call, Take take) {
    for (int left = limit; left > 0;) {
      request.set_page_size(std::min(left, kItemsPerPage));
      Response response;
      SLIPWAY_RETURN_IF_ERROR(
          Call([&](grpc::ClientContext& context) { return call(context, response); }));
      SLIPWAY_ASSIGN_OR_RETURN(const int taken, take(response));
      left -= taken;
      const std::string& next = response.next_page_token();
      if (next.empty()) break;
      if (next == request.page_token()) {
        return absl::InternalError("the server gives the same page of a list again and again");
      }
      request.set_page_token(next);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Blob> Download(const Digest& digest) {
    MemoryBlobStore store;
    SLIPWAY_RETURN_IF_ERROR(blobs_.Fetch(digest, store, Interruptible()));
    return store.Get(digest);
  }

  absl::Status Upload(const std::vector<NamedBlob>& blobs) {
    std::vector<Digest> digests;
    absl::flat_hash_map<Digest, const Blob*> by_digest;
    for (const NamedBlob& blob : blobs) {
      digests.push_back(blob.digest);
      by_digest[blob.digest] = &blob.contents;
    }
    const auto source = [&](const Digest& digest) { return *by_digest.at(digest); };
    return blobs_.Send(digests, source, Interruptible());
  }

  // Sends `blobs`, then makes `create`, which accepts a job; once more if blobs were evicted in between. An
  // interrupt does not end `create`: the id of a job that may be accepted must become known, to cancel it.
  absl::Status UploadThen(const std::vector<NamedBlob>& blobs, Calls::Call create) {
    SLIPWAY_RETURN_IF_ERROR(Upload(blobs));
    if (interrupt_.stop_requested()) return absl::CancelledError("interrupted");
    const absl::Status status = calls_.Make(kCallDeadline, Uninterruptible(), create);
    if (!absl::IsFailedPrecondition(status) || blobs.empty()) return status;
    SLIPWAY_RETURN_IF_ERROR(Upload(blobs));
    return calls_.Make(kCallDeadline, Uninterruptible(), create);
  }

  const std::string address_;
  const absl::Duration retry_for_;
  std::stop_source interrupt_;
  const std::string identity_file_;  // That is to be renewed, if any.
  Calls calls_;
  BlobClient blobs_;
  const std::unique_ptr<v1::CompileService::StubInterface> compiles_;
  const std::unique_ptr<v1::RunService::StubInterface> runs_;
  const std::unique_ptr<v1::JobService::StubInterface> jobs_;
  const std::unique_ptr<v1::FleetService::StubInterface> fleet_;
  const std::unique_ptr<v1::HistoryService::StubInterface> history_;
  const std::unique_ptr<v1::QueueService::StubInterface> queue_;
  const std::unique_ptr<v1::ServerService::StubInterface> server_;
  // Set by Greet.
  int64_t max_model_bytes_ = 0;
  int selectors_ = 0;  // Highest version the server knows.
  std::string server_version_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  SLIPWAY_RETURN_IF_ERROR(CheckAddress(options.server));
  SLIPWAY_ASSIGN_OR_RETURN(const CallerProof proof,
                           FindProof(options.server, Role::kUser, options.proof));
  auto client = std::make_unique<GrpcClient>(options, proof);
  SLIPWAY_RETURN_IF_ERROR(client->Greet(options.connect_timeout));
  client->RenewIfDue();
  return client;
}

}  // namespace slipway
