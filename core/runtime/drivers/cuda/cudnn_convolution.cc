#include "core/runtime/drivers/cuda/cudnn_convolution.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {
namespace {

// Numbers by which a call finds the tensors; those between operations have the ones from kFirstBetween on.
enum TensorId : int64_t { kPlanes = 1, kWeights, kResult, kBias, kAdded, kFirstBetween };

// Configurations that are looked at, of all that the heuristics name.
constexpr int64_t kMostConfigs = 32;
constexpr int64_t kMostNotes = 16;

CudnnDataType TypeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return kCudnnFloat16;
    case DataType::kBfloat16:
      return kCudnnBfloat16;
    default:
      return kCudnnFloat32;
  }
}

// Planes of so many channels, or as many windows.
struct Extents {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;

  int64_t plane() const { return height * width; }
  int64_t elements() const { return batch * channels * plane(); }
  std::vector<int64_t> all() const { return {batch, channels, height, width}; }
  std::vector<int64_t> Strides(bool has_channels_inside) const {
    if (has_channels_inside) return {channels * plane(), 1, width * channels, channels};
    return {channels * plane(), plane(), width, 1};
  }
};

// A tensor of f32 in another form: with channels inside, of that type, so far behind the workspace's beginning.
struct Turned {
  Extents extents;
  DataType dtype = DataType::kFloat32;
  int64_t offset = 0;

  int64_t bytes() const { return extents.elements() * ByteSize(dtype); }
};

// What it is told to be behind the plane: as much as before it, where that leads to as many places, since not all engines have pads of two kinds; else what the
// last place sees.
int64_t PadBehind(const VendorConvolution::Dimension& dimension) {
  const int64_t left = dimension.input + 2 * dimension.pad - dimension.window();
  if (left >= 0 && left / dimension.stride + 1 == dimension.output) return dimension.pad;
  const int64_t end = (dimension.output - 1) * dimension.stride + dimension.window();
  return std::max<int64_t>(0, end - dimension.input - dimension.pad);
}

int64_t RoundedUp(int64_t bytes) {
  constexpr int64_t kApart = 256;
  return (bytes + kApart - 1) / kApart * kApart;
}

// Whether numbers of an engine with these notes are those that are asked for, the same ones each time.
bool MayUse(absl::Span<const int32_t> notes, Precision precision) {
  const auto has = [notes](int32_t note) { return absl::c_linear_search(notes, note); };
  if (has(kCudnnNondeterministic) || has(kCudnnReducedPrecisionSums)) return false;
  if (has(kCudnnDownConvertsInputs)) return false;
  return precision != Precision::kFloat32 || !has(kCudnnTensorCores);
}

}  // namespace

struct CudnnConvolution::Graph {
  Graph(const CudnnLibrary& cudnn, CudnnSession& of, const ConvertingCode* with)
      : library(cudnn), session(of), converting(with), descriptors(cudnn) {}

  // UNIMPLEMENTED where cuDNN cannot be told of it, or has nothing for it.
  absl::Status Make(const VendorStep& step);
  // Appends what a mode of the heuristics names.
  absl::Status AddConfigs(CudnnHeuristicModes mode, Precision precision, size_t most);

  absl::StatusOr<CudnnDescriptor> Tensor(int64_t id, DataType dtype, const Extents& extents,
                                         bool has_channels_inside);
  absl::StatusOr<CudnnDescriptor> Pointwise(CudnnPointwiseMode mode, CudnnDescriptor x,
                                            std::optional<CudnnDescriptor> b, CudnnDescriptor y);
  absl::StatusOr<CudnnDescriptor> Forward(const VendorConvolution& convolution, CudnnDescriptor x,
                                          CudnnDescriptor w, CudnnDescriptor y);
  absl::Status Turn(std::optional<Turned>& turned, const Extents& extents, DataType dtype);

  const CudnnLibrary& library;
  CudnnSession& session;
  const ConvertingCode* const converting;
  CudnnDescriptors descriptors;
  CudnnDescriptor graph = nullptr;
  std::vector<CudnnDescriptor> configs;
  bool has_bias = false;
  bool has_added = false;
  // Those that are brought to another form, and the result back.
  std::optional<Turned> planes;
  std::optional<Turned> weights;
  std::optional<Turned> added;
  std::optional<Turned> result;
  int64_t turned_bytes = 0;          // Of the workspace, of all of them.
  int64_t most_workspace_bytes = 0;  // What cuDNN may have behind that.
};

