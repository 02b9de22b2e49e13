// A libcudnn over the libcuda without a GPU (fake_libcuda.cc): convolutions are made by a text of PTX, an instance an element, written for what graphs of descriptors
// say.
//
// As strict as that one: descriptors that are not there any more, or lack an attribute, or are set when they are complete, or are left when the last handle goes,
// calls without a stream and addresses that are not as aligned as was promised end the process. Like the library it loads code when a plan is made, and none while a
// stream captures; and it knows graphs as cuDNN 9.28 told of itself: of f32 with what is added before a bias, of 16 bits with channels innermost. Of
// $SLIPWAY_FAKE_CUDA (fake_settings.h) it takes "cudnn=80907", its version; "cudnn_cuda=13000", the CUDA that it is for; "ways=2" and "fallback_ways=1", how many
// configurations the two modes of its heuristics name; "notes=4,-", what engines of ways tell of their numbers; "planless=0", the way that turns out not to be
// there; "workspace=1024", what plans have; "idle=3,0", as fake_kernels.h; "wrong=1", the way whose results are; "most=2", the convolutions after which all
// others fail; and "cudnnBackendExecute=5000", results.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/drivers/cuda/cudnn_api.h"
#include "core/runtime/drivers/cuda/testing/fake_call.h"
#include "core/runtime/drivers/cuda/testing/fake_kernels.h"
#include "core/runtime/drivers/cuda/testing/fake_settings.h"

