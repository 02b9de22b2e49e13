#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/interpreter.h"
#include "core/runtime/program.h"
#include "core/runtime/resident_program.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// A tensor as an end of a copy; without a device it is the host's.
struct End {
  ComputeDevice* device;
  MemoryKind kind;
  DeviceMemory memory;
};

End EndOf(const Tensor& tensor) {
  return {nullptr,
          MemoryKind::kLocal,
          {0, reinterpret_cast<uint8_t*>(const_cast<char*>(tensor.bytes().data())),
           tensor.byte_size()}};
}

// A tensor's memory, and whose it is.
struct Range {
  const ComputeDevice* device = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
  // Inputs first.
  size_t port = 0;
};

Range RangeOf(const End& tensor, size_t port) {
  const DeviceMemory& memory = tensor.memory;
  const uint64_t begin =
      memory.address != 0 ? memory.address : reinterpret_cast<uint64_t>(memory.host);
  return {tensor.device, begin, begin + static_cast<uint64_t>(memory.bytes), port};
}

std::string PortText(const v1::Function& function, size_t port) {
  const auto inputs = static_cast<size_t>(function.inputs_size());
  return port < inputs
             ? absl::StrCat("input '",
                            absl::Utf8SafeCEscape(function.inputs(static_cast<int>(port)).name()),
                            "'")
             : absl::StrCat(
                   "output '",
                   absl::Utf8SafeCEscape(function.outputs(static_cast<int>(port - inputs)).name()),
                   "'");
}

// Kernels may write an output before they have read an input. Sorts `ranges`.
absl::Status CheckApart(const v1::Function& function, absl::Span<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.device, a.begin) < std::tie(b.device, b.begin);
  });
  // Of those before: what reaches furthest, and what of the outputs does.
  const Range* any = nullptr;
  const Range* output = nullptr;
  for (const Range& range : ranges) {
    const bool is_output = range.port >= static_cast<size_t>(function.inputs_size());
    const Range* const other = is_output ? any : output;
    if (other != nullptr && other->device == range.device && other->end > range.begin) {
      return absl::InvalidArgumentError(absl::StrCat(
          PortText(function, std::max(other->port, range.port)), " shares memory with ",
          PortText(function, std::min(other->port, range.port)), ": give it its own"));
    }
    const auto reaches_further = [&range](const Range* before) {
      return before == nullptr || before->device != range.device || before->end < range.end;
    };
    if (reaches_further(any)) any = &range;
    if (is_output && reaches_further(output)) output = &range;
  }
  return absl::OkStatus();
}

End EndOf(const DeviceTensor& tensor) {
  if (!tensor.is_set()) return {nullptr, MemoryKind::kLocal, {}};
  return {tensor.place().device.get(), tensor.place().kind, tensor.memory()};
}

absl::Status Make(const TensorPlace& /*place*/, TensorType type, Tensor& tensor) {
  SLIPWAY_ASSIGN_OR_RETURN(tensor, Tensor::Create(std::move(type)));
  return absl::OkStatus();
}

absl::Status Make(const TensorPlace& place, TensorType type, DeviceTensor& tensor) {
  SLIPWAY_ASSIGN_OR_RETURN(tensor, DeviceTensor::Create(place, std::move(type)));
  return absl::OkStatus();
}

}  // namespace

// What a call sets up around the interpreter's: memory on devices for tensors that are elsewhere.
// Room for the entry with most of them.
struct ProgramContext::Call {
  explicit Call(const ProgramPlan& plan) {
    for (const uint32_t entry : plan.entries) {
      const FunctionPlan& function = plan.functions[entry];
      const size_t ports = function.inputs.size() + function.outputs.size();
      inputs.resize(std::max(inputs.size(), function.inputs.size()));
      blocks.resize(std::max(blocks.size(), ports));
      ranges.resize(std::max(ranges.size(), ports));
    }
  }

  std::vector<TensorView> inputs;
  // Blocks that stand for tensors; null where these are used themselves. Inputs first.
  std::vector<MemoryPool::Block*> blocks;
  // Of the tensors that the caller brings.
  std::vector<Range> ranges;
};

ProgramContext::ProgramContext(const ResidentProgram& program,
                               std::unique_ptr<Interpreter> interpreter)
    : program_(program),
      interpreter_(std::move(interpreter)),
      call_(std::make_unique<Call>(program.plan())) {}

ProgramContext::~ProgramContext() = default;

absl::Span<const StepTiming> ProgramContext::step_timings() const {
  return interpreter_->timings();
}

std::optional<int64_t> ProgramContext::worked_ns() const { return interpreter_->worked_ns(); }

absl::Status ProgramContext::Run(absl::Span<const Tensor> inputs, absl::Span<Tensor> outputs,
                                 const CallOptions& options) {
  return RunAny(inputs, outputs, options);
}

absl::Status ProgramContext::Run(absl::Span<const DeviceTensor> inputs,
                                 absl::Span<DeviceTensor> outputs, const CallOptions& options) {
  return RunAny(inputs, outputs, options);
}

