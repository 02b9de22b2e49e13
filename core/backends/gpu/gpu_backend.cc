#include "core/backends/gpu/gpu_backend.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/gpu/attention_groups.h"
#include "core/backends/gpu/gpu_placement.h"
#include "core/backends/gpu/normalization_groups.h"
#include "core/backends/gpu/product_weights.h"
#include "core/backends/gpu/tensor_products.h"
#include "core/backends/gpu/vendor_steps.h"
#include "core/backends/host_code/host_code.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/kernel_compiler.h"
#include "core/passes/call_kernels_pass.h"
#include "core/passes/complete_outputs_pass.h"
#include "core/passes/expand_ops_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/merge_transposes_pass.h"
#include "core/passes/plan_memory_pass.h"

namespace slipway {
namespace {

constexpr int64_t kDevice = 1;

// What every device of OpenCL has, and those of CUDA as well, which compute in f64, too.
constexpr DataType kTypes[] = {
    DataType::kFloat32, DataType::kInt8,  DataType::kInt16,   DataType::kInt32,
    DataType::kInt64,   DataType::kUint8, DataType::kUint16,  DataType::kUint32,
    DataType::kUint64,  DataType::kBool,  DataType::kFloat64,
};

// What differs between kinds of devices; kernels and schedules do by their target (core/codegen).
struct GpuKind {
  Arch arch;
  v1::Code::Kind code;
  absl::Span<const DataType> types;
};

constexpr absl::Span<const DataType> kAllTypes = kTypes;
const GpuKind kKinds[] = {
    {Arch::kCuda, v1::Code::KIND_PTX, kAllTypes},
    {Arch::kOpenCl, v1::Code::KIND_OPENCL_SOURCE, kAllTypes.first(kAllTypes.size() - 1)},
};

// REQUIRES: CheckTarget.
const GpuKind& KindOf(const Target& target) {
  return *absl::c_find_if(
      kKinds, [&target](const GpuKind& kind) { return kind.arch == target.devices[kDevice].arch; });
}

class GpuBackend final : public TargetBackend {
 public:
  static absl::StatusOr<std::unique_ptr<TargetBackend>> Create(
      const BackendEnvironment& environment) {
    auto backend = std::make_unique<GpuBackend>(environment);
    SLIPWAY_RETURN_IF_ERROR(AddLowerings(environment, backend->lowerings_));
    return backend;
  }
  explicit GpuBackend(const BackendEnvironment& environment) : environment_(environment) {}

  absl::Status CheckTarget(const Target& target) const override {
    if (!absl::c_linear_search(kGpuFamilies, FamilyOf(target)) || target.devices.size() != 2) {
      return absl::UnimplementedError(absl::StrCat("gpu: compiles for ",
                                                   absl::StrJoin(kGpuFamilies, ", "),
                                                   " only, with one device beside the host"));
    }
    return CheckCanGenerate(target.devices[kDevice]);
  }
  BackendPipeline PipelineFor(const Target& target, Precision precision) const override;
  absl::StatusOr<BackendResult> Compile(const BackendRequest& request) override;

