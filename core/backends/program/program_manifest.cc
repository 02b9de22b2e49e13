#include "core/backends/program/program_manifest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/operators/fused.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

using Kind = PlannedBuffer::Kind;

// Names are for people; the format bounds them.
std::string Shortened(absl::string_view name, int max_bytes) {
  return std::string(Utf8Prefix(name, static_cast<size_t>(max_bytes)));
}

class ManifestBuilder {
 public:
  ManifestBuilder(const BackendRequest& request, const OperatorRegistry& registry,
                  const ProgramCode& code)
      : request_(request),
        registry_(registry),
        code_(code),
        value_ids_(request.graph.values.size(), -1) {}

  absl::StatusOr<v1::Manifest> Run(const std::vector<PlacedConstant>& constants,
                                   std::vector<ToolUsed> tools);

 private:
  void AddHeader(std::vector<ToolUsed> tools);
  void AddConstants(const std::vector<PlacedConstant>& constants);
  void AddBuffers();
  uint32_t ValueIndex(ValueId id);
  uint32_t AddValue(const TensorType& type, int buffer, int64_t offset);
  absl::Status AddKernelStep(const Node& node, uint32_t kernel);
  absl::Status CheckNeedsNoStep(const Node& node) const;
  absl::Status AddSteps();
  void AddBindings();

  const BackendRequest& request_;
  const OperatorRegistry& registry_;
  const ProgramCode& code_;
  const ReaderLimits limits_;
  std::vector<int> value_ids_;  // By value of the graph: that of the manifest, once it has one.
  v1::Manifest manifest_;
  v1::Function* main_ = nullptr;
};

void ManifestBuilder::AddHeader(std::vector<ToolUsed> tools) {
  manifest_.set_min_reader_abi(SLIPWAY_ABI_VERSION);
  manifest_.set_target(request_.target.ToString());
  manifest_.set_name(Shortened(request_.graph.name, limits_.name_bytes));
  manifest_.set_compile_key(request_.compile_key);
  for (const DeviceTarget& device : request_.target.devices) {
    manifest_.add_devices()->set_target(device.ToString());
  }
  v1::Code& code = *manifest_.add_code();
  code.set_kind(v1::Code::KIND_ELF);
  *code.mutable_blob() = ToProto(code_.blob);
  code.set_kernel_count(code_.kernel_count);
  std::sort(tools.begin(), tools.end(),
            [](const ToolUsed& a, const ToolUsed& b) { return a.name < b.name; });
  for (const ToolUsed& tool : tools) {
    v1::ToolVersion& proto = *manifest_.add_tools();
    proto.set_name(tool.name);
    proto.set_version(tool.version);
  }
}

void ManifestBuilder::AddConstants(const std::vector<PlacedConstant>& constants) {
  for (const PlacedConstant& constant : constants) {
    v1::Constant& proto = *manifest_.add_constants();
    *proto.mutable_blob() = ToProto(constant.blob);
    proto.set_offset(constant.offset);
    proto.set_size_bytes(constant.size_bytes);
  }
}

void ManifestBuilder::AddBuffers() {
  uint32_t next_constant = 0;
  for (const PlannedBuffer& planned : request_.memory.buffers) {
    v1::Buffer& buffer = *manifest_.add_buffers();
    buffer.mutable_size()->set_constant(planned.size_bytes);
    switch (planned.kind) {
      case Kind::kArena:
        buffer.set_class_(v1::Buffer::CLASS_STATIC);
        buffer.set_arena_offset(planned.arena_offset);
        break;
      case Kind::kInput:
      case Kind::kOutput:
        buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
        break;
      case Kind::kConstant:
        buffer.set_class_(v1::Buffer::CLASS_CONSTANT);
        buffer.set_constant(next_constant++);
        break;
    }
  }
}

uint32_t ManifestBuilder::AddValue(const TensorType& type, int buffer, int64_t offset) {
  v1::Value& value = *manifest_.add_values();
  value.set_dtype(static_cast<v1::DataType>(type.dtype));
  for (const int64_t extent : type.shape) value.add_shape()->set_value(extent);
  value.set_buffer(static_cast<uint32_t>(buffer));
  value.set_offset(offset);
  return static_cast<uint32_t>(manifest_.values_size()) - 1;
}

uint32_t ManifestBuilder::ValueIndex(ValueId id) {
  if (value_ids_[id] < 0) {
    const PlannedValue& place = request_.memory.values[id];
    value_ids_[id] = static_cast<int>(
        AddValue(request_.graph.values[id].type->tensor(), place.buffer, place.offset));
  }
  return static_cast<uint32_t>(value_ids_[id]);
}

