#include "client/testing/grpc_fake_server.h"

#include <grpcpp/server_builder.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/rpc/grpc_settings.h"
#include "core/selector/selector.h"
#include "core/store/blob_store.h"
#include "core/tensor/tensor.h"
#include "core/wire/device_attributes_proto.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway::testing {

struct FakeServer::State {
  mutable absl::Mutex mutex;
  FakeBehaviour behaviour ABSL_GUARDED_BY(mutex);
  std::map<std::string, v1::Job> jobs ABSL_GUARDED_BY(mutex);
  int creates ABSL_GUARDED_BY(mutex) = 0;
  int lists ABSL_GUARDED_BY(mutex) = 0;
  int device_lists ABSL_GUARDED_BY(mutex) = 0;
  v1::ListJobsRequest last_list ABSL_GUARDED_BY(mutex);
  v1::ListHistoryRequest last_history ABSL_GUARDED_BY(mutex);
  int64_t revision ABSL_GUARDED_BY(mutex) = 0;
  FakeBlobService blobs{[this](const grpc::ServerContext& context) {
    absl::MutexLock lock(&mutex);
    return Enter(context);
  }};

  // What every call does first.
  grpc::Status Enter(const grpc::ServerContext& context) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (behaviour.unavailable_calls > 0) {
      --behaviour.unavailable_calls;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the fake is away");
    }
    if (behaviour.token.empty()) return grpc::Status::OK;
    const auto found = context.client_metadata().find("authorization");
    if (found != context.client_metadata().end() &&
        std::string(found->second.data(), found->second.size()) == "Bearer " + behaviour.token) {
      return grpc::Status::OK;
    }
    return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "the token is missing or wrong");
  }

  Digest Put(const std::string& bytes) {
    const absl::StatusOr<Digest> digest = PutBytes(blobs.blobs(), bytes);
    SLIPWAY_CHECK(digest.ok(), digest.status().message());
    return *digest;
  }

  // Moves a job one step on.
  void Advance(v1::Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    job.set_revision(++revision);
    if (job.state() == v1::Job::QUEUED) {
      job.set_state(v1::Job::RUNNING);
      job.set_attempts(1);
      job.set_assignee("fake");
      job.set_start_time_ns(job.create_time_ns() + 1'000'000);
      job.mutable_progress()->set_stage("work");
      job.mutable_progress()->set_done(1);
      job.mutable_progress()->set_total(2);
      return;
    }
    job.clear_progress();
    job.set_end_time_ns(job.create_time_ns() + 5'000'000);
    job.set_state(v1::Job::SUCCEEDED);
    if (behaviour.finish) {
      behaviour.finish(job);
    } else {
      Finish(job);
    }
  }

  void Finish(v1::Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (job.has_compilation()) {
      const Digest manifest = Put(SerializeManifest(TestManifest()));
      Put(TestCode());
      Put(TestConstants());
      v1::CompilationResult& result = *job.mutable_compilation_result();
      *result.mutable_manifest() = ToProto(manifest);
      result.set_compile_key(std::string(64, 'a'));
      result.set_artifact_bytes(12345);
      v1::CompileReport& report = *result.mutable_report();
      v1::StageTime& stage = *report.add_stages();
      stage.set_name("import");
      stage.set_duration_ns(1'500'000);
      v1::StageTime& pass = *report.add_passes();
      pass.set_name("FuseOps");
      pass.set_duration_ns(250'000);
      pass.set_nodes_after(3);
      pass.add_notes("left one as it was");
      report.set_kernels(2);
      report.set_kernels_compiled(1);
      report.set_kernels_cached(1);
      report.set_code_bytes(4096);
      report.set_constant_bytes(32);
      report.set_arena_bytes(128);
      if (!job.compilation().options().print_after().empty()) {
        report.set_printed_graph("graph \"fake\" () -> () {\n}\n");
      }
      const v1::CompileOptions& options = job.compilation().options();
      // As a compiler for targets with instructions for bf16 alone.
      if (job.compilation().target().name() == "x86-64-v4-linux-bf16" &&
          options.precision() == v1::PRECISION_BF16) {
        report.set_precision(v1::PRECISION_BF16);
      }
      if (options.print_schedules()) report.set_printed_schedules("3f0c9a4410be72d1 rows\n");
      if (!options.schedules().empty()) {
        report.set_records(2);
        report.set_kernels_recorded(1);
      }
    } else if (job.has_run()) {
      v1::RunResult& result = *job.mutable_run_result();
      const float values[] = {0.5f, -1, 2};
      *result.add_outputs() =
          ToInlineProto("y/0", Tensor::Of<float>({1, 3}, absl::MakeConstSpan(values)));
      result.set_device("fake");
    } else {
      v1::BenchmarkResult& result = *job.mutable_benchmark_result();
      for (int i = 100; i >= 1; --i) result.add_samples_ns(i * 1'000'000);
      result.set_iterations_per_sample(10);
      if (job.benchmark().precision_goal_ppm() == 10'000) result.set_precision_ppm(12'300);
      // Its device knows the scenario of the server alone, and takes others for none, as old ones do.
      if (job.benchmark().scenario().kind() == v1::Scenario::SERVER) {
        v1::ScenarioResult& scenario = *result.mutable_scenario();
        *scenario.mutable_scenario() = job.benchmark().scenario();
        scenario.set_duration_ns(2'000'000'000);
        scenario.set_calls(100);
        scenario.set_verdict(job.benchmark().scenario().latency_bound_ns() > 50'000'000
                                 ? v1::ScenarioResult::MET
                                 : v1::ScenarioResult::MISSED);
      }
      // Its last ten samples, the shortest, were disturbed.
      result.add_stamps()->set_samples(90);
      result.add_stamps()->set_samples(10);
      result.mutable_stamps(1)->set_disturbed(true);
      if (job.benchmark().settling().until_steady()) result.mutable_settled()->set_is_steady(true);
      result.set_load_cold_ns(3'000'000);
      result.set_load_warm_ns(1'000'000);
      result.set_first_run_ns(2'000'000);
      result.set_peak_memory_bytes(10 << 20);
      result.set_threads(std::max(1, job.benchmark().run().threads()));
      result.set_start_time_ns(job.create_time_ns());
      result.set_device("fake");
      result.set_device_target("x86-64-v3-linux");
      if (job.benchmark().profile()) {
        v1::StepTime& step = *result.add_steps();
        step.set_name("conv");
        step.add_operators("Conv");
        step.add_operators("Relu");
        step.set_duration_ns(90'000);
      }
    }
  }

  template <typename Request>
  grpc::Status Create(const grpc::ServerContext& context, const Request& request,
                      const std::vector<v1::Digest>& needed, std::string& id,
                      const std::function<void(v1::Job&)>& set_spec) {
    absl::MutexLock lock(&mutex);
    grpc::Status status = Enter(context);
    if (!status.ok()) return status;
    if (!behaviour.create_status.ok()) return std::exchange(behaviour.create_status, {});
    ++creates;
    for (const v1::Digest& digest : needed) {
      const absl::StatusOr<Digest> blob = FromProto(digest);
      if (!blob.ok() || !blobs.blobs().Has(*blob)) {
        return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "blobs are missing");
      }
    }
    for (const auto& [known_id, job] : jobs) {
      if (job.request_id() == request.request_id()) {
        id = known_id;
        return grpc::Status::OK;
      }
    }
    v1::Job job;
    id = absl::StrFormat("01J%023d", jobs.size() + 1);
    job.set_id(id);
    job.set_owner("local");
    job.set_request_id(request.request_id());
    job.set_priority(request.priority());
    job.set_subject(behaviour.subject);
    *job.mutable_tags() = request.tags();
    job.set_state(v1::Job::QUEUED);
    job.set_revision(++revision);
    job.set_create_time_ns(1'767'225'600'000'000'000);
    set_spec(job);
    jobs[id] = job;
    if (behaviour.lost_answers > 0) {
      --behaviour.lost_answers;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the answer is lost");
    }
    return grpc::Status::OK;
  }
};

class FakeServer::Compiles final : public v1::CompileService::Service {
 public:
  explicit Compiles(State& state) : state_(state) {}

  grpc::Status CreateCompilation(grpc::ServerContext* context,
                                 const v1::CreateCompilationRequest* request,
                                 v1::CreateCompilationResponse* response) override {
    std::vector<v1::Digest> needed;
    for (const v1::ModelFile& file : request->spec().model().files()) {
      needed.push_back(file.digest());
    }
    std::string id;
    const grpc::Status status = state_.Create(*context, *request, needed, id, [&](v1::Job& job) {
      *job.mutable_compilation() = request->spec();
    });
    response->set_job_id(id);
    return status;
  }

 private:
  State& state_;
};

class FakeServer::Runs final : public v1::RunService::Service {
 public:
  explicit Runs(State& state) : state_(state) {}

  grpc::Status CreateRun(grpc::ServerContext* context, const v1::CreateRunRequest* request,
                         v1::CreateJobResponse* response) override {
    std::string id;
    const grpc::Status status =
        state_.Create(*context, *request, Needed(request->spec()), id,
                      [&](v1::Job& job) { *job.mutable_run() = request->spec(); });
    response->set_job_id(id);
    return status;
  }

  grpc::Status CreateBenchmark(grpc::ServerContext* context,
                               const v1::CreateBenchmarkRequest* request,
                               v1::CreateJobResponse* response) override {
    std::string id;
    const grpc::Status status =
        state_.Create(*context, *request, Needed(request->spec().run()), id,
                      [&](v1::Job& job) { *job.mutable_benchmark() = request->spec(); });
    response->set_job_id(id);
    return status;
  }

 private:
  static std::vector<v1::Digest> Needed(const v1::RunSpec& spec) {
    std::vector<v1::Digest> needed = {spec.manifest()};
    for (const v1::Tensor& input : spec.inputs()) {
      if (input.has_blob()) needed.push_back(input.blob());
    }
    return needed;
  }

  State& state_;
};

class FakeServer::Jobs final : public v1::JobService::Service {
 public:
  explicit Jobs(State& state) : state_(state) {}

  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                      v1::Job* response) override {
    absl::MutexLock lock(&state_.mutex);
    const grpc::Status status = state_.Enter(*context);
    const auto found = state_.jobs.find(request->id());
    if (found == state_.jobs.end()) return NoSuchJob(request->id());
    *response = found->second;
    return status;
  }

  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    absl::MutexLock lock(&state_.mutex);
    const grpc::Status status = state_.Enter(*context);
    state_.last_list = *request;
    if (status.ok()) ++state_.lists;
    if (request->of_everybody()) {
      for (const v1::Job& job : state_.behaviour.jobs_of_others) *response->add_jobs() = job;
    }
    int left = request->page_size();
    for (auto job = state_.jobs.rbegin(); job != state_.jobs.rend(); ++job) {
      if (!request->page_token().empty() && job->first >= request->page_token()) continue;
      if (left-- == 0) {
        response->set_next_page_token(response->jobs().rbegin()->id());
        break;
      }
      *response->add_jobs() = job->second;
      if (response->jobs().rbegin()->has_run_result()) {
        for (v1::Tensor& output :
             *response->mutable_jobs()->rbegin()->mutable_run_result()->mutable_outputs()) {
          output.clear_content();
        }
      }
    }
    return status;
  }

  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::Job>* writer) override {
    int64_t after = request->after_revision();
    int sent = 0;
    while (!context->IsCancelled()) {
      v1::Job job;
      {
        absl::MutexLock lock(&state_.mutex);
        if (sent == 0) {
          const grpc::Status status = state_.Enter(*context);
          if (!status.ok()) return status;
        }
        const auto found = state_.jobs.find(request->id());
        if (found == state_.jobs.end()) return NoSuchJob(request->id());
        if (sent == state_.behaviour.break_watch_after) {
          state_.behaviour.break_watch_after = -1;
          return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the fake broke a watch");
        }
        const bool held = state_.behaviour.hold && found->second.state() == v1::Job::RUNNING;
        if (found->second.revision() <= after && !Ended(found->second) && !held) {
          state_.Advance(found->second);
        }
        if (found->second.revision() <= after && !Ended(found->second)) {
          // Held: wait for a change, or for the caller to go.
          bool never = false;
          state_.mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(5));
          continue;
        }
        job = found->second;
      }
      writer->Write(job);
      ++sent;
      after = job.revision();
      if (Ended(job)) break;
    }
    return grpc::Status::OK;
  }

  grpc::Status CancelJob(grpc::ServerContext* context, const v1::CancelJobRequest* request,
                         v1::Job* response) override {
    absl::MutexLock lock(&state_.mutex);
    const grpc::Status status = state_.Enter(*context);
    if (!status.ok()) return status;
    const auto found = state_.jobs.find(request->id());
    if (found == state_.jobs.end()) return NoSuchJob(request->id());
    if (!Ended(found->second)) {
      found->second.set_state(v1::Job::CANCELLED);
      found->second.set_revision(++state_.revision);
    }
    *response = found->second;
    return grpc::Status::OK;
  }

 private:
  static bool Ended(const v1::Job& job) { return job.state() >= v1::Job::SUCCEEDED; }
  static grpc::Status NoSuchJob(const std::string& id) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, absl::StrCat("no job \"", id, "\""));
  }

  State& state_;
};

