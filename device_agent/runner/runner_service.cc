#include "device_agent/runner/runner_service.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/call_options.h"
#include "core/runtime/load_program.h"
#include "core/target/measure_machine.h"
#include "core/tensor/random.h"
#include "core/wire/benchmark_spec.h"
#include "core/wire/peaks_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/attached/peaks/attached_peaks.h"
#include "device_agent/measure/clock_resolution.h"
#include "device_agent/measure/machine_state.h"
#include "device_agent/measure/measure.h"
#include "device_agent/measure/samples.h"
#include "device_agent/runner/tensor_box.h"

namespace slipway {
namespace {

constexpr size_t kMaxProgramNameBytes = 255;
constexpr size_t kMaxTensorNameBytes = 1024;
// A list ends when it has so much.
constexpr int kFullList = 1000;
constexpr size_t kFullListBytes = 256 << 10;
constexpr int kDefaultSamples = 100;
constexpr int64_t kMaxCacheBytes = int64_t{1} << 30;
constexpr int64_t kMaxSamplingNs = 60'000'000'000;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

absl::Status InRange(absl::string_view what, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; ", least, " to ", most, " wanted"));
}

absl::StatusOr<ProgramContextOptions> ContextOptions(const v1::SessionRequest::Load& load,
                                                     const runner::LoadContext& context) {
  SLIPWAY_RETURN_IF_ERROR(InRange("threads", load.threads(), 0, kMaxThreads));
  SLIPWAY_RETURN_IF_ERROR(InRange("loop_turns", load.loop_turns(), 0, INT64_MAX));
  SLIPWAY_RETURN_IF_ERROR(InRange("dynamic_bytes", load.dynamic_bytes(), 0, INT64_MAX));
  ProgramContextOptions options;
  options.threads = std::max(1, load.threads());
  options.scratch_bytes = context.scratch_bytes();
  options.dynamic_bytes = load.dynamic_bytes() > 0 ? load.dynamic_bytes() : context.dynamic_bytes();
  if (load.loop_turns() > 0) options.loop_turns = load.loop_turns();
  return options;
}

void AddFunction(const CheckedManifest& manifest, uint32_t index,
                 v1::SessionResponse::Loaded& loaded) {
  v1::SessionResponse::Loaded::Function& function = *loaded.add_functions();
  function.set_name(manifest.proto().functions(static_cast<int>(index)).name());
  const ProgramSignature signature = manifest.SignatureOf(index);
  for (const NamedType& input : signature.inputs) {
    v1::SessionResponse::Loaded::Port& port = *function.add_inputs();
    port.set_name(input.name);
    port.set_type(ToString(input.type));
  }
  for (const NamedType& output : signature.outputs) {
    v1::SessionResponse::Loaded::Port& port = *function.add_outputs();
    port.set_name(output.name);
    port.set_type(ToString(output.type));
  }
}

absl::Status CheckTensorName(absl::string_view name) {
  if (name.size() <= kMaxTensorNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the tensor's name has more than ", kMaxTensorNameBytes, " bytes"));
}

// The bytes of a piece must be whole elements of the tensor, and lie in it.
absl::Status CheckPiece(const Tensor& tensor, int64_t offset, int64_t size) {
  const int64_t element = ByteSize(tensor.dtype());
  if (offset < 0 || size < 0 || offset > tensor.byte_size() || size > tensor.byte_size() - offset) {
    return absl::OutOfRangeError(
        absl::StrCat(size, " bytes from byte ", offset, " on do not lie in a tensor ",
                     ToString(tensor.type()), " of ", tensor.byte_size(), " bytes"));
  }
  if (offset % element != 0 || size % element != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        size, " bytes from byte ", offset, " on are no whole elements of ", element, " bytes"));
  }
  return absl::OkStatus();
}

bool OnlyMovesBytes(const v1::SessionRequest& operation) {
  return operation.has_allocate() || operation.has_write() || operation.has_read() ||
         operation.has_free() || operation.has_get_facts();
}

absl::StatusOr<CacheSizes> CachesIn(const runner::MeasurePeaks& request) {
  if (request.caches_size() != 3) {
    return absl::InvalidArgumentError("attached: the caches of 3 levels are to be told");
  }
  CacheSizes caches;
  CacheSize* const levels[] = {&caches.l1, &caches.l2, &caches.l3};
  for (int i = 0; i < request.caches_size(); ++i) {
    const runner::MeasurePeaks::Cache& cache = request.caches(i);
    SLIPWAY_RETURN_IF_ERROR(InRange("bytes of a cache", cache.bytes(), 0, kMaxCacheBytes));
    SLIPWAY_RETURN_IF_ERROR(InRange("processors of a cache", cache.processors(), 1, 1 << 16));
    *levels[i] = {cache.bytes(), cache.processors()};
  }
  return caches;
}

}  // namespace