absl::Status ManifestBuilder::AddKernelStep(const Node& node, uint32_t kernel) {
  v1::Step& step = *main_->add_steps();
  step.set_name(Shortened(DisplayName(request_.graph, node), limits_.step_name_bytes));
  const Graph& body =
      **node.attributes.FindAs<std::shared_ptr<const Graph>>(absl::string_view(kFusedBody));
  for (const Node& inner : body.nodes) {
    step.add_operators(std::string(absl::StripPrefix(inner.op, "slipway.")));
  }
  v1::Step::Kernel& call = *step.mutable_kernel();
  call.set_kernel(kernel);
  for (const ValueId id : node.inputs) call.add_inputs(ValueIndex(id));
  for (const ValueId id : node.outputs) call.add_outputs(ValueIndex(id));
  const int arguments = call.inputs_size() + call.outputs_size();
  if (arguments > limits_.arguments_per_step) {
    return absl::ResourceExhaustedError(absl::StrCat("node \"", step.name(), "\" has ", arguments,
                                                     " inputs and outputs, more than the limit of ",
                                                     limits_.arguments_per_step));
  }
  return absl::OkStatus();
}

absl::Status ManifestBuilder::CheckNeedsNoStep(const Node& node) const {
  const PlannedValue& to = request_.memory.values[node.outputs[0]];
  int64_t offset = to.offset;
  for (const ValueId id : node.inputs) {
    const PlannedValue& from = request_.memory.values[id];
    if (from.buffer != to.buffer || from.offset != offset) {
      return absl::InternalError(absl::StrCat("node \"", DisplayName(request_.graph, node), "\" (",
                                              node.op, ") is not fused, but has to move data"));
    }
    offset += request_.graph.values[id].type->byte_size();
    // A view's further inputs say its shape.
    if (registry_.MovementOf(node.op) != Movement::kConcat) break;
  }
  return absl::OkStatus();
}

absl::Status ManifestBuilder::AddSteps() {
  const Graph& graph = request_.graph;
  const MemoryPlan& memory = request_.memory;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (registry_.Find(node.op)->pattern == Pattern::kKernel) {
      SLIPWAY_RETURN_IF_ERROR(AddKernelStep(node, code_.kernel_of_node[n]));
    } else {
      SLIPWAY_RETURN_IF_ERROR(CheckNeedsNoStep(node));
    }
  }
  for (size_t i = 0; i < memory.outputs.size(); ++i) {
    const PlannedOutput& output = memory.outputs[i];
    if (!output.copy) continue;
    v1::Step& step = *main_->add_steps();
    step.set_name(
        Shortened(absl::StrCat("Copy ", graph.values[output.value].name), limits_.step_name_bytes));
    step.add_operators("Identity");
    step.mutable_copy()->set_from(ValueIndex(output.value));
    step.mutable_copy()->set_to(main_->outputs(static_cast<int>(i)).value());
  }
  return absl::OkStatus();
}

void ManifestBuilder::AddBindings() {
  const Graph& graph = request_.graph;
  for (const ValueId id : graph.inputs) {
    v1::Binding& input = *main_->add_inputs();
    input.set_name(graph.values[id].name);
    input.set_value(ValueIndex(id));
  }
  for (const PlannedOutput& planned : request_.memory.outputs) {
    v1::Binding& output = *main_->add_outputs();
    output.set_name(graph.values[planned.value].name);
    output.set_value(planned.copy
                         ? AddValue(graph.values[planned.value].type->tensor(), planned.buffer, 0)
                         : ValueIndex(planned.value));
  }
}

absl::StatusOr<v1::Manifest> ManifestBuilder::Run(const std::vector<PlacedConstant>& constants,
                                                  std::vector<ToolUsed> tools) {
  AddHeader(std::move(tools));
  AddConstants(constants);
  AddBuffers();
  main_ = manifest_.add_functions();
  main_->set_name("main");
  AddBindings();
  SLIPWAY_RETURN_IF_ERROR(AddSteps());
  manifest_.set_format_version(LowestFormatVersion(manifest_));
  return std::move(manifest_);
}

}  // namespace

std::vector<Tensor> ConstantsOf(const BackendRequest& request) {
  std::vector<Tensor> constants;
  for (const PlannedBuffer& buffer : request.memory.buffers) {
    if (buffer.kind != Kind::kConstant) continue;
    constants.push_back(*request.graph.values[buffer.index].constant);
  }
  return constants;
}

absl::StatusOr<v1::Manifest> BuildManifest(const BackendRequest& request,
                                           const OperatorRegistry& registry,
                                           const ProgramCode& code,
                                           const std::vector<PlacedConstant>& constants,
                                           std::vector<ToolUsed> tools) {
  return ManifestBuilder(request, registry, code).Run(constants, std::move(tools));
}

}  // namespace slipway