 private:
  const BackendEnvironment environment_;
  Lowerings lowerings_;
};

// Layouts stay as the model has them: neighbouring instances read neighbouring places of a plane.
BackendPipeline GpuBackend::PipelineFor(const Target& target, Precision precision) const {
  const auto is_lowered = [this](const NodeView& view, absl::Span<const ValueType> outputs) {
    return CheckLowered(lowerings_, view, outputs).ok();
  };
  const auto expand_ops = [is_lowered](Graph graph, const PassContext& context) {
    return ExpandOps(std::move(graph), context, is_lowered);
  };
  const auto call_kernels = [is_lowered](Graph graph, const PassContext& context) {
    return CallKernels(std::move(graph), context, is_lowered);
  };
  const DeviceTarget device = target.devices[kDevice];
  const bool is_narrow = precision != Precision::kFloat32;
  const auto place = [types = KindOf(target).types, call_kernels](
                         Graph graph, const PassContext& context) -> absl::StatusOr<Graph> {
    SLIPWAY_ASSIGN_OR_RETURN(graph, PlaceOnDevice(std::move(graph), context, types));
    return call_kernels(UngroupHostsAttention(std::move(graph)), context);
  };
  BackendPipeline pipeline = {
      {{"ExpandOps", expand_ops},
       {"FoldConstant", FoldConstant}},  // What ExpandOps wrote around constants.
      [](const Graph& graph, const PassContext& context) {
        return PlanMemory(graph, context.registry, DevicesOfValues(graph, context.registry));
      }};
  if (is_narrow) {
    const auto fuse_attention = [device, precision](Graph graph, const PassContext& context) {
      return GroupAttention(std::move(graph), context, device, precision);
    };
    // Bodies are the host's.
    pipeline.passes.push_back(
        {"FuseAttention", fuse_attention, /*descends=*/false, /*is_optional=*/true});
  }
  const auto group_turned = [device](Graph graph, const PassContext& context) {
    return GroupTurnedNormalizations(std::move(graph), context, device);
  };
  const std::vector<NamedPass> for_all = {
      {"MergeTransposes", MergeTransposes, /*descends=*/true, /*is_optional=*/true},
      {"CallKernels", call_kernels},
      {"GroupTurnedNormalizations", group_turned, /*descends=*/false, /*is_optional=*/true},
      {"FuseOps", FuseOps},
      {"CompleteOutputs", CompleteOutputs},
      {"PlaceDevice", place, /*descends=*/false}};
  pipeline.passes.insert(pipeline.passes.end(), for_all.begin(), for_all.end());
  if (is_narrow) {
    const auto use_tensor_cores = [device, precision](Graph graph, const PassContext& context) {
      return UseTensorCores(std::move(graph), context, device, precision);
    };
    pipeline.passes.push_back(
        {"UseTensorCores", use_tensor_cores, /*descends=*/false, /*is_optional=*/true});
    pipeline.passes.push_back({"LayOutProductWeights", LayOutProductWeights, /*descends=*/false,
                               /*is_optional=*/true});
  }
  return pipeline;
}

LaunchedEntry Launched(const EntryLaunch& launch, const Graph& body, uint32_t entry) {
  LaunchedEntry launched{.entry = entry,
                         .groups = launch.groups,
                         .group = launch.group,
                         .shared_bytes = launch.shared_bytes};
  const auto number = [&](const DeviceArgument& argument) {
    const auto inputs = static_cast<int>(body.inputs.size());
    switch (argument.kind) {
      case DeviceArgument::Kind::kInput:
        return argument.index;
      case DeviceArgument::Kind::kOutput:
        return inputs + argument.index;
      case DeviceArgument::Kind::kScratch:
        break;
    }
    return inputs + static_cast<int>(body.outputs.size()) + argument.index;
  };
  for (const DeviceArgument& argument : launch.reads) launched.reads.push_back(number(argument));
  for (const DeviceArgument& argument : launch.writes) launched.writes.push_back(number(argument));
  return launched;
}

// The kernels of the device as one text, each once.
absl::StatusOr<DeviceText> TextOf(v1::Code::Kind kind, const std::vector<KernelRequest>& requests,
                                  const std::vector<CompiledKernel>& compiled,
                                  const OperatorRegistry& registry) {
  DeviceText made;
  made.code.kind = kind;
  std::string preamble;
  absl::flat_hash_map<std::string, uint32_t> first_entry;  // By symbol.
  for (size_t i = 0; i < requests.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const DeviceKernel kernel, ParseDeviceKernel(compiled[i].object),
                                  requests[i].name);
    const auto [first, is_new] = first_entry.try_emplace(
        compiled[i].symbol, static_cast<uint32_t>(made.code.entries.size()));
    if (is_new) {
      if (made.text.empty()) preamble = made.text = kernel.preamble;
      if (kernel.preamble != preamble) {
        return absl::InternalError(absl::StrCat(requests[i].name, ": its text begins with \"",
                                                kernel.preamble, "\", another one's with \"",
                                                preamble, "\""));
      }
      made.text += kernel.text;
      for (const EntryLaunch& launch : kernel.launches) made.code.entries.push_back(launch.entry);
    }
    LaunchedKernel launched{
        .launches = {}, .scratch_bytes = kernel.scratch_bytes, .vendor_step = {}};
    if (kind == v1::Code::KIND_PTX) {
      launched.vendor_step = DescribeForLibrary(*requests[i].body, registry, requests[i].products);
    }
    for (size_t l = 0; l < kernel.launches.size(); ++l) {
      launched.launches.push_back(Launched(kernel.launches[l], *requests[i].body,
                                           first->second + static_cast<uint32_t>(l)));
    }
    made.code.kernel_of[requests[i].body] = std::move(launched);
  }
  made.code.blob = Digest::Of(made.text);
  return made;
}

absl::StatusOr<BackendResult> GpuBackend::Compile(const BackendRequest& request) {
  if (!request.library_name.empty()) {
    return absl::UnimplementedError(
        "gpu: a library is code of the host alone; compile it for the target without its device");
  }
  Stages stages(*environment_.clock);
  KernelCompiler compiler = CompilerFor(environment_, lowerings_);
  std::vector<KernelRequest> requests = RequestsFor(request, 0);
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<CompiledKernel> compiled,
                           compiler.Compile(requests, request.target.host(), request.schedules));
  const std::vector<KernelRequest> device_requests = RequestsFor(request, kDevice);
  SLIPWAY_ASSIGN_OR_RETURN(
      std::vector<CompiledKernel> device_compiled,
      compiler.Compile(device_requests, request.target.devices[kDevice], request.schedules));
  stages.End("compile kernels");

  SLIPWAY_ASSIGN_OR_RETURN(HostCode host, LinkHostCode(request, compiled));
  std::optional<DeviceText> text;
  if (!device_requests.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(text, TextOf(KindOf(request.target).code, device_requests,
                                          device_compiled, *environment_.registry));
  }
  stages.End("link");

  requests.insert(requests.end(), device_requests.begin(), device_requests.end());
  compiled.insert(compiled.end(), std::make_move_iterator(device_compiled.begin()),
                  std::make_move_iterator(device_compiled.end()));
  return WriteProgram(environment_, request,
                      {.host = std::move(host),
                       .device = std::move(text),
                       .requests = std::move(requests),
                       .compiled = std::move(compiled),
                       .counters = compiler.counters()},
                      stages);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TargetBackend>> CreateGpuBackend(
    const BackendEnvironment& environment) {
  return GpuBackend::Create(environment);
}

}  // namespace slipway