runner::Response RunnerService::Handle(const runner::Request& request) {
  if (!request.request_id().empty()) works_for_.emplace(request.request_id());
  runner::Response response;
  const int64_t begin = NowNs();
  const absl::Status status = Dispatch(request, response);
  response.set_duration_ns(NowNs() - begin);
  v1::SessionResponse& result = *response.mutable_result();
  result.set_id(request.operation().id());
  result.set_code(static_cast<int32_t>(status.code()));
  result.set_message(std::string(status.message()));
  return response;
}

absl::Status RunnerService::Dispatch(const runner::Request& request, runner::Response& response) {
  if (request.not_after_ns() > 0 && NowNs() > request.not_after_ns()) {
    return absl::DeadlineExceededError("the deadline passed before the request began");
  }
  switch (request.kind_case()) {
    case runner::Request::kOperation: {
      const uint64_t id = request.operation().id();
      RunnerStatus::Cancelling& cancelling = window_.status().CancellingOf(id);
      cancelling.flag = false;
      if (id != 0 && cancelling.id == id) {
        return absl::CancelledError("the request was cancelled before it began");
      }
      return Operate(request, *response.mutable_result());
    }
    case runner::Request::kPut:
      return Put(request.put());
    case runner::Request::kFetch: {
      SLIPWAY_ASSIGN_OR_RETURN(*response.mutable_tensor(), Fetch(request.fetch()));
      return absl::OkStatus();
    }
    case runner::Request::kMeasure: {
      SLIPWAY_ASSIGN_OR_RETURN(*response.mutable_benchmark(), Measure(request));
      return absl::OkStatus();
    }
    case runner::Request::kMeasurePeaks: {
      const int threads = request.measure_peaks().threads();
      if (threads < 1) return absl::InvalidArgumentError("peaks are those of 1 thread or more");
      if (!attached_.has_value()) {
        *response.mutable_peaks() = ToProto({MeasureMachine(threads, SystemClock())});
        return absl::OkStatus();
      }
      SLIPWAY_ASSIGN_OR_RETURN(const CacheSizes caches, CachesIn(request.measure_peaks()));
      SLIPWAY_ASSIGN_OR_RETURN(
          const MachinePeaks peaks,
          MeasureAttachedPeaks(*attached_->device, attached_->target, caches, threads));
      *response.mutable_peaks() = ToProto({peaks});
      return absl::OkStatus();
    }
    case runner::Request::kMeasureAcceleratorPeaks: {
      if (accelerators_.measure == nullptr) {
        return absl::FailedPreconditionError("this runner's programs use no accelerators");
      }
      SLIPWAY_ASSIGN_OR_RETURN(const AcceleratorPeaks peaks,
                               accelerators_.measure(request.measure_accelerator_peaks().number()));
      *response.mutable_peaks() = ToProto({}, {peaks});
      return absl::OkStatus();
    }
    case runner::Request::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("the request is of no known kind");
}

absl::Status RunnerService::Operate(const runner::Request& request, v1::SessionResponse& result) {
  const v1::SessionRequest& operation = request.operation();
  const std::atomic<bool>& cancelled = window_.status().CancellingOf(operation.id()).flag;
  if (!OnlyMovesBytes(operation)) memory_.MakeRoom();
  switch (operation.kind_case()) {
    case v1::SessionRequest::kLoad:
      return Load(operation.load(), request.load(), *result.mutable_loaded());
    case v1::SessionRequest::kAllocate:
      return Allocate(operation.allocate());
    case v1::SessionRequest::kWrite: {
      SLIPWAY_ASSIGN_OR_RETURN(const absl::Span<char> data, DataOf(request));
      return Write(operation.write(), absl::string_view(data.data(), data.size()));
    }
    case v1::SessionRequest::kRead: {
      SLIPWAY_ASSIGN_OR_RETURN(const absl::Span<char> data, DataOf(request));
      return Read(operation.read(), data);
    }
    case v1::SessionRequest::kSlice:
      return Slice(operation.slice());
    case v1::SessionRequest::kAssign:
      return Assign(operation.assign());
    case v1::SessionRequest::kCall:
      return Call(operation.call(), cancelled, *result.mutable_called());
    case v1::SessionRequest::kTime:
      return Time(operation.time(), cancelled, *result.mutable_timed()->mutable_result());
    case v1::SessionRequest::kFree:
      return Free(operation.free());
    case v1::SessionRequest::kGetFacts:
      return GetFacts(*result.mutable_facts());
    case v1::SessionRequest::kList:
      return List(operation.list(), *result.mutable_listed());
    default:
      return absl::UnimplementedError("this device does not know the request; update its agent");
  }
}

absl::StatusOr<absl::Span<char>> RunnerService::DataOf(const runner::Request& request) const {
  if (request.data_offset() < 0 || request.data_size() < 0 ||
      request.data_size() > RunnerWindow::kDataBytes ||
      request.data_offset() > RunnerWindow::kDataBytes - request.data_size()) {
    return absl::InvalidArgumentError("the data does not lie in the shared memory");
  }
  return absl::MakeSpan(window_.data() + request.data_offset(),
                        static_cast<size_t>(request.data_size()));
}

absl::StatusOr<Artifact> RunnerService::OpenArtifact(const std::string& manifest) {
  return Artifact::Parse(manifest, [this](const Digest& digest) { return store_.Get(digest); });
}

absl::Status RunnerService::Load(const Operation::Load& load, const runner::LoadContext& context,
                                 v1::SessionResponse::Loaded& loaded) {
  SLIPWAY_RETURN_IF_ERROR(handles_.CheckNew(load.program()));
  Log(LogLevel::kDebug, "loads a program", {{"artifact", Digest::Of(context.manifest()).hex()}});
  const int64_t begin = NowNs();
  HeldProgram held;
  held.name = load.name().substr(0, kMaxProgramNameBytes);
  SLIPWAY_ASSIGN_OR_RETURN(held.options, ContextOptions(load, context));
  held.options.position = &window_.status().position;
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, OpenArtifact(context.manifest()));
  SLIPWAY_ASSIGN_OR_RETURN(held.program, LoadProgram(artifact, drivers_));
  SLIPWAY_ASSIGN_OR_RETURN(held.context, held.program->NewContext(held.options));
  loaded.set_load_ns(NowNs() - begin);
  const CheckedManifest& manifest = artifact.manifest();
  AddFunction(manifest, manifest.proto().entry(), loaded);
  for (const uint32_t entry : manifest.proto().more_entries()) AddFunction(manifest, entry, loaded);
  held.functions = loaded.functions();
  handles_.PutProgram(load.program(), std::move(held));
  return absl::OkStatus();
}