namespace slipway {

struct CudnnContext_st {
  CUstream stream = nullptr;
};

struct CudnnDescriptor_st {
  struct Attribute {
    int type = 0;
    int64_t count = 0;
    std::string bytes;
  };
  int type = 0;
  bool is_final = false;
  std::map<int, Attribute> attributes;
  // Of what the heuristics name, and of plans.
  CudnnDescriptor graph = nullptr;
  int64_t way = 0;
  std::string text;
};

namespace fake_cuda {
namespace {

struct Objects {
  std::set<CudnnContext_st*> handles;
  std::set<CudnnDescriptor_st*> descriptors;
  FakeKernels kernels;
};
Objects& All() {
  static auto& objects = *new Objects;
  return objects;
}

int64_t SizeOf(int type) {
  switch (type) {
    case kCudnnTypeHandle:
    case kCudnnTypeInt64:
    case kCudnnTypePointer:
    case kCudnnTypeDescriptor:
      return 8;
    case kCudnnTypeBoolean:
      return 1;
    default:
      return 4;
  }
}

// What a descriptor has to have before it is complete; 0 for any number of elements but none.
struct Needed {
  int descriptor;
  int name;
  int type;
  int64_t count;
};
constexpr Needed kNeeded[] = {
    {kCudnnTensor, kCudnnTensorDataType, kCudnnTypeDataType, 1},
    {kCudnnTensor, kCudnnTensorExtents, kCudnnTypeInt64, 4},
    {kCudnnTensor, kCudnnTensorStrides, kCudnnTypeInt64, 4},
    {kCudnnTensor, kCudnnTensorId, kCudnnTypeInt64, 1},
    {kCudnnTensor, kCudnnTensorAlignment, kCudnnTypeInt64, 1},
    {kCudnnTensor, kCudnnTensorIsVirtual, kCudnnTypeBoolean, 1},
    {kCudnnConvolution, kCudnnConvolutionMath, kCudnnTypeDataType, 1},
    {kCudnnConvolution, kCudnnConvolutionModeOf, kCudnnTypeConvolutionMode, 1},
    {kCudnnConvolution, kCudnnConvolutionDimensions, kCudnnTypeInt64, 1},
    {kCudnnConvolution, kCudnnConvolutionDilations, kCudnnTypeInt64, 2},
    {kCudnnConvolution, kCudnnConvolutionStrides, kCudnnTypeInt64, 2},
    {kCudnnConvolution, kCudnnConvolutionPadsBefore, kCudnnTypeInt64, 2},
    {kCudnnConvolution, kCudnnConvolutionPadsBehind, kCudnnTypeInt64, 2},
    {kCudnnConvolutionForward, kCudnnForwardConvolution, kCudnnTypeDescriptor, 1},
    {kCudnnConvolutionForward, kCudnnForwardX, kCudnnTypeDescriptor, 1},
    {kCudnnConvolutionForward, kCudnnForwardW, kCudnnTypeDescriptor, 1},
    {kCudnnConvolutionForward, kCudnnForwardY, kCudnnTypeDescriptor, 1},
    {kCudnnConvolutionForward, kCudnnForwardAlpha, kCudnnTypeFloat, 1},
    {kCudnnConvolutionForward, kCudnnForwardBeta, kCudnnTypeFloat, 1},
    {kCudnnPointwise, kCudnnPointwiseModeOf, kCudnnTypePointwiseMode, 1},
    {kCudnnPointwise, kCudnnPointwiseMath, kCudnnTypeDataType, 1},
    {kCudnnPointwiseOperation, kCudnnPointwiseDescriptor, kCudnnTypeDescriptor, 1},
    {kCudnnPointwiseOperation, kCudnnPointwiseX, kCudnnTypeDescriptor, 1},
    {kCudnnPointwiseOperation, kCudnnPointwiseY, kCudnnTypeDescriptor, 1},
    {kCudnnOperationGraph, kCudnnGraphHandle, kCudnnTypeHandle, 1},
    {kCudnnOperationGraph, kCudnnGraphOperations, kCudnnTypeDescriptor, 0},
    {kCudnnEngineHeuristic, kCudnnHeuristicGraph, kCudnnTypeDescriptor, 1},
    {kCudnnEngineHeuristic, kCudnnHeuristicMode, kCudnnTypeHeuristicMode, 1},
    {kCudnnExecutionPlan, kCudnnPlanHandle, kCudnnTypeHandle, 1},
    {kCudnnExecutionPlan, kCudnnPlanConfig, kCudnnTypeDescriptor, 1},
    {kCudnnVariantPack, kCudnnPackIds, kCudnnTypeInt64, 0},
    {kCudnnVariantPack, kCudnnPackPointers, kCudnnTypePointer, 0},
    {kCudnnVariantPack, kCudnnPackWorkspace, kCudnnTypePointer, 1},
};

bool Has(CudnnDescriptor descriptor, int name) { return descriptor->attributes.count(name) != 0; }

template <typename T>
std::vector<T> Read(CudnnDescriptor descriptor, int name) {
  CheckAlive(All().descriptors, descriptor, "an attribute");
  const auto found = descriptor->attributes.find(name);
  if (found == descriptor->attributes.end()) Violation("attribute " + Text(name) + " is missing");
  std::vector<T> elements(static_cast<size_t>(found->second.count));
  if (found->second.bytes.size() != elements.size() * sizeof(T)) Violation("another type");
  memcpy(elements.data(), found->second.bytes.data(), found->second.bytes.size());
  return elements;
}
template <typename T>
T One(CudnnDescriptor descriptor, int name) {
  return Read<T>(descriptor, name).at(0);
}
CudnnDescriptor Within(CudnnDescriptor descriptor, int name) {
  const auto within = One<CudnnDescriptor>(descriptor, name);
  CheckAlive(All().descriptors, within, "a descriptor's attribute");
  return within;
}

struct Tensor {
  explicit Tensor(CudnnDescriptor descriptor)
      : id(One<int64_t>(descriptor, kCudnnTensorId)),
        type(One<int32_t>(descriptor, kCudnnTensorDataType)),
        extents(Read<int64_t>(descriptor, kCudnnTensorExtents)),
        strides(Read<int64_t>(descriptor, kCudnnTensorStrides)),
        alignment(One<int64_t>(descriptor, kCudnnTensorAlignment)),
        is_virtual(One<uint8_t>(descriptor, kCudnnTensorIsVirtual) != 0) {}