class FakeServer::Fleet final : public v1::FleetService::Service {
 public:
  explicit Fleet(State& state) : state_(state) {}

  grpc::Status ListDevices(grpc::ServerContext* context, const v1::ListDevicesRequest* request,
                           v1::ListDevicesResponse* response) override {
    absl::MutexLock lock(&state_.mutex);
    ++state_.device_lists;
    // A server that knows no selectors lists all.
    const bool is_selected =
        state_.behaviour.info.selectors() > 0 && IsSelector(request->selector());
    const Selector selector =
        is_selected ? Selector::Parse(request->selector()).value_or(Selector()) : Selector();
    for (const v1::Device& device : state_.behaviour.devices) {
      if (!selector.Matches(AttributesOf(device.description(), {}))) continue;
      *response->add_devices() = device;
    }
    if (response->devices().empty() && is_selected) response->set_explanation("nothing matches");
    return state_.Enter(*context);
  }

  grpc::Status SetDeviceLabels(grpc::ServerContext* context,
                               const v1::SetDeviceLabelsRequest* request,
                               v1::SetDeviceLabelsResponse* response) override {
    absl::MutexLock lock(&state_.mutex);
    *response->mutable_labels() = request->labels();
    for (const std::string& key : request->removed()) {
      response->add_labels()->set_key("without-" + key);
    }
    return state_.Enter(*context);
  }