absl::Status RunnerService::Allocate(const Operation::Allocate& request) {
  SLIPWAY_RETURN_IF_ERROR(handles_.CheckNew(request.tensor()));
  SLIPWAY_RETURN_IF_ERROR(CheckTensorName(request.name()));
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(request.type()));
  if (type.dtype == DataType::kString) {
    return absl::InvalidArgumentError(
        "programs take no tensors of strings: put places and contents as two tensors");
  }
  const auto contents =
      request.unset() ? TensorMemory::Contents::kAny : TensorMemory::Contents::kZero;
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, request.random()
                                              ? RandomTensor(type, request.seed(), request.name())
                                              : memory_.Make(type, contents));
  handles_.PutTensor(request.tensor(), std::move(tensor));
  return absl::OkStatus();
}

absl::Status RunnerService::Write(const Operation::Write& request, absl::string_view data) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const tensor, handles_.FindTensor(request.tensor()));
  const int64_t size = static_cast<int64_t>(data.size());
  SLIPWAY_RETURN_IF_ERROR(CheckPiece(*tensor, request.offset(), size));
  if (data.empty()) return absl::OkStatus();
  char* const to = tensor->mutable_bytes() + request.offset();
  if (BitSize(tensor->dtype()) >= 8) {
    memcpy(to, data.data(), data.size());
    return absl::OkStatus();
  }
  // The shared memory may change between a check and a copy.
  const std::string copy(data);
  int64_t bad = 0;
  if (!AreElements(tensor->dtype(), copy, &bad)) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte ", request.offset() + bad, " is ",
                     static_cast<int>(static_cast<unsigned char>(copy[static_cast<size_t>(bad)])),
                     ", which is no element of ", ToString(tensor->type())));
  }
  memcpy(to, copy.data(), copy.size());
  return absl::OkStatus();
}