namespace {

absl::Status CheckCount(size_t given, size_t wanted, absl::string_view what) {
  if (given == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the program has ", wanted, " ", what, "s, but ", given, " are given"));
}

// Whether a tensor can be used where it is, in place of memory of a port's space.
bool IsIn(const ResidentProgram& program, const PortPlan& port, const End& tensor) {
  if (port.is_on_host && program.device(0)->is_host())
    return tensor.memory.host != nullptr || tensor.memory.bytes == 0;
  const TensorPlace& place = program.place_of_space(port.space);
  return tensor.device == place.device.get() && tensor.kind == place.kind;
}

// Copies at once; a device does it whose memory the host does not reach, if there is one.
absl::Status CopyTensor(const ResidentProgram& program, const End& from, const End& to,
                        int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  ComputeDevice* device = program.device(0).get();
  for (const End* end : {&from, &to}) {
    if (end->memory.host == nullptr) device = end->device;
  }
  return device->Copy({from.device, from.memory}, {to.device, to.memory}, bytes);
}

}  // namespace

template <typename AnyTensor>
absl::Status ProgramContext::RunAny(absl::Span<const AnyTensor> inputs,
                                    absl::Span<AnyTensor> outputs, const CallOptions& options) {
  const ProgramPlan& plan = program_.plan();
  const int entry = options.entry;
  if (entry < 0 || static_cast<size_t>(entry) >= plan.entries.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no entry ", entry, " of ", plan.entries.size()));
  }
  const FunctionPlan& function = plan.functions[plan.entries[static_cast<size_t>(entry)]];
  const v1::Function& proto = *function.proto;
  SLIPWAY_RETURN_IF_ERROR(CheckCount(inputs.size(), function.inputs.size(), "input"));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(outputs.size(), function.outputs.size(), "output"));
  Interpreter& interpreter = *interpreter_;
  DynamicMemory& memory = interpreter.memory();
  Call& call = *call_;
  size_t ranges = 0;
  interpreter.BeginRun(options);
  bool has_ended = false;
  const absl::Cleanup end = [&] {
    // After an error, work may still be queued that uses the caller's memory.
    if (!has_ended) interpreter.FinishRun().IgnoreError();
    interpreter.End(function);
    interpreter.EndRun();
    for (MemoryPool::Block*& block : call.blocks) {
      if (block != nullptr) memory.Return(*std::exchange(block, nullptr));
    }
    memory.SetIdle();
  };
  const auto end_of = [&](const PortPlan& port, const DeviceMemory& where) {
    const TensorPlace& place = program_.place_of_space(port.space);
    return End{place.device.get(), place.kind, where};
  };

  for (size_t i = 0; i < inputs.size(); ++i) {
    const PortPlan& port = function.inputs[i];
    const End tensor = EndOf(inputs[i]);
    TensorView& view = call.inputs[i];
    view = {inputs[i].type().dtype, inputs[i].type().shape, tensor.memory};
    if (tensor.memory.bytes > 0) call.ranges[ranges++] = RangeOf(tensor, i);
    if (IsIn(program_, port, tensor)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(call.blocks[i], memory.Take(port.space, tensor.memory.bytes));
    view.memory = call.blocks[i]->memory;
    SLIPWAY_RETURN_IF_ERROR(
        CopyTensor(program_, tensor, end_of(port, view.memory), tensor.memory.bytes));
  }
  SLIPWAY_RETURN_IF_ERROR(
      interpreter.Begin(function, absl::MakeConstSpan(call.inputs).first(inputs.size())));

  const ValueTable& values = interpreter.values();
  const auto name_of = [&](size_t i) { return PortText(proto, inputs.size() + i); };
  const auto make = [&](const PortPlan& port, AnyTensor& tensor) {
    const absl::Span<const int64_t> extents = values.extents(port.value);
    return Make(program_.place_of_space(port.space),
                {values.dtype(port.value), Shape(extents.begin(), extents.end())}, tensor);
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortPlan& port = function.outputs[i];
    if (!port.is_external) continue;
    if (!outputs[i].is_set()) SLIPWAY_RETURN_IF_ERROR_WITH(make(port, outputs[i]), name_of(i));
    const TensorType& type = outputs[i].type();
    if (type.dtype != values.dtype(port.value) || !values.HasExtents(port.value, type.shape)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_of(i), " is ", Name(values.dtype(port.value)), ToString(values.extents(port.value)),
          ", but ", ToString(type), " is given"));
    }
    const End tensor = EndOf(outputs[i]);
    if (tensor.memory.bytes > 0) call.ranges[ranges++] = RangeOf(tensor, inputs.size() + i);
    if (IsIn(program_, port, tensor)) {
      SLIPWAY_RETURN_IF_ERROR_WITH(interpreter.SetMemory(function, port, tensor.memory),
                                   name_of(i));
      continue;
    }
    MemoryPool::Block*& block = call.blocks[inputs.size() + i];
    SLIPWAY_ASSIGN_OR_RETURN(block, memory.Take(port.space, tensor.memory.bytes));
    SLIPWAY_RETURN_IF_ERROR_WITH(interpreter.SetMemory(function, port, block->memory), name_of(i));
  }

  SLIPWAY_RETURN_IF_ERROR(CheckApart(proto, absl::MakeSpan(call.ranges).first(ranges)));
  SLIPWAY_RETURN_IF_ERROR(interpreter.RunSteps(function));
  has_ended = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortPlan& port = function.outputs[i];
    if (port.is_external && call.blocks[inputs.size() + i] == nullptr) continue;
    // A tensor that was given may be held by others, who did not know its size.
    if (!port.is_external) SLIPWAY_RETURN_IF_ERROR_WITH(make(port, outputs[i]), name_of(i));
    const End tensor = EndOf(outputs[i]);
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CopyTensor(program_, end_of(port, values.memory(port.value)), tensor, tensor.memory.bytes),
        name_of(i));
  }
  return absl::OkStatus();
}

}  // namespace slipway