absl::StatusOr<CudnnDescriptor> CudnnConvolution::Graph::Tensor(int64_t id, DataType dtype,
                                                                const Extents& extents,
                                                                bool has_channels_inside) {
  const int32_t type = TypeOf(dtype);
  const int64_t alignment = kAlignment;
  const bool is_virtual = id >= kFirstBetween;
  return descriptors.Make(
      kCudnnTensor,
      {CudnnAttribute::One(kCudnnTensorDataType, kCudnnTypeDataType, type),
       CudnnAttribute::Integers(kCudnnTensorExtents, extents.all()),
       CudnnAttribute::Integers(kCudnnTensorStrides, extents.Strides(has_channels_inside)),
       CudnnAttribute::One(kCudnnTensorId, kCudnnTypeInt64, id),
       CudnnAttribute::One(kCudnnTensorAlignment, kCudnnTypeInt64, alignment),
       CudnnAttribute::One(kCudnnTensorIsVirtual, kCudnnTypeBoolean, is_virtual)},
      "a tensor");
}

absl::StatusOr<CudnnDescriptor> CudnnConvolution::Graph::Pointwise(CudnnPointwiseMode mode,
                                                                   CudnnDescriptor x,
                                                                   std::optional<CudnnDescriptor> b,
                                                                   CudnnDescriptor y) {
  constexpr char kWhat[] = "an operation behind a convolution";
  const int32_t pointwise_mode = mode;
  const int32_t type = kCudnnFloat32;
  SLIPWAY_ASSIGN_OR_RETURN(
      const CudnnDescriptor pointwise,
      descriptors.Make(
          kCudnnPointwise,
          {CudnnAttribute::One(kCudnnPointwiseModeOf, kCudnnTypePointwiseMode, pointwise_mode),
           CudnnAttribute::One(kCudnnPointwiseMath, kCudnnTypeDataType, type)},
          kWhat));
  const auto of = CudnnAttribute::One(kCudnnPointwiseDescriptor, kCudnnTypeDescriptor, pointwise);
  const auto from = CudnnAttribute::One(kCudnnPointwiseX, kCudnnTypeDescriptor, x);
  const auto to = CudnnAttribute::One(kCudnnPointwiseY, kCudnnTypeDescriptor, y);
  if (!b.has_value()) return descriptors.Make(kCudnnPointwiseOperation, {of, from, to}, kWhat);
  const auto with = CudnnAttribute::One(kCudnnPointwiseB, kCudnnTypeDescriptor, *b);
  return descriptors.Make(kCudnnPointwiseOperation, {of, from, with, to}, kWhat);
}

absl::StatusOr<CudnnDescriptor> CudnnConvolution::Graph::Forward(
    const VendorConvolution& convolution, CudnnDescriptor x, CudnnDescriptor w, CudnnDescriptor y) {
  constexpr char kWhat[] = "a convolution";
  const int32_t type = kCudnnFloat32;
  const int32_t mode = kCudnnCrossCorrelation;
  const int64_t dimensions = 2;
  const VendorConvolution::Dimension& height = convolution.height;
  const VendorConvolution::Dimension& width = convolution.width;
  SLIPWAY_ASSIGN_OR_RETURN(
      const CudnnDescriptor window,
      descriptors.Make(
          kCudnnConvolution,
          {CudnnAttribute::One(kCudnnConvolutionMath, kCudnnTypeDataType, type),
           CudnnAttribute::One(kCudnnConvolutionModeOf, kCudnnTypeConvolutionMode, mode),
           CudnnAttribute::One(kCudnnConvolutionDimensions, kCudnnTypeInt64, dimensions),
           CudnnAttribute::Integers(kCudnnConvolutionDilations, {height.dilation, width.dilation}),
           CudnnAttribute::Integers(kCudnnConvolutionStrides, {height.stride, width.stride}),
           CudnnAttribute::Integers(kCudnnConvolutionPadsBefore, {height.pad, width.pad}),
           CudnnAttribute::Integers(kCudnnConvolutionPadsBehind,
                                    {PadBehind(height), PadBehind(width)})},
          kWhat));
  const float one = 1;
  const float zero = 0;
  return descriptors.Make(
      kCudnnConvolutionForward,
      {CudnnAttribute::One(kCudnnForwardConvolution, kCudnnTypeDescriptor, window),
       CudnnAttribute::One(kCudnnForwardX, kCudnnTypeDescriptor, x),
       CudnnAttribute::One(kCudnnForwardW, kCudnnTypeDescriptor, w),
       CudnnAttribute::One(kCudnnForwardY, kCudnnTypeDescriptor, y),
       CudnnAttribute::One(kCudnnForwardAlpha, kCudnnTypeFloat, one),
       CudnnAttribute::One(kCudnnForwardBeta, kCudnnTypeFloat, zero)},
      kWhat);
}

