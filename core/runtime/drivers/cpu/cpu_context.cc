#include "core/runtime/drivers/cpu/cpu_context.h"

#include <time.h>

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

slipway_element_type ElementType(DataType dtype) {
  const auto bits = static_cast<uint8_t>(8 * ByteSize(dtype));
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kFloat32:
    case DataType::kFloat64:
      return {SLIPWAY_TYPE_FLOAT, bits, 1};
    case DataType::kBfloat16:
      return {SLIPWAY_TYPE_BFLOAT, bits, 1};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return {SLIPWAY_TYPE_INT, bits, 1};
    default:
      return {SLIPWAY_TYPE_UINT, bits, 1};
  }
}

int64_t MonotonicNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramContext>> CpuContext::Create(
    const CpuProgram& program, const ProgramContextOptions& options) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads must be 1 to ", kMaxThreads, ", not ", options.threads));
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena,
                           Arena::Create(program.manifest().spaces().front().arena_bytes));
  return std::unique_ptr<ProgramContext>(new CpuContext(program, options, std::move(arena)));
}

CpuContext::CpuContext(const CpuProgram& program, const ProgramContextOptions& options,
                       std::unique_ptr<Arena> arena)
    : program_(program),
      profile_(options.profile),
      arena_(std::move(arena)),
      threads_(options.threads),
      scratch_(options.scratch_bytes),
      context_(threads_, scratch_),
      context_pointer_(&context_) {
  BindValues();
  BindSteps();
  if (profile_) durations_ns_.resize(steps_.size());
}

void CpuContext::BindValues() {
  const v1::Manifest& manifest = program_.manifest().proto();
  size_t dimension_count = 0;
  for (const v1::Value& value : manifest.values()) {
    // One more, so that a scalar's pointer is valid too.
    dimension_count += static_cast<size_t>(value.shape_size()) + 1;
  }
  dimensions_.resize(dimension_count);
  buffers_.resize(static_cast<size_t>(manifest.values_size()));
  values_of_buffer_.resize(static_cast<size_t>(manifest.buffers_size()));
  slipway_dimension* next = dimensions_.data();
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const v1::Value& value = manifest.values(static_cast<int>(i));
    slipway_buffer& buffer = buffers_[i];
    buffer.type = ElementType(static_cast<DataType>(value.dtype()));
    buffer.dimensions = value.shape_size();
    buffer.dim = next;
    int64_t stride = 1;
    for (int d = value.shape_size(); d-- > 0; ++next) {
      const int64_t extent = value.shape(d).value();
      next->extent = static_cast<int32_t>(extent);
      next->stride = static_cast<int32_t>(stride);
      stride *= extent == 0 ? 1 : extent;
    }
    ++next;
    const v1::Buffer& memory = manifest.buffers(static_cast<int>(value.buffer()));
    switch (memory.class_()) {
      case v1::Buffer::CLASS_STATIC:
        buffer.host = arena_->data() + memory.arena_offset() + value.offset();
        break;
      case v1::Buffer::CLASS_CONSTANT:
        // Kernels do not write to their inputs.
        buffer.host =
            reinterpret_cast<uint8_t*>(const_cast<char*>(program_.constant(memory.constant()))) +
            value.offset();
        break;
      default:
        values_of_buffer_[value.buffer()].push_back(i);
        break;
    }
  }
}

void CpuContext::BindSteps() {
  for (const v1::Step& proto : program_.manifest().entry().steps()) {
    BoundStep step;
    if (proto.has_copy()) {
      step.from = proto.copy().from();
      step.to = proto.copy().to();
      step.bytes = static_cast<size_t>(program_.manifest().TypeOf(step.from).byte_size());
    } else {
      const v1::Step::Kernel& call = proto.kernel();
      step.kernel = program_.code(call.code()).kernel(call.kernel()).function;
      step.first_argument = argument_pointers_.size();
      argument_pointers_.push_back(&context_pointer_);
      for (const uint32_t value : call.inputs()) argument_pointers_.push_back(&buffers_[value]);
      for (const uint32_t value : call.outputs()) argument_pointers_.push_back(&buffers_[value]);
    }
    steps_.push_back(step);
  }
}

void CpuContext::BindExternal(uint32_t value, const char* bytes) {
  const v1::Manifest& manifest = program_.manifest().proto();
  const uint32_t buffer = manifest.values(static_cast<int>(value)).buffer();
  // A tensor without elements may have no address.
  uint8_t* host =
      bytes == nullptr ? arena_->data() : reinterpret_cast<uint8_t*>(const_cast<char*>(bytes));
  for (const uint32_t i : values_of_buffer_[buffer]) {
    buffers_[i].host = host + manifest.values(static_cast<int>(i)).offset();
  }
}

absl::Status CpuContext::CheckTensors(absl::Span<const Tensor> tensors,
                                      const std::vector<NamedType>& types,
                                      absl::string_view what) const {
  if (tensors.size() != types.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the program has ", types.size(), " ", what,
                                                   "s, but ", tensors.size(), " are given"));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!types[i].type.Admits(tensors[i].type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " '", absl::Utf8SafeCEscape(types[i].name), "' is ", ToString(types[i].type),
          ", but ", ToString(tensors[i].type()), " is given"));
    }
  }
  return absl::OkStatus();
}

int32_t CpuContext::RunStep(const BoundStep& step) {
  if (step.kernel != nullptr) return step.kernel(&argument_pointers_[step.first_argument]);
  std::memmove(buffers_[step.to].host, buffers_[step.from].host, step.bytes);
  return 0;
}

absl::Status CpuContext::StepError(size_t index, int32_t result) const {
  const absl::string_view text = context_.error_text();
  return absl::InternalError(absl::StrCat(
      "step ", index, " '", absl::Utf8SafeCEscape(program_.steps()[index].name),
      "' failed with result ", result, text.empty() ? "" : ": ", absl::Utf8SafeCEscape(text)));
}

absl::Status CpuContext::Run(absl::Span<const Tensor> inputs, absl::Span<Tensor> outputs) {
  const ProgramSignature& signature = program_.signature();
  SLIPWAY_RETURN_IF_ERROR(CheckTensors(inputs, signature.inputs, "input"));
  SLIPWAY_RETURN_IF_ERROR(CheckTensors(outputs, signature.outputs, "output"));
  const v1::Function& entry = program_.manifest().entry();
  for (size_t i = 0; i < inputs.size(); ++i) {
    BindExternal(entry.inputs(static_cast<int>(i)).value(), inputs[i].bytes().data());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    BindExternal(entry.outputs(static_cast<int>(i)).value(), outputs[i].mutable_bytes());
  }
  context_.ClearError();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t begin = profile_ ? MonotonicNanoseconds() : 0;
    const int32_t result = RunStep(steps_[i]);
    if (profile_) durations_ns_[i] = MonotonicNanoseconds() - begin;
    if (result != 0) return StepError(i, result);
  }
  return absl::OkStatus();
}

}  // namespace slipway
