#include "core/runtime/interpreter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/input_match.h"
#include "core/base/status_macros.h"
#include "core/runtime/loop_runner.h"
#include "core/runtime/measure_step.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// Along each of x, y and z.
constexpr int64_t kMaxGroups = (int64_t{1} << 31) - 1;

std::string InputText(const FunctionPlan& function, size_t input) {
  return absl::StrCat("input '",
                      absl::Utf8SafeCEscape(function.proto->inputs(static_cast<int>(input)).name()),
                      "'");
}

// Of an input that is no tensor the function takes.
absl::Status TypeError(const CheckedManifest& manifest, const FunctionPlan& function, size_t input,
                       const TensorView& view) {
  return CheckInput(manifest.SignatureOf(function.index).inputs[input],
                    {view.dtype, Shape(view.extents.begin(), view.extents.end())});
}

std::string StepText(const FunctionPlan& function, const StepPlan& step) {
  return absl::StrCat("step ", &step - function.steps.data(), " '",
                      absl::Utf8SafeCEscape(step.proto->name()), "'");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Interpreter>> Interpreter::Create(
    const ResidentProgram& program, const InterpreterOptions& options) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(program, options));
  SLIPWAY_RETURN_IF_ERROR(interpreter->Prepare());
  return interpreter;
}

Interpreter::Interpreter(const ResidentProgram& program, const InterpreterOptions& options)
    : program_(program),
      options_(options),
      values_(program.manifest().proto()),
      symbols_(program.manifest()),
      memory_(program, values_, options.dynamic_bytes),
      frames_(program.plan().functions.size()),
      launches_(program.plan().launches),
      launch_sizes_(program.plan().launches),
      position_(options.position != nullptr ? options.position : &own_position_) {
  EndRun();
}

Interpreter::~Interpreter() {
  // Queued work may still use what follows; nobody is left to tell an error to.
  FinishRun().IgnoreError();
  loops_.clear();
  launches_.clear();
  events_.clear();
  queues_.clear();
  for (uint32_t i = 0; i < arenas_.size(); ++i) {
    program_.place_of_space(i).device->Free(arenas_[i]);
  }
}

absl::Status Interpreter::Prepare() {
  const ProgramPlan& plan = program_.plan();
  for (size_t i = 0; i < program_.device_count(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<DeviceQueues> queues,
                             program_.device(static_cast<uint32_t>(i))->NewQueues(options_.queues));
    queues_.push_back(std::move(queues));
  }
  SLIPWAY_RETURN_IF_ERROR(PrepareMemory());
  SLIPWAY_RETURN_IF_ERROR(ComputeStage(plan.constants));
  return PrepareLaunches();
}

absl::Status Interpreter::PrepareMemory() {
  const v1::Manifest& manifest = program_.manifest().proto();
  const std::vector<ProgramSpace>& spaces = program_.manifest().spaces();
  for (uint32_t i = 0; i < spaces.size(); ++i) {
    const TensorPlace& place = program_.place_of_space(i);
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const DeviceMemory arena,
                                  place.device->Allocate(spaces[i].arena_bytes, place.kind),
                                  absl::StrCat("arena of memory space ", i));
    arenas_.push_back(arena);
  }
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    const v1::Buffer& buffer = manifest.buffers(i);
    const auto index = static_cast<uint32_t>(i);
    if (buffer.class_() == v1::Buffer::CLASS_CONSTANT) {
      values_.SetBuffer(index, program_.constant(index));
    } else if (buffer.class_() == v1::Buffer::CLASS_STATIC) {
      DeviceMemory memory = arenas_[buffer.space()].From(buffer.arena_offset());
      memory.bytes = buffer.size().constant();
      values_.SetBuffer(index, memory);
    }
  }
  return absl::OkStatus();
}