absl::Status CudnnConvolution::Graph::Turn(std::optional<Turned>& turned, const Extents& extents,
                                           DataType dtype) {
  turned = Turned{extents, dtype, turned_bytes};
  turned_bytes += RoundedUp(turned->bytes());
  if (turned_bytes <= kMostTurnedBytes &&
      ConvertingCode::CanTranspose(extents.batch, extents.channels, extents.plane())) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError("tensors are too large to be brought to another form");
}

// What is added comes before the bias: in this order engines that are compiled beforehand have both. The heuristics name engines that multiply in 16 bits, and whose
// result is f32, where the last operation is one that only moves numbers. So cuDNN 9.28 says of itself.
absl::Status CudnnConvolution::Graph::Make(const VendorStep& step) {
  const auto& convolution = std::get<VendorConvolution>(step.computed);
  has_bias = step.bias.has_value();
  has_added = step.added.has_value();
  const Extents of_planes = {convolution.batch, convolution.input_channels,
                             convolution.height.input, convolution.width.input};
  const Extents of_weights = {convolution.output_channels,
                              convolution.input_channels / convolution.groups,
                              convolution.height.kernel, convolution.width.kernel};
  const Extents of_result = {convolution.batch, convolution.output_channels,
                             convolution.height.output, convolution.width.output};
  most_workspace_bytes = kMostWorkspaceBytes +
                         4 * (of_planes.elements() + of_weights.elements() + of_result.elements());
  DataType factors = DataType::kFloat32;
  if (step.precision == Precision::kFloat16) factors = DataType::kFloat16;
  if (step.precision == Precision::kBfloat16) factors = DataType::kBfloat16;
  const bool is_turned = factors != DataType::kFloat32;
  bool weights_have_channels_inside = convolution.weights_have_channels_inside;
  if (is_turned) {
    if (converting == nullptr) return absl::UnimplementedError("nothing rounds on the device");
    if (convolution.planes.dtype != DataType::kFloat32) {
      return absl::UnimplementedError("planes that lie in 16 bits");
    }
    SLIPWAY_RETURN_IF_ERROR(Turn(planes, of_planes, factors));
    const bool are_as_wanted =
        weights_have_channels_inside || of_weights.channels == 1 || of_weights.plane() == 1;
    if (convolution.weights.dtype == DataType::kFloat32 && !weights_have_channels_inside) {
      SLIPWAY_RETURN_IF_ERROR(Turn(weights, of_weights, factors));
    } else if (convolution.weights.dtype != factors || !are_as_wanted) {
      return absl::UnimplementedError("weights in a form that nothing brings to another one");
    }
    weights_have_channels_inside = true;
    if (has_added) SLIPWAY_RETURN_IF_ERROR(Turn(added, of_result, DataType::kFloat32));
    SLIPWAY_RETURN_IF_ERROR(Turn(result, of_result, DataType::kFloat32));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const CudnnDescriptor x, Tensor(kPlanes, factors, of_planes, is_turned));
  SLIPWAY_ASSIGN_OR_RETURN(const CudnnDescriptor w,
                           Tensor(kWeights, factors, of_weights, weights_have_channels_inside));
  struct Behind {
    CudnnPointwiseMode mode;
    std::optional<CudnnDescriptor> with;
  };
  std::vector<Behind> behind;
  if (has_added) {
    SLIPWAY_ASSIGN_OR_RETURN(const CudnnDescriptor b,
                             Tensor(kAdded, DataType::kFloat32, of_result, is_turned));
    behind.push_back({kCudnnAdd, b});
  }
  if (has_bias) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const CudnnDescriptor b,
        Tensor(kBias, DataType::kFloat32, {1, of_result.channels, 1, 1}, is_turned));
    behind.push_back({kCudnnAdd, b});
  }
  if (step.activation == VendorStep::Activation::kRelu) behind.push_back({kCudnnRelu, {}});
  if (step.activation == VendorStep::Activation::kGeluTanh) behind.push_back({kCudnnGeluTanh, {}});
  if (is_turned) behind.push_back({kCudnnIdentity, {}});
  int64_t between = kFirstBetween;
  const auto next = [&](bool is_last) {
    return Tensor(is_last ? int64_t{kResult} : between++, DataType::kFloat32, of_result, is_turned);
  };
  SLIPWAY_ASSIGN_OR_RETURN(CudnnDescriptor made, next(behind.empty()));
  std::vector<CudnnDescriptor> operations;
  SLIPWAY_ASSIGN_OR_RETURN(operations.emplace_back(), Forward(convolution, x, w, made));
  for (size_t i = 0; i < behind.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const CudnnDescriptor to, next(i + 1 == behind.size()));
    SLIPWAY_ASSIGN_OR_RETURN(operations.emplace_back(),
                             Pointwise(behind[i].mode, made, behind[i].with, to));
    made = to;
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      graph,
      descriptors.Make(kCudnnOperationGraph,
                       {CudnnAttribute::One(kCudnnGraphHandle, kCudnnTypeHandle, session.handle),
                        CudnnAttribute::Descriptors(kCudnnGraphOperations, operations)},
                       "a graph"));
  return absl::OkStatus();
}