absl::Status RunnerService::Read(const Operation::Read& request, absl::Span<char> data) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const tensor, handles_.FindTensor(request.tensor()));
  const int64_t size = static_cast<int64_t>(data.size());
  SLIPWAY_RETURN_IF_ERROR(CheckPiece(*tensor, request.offset(), size));
  if (!data.empty()) memcpy(data.data(), tensor->bytes().data() + request.offset(), data.size());
  return absl::OkStatus();
}

absl::Status RunnerService::Slice(const Operation::Slice& request) {
  SLIPWAY_RETURN_IF_ERROR(handles_.CheckNew(request.tensor()));
  SLIPWAY_RETURN_IF_ERROR(CheckTensorName(request.name()));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const from, handles_.FindTensor(request.from()));
  std::vector<int64_t> begin(request.begin().begin(), request.begin().end());
  std::vector<int64_t> shape(request.shape().begin(), request.shape().end());
  if (begin.empty() && shape.empty()) {
    begin.resize(from->shape().size(), 0);
    shape.assign(from->shape().begin(), from->shape().end());
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor box, CopyBox(*from, begin, shape));
  handles_.PutTensor(request.tensor(), std::move(box));
  return absl::OkStatus();
}

absl::Status RunnerService::Assign(const Operation::Assign& request) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const to, handles_.FindTensor(request.to()));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const from, handles_.FindTensor(request.from()));
  return AssignBox(*from, {request.begin().data(), static_cast<size_t>(request.begin_size())}, *to);
}

absl::StatusOr<std::vector<Tensor>> RunnerService::Find(
    const google::protobuf::RepeatedField<uint64_t>& handles) {
  std::vector<Tensor> tensors;
  tensors.reserve(static_cast<size_t>(handles.size()));
  for (const uint64_t handle : handles) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor* const tensor, handles_.FindTensor(handle));
    tensors.push_back(*tensor);
  }
  return tensors;
}

absl::Status RunnerService::Run(uint64_t program, absl::FunctionRef<absl::Status()> calls) {
  window_.status().program = program;
  const absl::Status status = calls();
  window_.status().program = 0;
  return status;
}

