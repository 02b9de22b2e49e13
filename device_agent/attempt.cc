#include "device_agent/attempt.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/input_match.h"
#include "core/artifact/program_steps.h"
#include "core/base/clock.h"
#include "core/base/machine_lock.h"
#include "core/base/processors/usable_processors.h"
#include "core/base/status_macros.h"
#include "core/rpc/retry.h"
#include "core/runtime/call_options.h"
#include "core/tensor/tensor.h"
#include "core/wire/benchmark_spec.h"
#include "core/wire/digest_proto.h"
#include "core/wire/status_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/measure/clock_resolution.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {
namespace {

// Defaults of run.proto.
constexpr int kDefaultWarmup = 10;
constexpr int kDefaultSamples = 100;
constexpr int kMaxThreads = 1024;
// Outputs of one attempt that are reported inline; the report is one message.
constexpr int64_t kMaxInlineBytes = 8 << 20;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

class Attempt {
 public:
  Attempt(const v1::RunAssignment& assignment, const AttemptTools& tools,
          const AttemptObserver& observer, std::stop_token stop)
      : assignment_(assignment),
        tools_(tools),
        observer_(observer),
        stop_(std::move(stop)),
        deadline_(assignment.deadline_ns() > 0
                      ? SystemClock().Monotonic() + absl::Nanoseconds(assignment.deadline_ns())
                      : absl::InfiniteDuration()) {
    state_.set_attempt_id(assignment.attempt_id());
  }

  v1::RunAttemptState Run() {
    Report(v1::RunAttemptState::PREPARING, "fetch");
    const absl::Status status = Work();
    tools_.pinned->Clear();
    if (status.ok()) {
      state_.set_state(v1::RunAttemptState::SUCCEEDED);
    } else if (stop_.stop_requested()) {
      state_.clear_result();
      state_.set_state(v1::RunAttemptState::STOPPED);
    } else {
      state_.clear_result();
      state_.set_state(v1::RunAttemptState::FAILED);
      *state_.mutable_error() = ToProto(status, runner_ == nullptr ? "" : runner_->log_tail());
      state_.set_retriable(is_retriable_);
    }
    state_.clear_progress();
    return std::move(state_);
  }

 private:
  bool is_benchmark() const { return assignment_.has_benchmark(); }
  const v1::RunSpec& spec() const {
    return is_benchmark() ? assignment_.benchmark().run() : assignment_.run();
  }

  const ProgramSignature& signature() const { return manifest_->signature(); }

  void Report(v1::RunAttemptState::State state, const char* stage) {
    state_.set_state(state);
    state_.mutable_progress()->set_stage(stage);
    observer_(state_);
  }

  absl::Status Work() {
    SLIPWAY_RETURN_IF_ERROR(CheckAssignment());
    SLIPWAY_ASSIGN_OR_RETURN(inputs_, MatchInputs(signature().inputs, spec().inputs()));
    const int64_t fetch_begin = NowNs();
    is_retriable_ = true;
    SLIPWAY_RETURN_IF_ERROR(Fetch());
    timings_.set_fetch_ns(NowNs() - fetch_begin);
    std::optional<MachineLock> alone;
    if (is_benchmark() && !tools_.runners->is_attached()) {
      Report(v1::RunAttemptState::PREPARING, "wait for the machine");
      SLIPWAY_ASSIGN_OR_RETURN(alone,
                               MachineLock::Acquire(MachineLock::Mode::kExclusive, Left(),
                                                    [this] { return stop_.stop_requested(); }));
    }
    const int64_t spawn_begin = NowNs();
    SLIPWAY_ASSIGN_OR_RETURN(runner_, tools_.runners->Take());
    runner_->WorkFor(assignment_.request_id());
    timings_.set_spawn_ns(NowNs() - spawn_begin);
    is_retriable_ = false;
    // A request under way ends when its runner does.
    const std::stop_callback kill(stop_, [this] { runner_->Kill(); });
    Report(v1::RunAttemptState::RUNNING, is_benchmark() ? "measure" : "run");
    SLIPWAY_RETURN_IF_ERROR(is_benchmark() ? Benchmark() : Call());
    alone.reset();
    is_retriable_ = true;
    return Upload();
  }