  bool has_channels_inside() const { return strides[1] == 1; }
  FakeType fake_type() const {
    if (type == kCudnnFloat32) return FakeType::kFloat32;
    return type == kCudnnFloat16 ? FakeType::kFloat16 : FakeType::kBfloat16;
  }

  int64_t id;
  int32_t type;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  int64_t alignment;
  bool is_virtual;
};

// A graph's operations: a convolution, and those behind it, one after the other.
struct Operations {
  struct Behind {
    int32_t mode;
    std::vector<Tensor> with;
  };

  explicit Operations(CudnnDescriptor graph) {
    const auto operations = Read<CudnnDescriptor>(graph, kCudnnGraphOperations);
    const CudnnDescriptor forward = operations.at(0);
    if (forward->type != kCudnnConvolutionForward) Violation("a graph of another operation");
    window = Within(forward, kCudnnForwardConvolution);
    tensors.push_back(Tensor(Within(forward, kCudnnForwardX)));
    tensors.push_back(Tensor(Within(forward, kCudnnForwardW)));
    if (One<float>(forward, kCudnnForwardAlpha) != 1 ||
        One<float>(forward, kCudnnForwardBeta) != 0) {
      Violation("factors that are none");
    }
    CudnnDescriptor made = Within(forward, kCudnnForwardY);
    for (size_t i = 1; i < operations.size(); ++i) {
      const CudnnDescriptor operation = operations[i];
      CheckAlive(All().descriptors, operation, "an operation");
      if (Within(operation, kCudnnPointwiseX) != made) Violation("operations that do not meet");
      if (!Tensor(made).is_virtual) Violation("a tensor between operations that is memory");
      Behind each{One<int32_t>(Within(operation, kCudnnPointwiseDescriptor), kCudnnPointwiseModeOf),
                  {}};
      if (each.mode == kCudnnAdd) {
        tensors.push_back(Tensor(Within(operation, kCudnnPointwiseB)));
        each.with.push_back(tensors.back());
      }
      behind.push_back(std::move(each));
      made = Within(operation, kCudnnPointwiseY);
    }
    tensors.push_back(Tensor(made));
    if (tensors.back().is_virtual) Violation("a result that is no memory");
  }

  const Tensor& x() const { return tensors[0]; }
  const Tensor& w() const { return tensors[1]; }
  const Tensor& y() const { return tensors.back(); }
  int64_t elements() const {
    int64_t elements = 1;
    for (const int64_t extent : y().extents) elements *= extent;
    return elements;
  }