 private:
  State& state_;
};

class FakeServer::History final : public v1::HistoryService::Service {
 public:
  explicit History(State& state) : state_(state) {}

  grpc::Status ListHistory(grpc::ServerContext* context, const v1::ListHistoryRequest* request,
                           v1::ListHistoryResponse* response) override {
    absl::MutexLock lock(&state_.mutex);
    state_.last_history = *request;
    const std::vector<v1::HistoryEntry>& history = state_.behaviour.history;
    // A token is how many came before; a page without any is one, too.
    size_t at = 0;
    if (request->page_token().empty()) {
      response->set_next_page_token("0");
      return state_.Enter(*context);
    }
    SLIPWAY_CHECK(absl::SimpleAtoi(request->page_token(), &at), "no token of this server");
    for (size_t end = at + std::min(2, request->page_size()); at < end && at < history.size();
         ++at) {
      *response->add_entries() = history[at];
    }
    if (at < history.size()) response->set_next_page_token(absl::StrCat(at));
    return state_.Enter(*context);
  }

  grpc::Status GetHistoryEntry(grpc::ServerContext* context,
                               const v1::GetHistoryEntryRequest* request,
                               v1::HistoryEntry* response) override {
    absl::MutexLock lock(&state_.mutex);
    for (const v1::HistoryEntry& entry : state_.behaviour.history) {
      if (entry.id() != request->id()) continue;
      *response = entry;
      return state_.Enter(*context);
    }
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such entry");
  }