  absl::Status CheckAssignment() {
    if (!assignment_.has_run() && !assignment_.has_benchmark()) {
      return absl::UnimplementedError("the assignment is of a kind this agent does not know");
    }
    if (!assignment_.device().empty() && assignment_.device() != tools_.device_id) {
      return absl::InvalidArgumentError(absl::StrCat("this agent has no device \"",
                                                     absl::Utf8SafeCEscape(assignment_.device()),
                                                     "\", only \"", tools_.device_id, "\""));
    }
    SLIPWAY_ASSIGN_OR_RETURN(manifest_, CheckedManifest::Parse(assignment_.manifest()));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(spec().manifest()), "manifest");
    if (digest != manifest_->digest()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the manifest sent is not manifest ", digest.ToString()));
    }
    if (tools_.gate != nullptr) {
      SLIPWAY_RETURN_IF_ERROR(tools_.gate->LetIn(*manifest_, assignment_.statement()));
    }
    if (spec().threads() < 0 || spec().threads() > kMaxThreads) {
      return absl::InvalidArgumentError(
          absl::StrCat("threads must be 1 to ", kMaxThreads, ", not ", spec().threads()));
    }
    if (spec().loop_turns() < 0 || spec().dynamic_bytes() < 0) {
      return absl::InvalidArgumentError("loop_turns and dynamic_bytes must be 0 at least");
    }
    if (is_benchmark()) SLIPWAY_RETURN_IF_ERROR(CheckBenchmarkSpec(assignment_.benchmark()));
    return absl::OkStatus();
  }

  absl::Duration Left() const { return deadline_ - SystemClock().Monotonic(); }
  RetryPolicy Persistently() const {
    return {.retry_for = absl::InfiniteDuration(), .until = absl::Now() + Left(), .stop = stop_};
  }