  CudnnDescriptor window;
  std::vector<Tensor> tensors;  // Those in memory: x, w, what is added, y.
  std::vector<Behind> behind;
};

// The places of a window, as its extents, strides and pads leave them, are those of the result.
void CheckExtents(const Operations& graph) {
  const auto list = [&graph](int name) { return Read<int64_t>(graph.window, name); };
  const auto before = list(kCudnnConvolutionPadsBefore);
  const auto behind = list(kCudnnConvolutionPadsBehind);
  const auto strides = list(kCudnnConvolutionStrides);
  const auto dilations = list(kCudnnConvolutionDilations);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t window = (graph.w().extents[d + 2] - 1) * dilations[d] + 1;
    const int64_t left = graph.x().extents[d + 2] + before[d] + behind[d] - window;
    if (before[d] < 0 || behind[d] < 0 || left < 0 ||
        left / strides[d] + 1 != graph.y().extents[d + 2]) {
      Violation("a window whose places are not the result's");
    }
  }
  if (graph.x().extents[0] != graph.y().extents[0] ||
      graph.w().extents[0] != graph.y().extents[1] ||
      graph.x().extents[1] % graph.w().extents[1] != 0) {
    Violation("tensors that do not belong together");
  }
}

bool IsSupported(const Operations& graph) {
  const bool is_narrow = graph.x().type != kCudnnFloat32;
  if (graph.x().type != graph.w().type || graph.y().type != kCudnnFloat32) return false;
  const auto ends_with = [&graph](int32_t mode) {
    return !graph.behind.empty() && graph.behind.back().mode == mode;
  };
  if (is_narrow) {
    return ends_with(kCudnnIdentity) &&
           std::all_of(graph.tensors.begin(), graph.tensors.end(),
                       [](const Tensor& tensor) { return tensor.has_channels_inside(); });
  }
  // What is added, a bias, ReLU, in this order, and never without the bias.
  if (ends_with(kCudnnGeluTanh)) return false;
  const Operations::Behind* last_sum = nullptr;
  for (const Operations::Behind& each : graph.behind) {
    if (each.mode == kCudnnAdd) last_sum = &each;
  }
  return graph.behind.empty() || (last_sum != nullptr && last_sum->with[0].extents[0] == 1);
}

std::string Name(const Tensor& tensor) { return "t" + Text(tensor.id); }

// %rd14 = the address of a tensor's element, by registers of its indices; an extent of 1 repeats.
std::string Address(const Tensor& tensor, const std::vector<std::string>& indices) {
  std::string text = "  mov.u64 %rd13, 0;\n";
  for (size_t d = 0; d < indices.size(); ++d) {
    if (tensor.extents[d] == 1) continue;
    text += "  mad.lo.u64 %rd13, " + indices[d] + ", " + Text(tensor.strides[d]) + ", %rd13;\n";
  }
  return text + "  ld.param.u64 %rd14, [" + Name(tensor) + "];\n  mad.lo.u64 %rd14, %rd13, " +
         Text(BytesOf(tensor.fake_type())) + ", %rd14;\n";
}

// %rd14 = place * stride + element * dilation - pad.
std::string Position(const std::string& to, const std::string& place, int64_t stride,
                     const std::string& element, int64_t dilation, int64_t pad) {
  return "  mul.lo.u64 " + to + ", " + place + ", " + Text(stride) + ";\n  mad.lo.u64 " + to +
         ", " + element + ", " + Text(dilation) + ", " + to + ";\n  sub.s64 " + to + ", " + to +
         ", " + Text(pad) + ";\n";
}

std::string TextOf(const Operations& graph, bool is_wrong) {
  std::vector<std::string> parameters;
  for (const Tensor& tensor : graph.tensors) parameters.push_back(Name(tensor));
  const auto list = [&graph](int name) { return Read<int64_t>(graph.window, name); };
  const auto pads = list(kCudnnConvolutionPadsBefore);
  const auto strides = list(kCudnnConvolutionStrides);
  const auto dilations = list(kCudnnConvolutionDilations);
  const std::vector<int64_t>& x = graph.x().extents;
  const std::vector<int64_t>& w = graph.w().extents;
  const std::vector<int64_t>& y = graph.y().extents;
  const int64_t of_group = w[0] / (x[1] / w[1]);
  std::string text = BeginKernel("cudnn_convolution", parameters, graph.elements());
  const auto take = [&text](const std::string& to, const std::string& from, int64_t extent) {
    text += "  rem.u64 " + to + ", " + from + ", " + Text(extent) + ";\n  div.u64 " + from + ", " +
            from + ", " + Text(extent) + ";\n";
  };
  take("%rd5", "%rd1", y[3]);
  take("%rd4", "%rd1", y[2]);
  take("%rd3", "%rd1", y[1]);
  text += "  mov.u64 %rd2, %rd1;\n";
  text += "  div.u64 %rd6, %rd3, " + Text(of_group) + ";\n";
  text += "  mul.lo.u64 %rd6, %rd6, " + Text(w[1]) + ";\n";
  text += "  mov.u64 %rd7, 0;\n  mov.f32 %f1, 0f00000000;\nNEXT:\n  mov.u64 %rd10, %rd7;\n";
  take("%rd9", "%rd10", w[3]);
  take("%rd8", "%rd10", w[2]);
  text += Position("%rd11", "%rd4", strides[0], "%rd8", dilations[0], pads[0]);
  text += Position("%rd12", "%rd5", strides[1], "%rd9", dilations[1], pads[1]);
  text += "  setp.lt.u64 %p2, %rd11, " + Text(x[2]) + ";\n";
  text += "  setp.lt.and.u64 %p2, %rd12, " + Text(x[3]) + ", %p2;\n  @!%p2 bra SKIP;\n";
  text += Address(graph.w(), {"%rd3", "%rd10", "%rd8", "%rd9"});
  text += LoadText(graph.w().fake_type(), "%f3", "%rd14");
  text += "  add.s64 %rd10, %rd10, %rd6;\n";
  text += Address(graph.x(), {"%rd2", "%rd10", "%rd11", "%rd12"});
  text += LoadText(graph.x().fake_type(), "%f2", "%rd14");
  text += "  fma.rn.f32 %f1, %f2, %f3, %f1;\nSKIP:\n  add.s64 %rd7, %rd7, 1;\n";
  text += "  setp.lt.u64 %p2, %rd7, " + Text(w[1] * w[2] * w[3]) + ";\n  @%p2 bra NEXT;\n";
  const std::vector<std::string> place = {"%rd2", "%rd3", "%rd4", "%rd5"};
  for (const Operations::Behind& each : graph.behind) {
    if (each.mode == kCudnnAdd) {
      text += Address(each.with[0], place) + LoadText(each.with[0].fake_type(), "%f2", "%rd14") +
              "  add.f32 %f1, %f1, %f2;\n";
    }
    if (each.mode == kCudnnRelu) text += "  max.f32 %f1, %f1, 0f00000000;\n";
    if (each.mode == kCudnnGeluTanh) text += GeluText();
  }
  if (is_wrong) text += "  add.f32 %f1, %f1, 0f41200000;\n";
  return text + Address(graph.y(), place) + "  st.global.f32 [%rd14], %f1;\nDONE:\n  ret;\n}\n";
}

// The `way`th word of a setting, "-" where there is none.
std::string WordOf(const std::string& setting, int64_t way) {
  std::istringstream words(Setting(setting, ""));
  std::string word;
  for (int64_t i = 0; std::getline(words, word, ','); ++i) {
    if (i == way) return word;
  }
  return "-";
}

CudnnStatus NameWays(CudnnDescriptor heuristic, int64_t room, int64_t* count,
                     CudnnDescriptor* configs) {
  const CudnnDescriptor graph = Within(heuristic, kCudnnHeuristicGraph);
  const Operations operations(graph);
  const bool is_fallback = One<int32_t>(heuristic, kCudnnHeuristicMode) == kCudnnHeuristicFallback;
  const int64_t of_a = IsSupported(operations) ? Number("ways", 2) : 0;
  *count = !is_fallback ? of_a : of_a == 0 ? 0 : Number("fallback_ways", 1);
  if (room == 0) return kCudnnSuccess;
  *count = std::min(*count, room);
  for (int64_t i = 0; i < *count; ++i) {
    CheckAlive(All().descriptors, configs[i], "a configuration");
    if (configs[i]->type != kCudnnEngineConfig) Violation("a configuration that is none");
    configs[i]->is_final = true;
    configs[i]->graph = graph;
    configs[i]->way = is_fallback ? of_a + i : i;
  }
  return kCudnnSuccess;
}

CudnnStatus MakePlan(CudnnDescriptor plan) {
  const CudnnDescriptor config = Within(plan, kCudnnPlanConfig);
  plan->graph = config->graph;
  plan->way = config->way;
  if (Number("planless", -1) == plan->way) return kCudnnNotSupported;
  plan->text = TextOf(Operations(plan->graph), Number("wrong", -1) == plan->way);
  All().kernels.Load(plan->text, "cudnn_convolution");
  return kCudnnSuccess;
}

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;  // NOLINT(google-build-using-namespace)

#define SLIPWAY_EXPORT(result, name, symbol, parameters) \
  extern "C" __attribute__((visibility("default"))) result symbol parameters;
SLIPWAY_CUDNN_FUNCTIONS(SLIPWAY_EXPORT)
#undef SLIPWAY_EXPORT

size_t cudnnGetVersion() { return static_cast<size_t>(Number("cudnn", 90800)); }

size_t cudnnGetCudartVersion() { return static_cast<size_t>(Number("cudnn_cuda", 12060)); }

const char* cudnnGetErrorString(CudnnStatus status) {
  return status == kCudnnNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
}

void cudnnGetLastErrorString(char* message, size_t bytes) {
  strncpy(message, "as a setting says", bytes);
}

CudnnStatus cudnnCreate(CudnnHandle* handle) {
  Call call(__func__);
  if (call.result != kCudnnSuccess) return call.result;
  *handle = new CudnnContext_st;
  All().handles.insert(*handle);
  return kCudnnSuccess;
}

CudnnStatus cudnnDestroy(CudnnHandle handle) {
  Call call(__func__);
  if (All().handles.size() == 1) {
    if (!All().descriptors.empty()) Violation("descriptors are left when the last handle goes");
    All().kernels.Unload();
  }
  return Destroy(All().handles, handle, call, __func__);
}

CudnnStatus cudnnSetStream(CudnnHandle handle, CUstream stream) {
  Call call(__func__);
  CheckAlive(All().handles, handle, __func__);
  if (call.result == kCudnnSuccess) handle->stream = stream;
  return call.result;
}

CudnnStatus cudnnBackendCreateDescriptor(int type, CudnnDescriptor* descriptor) {
  Call call(__func__);
  if (call.result != kCudnnSuccess) return call.result;
  *descriptor = new CudnnDescriptor_st;
  (*descriptor)->type = type;
  All().descriptors.insert(*descriptor);
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendDestroyDescriptor(CudnnDescriptor descriptor) {
  Call call(__func__);
  return Destroy(All().descriptors, descriptor, call, __func__);
}

CudnnStatus cudnnBackendSetAttribute(CudnnDescriptor descriptor, int name, int type, int64_t count,
                                     const void* elements) {
  Call call(__func__);
  CheckAlive(All().descriptors, descriptor, __func__);
  if (descriptor->is_final) Violation("an attribute of what is complete");
  if (call.result != kCudnnSuccess) return call.result;
  const bool is_known =
      std::any_of(std::begin(kNeeded), std::end(kNeeded), [&](const Needed& needed) {
        return needed.descriptor == descriptor->type && needed.name == name && needed.type == type;
      });
  const bool is_operand = descriptor->type == kCudnnPointwiseOperation &&
                          name == kCudnnPointwiseB && type == kCudnnTypeDescriptor;
  if (!is_known && !is_operand) return kCudnnBadParameter;
  const auto bytes = static_cast<size_t>(count * SizeOf(type));
  descriptor->attributes[name] = {type, count,
                                  std::string(static_cast<const char*>(elements), bytes)};
  if (type == kCudnnTypeDescriptor) {
    for (const CudnnDescriptor each : Read<CudnnDescriptor>(descriptor, name)) {
      CheckAlive(All().descriptors, each, __func__);
      if (!each->is_final) return kCudnnNotFinalized;
    }
  }
  if (type == kCudnnTypeHandle) {
    CheckAlive(All().handles, One<CudnnHandle>(descriptor, name), __func__);
  }
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendFinalize(CudnnDescriptor descriptor) {
  Call call(__func__);
  CheckAlive(All().descriptors, descriptor, __func__);
  if (call.result != kCudnnSuccess) return call.result;
  for (const Needed& needed : kNeeded) {
    if (needed.descriptor != descriptor->type) continue;
    if (!Has(descriptor, needed.name)) Violation("attribute " + Text(needed.name) + " is missing");
    const int64_t count = descriptor->attributes[needed.name].count;
    if (count == 0 || (needed.count != 0 && count != needed.count)) {
      Violation("attribute " + Text(needed.name) + " of " + Text(count) + " elements");
    }
  }
  if (descriptor->type == kCudnnOperationGraph) CheckExtents(Operations(descriptor));
  if (descriptor->type == kCudnnExecutionPlan) {
    const CudnnStatus made = MakePlan(descriptor);
    if (made != kCudnnSuccess) return made;
  }
  descriptor->is_final = true;
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendGetAttribute(CudnnDescriptor descriptor, int name, int /*type*/,
                                     int64_t room, int64_t* count, void* elements) {
  Call call(__func__);
  CheckAlive(All().descriptors, descriptor, __func__);
  if (!descriptor->is_final) Violation("an attribute is read of what is not complete");
  if (call.result != kCudnnSuccess) return call.result;
  *count = 1;
  switch (name) {
    case kCudnnHeuristicResults:
      return NameWays(descriptor, room, count, static_cast<CudnnDescriptor*>(elements));
    case kCudnnConfigEngine: {
      const CudnnDescriptor engine = *static_cast<CudnnDescriptor*>(elements);
      CheckAlive(All().descriptors, engine, __func__);
      if (engine->type != kCudnnEngine) Violation("an engine that is none");
      engine->is_final = true;
      engine->way = descriptor->way;
      return kCudnnSuccess;
    }
    case kCudnnEngineNotes: {
      const std::string note = WordOf("notes", descriptor->way);
      *count = note == "-" ? 0 : 1;
      if (*count == 1) *static_cast<int32_t*>(elements) = std::stoi(note);
      return kCudnnSuccess;
    }
    case kCudnnPlanWorkspaceBytes:
      *static_cast<int64_t*>(elements) = Number("workspace", 1024);
      return kCudnnSuccess;
    default:
      return kCudnnBadParameter;
  }
}

CudnnStatus cudnnBackendExecute(CudnnHandle handle, CudnnDescriptor plan, CudnnDescriptor pack) {
  Call call(__func__);
  CheckAlive(All().handles, handle, __func__);
  for (const CudnnDescriptor each : {plan, pack}) {
    CheckAlive(All().descriptors, each, __func__);
    if (!each->is_final) Violation("a call of what is not complete");
  }
  if (handle->stream == nullptr) Violation("a call without a stream");
  if (call.result != kCudnnSuccess) return call.result;
  static int64_t made = 0;
  if (made++ >= Number("most", INT64_MAX)) return kCudnnExecutionFailed;
  CheckAlive(All().descriptors, plan->graph, "a graph");
  const Operations graph(plan->graph);
  const auto ids = Read<int64_t>(pack, kCudnnPackIds);
  const auto pointers = Read<uint64_t>(pack, kCudnnPackPointers);
  if (ids.size() != pointers.size() || ids.size() != graph.tensors.size()) {
    Violation("addresses of other tensors than a graph's");
  }
  if (Number("workspace", 1024) > 0 && One<uint64_t>(pack, kCudnnPackWorkspace) % 256 != 0) {
    Violation("a workspace that is not aligned");
  }
  std::vector<const void*> addresses;
  for (const Tensor& tensor : graph.tensors) {
    const auto found = std::find(ids.begin(), ids.end(), tensor.id);
    if (found == ids.end()) Violation("a tensor without an address");
    const uint64_t address = pointers[static_cast<size_t>(found - ids.begin())];
    if (address == 0 || address % static_cast<uint64_t>(tensor.alignment) != 0) {
      Violation("an address that is not as aligned as was promised");
    }
    addresses.push_back(reinterpret_cast<const void*>(address));
  }
  const CUresult launched = All().kernels.Launch(plan->text, std::move(addresses),
                                                 static_cast<uint64_t>(graph.elements()),
                                                 static_cast<uint64_t>(plan->way), handle->stream);
  return launched == kCudaSuccess ? kCudnnSuccess : kCudnnExecutionFailed;
}

}  // namespace slipway