absl::Status Interpreter::PrepareLaunches() {
  size_t branch_inputs = 0;
  size_t results = 0;
  for (const FunctionPlan& function : program_.plan().functions) {
    for (const StepPlan& step : function.steps) {
      const v1::Step& proto = *step.proto;
      branch_inputs = std::max(branch_inputs, static_cast<size_t>(proto.branch().inputs_size()));
      results = std::max(results, static_cast<size_t>(proto.branch().outputs_size()));
      if (proto.has_loop()) loops_.push_back(std::make_unique<LoopRunner>(*this, step));
      if (!proto.has_kernel()) continue;
      const v1::Step::Kernel& call = proto.kernel();
      std::vector<slipway_buffer*> arguments;
      for (const uint32_t value : call.inputs()) arguments.push_back(&values_.descriptor(value));
      for (const uint32_t value : call.outputs()) arguments.push_back(&values_.descriptor(value));
      if (step.is_left_out) continue;
      if (step.chosen >= 0) {
        const ChosenStep& made = program_.chosen_steps()[static_cast<size_t>(step.chosen)];
        SLIPWAY_ASSIGN_OR_RETURN_WITH(
            launches_[step.launch],
            queues_[step.device]->PrepareLibrary(*made.way, ArgumentsOf(made.step, values_),
                                                 StepText(function, step)),
            StepText(function, step));
        continue;
      }
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          launches_[step.launch],
          queues_[step.device]->Prepare(program_.code(call.code()), call.kernel(), arguments,
                                        StepText(function, step)),
          StepText(function, step));
      LaunchSizes& sizes = launch_sizes_[step.launch];
      for (size_t i = 0; i < 3 && i < static_cast<size_t>(call.launch().groups_size()); ++i) {
        sizes.groups[i] = symbols_.Number(call.launch().groups(static_cast<int>(i)));
      }
      for (size_t i = 0; i < 3 && i < static_cast<size_t>(call.launch().group_size()); ++i) {
        sizes.group[i] = call.launch().group(static_cast<int>(i));
      }
      sizes.shared_bytes = call.launch().shared_bytes();
    }
  }
  branch_inputs_.reserve(branch_inputs);
  results_.reserve(results);
  events_.resize(program_.plan().events);
  for (const FunctionPlan& function : program_.plan().functions) {
    for (const StepPlan& step : function.steps) {
      if (step.event < 0) continue;
      SLIPWAY_ASSIGN_OR_RETURN(events_[static_cast<size_t>(step.event)],
                               queues_[step.device]->NewEvent());
    }
  }
  return absl::OkStatus();
}

void Interpreter::BeginRun(const CallOptions& options) {
  turns_made_ = 0;
  call_ = &options;
  is_watched_ = options.profile || options.cancelled != nullptr;
  timings_.clear();
  if (!options.profile) return;
  StepTiming unrun;
  if (options_.queues.threads > 1)
    unrun.threads.resize(static_cast<size_t>(options_.queues.threads));
  timings_.resize(program_.plan().steps, unrun);
}

absl::Status Interpreter::FinishRun() {
  absl::Status first;
  for (const std::unique_ptr<DeviceQueues>& queues : queues_) first.Update(queues->Finish());
  memory_.SetIdle();
  return first;
}

TensorView Interpreter::ViewOf(uint32_t value) const {
  return {values_.dtype(value), values_.extents(value), values_.memory(value),
          values_.offset(value) == 0 ? memory_.block(values_.buffer(value)) : nullptr};
}

absl::Status Interpreter::CopyNow(uint32_t space, const DeviceMemory& from, const DeviceMemory& to,
                                  int64_t bytes) {
  // Tensors without elements may have no address.
  if (bytes == 0) return absl::OkStatus();
  ComputeDevice& device = *program_.place_of_space(space).device;
  return device.Copy({&device, from}, {&device, to}, bytes);
}