absl::Status RunnerService::Call(const Operation::Call& request, const std::atomic<bool>& cancelled,
                                 v1::SessionResponse::Called& called) {
  SLIPWAY_ASSIGN_OR_RETURN(HeldProgram* const held, handles_.FindProgram(request.program()));
  int entry = 0;
  if (!request.function().empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(entry, held->program->FindEntry(request.function()));
  }
  if (request.output_names_size() > request.outputs_size()) {
    return absl::InvalidArgumentError(absl::StrCat(request.output_names_size(), " names for ",
                                                   request.outputs_size(), " outputs"));
  }
  for (const std::string& name : request.output_names()) {
    SLIPWAY_RETURN_IF_ERROR(CheckTensorName(name));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Find(request.inputs()));
  std::vector<Tensor> outputs(static_cast<size_t>(request.outputs_size()));
  uint64_t last_new = 0;
  for (int i = 0; i < request.outputs_size(); ++i) {
    const uint64_t handle = request.outputs(i);
    if (handles_.HasTensor(handle)) {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor* const tensor, handles_.FindTensor(handle));
      outputs[static_cast<size_t>(i)] = *tensor;
      continue;
    }
    SLIPWAY_RETURN_IF_ERROR(handles_.CheckNew(handle));
    if (handle <= last_new) {
      return absl::InvalidArgumentError("new handles of outputs must rise");
    }
    last_new = handle;
  }
  if (!held->was_called) Log(LogLevel::kDebug, "calls the program", {{"program", held->name}});
  held->was_called = true;
  const int64_t begin = NowNs();
  const std::optional<int64_t> worked = held->context->worked_ns();
  const CallOptions options = {
      .entry = entry, .profile = request.profile(), .cancelled = &cancelled};
  SLIPWAY_RETURN_IF_ERROR(Run(request.program(), [&] {
    return held->context->Run(inputs, absl::MakeSpan(outputs), options);
  }));
  const std::optional<int64_t> worked_after = held->context->worked_ns();
  called.set_duration_ns(worked.has_value() ? *worked_after - *worked : NowNs() - begin);
  called.set_threads(held->options.threads);
  if (request.profile()) {
    for (v1::StepTime& time : StepTimes(*held->program, held->context->step_timings())) {
      *called.add_steps() = std::move(time);
    }
  }
  for (int i = 0; i < request.outputs_size(); ++i) {
    Tensor& output = outputs[static_cast<size_t>(i)];
    *called.add_outputs() = ToProto(output.type());
    const uint64_t handle = request.outputs(i);
    if (!handles_.HasTensor(handle)) {
      handles_.PutTensor(handle, std::move(output));
    } else {
      // Found out while running, it may have been made anew.
      handles_.ReplaceTensor(handle, std::move(output));
    }
  }
  return absl::OkStatus();
}