  absl::Status Fetch() {
    // Before anything is put into the cache, which removes what is not pinned when it is full.
    needed_.insert(manifest_->blobs().begin(), manifest_->blobs().end());
    for (const v1::Tensor* input : inputs_) {
      if (input == nullptr || !input->has_blob()) continue;
      SLIPWAY_ASSIGN_OR_RETURN(Digest digest, FromProto(input->blob()));
      needed_.insert(std::move(digest));
    }
    tools_.pinned->Pin(needed_);
    for (const v1::InlineBlob& blob : assignment_.blobs()) {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(blob.digest()));
      SLIPWAY_RETURN_IF_ERROR(tools_.cache->Put(digest, blob.data()));
    }
    const std::vector<Digest> wanted(needed_.begin(), needed_.end());
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Digest> unsound, tools_.cache->FindUnsound(wanted));
    for (const Digest& digest : unsound) {
      SLIPWAY_RETURN_IF_ERROR(tools_.transport->FetchBlob(digest, *tools_.cache, Persistently()));
    }
    return absl::OkStatus();
  }

  // Where a call stood whose runner ended: ", in step 3 'conv', ...". Empty if none had begun.
  std::string Whereabouts() const {
    const uint32_t step = runner_->window()->status().position;
    return step == kNoStep ? "" : absl::StrCat(", in ", DescribeStep(StepsOf(*manifest_), step));
  }

  absl::StatusOr<runner::Response> Ask(const runner::Request& request) {
    absl::StatusOr<runner::Response> response = runner_->Ask(request, deadline_);
    if (absl::IsDeadlineExceeded(response.status())) {
      return absl::DeadlineExceededError(
          absl::StrCat("the program did not end in ",
                       absl::FormatDuration(absl::Nanoseconds(assignment_.deadline_ns())),
                       " and was stopped", Whereabouts()));
    }
    const std::optional<ExitStatus>& end = runner_->exit_status();
    // A program crashes by itself; these come from outside: a person, or the system out of memory.
    if (end.has_value() && (end->signal == SIGKILL || end->signal == SIGTERM)) {
      is_retriable_ = true;
    }
    // An attached device is lost; or a blob has gone since it was fetched: another agent may share the cache.
    if (absl::IsUnavailable(response.status()) || absl::IsNotFound(response.status()) ||
        absl::IsDataLoss(response.status())) {
      is_retriable_ = true;
    }
    if (absl::IsResourceExhausted(response.status()) &&
        absl::StrContains(response.status().message(), "memory")) {
      return absl::ResourceExhaustedError(absl::StrCat(response.status().message(),
                                                       "; --runner-memory of the agent allows ",
                                                       tools_.memory_bytes >> 20, " MiB"));
    }
    if (absl::IsAborted(response.status()) && end.has_value()) {
      return absl::AbortedError(absl::StrCat(response.status().message(), Whereabouts()));
    }
    return response;
  }

  // Handles: the program's, then those of inputs, then those of outputs.
  static constexpr uint64_t kProgram = 1;
  static uint64_t InputHandle(size_t i) { return kProgram + 1 + i; }
  uint64_t OutputHandle(size_t i) const { return InputHandle(inputs_.size() + i); }

  absl::Status PutInputs() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      runner::Request request;
      if (inputs_[i] != nullptr) {
        request.mutable_put()->set_handle(InputHandle(i));
        *request.mutable_put()->mutable_tensor() = *inputs_[i];
      } else {
        v1::SessionRequest::Allocate& random = *request.mutable_operation()->mutable_allocate();
        random.set_tensor(InputHandle(i));
        *random.mutable_type() = ToProto(signature().inputs[i].type.Smallest());
        random.set_random(true);
        random.set_seed(spec().seed());
        random.set_name(signature().inputs[i].name);
      }
      SLIPWAY_RETURN_IF_ERROR(Ask(request).status());
    }
    return absl::OkStatus();
  }

  void FillLoad(v1::SessionRequest::Load& load, runner::LoadContext& context) const {
    load.set_program(kProgram);
    load.set_threads(spec().threads());
    load.set_loop_turns(spec().loop_turns());
    load.set_dynamic_bytes(spec().dynamic_bytes());
    context.set_manifest(assignment_.manifest());
    context.set_scratch_bytes(tools_.memory_bytes);
    context.set_dynamic_bytes(tools_.memory_bytes);
  }

  // Brings an output into the cache, where a runner can put nothing: piece by piece through the window, and it must have
  // the digest that the runner told.
  absl::Status TakeOutput(uint64_t handle, const v1::Digest& told) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(told), "an output of the runner");
    needed_.insert(digest);
    tools_.pinned->Pin(needed_);
    absl::StatusOr<std::unique_ptr<BlobWriter>> writer = tools_.cache->Write(digest);
    if (absl::IsAlreadyExists(writer.status())) return absl::OkStatus();
    if (!writer.ok()) return writer.status();
    int64_t offset = (*writer)->committed_bytes();
    // A piece is whole elements of any type.
    offset -= offset % kWindowPieceBytes;
    while (offset < digest.size_bytes()) {
      const int64_t size = std::min(kWindowPieceBytes, digest.size_bytes() - offset);
      runner::Request request;
      v1::SessionRequest::Read& read = *request.mutable_operation()->mutable_read();
      read.set_tensor(handle);
      read.set_offset(offset);
      read.set_size(size);
      request.set_data_size(size);
      SLIPWAY_RETURN_IF_ERROR(Ask(request).status());
      const int64_t held = (*writer)->committed_bytes() - offset;
      SLIPWAY_RETURN_IF_ERROR((*writer)->Append(
          absl::string_view(runner_->window()->data() + held, static_cast<size_t>(size - held))));
      offset += size;
    }
    return (*writer)->Commit();
  }

  absl::Status Call() {
    runner::Request load;
    FillLoad(*load.mutable_operation()->mutable_load(), *load.mutable_load());
    SLIPWAY_ASSIGN_OR_RETURN(runner::Response response, Ask(load));
    timings_.set_load_ns(response.duration_ns());
    SLIPWAY_RETURN_IF_ERROR(PutInputs());
    runner::Request request;
    v1::SessionRequest::Call& call = *request.mutable_operation()->mutable_call();
    call.set_program(kProgram);
    for (size_t i = 0; i < inputs_.size(); ++i) call.add_inputs(InputHandle(i));
    for (size_t i = 0; i < signature().outputs.size(); ++i) call.add_outputs(OutputHandle(i));
    SLIPWAY_ASSIGN_OR_RETURN(response, Ask(request));
    timings_.set_run_ns(response.duration_ns());
    state_.mutable_run_result()->set_clock_resolution_ns(ClockResolutionNs());
    int64_t inline_left = kMaxInlineBytes;
    for (size_t i = 0; i < signature().outputs.size(); ++i) {
      runner::Request fetch;
      fetch.mutable_fetch()->set_handle(OutputHandle(i));
      fetch.mutable_fetch()->set_name(signature().outputs[i].name);
      fetch.mutable_fetch()->set_max_inline_bytes(inline_left);
      SLIPWAY_ASSIGN_OR_RETURN(response, Ask(fetch));
      inline_left -= static_cast<int64_t>(response.tensor().inline_data().size());
      if (response.tensor().has_blob()) {
        SLIPWAY_RETURN_IF_ERROR(TakeOutput(OutputHandle(i), response.tensor().blob()));
      }
      *state_.mutable_run_result()->add_outputs() = std::move(*response.mutable_tensor());
    }
    return absl::OkStatus();
  }

  absl::Status Benchmark() {
    SLIPWAY_RETURN_IF_ERROR(PutInputs());
    const v1::BenchmarkSpec& benchmark = assignment_.benchmark();
    runner::Request request;
    runner::Measure& measure = *request.mutable_measure();
    FillLoad(*measure.mutable_load(), *request.mutable_load());
    for (size_t i = 0; i < inputs_.size(); ++i) measure.add_inputs(InputHandle(i));
    measure.set_warmup(benchmark.warmup() < 0 ? kDefaultWarmup : benchmark.warmup());
    measure.set_samples(benchmark.samples() == 0 ? kDefaultSamples : benchmark.samples());
    measure.set_profile(benchmark.profile());
    measure.set_precision_goal_ppm(benchmark.precision_goal_ppm());
    if (benchmark.has_scenario()) {
      *measure.mutable_scenario() =
          WithDefaults(benchmark, static_cast<int>(UsableProcessors().size()));
    }
    if (benchmark.has_settling()) *measure.mutable_settling() = benchmark.settling();
    measure.set_seed(spec().seed());
    SLIPWAY_ASSIGN_OR_RETURN(runner::Response response, Ask(request));
    *state_.mutable_benchmark_result() = std::move(*response.mutable_benchmark());
    timings_.set_load_ns(state_.benchmark_result().load_cold_ns());
    timings_.set_run_ns(response.duration_ns());
    return absl::OkStatus();
  }

  absl::Status Upload() {
    const int64_t begin = NowNs();
    if (is_benchmark()) {
      v1::BenchmarkResult& result = *state_.mutable_benchmark_result();
      result.set_device(tools_.device_id);
      result.set_device_target(tools_.device_target);
      if (assignment_.benchmark().profile() && tools_.peaks != nullptr) {
        *result.mutable_peaks() = tools_.peaks->Get();
      }
      *result.mutable_timings() = timings_;
      return absl::OkStatus();
    }
    v1::RunResult& result = *state_.mutable_run_result();
    for (const v1::Tensor& output : result.outputs()) {
      if (!output.has_blob()) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(output.blob()));
      SLIPWAY_RETURN_IF_ERROR(tools_.transport->SendBlob(digest, *tools_.cache, Persistently()));
    }
    timings_.set_upload_ns(NowNs() - begin);
    *result.mutable_timings() = timings_;
    result.set_device(tools_.device_id);
    return absl::OkStatus();
  }

  const v1::RunAssignment& assignment_;
  const AttemptTools& tools_;
  const AttemptObserver& observer_;
  const std::stop_token stop_;
  const absl::Duration deadline_;  // Monotonic: the wall clock may be set meanwhile.

  std::optional<CheckedManifest> manifest_;  // Set by CheckAssignment.
  std::vector<const v1::Tensor*> inputs_;    // For each input the tensor given, or null.
  absl::flat_hash_set<Digest> needed_;       // Blobs: of the program, of inputs and outputs.
  std::unique_ptr<RunnerProcess> runner_;
  // Whether a failure now would be the device's rather than the program's.
  bool is_retriable_ = false;
  v1::AttemptTimings timings_;
  v1::RunAttemptState state_;
};

}  // namespace

v1::RunAttemptState RunAttempt(const v1::RunAssignment& assignment, const AttemptTools& tools,
                               const AttemptObserver& observer, std::stop_token stop) {
  return Attempt(assignment, tools, observer, std::move(stop)).Run();
}

}  // namespace slipway