  grpc::Status GetRecord(grpc::ServerContext* context, const v1::GetHistoryEntryRequest* request,
                         v1::SignedRecord* response) override {
    absl::MutexLock lock(&state_.mutex);
    if (request->id() == "none") {
      return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such entry");
    }
    *response = state_.behaviour.record;
    return state_.Enter(*context);
  }

 private:
  State& state_;
};

class FakeServer::Server final : public v1::ServerService::Service {
 public:
  explicit Server(State& state) : state_(state) {}

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest*,
                             v1::ServerInfo* response) override {
    absl::MutexLock lock(&state_.mutex);
    *response = state_.behaviour.info;
    return state_.Enter(*context);
  }

 private:
  State& state_;
};

FakeServer::FakeServer() : state_(std::make_unique<State>()) {
  {
    absl::MutexLock lock(&state_->mutex);
    v1::ServerInfo& info = state_->behaviour.info;
    info.set_version("0.1.0");
    info.set_min_protocol(1);
    info.set_max_protocol(1);
    info.add_targets("x86-64-v3-linux");
    info.set_selectors(kSelectorVersion);
    info.mutable_limits()->set_max_model_bytes(1 << 30);
    v1::Device device;
    device.mutable_description()->set_id("fake");
    device.mutable_description()->set_target("x86-64-v3-linux");
    device.mutable_description()->set_model("Fake CPU");
    device.mutable_description()->set_cores(2);
    device.mutable_description()->set_memory_bytes(int64_t{4} << 30);
    device.set_state(v1::Device::IDLE);
    device.set_last_seen_ns(1'767'225'600'000'000'000);
    device.set_agent_version("0.1.0");
    state_->behaviour.devices.push_back(device);
  }
  services_.push_back(std::make_unique<Compiles>(*state_));
  services_.push_back(std::make_unique<Runs>(*state_));
  services_.push_back(std::make_unique<Jobs>(*state_));
  services_.push_back(std::make_unique<Fleet>(*state_));
  services_.push_back(std::make_unique<History>(*state_));
  services_.push_back(std::make_unique<Server>(*state_));
  grpc::ServerBuilder builder;
  ApplyServerSettings(builder);
  builder.AddListeningPort(socket_.address(), grpc::InsecureServerCredentials());
  builder.RegisterService(&state_->blobs);
  for (const auto& service : services_) builder.RegisterService(service.get());
  server_ = builder.BuildAndStart();
  SLIPWAY_CHECK(server_ != nullptr, "the fake server does not start");
}

FakeServer::~FakeServer() { server_->Shutdown(std::chrono::system_clock::now()); }

void FakeServer::Configure(const std::function<void(FakeBehaviour&)>& change) {
  absl::MutexLock lock(&state_->mutex);
  change(state_->behaviour);
}

int FakeServer::creates() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->creates;
}

std::vector<v1::Job> FakeServer::jobs() const {
  absl::MutexLock lock(&state_->mutex);
  std::vector<v1::Job> jobs;
  for (const auto& [id, job] : state_->jobs) jobs.push_back(job);
  return jobs;
}

int FakeServer::device_lists() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->device_lists;
}

int FakeServer::lists() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->lists;
}

v1::ListJobsRequest FakeServer::last_list() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->last_list;
}

v1::ListHistoryRequest FakeServer::last_history() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->last_history;
}

FakeBlobService& FakeServer::blobs() { return state_->blobs; }

}  // namespace slipway::testing