absl::Status RunnerService::Time(const Operation::Time& request, const std::atomic<bool>& cancelled,
                                 v1::BenchmarkResult& result) {
  SLIPWAY_RETURN_IF_ERROR(InRange("warmup", request.warmup(), 0, kMaxSamples));
  SLIPWAY_RETURN_IF_ERROR(InRange("samples", request.samples(), 0, kMaxSamples));
  SLIPWAY_RETURN_IF_ERROR(InRange("min_sample_ns", request.min_sample_ns(), 0, kMaxSamplingNs));
  SLIPWAY_RETURN_IF_ERROR(InRange("cool_down_ns", request.cool_down_ns(), 0, kMaxSamplingNs));
  const Operation::Call& call = request.call();
  SLIPWAY_ASSIGN_OR_RETURN(HeldProgram* const held, handles_.FindProgram(call.program()));
  int entry = 0;
  if (!call.function().empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(entry, held->program->FindEntry(call.function()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Find(call.inputs()));
  std::vector<Tensor> outputs(static_cast<size_t>(held->functions[entry].outputs_size()));
  SampleOptions options;
  options.warmup = request.warmup();
  options.samples = request.samples() == 0 ? kDefaultSamples : request.samples();
  if (request.min_sample_ns() > 0) options.min_sample_ns = request.min_sample_ns();
  options.flush_cache = request.flush_cache();
  options.cool_down_ns = request.cool_down_ns();
  if (attached_.has_value()) {
    if (request.flush_cache()) {
      return absl::UnimplementedError("attached: that device's caches are not emptied yet");
    }
    options.single_calls = request.min_sample_ns() == 0;
    options.device_ns = [held] { return *held->context->worked_ns(); };
  }
  result.set_clock_resolution_ns(attached_.has_value() ? attached_->clock_resolution_ns
                                                       : ClockResolutionNs());
  *result.mutable_before() = ReadMachine();
  const std::unique_ptr<AcceleratorWatch> accelerators =
      WatchDevices(held->program->devices(), accelerators_);
  options.accelerators = accelerators.get();
  const auto run = [&](bool profile) {
    return held->context->Run(inputs, absl::MakeSpan(outputs),
                              {.entry = entry, .profile = profile, .cancelled = &cancelled});
  };
  return Run(call.program(), [&] {
    SLIPWAY_RETURN_IF_ERROR(TakeSamples([&] { return run(false); }, options, result));
    *result.mutable_after() = ReadMachine();
    result.set_threads(held->options.threads);
    if (!call.profile()) return absl::OkStatus();
    return ProfileSteps(
        *held->program, *held->context, [&] { return run(true); }, result);
  });
}

absl::Status RunnerService::Free(const Operation::Free& request) {
  absl::Status first;
  for (const uint64_t handle : request.handles()) first.Update(handles_.Free(handle));
  return first;
}

v1::MachineState RunnerService::ReadMachine() const {
  if (attached_.has_value()) return attached_->read_state();
  v1::MachineState machine = ReadMachineState();
  if (accelerators_.add_states != nullptr) accelerators_.add_states(machine);
  return machine;
}

absl::Status RunnerService::GetFacts(v1::SessionResponse::Facts& facts) const {
  *facts.mutable_machine() = ReadMachine();
  if (attached_.has_value()) {
    SLIPWAY_ASSIGN_OR_RETURN(const MemoryInfo memory, attached_->device->memory_info());
    facts.set_free_bytes(memory.free);
  } else {
    facts.set_free_bytes(int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  }
  facts.set_tensor_bytes(handles_.tensor_bytes());
  facts.set_tensors(handles_.tensors());
  facts.set_programs(handles_.programs());
  return absl::OkStatus();
}

absl::Status RunnerService::List(const Operation::List& request,
                                 v1::SessionResponse::Listed& listed) {
  size_t bytes = 0;
  uint64_t last = 0;
  for (const uint64_t handle : handles_.HandlesAfter(request.after())) {
    if (bytes >= kFullListBytes || listed.programs_size() + listed.tensors_size() >= kFullList) {
      listed.set_more_after(last);
      break;
    }
    if (handles_.HasProgram(handle)) {
      SLIPWAY_ASSIGN_OR_RETURN(const HeldProgram* const held, handles_.FindProgram(handle));
      v1::SessionResponse::Listed::Program& program = *listed.add_programs();
      program.set_handle(handle);
      *program.mutable_functions() = held->functions;
      bytes += program.ByteSizeLong();
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(const Tensor* const held, handles_.FindTensor(handle));
      v1::SessionResponse::Listed::Tensor& tensor = *listed.add_tensors();
      tensor.set_handle(handle);
      *tensor.mutable_type() = ToProto(held->type());
      bytes += tensor.ByteSizeLong();
    }
    last = handle;
  }
  return absl::OkStatus();
}

absl::Status RunnerService::Put(const runner::Put& request) {
  SLIPWAY_RETURN_IF_ERROR(handles_.CheckNew(request.handle()));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, FromProto(request.tensor(), [this](const Digest& digest) {
                             return store_.Get(digest);
                           }));
  handles_.PutTensor(request.handle(), std::move(tensor));
  return absl::OkStatus();
}

absl::StatusOr<v1::Tensor> RunnerService::Fetch(const runner::Fetch& request) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor* const tensor, handles_.FindTensor(request.handle()));
  if (tensor->byte_size() <= std::min(request.max_inline_bytes(), kMaxInlineTensorBytes))
    return ToInlineProto(request.name(), *tensor);
  return ToBlobProto(request.name(), tensor->type(), Digest::Of(tensor->bytes()));
}

absl::StatusOr<v1::BenchmarkResult> RunnerService::Measure(const runner::Request& request) {
  const runner::Measure& measure = request.measure();
  MeasureOptions options;
  SLIPWAY_ASSIGN_OR_RETURN(options.context, ContextOptions(measure.load(), request.load()));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, OpenArtifact(request.load().manifest()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Find(measure.inputs()));
  Log(LogLevel::kDebug, "measures a program",
      {{"artifact", artifact.digest().hex()}, {"samples", measure.samples()}});
  options.context.position = &window_.status().position;
  if (attached_.has_value()) options.attached = &*attached_;
  options.accelerators = accelerators_;
  options.warmup = measure.warmup();
  options.samples = measure.samples();
  options.profile = measure.profile();
  options.precision_goal_ppm = measure.precision_goal_ppm();
  if (measure.has_scenario()) options.scenario = measure.scenario();
  options.seed = measure.seed();
  if (measure.has_settling()) options.settling = measure.settling();
  return MeasureProgram(artifact, drivers_, inputs, options);
}

}  // namespace slipway