absl::Status CudnnConvolution::Graph::AddConfigs(CudnnHeuristicModes mode, Precision precision,
                                                 size_t most) {
  constexpr char kWhat[] = "ways to make a convolution";
  const int32_t mode_of = mode;
  SLIPWAY_ASSIGN_OR_RETURN(
      const CudnnDescriptor heuristic,
      descriptors.Make(kCudnnEngineHeuristic,
                       {CudnnAttribute::One(kCudnnHeuristicGraph, kCudnnTypeDescriptor, graph),
                        CudnnAttribute::One(kCudnnHeuristicMode, kCudnnTypeHeuristicMode, mode_of)},
                       kWhat));
  int64_t count = 0;
  SLIPWAY_RETURN_IF_ERROR(
      library.ToStatus(library.GetAttribute(heuristic, kCudnnHeuristicResults, kCudnnTypeDescriptor,
                                            0, &count, nullptr),
                       kWhat));
  std::vector<CudnnDescriptor> named;
  for (int64_t i = 0; i < std::min(count, kMostConfigs); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(named.emplace_back(),
                             descriptors.MakeEmpty(kCudnnEngineConfig, kWhat));
  }
  SLIPWAY_RETURN_IF_ERROR(library.ToStatus(
      library.GetAttribute(heuristic, kCudnnHeuristicResults, kCudnnTypeDescriptor,
                           static_cast<int64_t>(named.size()), &count, named.data()),
      kWhat));
  named.resize(std::min(named.size(), static_cast<size_t>(std::max<int64_t>(count, 0))));
  for (const CudnnDescriptor config : named) {
    if (configs.size() == most) break;
    SLIPWAY_ASSIGN_OR_RETURN(CudnnDescriptor engine, descriptors.MakeEmpty(kCudnnEngine, kWhat));
    SLIPWAY_RETURN_IF_ERROR(library.ToStatus(
        library.GetAttribute(config, kCudnnConfigEngine, kCudnnTypeDescriptor, 1, &count, &engine),
        kWhat));
    int32_t notes[kMostNotes] = {};
    SLIPWAY_RETURN_IF_ERROR(
        library.ToStatus(library.GetAttribute(engine, kCudnnEngineNotes, kCudnnTypeNumericalNote,
                                              kMostNotes, &count, notes),
                         kWhat));
    const auto told = static_cast<size_t>(std::clamp<int64_t>(count, 0, kMostNotes));
    if (MayUse(absl::MakeConstSpan(notes, told), precision)) configs.push_back(config);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> CudnnConvolution::Find(
    const CudaDevice& device, const CudnnLibrary& library, CudnnSession& session,
    const ConvertingCode* converting, const VendorStep& step, int most) {
  std::vector<std::unique_ptr<LibraryWay>> ways;
  const std::lock_guard<std::mutex> lock(session.mutex);
  auto graph = std::make_shared<Graph>(library, session, converting);
  absl::Status status = graph->Make(step);
  for (const CudnnHeuristicModes mode : {kCudnnHeuristicA, kCudnnHeuristicFallback}) {
    if (!status.ok() || graph->configs.size() == static_cast<size_t>(most)) break;
    const absl::Status added = graph->AddConfigs(mode, step.precision, static_cast<size_t>(most));
    // One mode may know nothing of what the other one does.
    if (!absl::IsUnimplemented(added)) status = added;
  }
  if (absl::IsUnimplemented(status)) return ways;
  SLIPWAY_RETURN_IF_ERROR(Annotate(status, device.name()));
  for (const CudnnDescriptor config : graph->configs) {
    ways.emplace_back(new CudnnConvolution(device, graph, config));
  }
  return ways;
}

CudnnConvolution::CudnnConvolution(const CudaDevice& device, std::shared_ptr<const Graph> graph,
                                   CudnnDescriptor config)
    : device_(device), graph_(std::move(graph)), config_(config) {}

CudnnConvolution::~CudnnConvolution() {
  const CurrentContext current(device_);
  descriptors_.reset();
}

absl::Status CudnnConvolution::Load() {
  std::call_once(once_, [this] {
    const CurrentContext current(device_);
    loaded_ = current.status();
    if (loaded_.ok()) loaded_ = Annotate(MakePlan(), device_.name());
  });
  return loaded_;
}

absl::Status CudnnConvolution::MakePlan() {
  constexpr char kWhat[] = "a plan of a convolution";
  const CudnnLibrary& library = graph_->library;
  const std::lock_guard<std::mutex> lock(graph_->session.mutex);
  descriptors_ = std::make_unique<CudnnDescriptors>(library);
  SLIPWAY_ASSIGN_OR_RETURN(
      plan_, descriptors_->Make(
                 kCudnnExecutionPlan,
                 {CudnnAttribute::One(kCudnnPlanHandle, kCudnnTypeHandle, graph_->session.handle),
                  CudnnAttribute::One(kCudnnPlanConfig, kCudnnTypeDescriptor, config_)},
                 kWhat));
  int64_t bytes = 0;
  int64_t count = 0;
  SLIPWAY_RETURN_IF_ERROR(library.ToStatus(
      library.GetAttribute(plan_, kCudnnPlanWorkspaceBytes, kCudnnTypeInt64, 1, &count, &bytes),
      kWhat));
  if (bytes < 0 || bytes > graph_->most_workspace_bytes) {
    return absl::UnimplementedError(absl::StrCat(kWhat, " has ", bytes, " bytes beside it"));
  }
  workspace_bytes_ = graph_->turned_bytes + bytes;
  return absl::OkStatus();
}

absl::Status CudnnConvolution::Issue(const CudaDevice& device, CUstream stream,
                                     const CudaWayAddresses& addresses) const {
  const Graph& all = *graph_;
  CUdeviceptr planes = addresses.factors[0];
  CUdeviceptr weights = addresses.factors[1];
  CUdeviceptr added = addresses.added;
  const auto turn = [&](const std::optional<Turned>& turned, CUdeviceptr& address) {
    if (!turned.has_value()) return absl::OkStatus();
    const CUdeviceptr from = address;
    address = addresses.workspace + static_cast<CUdeviceptr>(turned->offset);
    const Extents& extents = turned->extents;
    return all.converting->Transpose(stream, from, address, extents.batch, extents.channels,
                                     extents.plane(), turned->dtype);
  };
  SLIPWAY_RETURN_IF_ERROR(turn(all.planes, planes));
  SLIPWAY_RETURN_IF_ERROR(turn(all.weights, weights));
  SLIPWAY_RETURN_IF_ERROR(turn(all.added, added));
  const CUdeviceptr result =
      all.result.has_value() ? addresses.workspace + static_cast<CUdeviceptr>(all.result->offset)
                             : addresses.result;
  std::vector<int64_t> ids = {kPlanes, kWeights, kResult};
  std::vector<CUdeviceptr> pointers = {planes, weights, result};
  if (all.has_bias) {
    ids.push_back(kBias);
    pointers.push_back(addresses.bias);
  }
  if (all.has_added) {
    ids.push_back(kAdded);
    pointers.push_back(added);
  }
  const CUdeviceptr workspace = addresses.workspace + static_cast<CUdeviceptr>(all.turned_bytes);
  {
    const std::string what = absl::StrCat(device.name(), ": ", all.library.name, "'s convolution");
    const std::lock_guard<std::mutex> lock(all.session.mutex);
    SLIPWAY_RETURN_IF_ERROR(
        all.library.ToStatus(all.library.SetStream(all.session.handle, stream), what));
    CudnnDescriptors call(all.library);
    SLIPWAY_ASSIGN_OR_RETURN(
        const CudnnDescriptor pack,
        call.Make(kCudnnVariantPack,
                  {CudnnAttribute::Integers(kCudnnPackIds, ids),
                   {kCudnnPackPointers, kCudnnTypePointer, static_cast<int64_t>(pointers.size()),
                    pointers.data()},
                   CudnnAttribute::One(kCudnnPackWorkspace, kCudnnTypePointer, workspace)},
                  what));
    SLIPWAY_RETURN_IF_ERROR(
        all.library.ToStatus(all.library.Execute(all.session.handle, plan_, pack), what));
  }
  if (!all.result.has_value()) return absl::OkStatus();
  const Extents& extents = all.result->extents;
  return all.converting->Transpose(stream, result, addresses.result, extents.batch, extents.plane(),
                                   extents.channels, DataType::kFloat32);
}

}  // namespace slipway
