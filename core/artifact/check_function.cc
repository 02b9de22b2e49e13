#include "core/artifact/check_function.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/artifact/memory_map.h"
#include "core/base/status_macros.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using absl::UnimplementedError;
using Indices = google::protobuf::RepeatedField<uint32_t>;
using Bindings = google::protobuf::RepeatedPtrField<v1::Binding>;

// Space 0 is the arena; external buffer i is space i + 1.
constexpr int kArena = 0;

// Bytes [begin, end) of a space, reached through a buffer.
struct Place {
  int space;
  int64_t begin;
  int64_t end;
  uint32_t buffer;
};

bool Overlap(const Place& a, const Place& b) {
  return a.space == b.space && a.begin < b.end && b.begin < a.end;
}

bool Same(const Place& a, const Place& b) {
  return a.space == b.space && a.begin == b.begin && a.end == b.end;
}

// REQUIRES: the value exists.
TensorType TypeOfValue(const v1::Manifest& manifest, uint32_t value) {
  const v1::Value& proto = manifest.values(static_cast<int>(value));
  TensorType type;
  type.dtype = static_cast<DataType>(proto.dtype());
  for (const v1::Dimension& dimension : proto.shape()) type.shape.push_back(dimension.value());
  return type;
}

class FunctionCheck {
 public:
  FunctionCheck(const v1::Manifest& manifest, const v1::Function& function,
                const ReaderLimits& limits)
      : manifest_(manifest), function_(function), limits_(limits) {}