absl::Status Interpreter::ReadNow(uint32_t space, const DeviceMemory& from, void* to,
                                  int64_t bytes) {
  if (from.host != nullptr) {
    std::memcpy(to, from.host, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  ComputeDevice& device = *program_.place_of_space(space).device;
  return device.Copy({&device, from}, {nullptr, {0, static_cast<uint8_t*>(to), bytes}}, bytes);
}

absl::Status Interpreter::WriteNow(uint32_t space, const void* from, const DeviceMemory& to,
                                   int64_t bytes) {
  if (to.host != nullptr) {
    std::memcpy(to.host, from, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  ComputeDevice& device = *program_.place_of_space(space).device;
  auto* const source = static_cast<uint8_t*>(const_cast<void*>(from));
  return device.Copy({nullptr, {0, source, bytes}}, {&device, to}, bytes);
}

std::optional<int64_t> Interpreter::worked_ns() const {
  std::optional<int64_t> sum;
  for (const std::unique_ptr<DeviceQueues>& queues : queues_) {
    const std::optional<int64_t> worked = queues->worked_ns();
    if (worked.has_value()) sum = sum.value_or(0) + *worked;
  }
  return sum;
}

absl::Status Interpreter::Begin(const FunctionPlan& function, absl::Span<const TensorView> inputs) {
  Frame& frame = frames_[function.index];
  frame.call = symbols_.BeginCall();
  frame.stage = 0;
  if (function.has_symbolic_inputs) {
    SLIPWAY_RETURN_IF_ERROR(BindSymbolicInputs(function, inputs));
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint32_t value = function.inputs[i].value;
      if (ABSL_PREDICT_FALSE(inputs[i].dtype != values_.dtype(value) ||
                             !values_.HasExtents(value, inputs[i].extents))) {
        return TypeError(program_.manifest(), function, i, inputs[i]);
      }
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    memory_.Note(function.inputs[i].buffer, inputs[i].block);
    SLIPWAY_RETURN_IF_ERROR(SetMemory(function, function.inputs[i], inputs[i].memory));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::BindSymbolicInputs(const FunctionPlan& function,
                                             absl::Span<const TensorView> inputs) {
  Frame& frame = frames_[function.index];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = function.inputs[i].value;
    if (inputs[i].dtype != values_.dtype(value) ||
        inputs[i].extents.size() != values_.extents(value).size()) {
      return TypeError(program_.manifest(), function, i, inputs[i]);
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(
        symbols_.BindExtents(frame.call, values_.proto(value), inputs[i].extents),
        InputText(function, i));
  }
  if (frame.evaluated_at != symbols_.changes()) {
    frame.evaluated_at = 0;
    SLIPWAY_RETURN_IF_ERROR(ComputeStage(function.stages[0]));
    frame.evaluated_at = symbols_.changes();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        symbols_.CompareExtents(values_.proto(function.inputs[i].value), inputs[i].extents),
        InputText(function, i));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::ComputeStage(const StagePlan& stage) {
  SLIPWAY_RETURN_IF_ERROR(symbols_.Evaluate(stage.expressions));
  for (const v1::Constraint* constraint : stage.constraints) {
    SLIPWAY_RETURN_IF_ERROR(symbols_.CheckHolds(*constraint));
  }
  for (const uint32_t value : stage.values) {
    SLIPWAY_RETURN_IF_ERROR(values_.SetExtents(value, symbols_.expressions()));
    const uint32_t buffer = values_.buffer(value);
    const v1::Buffer::Class kind = program_.plan().buffer_classes[buffer];
    // Of the others, the memory is not known yet, or is checked where it is.
    if (kind != v1::Buffer::CLASS_STATIC && kind != v1::Buffer::CLASS_CONSTANT) continue;
    SLIPWAY_RETURN_IF_ERROR(values_.CheckFits(value, values_.buffer_memory(buffer).bytes));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::BeginStage(const FunctionPlan& function, uint32_t stage) {
  SLIPWAY_RETURN_IF_ERROR(ComputeStage(function.stages[stage]));
  frames_[function.index].stage = stage;
  for (const uint32_t value : function.stages[stage].values) {
    const uint32_t buffer = values_.buffer(value);
    const bool is_external = program_.plan().buffer_classes[buffer] == v1::Buffer::CLASS_EXTERNAL;
    if (memory_.block(buffer) == nullptr && !is_external) continue;
    SLIPWAY_RETURN_IF_ERROR(values_.CheckFits(value, values_.buffer_memory(buffer).bytes));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::CheckFits(const FunctionPlan& function, uint32_t buffer) {
  for (const uint32_t value : values_.values_of_buffer(buffer)) {
    if (program_.plan().value_stages[value] > frames_[function.index].stage) continue;
    SLIPWAY_RETURN_IF_ERROR(values_.CheckFits(value, values_.buffer_memory(buffer).bytes));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::Place(const FunctionPlan& function, uint32_t buffer) {
  const int64_t bytes =
      symbols_.Number(program_.manifest().proto().buffers(static_cast<int>(buffer)).size());
  if (bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", buffer, " comes to ", bytes, " bytes"));
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(memory_.Place(buffer, bytes), absl::StrCat("buffer ", buffer));
  return CheckFits(function, buffer);
}

absl::Status Interpreter::Call(const FunctionPlan& function, absl::Span<const TensorView> inputs) {
  SLIPWAY_RETURN_IF_ERROR(Begin(function, inputs));
  return RunSteps(function);
}

void Interpreter::End(const FunctionPlan& function) {
  for (const uint32_t buffer : function.pooled) memory_.Release(buffer);
}

absl::Status Interpreter::RunSteps(const FunctionPlan& function) {
  for (const StepPlan& step : function.steps) {
    position_->store(step.number, std::memory_order_relaxed);
    const absl::Status status =
        ABSL_PREDICT_FALSE(is_watched_) ? RunWatchedStep(function, step)
        : step.is_plain_launch ? queues_[step.device]->Launch(step.queue, *launches_[step.launch],
                                                              launch_sizes_[step.launch])
                               : RunStep(function, step);
    if (ABSL_PREDICT_FALSE(!status.ok())) return Annotate(status, StepText(function, step));
  }
  return Finish(function);
}

absl::Status Interpreter::Finish(const FunctionPlan& function) {
  for (const uint32_t device : function.asynchronous_devices) {
    SLIPWAY_RETURN_IF_ERROR_WITH(queues_[device]->Finish(), absl::StrCat("device ", device));
  }
  memory_.SetIdle();
  return absl::OkStatus();
}

absl::Status Interpreter::RunStep(const FunctionPlan& function, const StepPlan& step) {
  SLIPWAY_RETURN_IF_ERROR(QueueStep(function, step));
  Release(step);
  return absl::OkStatus();
}

absl::Status Interpreter::QueueStep(const FunctionPlan& function, const StepPlan& step) {
  for (const uint32_t event : step.waits) {
    SLIPWAY_RETURN_IF_ERROR(queues_[step.device]->Wait(step.queue, *events_[event]));
  }
  for (const uint32_t buffer : step.place) SLIPWAY_RETURN_IF_ERROR(Place(function, buffer));
  SLIPWAY_RETURN_IF_ERROR(DoStep(function, step));
  if (step.event >= 0) {
    SLIPWAY_RETURN_IF_ERROR(
        queues_[step.device]->Record(step.queue, *events_[static_cast<size_t>(step.event)]));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::DoStep(const FunctionPlan& function, const StepPlan& step) {
  switch (step.proto->kind_case()) {
    case v1::Step::kKernel:
      return RunKernel(step);
    case v1::Step::kCopy:
      return RunCopy(step);
    case v1::Step::kBindSymbols:
      SLIPWAY_RETURN_IF_ERROR(Finish(function));
      return RunBindSymbols(function, step);
    case v1::Step::kBranch:
      SLIPWAY_RETURN_IF_ERROR(Finish(function));
      return RunBranch(function, step);
    case v1::Step::kLoop:
      SLIPWAY_RETURN_IF_ERROR(Finish(function));
      return loops_[step.loop]->Run(function);
    case v1::Step::KIND_NOT_SET:
      break;
  }
  return absl::InternalError("a step of no kind");
}

absl::Status Interpreter::RunKernel(const StepPlan& step) {
  if (step.is_left_out) return absl::OkStatus();
  LaunchSizes& sizes = launch_sizes_[step.launch];
  const v1::Step::Launch& launch = step.proto->kernel().launch();
  for (int i = 0; i < launch.groups_size(); ++i) {
    const int64_t groups = symbols_.Number(launch.groups(i));
    if (groups < 1 || groups > kMaxGroups) {
      return absl::InvalidArgumentError(
          absl::StrCat("groups along ", absl::string_view("xyz").substr(static_cast<size_t>(i), 1),
                       " come to ", groups, "; 1 to ", kMaxGroups, " are allowed"));
    }
    sizes.groups[static_cast<size_t>(i)] = groups;
  }
  return queues_[step.device]->Launch(step.queue, *launches_[step.launch], sizes);
}

absl::Status Interpreter::RunCopy(const StepPlan& step) {
  const uint32_t from = step.proto->copy().from();
  const uint32_t to = step.proto->copy().to();
  if (values_.bytes(from) != values_.bytes(to)) {
    return absl::InvalidArgumentError(absl::StrCat("copies ", ToString(values_.extents(from)),
                                                   " to ", ToString(values_.extents(to))));
  }
  return queues_[step.device]->Copy(
      step.queue, {program_.place_of_space(space_of(from)).device.get(), values_.memory(from)},
      {program_.place_of_space(space_of(to)).device.get(), values_.memory(to)},
      values_.bytes(from));
}

}  // namespace slipway