  absl::Status Run() {
    if (function_.name().size() > static_cast<size_t>(limits_.name_bytes)) {
      return InvalidArgumentError("its name is too long");
    }
    SLIPWAY_RETURN_IF_ERROR(CheckBindings(function_.inputs(), "input"));
    SLIPWAY_RETURN_IF_ERROR(CheckBindings(function_.outputs(), "output"));
    SLIPWAY_RETURN_IF_ERROR(CheckExternalBuffersAreBound());
    for (const v1::Binding& input : function_.inputs()) {
      const Place place = PlaceOf(input.value());
      input_spaces_.insert(place.space);
      memory_.Write(place.space, place.begin, place.end, place.buffer);
    }
    if (function_.steps_size() > limits_.entries) {
      return absl::ResourceExhaustedError(
          absl::StrCat(function_.steps_size(), " steps, more than the limit of ", limits_.entries));
    }
    for (int i = 0; i < function_.steps_size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          CheckStep(i, function_.steps(i)),
          absl::StrCat("step ", i, " '", absl::Utf8SafeCEscape(function_.steps(i).name()), "'"));
    }
    for (const v1::Binding& output : function_.outputs()) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          CheckRead(output.value()),
          absl::StrCat("output '", absl::Utf8SafeCEscape(output.name()), "'"));
    }
    return absl::OkStatus();
  }

 private:
  const v1::Buffer& BufferOf(uint32_t value) const {
    return manifest_.buffers(static_cast<int>(manifest_.values(static_cast<int>(value)).buffer()));
  }

  // REQUIRES: the value exists and is no constant.
  Place PlaceOf(uint32_t value) const {
    const v1::Value& proto = manifest_.values(static_cast<int>(value));
    const v1::Buffer& buffer = BufferOf(value);
    const bool in_arena = buffer.class_() == v1::Buffer::CLASS_STATIC;
    const int64_t begin = proto.offset() + (in_arena ? buffer.arena_offset() : 0);
    return {in_arena ? kArena : static_cast<int>(proto.buffer()) + 1, begin,
            begin + TypeOfValue(manifest_, value).byte_size(), proto.buffer()};
  }

  absl::Status CheckExists(uint32_t value) const {
    if (value < static_cast<uint32_t>(manifest_.values_size())) {
      return absl::OkStatus();
    }
    return InvalidArgumentError(absl::StrCat("value ", value, " does not exist"));
  }

  absl::Status CheckBindings(const Bindings& bindings, absl::string_view what) {
    if (bindings.size() > limits_.bindings) {
      return absl::ResourceExhaustedError(
          absl::StrCat(bindings.size(), " ", what, "s, more than the limit of ", limits_.bindings));
    }
    absl::flat_hash_set<absl::string_view> names;
    for (const v1::Binding& binding : bindings) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          CheckBinding(binding, names),
          absl::StrCat(what, " '", absl::Utf8SafeCEscape(binding.name()), "'"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckBinding(const v1::Binding& binding,
                            absl::flat_hash_set<absl::string_view>& names) {
    if (binding.name().size() > static_cast<size_t>(limits_.binding_name_bytes)) {
      return InvalidArgumentError(
          absl::StrCat("its name has more than ", limits_.binding_name_bytes, " bytes"));
    }
    if (!names.insert(binding.name()).second) {
      return InvalidArgumentError("its name is used twice");
    }
    SLIPWAY_RETURN_IF_ERROR(CheckExists(binding.value()));
    const v1::Value& value = manifest_.values(static_cast<int>(binding.value()));
    const v1::Buffer& buffer = BufferOf(binding.value());
    if (buffer.class_() != v1::Buffer::CLASS_EXTERNAL || value.offset() != 0) {
      return InvalidArgumentError(
          absl::StrCat("value ", binding.value(), " does not begin an external buffer"));
    }
    if (buffer.size().constant() != TypeOfValue(manifest_, binding.value()).byte_size()) {
      return InvalidArgumentError(absl::StrCat("value ", binding.value(),
                                               " does not fill its external buffer of ",
                                               buffer.size().constant(), " bytes"));
    }
    if (!bound_buffers_.insert(value.buffer()).second) {
      return InvalidArgumentError(
          absl::StrCat("buffer ", value.buffer(), " is bound to another one as well"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckExternalBuffersAreBound() const {
    for (int i = 0; i < manifest_.buffers_size(); ++i) {
      if (manifest_.buffers(i).class_() == v1::Buffer::CLASS_EXTERNAL &&
          !bound_buffers_.contains(static_cast<uint32_t>(i))) {
        return InvalidArgumentError(
            absl::StrCat("external buffer ", i, " is no input and no output"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRead(uint32_t value) const {
    SLIPWAY_RETURN_IF_ERROR(CheckExists(value));
    if (BufferOf(value).class_() == v1::Buffer::CLASS_CONSTANT) {
      return absl::OkStatus();
    }
    const Place place = PlaceOf(value);
    if (memory_.Holds(place.space, place.begin, place.end, place.buffer)) {
      return absl::OkStatus();
    }
    return InvalidArgumentError(absl::StrCat("value ", value,
                                             " is read, but has not been written or was written "
                                             "over through another buffer"));
  }

  // Checks a step that reads and writes these values, and notes the writes.
  absl::Status CheckAccess(const Indices& inputs, const Indices& outputs) {
    std::vector<Place> read;
    for (const uint32_t input : inputs) {
      SLIPWAY_RETURN_IF_ERROR(CheckRead(input));
      if (BufferOf(input).class_() != v1::Buffer::CLASS_CONSTANT) {
        read.push_back(PlaceOf(input));
      }
    }
    std::vector<Place> written;
    for (const uint32_t output : outputs) {
      SLIPWAY_RETURN_IF_ERROR(CheckExists(output));
      if (BufferOf(output).class_() == v1::Buffer::CLASS_CONSTANT) {
        return InvalidArgumentError(absl::StrCat("value ", output, " is constant, but written"));
      }
      const Place place = PlaceOf(output);
      if (input_spaces_.contains(place.space)) {
        return InvalidArgumentError(absl::StrCat("value ", output, " is an input, but written"));
      }
      for (const Place& other : written) {
        if (Overlap(place, other)) {
          return InvalidArgumentError(
              absl::StrCat("value ", output, " overlaps another output of the step"));
        }
      }
      for (const Place& other : read) {
        if (Overlap(place, other) && !Same(place, other)) {
          return InvalidArgumentError(
              absl::StrCat("value ", output, " overlaps a part of an input of the step"));
        }
      }
      written.push_back(place);
    }
    for (const Place& place : written) {
      memory_.Write(place.space, place.begin, place.end, place.buffer);
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernel(const v1::Step& step) {
    const v1::Step::Kernel& kernel = step.kernel();
    if (kernel.code() >= static_cast<uint32_t>(manifest_.code_size())) {
      return InvalidArgumentError(absl::StrCat("code ", kernel.code(), " does not exist"));
    }
    const v1::Code& code = manifest_.code(static_cast<int>(kernel.code()));
    if (kernel.kernel() >= code.kernel_count()) {
      return InvalidArgumentError(absl::StrCat("kernel ", kernel.kernel(), " does not exist: code ",
                                               kernel.code(), " has ", code.kernel_count()));
    }
    if (kernel.has_launch()) return UnimplementedError("launch sizes are not supported");
    if (code.device() != step.device()) {
      return InvalidArgumentError(absl::StrCat("code ", kernel.code(), " is for device ",
                                               code.device(), ", but the step runs on device ",
                                               step.device()));
    }
    if (kernel.inputs_size() > limits_.arguments_per_step ||
        kernel.outputs_size() > limits_.arguments_per_step) {
      return absl::ResourceExhaustedError(
          absl::StrCat("has more than ", limits_.arguments_per_step, " inputs or outputs"));
    }
    if (kernel.outputs_size() == 0) {
      return InvalidArgumentError("writes nothing");
    }
    return CheckAccess(kernel.inputs(), kernel.outputs());
  }

  absl::Status CheckCopy(const v1::Step::Copy& copy) {
    SLIPWAY_RETURN_IF_ERROR(CheckExists(copy.from()));
    SLIPWAY_RETURN_IF_ERROR(CheckExists(copy.to()));
    const TensorType from = TypeOfValue(manifest_, copy.from());
    const TensorType to = TypeOfValue(manifest_, copy.to());
    if (from != to) {
      return InvalidArgumentError(absl::StrCat("copies ", ToString(from), " to ", ToString(to)));
    }
    Indices inputs;
    inputs.Add(copy.from());
    Indices outputs;
    outputs.Add(copy.to());
    return CheckAccess(inputs, outputs);
  }

  absl::Status CheckStep(int index, const v1::Step& step) {
    if (step.name().size() > static_cast<size_t>(limits_.step_name_bytes)) {
      return InvalidArgumentError(
          absl::StrCat("its name has more than ", limits_.step_name_bytes, " bytes"));
    }
    if (step.operators_size() > limits_.operators_per_step) {
      return absl::ResourceExhaustedError(
          absl::StrCat("has more than ", limits_.operators_per_step, " operators"));
    }
    for (const std::string& name : step.operators()) {
      if (name.size() > static_cast<size_t>(limits_.name_bytes)) {
        return InvalidArgumentError("the name of an operator is too long");
      }
    }
    if (step.device() >= static_cast<uint32_t>(manifest_.devices_size())) {
      return InvalidArgumentError(absl::StrCat("device ", step.device(), " does not exist"));
    }
    if (step.queue() != 0) {
      return UnimplementedError(absl::StrCat("queue ", step.queue(), ": a CPU has queue 0 alone"));
    }
    for (const uint32_t before : step.after()) {
      if (before >= static_cast<uint32_t>(index)) {
        return InvalidArgumentError(
            absl::StrCat("waits for step ", before, ", which does not come before it"));
      }
    }
    switch (step.kind_case()) {
      case v1::Step::kKernel:
        return CheckKernel(step);
      case v1::Step::kCopy:
        return CheckCopy(step.copy());
      case v1::Step::kBindSymbols:
        return UnimplementedError("steps that bind symbols are not supported");
      case v1::Step::kBranch:
        return UnimplementedError("branches are not supported");
      case v1::Step::kLoop:
        return UnimplementedError("loops are not supported");
      case v1::Step::KIND_NOT_SET:
        return InvalidArgumentError("kind is not set");
    }
    return InvalidArgumentError("kind is unknown");
  }

  const v1::Manifest& manifest_;
  const v1::Function& function_;
  const ReaderLimits& limits_;
  absl::flat_hash_set<uint32_t> bound_buffers_;
  absl::flat_hash_set<int> input_spaces_;
  MemoryMap memory_;
};

}  // namespace

absl::Status CheckFunction(const v1::Manifest& manifest, const v1::Function& function,
                           const ReaderLimits& limits) {
  return FunctionCheck(manifest, function, limits).Run();
}

}  // namespace slipway
