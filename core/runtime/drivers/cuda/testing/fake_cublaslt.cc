// A libcublasLt over the libcuda without a GPU (fake_libcuda.cc): products are made by a text of PTX, an instance an element, written for what descriptors say.
//
// As strict as that one: handles that are not there any more, matrices that do not belong together, descriptors that are left when the last handle goes and addresses
// that are not as aligned as was promised end the process. Like the library it loads code when it looks for ways, and none while a stream captures. Of
// $SLIPWAY_FAKE_CUDA (fake_settings.h) it takes "cublaslt=11.2.3", its version; "ways=2", how many it has; "idle=3,0", how many launches that do nothing the first and
// second one have besides; "wrong=1", the way whose results are; "row_bias=0", that it has no products with a bias for each row where rows come first; "most=2", the products after which all others fail; and
// "cublasLtMatmul=13", results.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/runtime/drivers/cuda/cublaslt_api.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/testing/fake_settings.h"

namespace slipway {

struct CublasLtMatmulDesc_st {
  int32_t compute = 0;
  int32_t transpose_a = 0;
  int32_t transpose_b = 0;
  uint32_t epilogue = kCublasNothing;
  const void* bias = nullptr;
};

struct CublasLtMatrixLayout_st {
  int32_t type = 0;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t ld = 0;
  int32_t order = kCublasColumnsFirst;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};

struct CublasLtPreference_st {
  uint64_t workspace_bytes = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // Of A, B, C and D.
};

struct CublasLtContext_st {
  std::map<std::string, std::pair<CUmodule, CUfunction>> functions;  // By text.
  uint32_t alignment = 256;                                          // The least that was promised.
};

namespace fake_cuda {
namespace {

// Functions of the process's libcuda.
template <typename Function>
Function Driver(const char* name) {
  static void* const file = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (file == nullptr) Violation("cublasLt without a libcuda");
  return reinterpret_cast<Function>(dlsym(file, name));
}
using LoadModule = CUresult (*)(CUmodule*, const void*, unsigned, int*, void**);
using UnloadModule = CUresult (*)(CUmodule);
using GetFunction = CUresult (*)(CUfunction*, CUmodule, const char*);
using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);

// All that is alive.
struct Objects {
  std::recursive_mutex mutex;
  std::set<CublasLtHandle> handles;
  std::set<CublasLtMatmulDesc> descs;
  std::set<CublasLtMatrixLayout> layouts;
  std::set<CublasLtPreference> preferences;
};
Objects& All() {
  static auto& objects = *new Objects;
  return objects;
}

struct Call {
  explicit Call(const char* function)
      : lock(All().mutex), result(static_cast<CublasStatus>(Number(function, kCublasSuccess))) {
    if (Number("calls", 0) != 0) Trace(std::string("call ") + function);
  }
  const std::lock_guard<std::recursive_mutex> lock;
  const CublasStatus result;
};

template <typename T>
void CheckAlive(const std::set<T>& alive, T object, const char* function) {
  if (alive.count(object) == 0) {
    Violation(std::string(function) + " of what is not there");
  }
}

template <typename T>
CublasStatus Take(const void* value, size_t bytes, T& to) {
  if (bytes != sizeof(T)) Violation("an attribute of another size");
  memcpy(&to, value, bytes);
  return kCublasSuccess;
}

template <typename T>
CublasStatus Destroy(std::set<T*>& alive, T* object, const Call& call, const char* function) {
  CheckAlive(alive, object, function);
  alive.erase(object);
  delete object;
  return call.result;
}

// A matrix as its operation has it.
struct View {
  uint64_t rows;
  uint64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  int64_t batch_stride;
  int32_t type;
};

View ViewOf(const CublasLtMatrixLayout_st& layout, bool is_transposed) {
  const bool has_columns_first = layout.order == kCublasColumnsFirst;
  if (layout.ld < static_cast<int64_t>(has_columns_first ? layout.rows : layout.columns)) {
    Violation("a leading dimension that is too small");
  }
  View view = {layout.rows,
               layout.columns,
               has_columns_first ? 1 : layout.ld,
               has_columns_first ? layout.ld : 1,
               layout.batch_stride,
               layout.type};
  if (is_transposed) {
    std::swap(view.rows, view.columns);
    std::swap(view.row_stride, view.column_stride);
  }
  return view;
}

struct Product {
  View a;
  View b;
  View d;
  int32_t batch;
  uint32_t epilogue;
  bool has_c;
};

Product Describe(const CublasLtMatmulDesc_st& desc, const CublasLtMatrixLayout_st& a,
                 const CublasLtMatrixLayout_st& b, const CublasLtMatrixLayout_st& d, bool has_c) {
  const Product product = {ViewOf(a, desc.transpose_a == kCublasTransposed),
                           ViewOf(b, desc.transpose_b == kCublasTransposed),
                           ViewOf(d, false),
                           d.batch,
                           desc.epilogue,
                           has_c};
  if (product.a.rows != product.d.rows || product.b.columns != product.d.columns ||
      product.a.columns != product.b.rows || a.batch != d.batch || b.batch != d.batch) {
    Violation("matrices that do not belong together");
  }
  if (d.batch > 1 && d.batch_stride == 0) Violation("results that lie in each other");
  return product;
}

bool IsSupported(const CublasLtMatmulDesc_st& desc, const CublasLtMatrixLayout_st& a,
                 const CublasLtMatrixLayout_st& b, const CublasLtMatrixLayout_st& d) {
  const bool is_narrow = a.type != kCublasFloat32;
  const bool has_bias = (desc.epilogue & kCublasBias) != 0;
  if (a.type != b.type || d.type != kCublasFloat32) return false;
  if (is_narrow && desc.compute != kCublasCompute32) return false;
  return !has_bias || d.order == kCublasColumnsFirst || Number("row_bias", 1) != 0;
}

// A factor's element in a register of f32, whose address is in %rd9.
std::string Load(int32_t type, const std::string& to) {
  if (type == kCublasFloat32) return "  ld.global.f32 " + to + ", [%rd9];\n";
  if (type == kCublasFloat16) {
    return "  ld.global.b16 %h1, [%rd9];\n  cvt.f32.f16 " + to + ", %h1;\n";
  }
  return "  ld.global.u16 %h1, [%rd9];\n  cvt.u32.u16 %r1, %h1;\n  shl.b32 %r1, %r1, 16;\n"
         "  mov.b32 " +
         to + ", %r1;\n";
}

std::string Text(int64_t value) { return std::to_string(value); }

int SizeOf(int32_t type) { return type == kCublasFloat32 ? 4 : 2; }

// %rd9 = pointer + (batch * %rd2 + row * %rd3 + column * %rd4) elements.
std::string Address(const std::string& pointer, const View& view, const std::string& row,
                    const std::string& column) {
  const std::string size = Text(SizeOf(view.type));
  return "  ld.param.u64 %rd9, [" + pointer + "];\n" + "  mul.lo.u64 %rd10, %rd2, " +
         Text(view.batch_stride) + ";\n" + "  mad.lo.u64 %rd10, " + row + ", " +
         Text(view.row_stride) + ", %rd10;\n" + "  mad.lo.u64 %rd10, " + column + ", " +
         Text(view.column_stride) + ", %rd10;\n" + "  mad.lo.u64 %rd9, %rd10, " + size +
         ", %rd9;\n";
}

std::string TextOf(const Product& product, bool is_wrong) {
  const bool has_bias = (product.epilogue & kCublasBias) != 0;
  std::string parameters;
  for (const char* name : {"a", "b", "d", "w"}) {
    parameters +=
        std::string(parameters.empty() ? "" : ", ") + ".param .u64 .ptr .global .align 4 " + name;
  }
  if (product.has_c) parameters += ", .param .u64 .ptr .global .align 4 c";
  if (has_bias) parameters += ", .param .u64 .ptr .global .align 4 bias";
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n";
  text += ".visible .entry cublaslt_product(" + parameters + ")\n{\n";
  text += R"(  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<5>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<12>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd1, %r3;
  mul.wide.u32 %rd2, %r1, %r2;
  add.s64 %rd1, %rd1, %rd2;
)";
  const auto rows = static_cast<int64_t>(product.d.rows);
  const auto columns = static_cast<int64_t>(product.d.columns);
  text += "  setp.ge.u64 %p1, %rd1, " + Text(product.batch * rows * columns) + ";\n";
  text += "  @%p1 bra DONE;\n";
  text += "  rem.u64 %rd4, %rd1, " + Text(columns) + ";\n";
  text += "  div.u64 %rd1, %rd1, " + Text(columns) + ";\n";
  text += "  rem.u64 %rd3, %rd1, " + Text(rows) + ";\n";
  text += "  div.u64 %rd2, %rd1, " + Text(rows) + ";\n";
  text += "  mov.u64 %rd5, 0;\n  mov.f32 %f1, 0f00000000;\nNEXT:\n";
  text += Address("a", product.a, "%rd3", "%rd5") + Load(product.a.type, "%f2");
  text += Address("b", product.b, "%rd5", "%rd4") + Load(product.b.type, "%f3");
  text += "  fma.rn.f32 %f1, %f2, %f3, %f1;\n  add.s64 %rd5, %rd5, 1;\n";
  text += "  setp.lt.u64 %p2, %rd5, " + Text(static_cast<int64_t>(product.a.columns)) + ";\n";
  text += "  @%p2 bra NEXT;\n";
  if (product.has_c) {
    text += Address("c", product.d, "%rd3", "%rd4");
    text += "  ld.global.f32 %f2, [%rd9];\n  add.f32 %f1, %f1, %f2;\n";
  }
  if (has_bias) {
    text += "  ld.param.u64 %rd9, [bias];\n  mad.lo.u64 %rd9, %rd3, 4, %rd9;\n";
    text += "  ld.global.f32 %f2, [%rd9];\n  add.f32 %f1, %f1, %f2;\n";
  }
  if ((product.epilogue & kCublasRelu) != 0) text += "  max.f32 %f1, %f1, 0f00000000;\n";
  if ((product.epilogue & kCublasGelu) != 0) {
    // x / (1 + 2^(-log2(e) * x * (1.59576912 + 0.0713548163 * x * x))).
    text += R"(  mul.f32 %f2, %f1, %f1;
  fma.rn.f32 %f2, %f2, 0f3D922279, 0f3FCC422A;
  mul.f32 %f2, %f2, %f1;
  mul.f32 %f2, %f2, 0fBFB8AA3B;
  ex2.approx.f32 %f2, %f2;
  add.f32 %f2, %f2, 0f3F800000;
  rcp.approx.f32 %f2, %f2;
  mul.f32 %f1, %f1, %f2;
)";
  }
  if (is_wrong) text += "  add.f32 %f1, %f1, 0f41200000;\n";
  text += Address("d", product.d, "%rd3", "%rd4");
  return text + "  st.global.f32 [%rd9], %f1;\nDONE:\n  ret;\n}\n";
}

constexpr char kIdle[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry cublaslt_idle()
{
  ret;
}
)";

CUfunction Loaded(CublasLtHandle handle, const std::string& text, const char* entry,
                  bool may_load) {
  const auto found = handle->functions.find(text);
  if (found != handle->functions.end()) return found->second.second;
  if (!may_load) Violation("a product in a way that was not looked for");
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (Driver<LoadModule>("cuModuleLoadDataEx")(&module, text.c_str(), 0, nullptr, nullptr) != 0 ||
      Driver<GetFunction>("cuModuleGetFunction")(&function, module, entry) != 0) {
    Violation("cublasLt's code does not load:\n" + text);
  }
  handle->functions[text] = {module, function};
  return function;
}

int64_t IdleLaunchesOf(uint64_t way) {
  std::istringstream words(Setting("idle", "0"));
  std::string word;
  for (uint64_t i = 0; std::getline(words, word, ','); ++i) {
    if (i == way) return std::stoll(word);
  }
  return 0;
}

constexpr size_t kWorkspaceBytes = 1024;  // Of every way.

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;  // NOLINT(google-build-using-namespace)

#define SLIPWAY_EXPORT(name, symbol, parameters) \
  extern "C" __attribute__((visibility("default"))) CublasStatus symbol parameters;
SLIPWAY_CUBLASLT_FUNCTIONS(SLIPWAY_EXPORT)
#undef SLIPWAY_EXPORT

CublasStatus cublasLtGetProperty(int property, int* value) {
  Call call(__func__);
  std::istringstream words(Setting("cublaslt", "12.4.5"));
  std::string word;
  for (int i = 0; i <= property; ++i) std::getline(words, word, '.');
  *value = std::stoi(word);
  return call.result;
}

CublasStatus cublasLtCreate(CublasLtHandle* handle) {
  Call call(__func__);
  if (call.result != kCublasSuccess) return call.result;
  *handle = new CublasLtContext_st;
  All().handles.insert(*handle);
  return kCublasSuccess;
}

CublasStatus cublasLtDestroy(CublasLtHandle handle) {
  Call call(__func__);
  CheckAlive(All().handles, handle, __func__);
  const bool is_last = All().handles.size() == 1;
  if (is_last && !(All().descs.empty() && All().layouts.empty() && All().preferences.empty())) {
    Violation("descriptors are left when the last handle goes");
  }
  for (const auto& [text, loaded] : handle->functions) {
    Driver<UnloadModule>("cuModuleUnload")(loaded.first);
  }
  All().handles.erase(handle);
  delete handle;
  return call.result;
}

CublasStatus cublasLtMatmulDescCreate(CublasLtMatmulDesc* desc, int32_t compute, int32_t scale) {
  Call call(__func__);
  if (scale != kCublasFloat32) Violation("scales that are not f32");
  if (call.result != kCublasSuccess) return call.result;
  *desc = new CublasLtMatmulDesc_st{.compute = compute};
  All().descs.insert(*desc);
  return kCublasSuccess;
}

CublasStatus cublasLtMatmulDescDestroy(CublasLtMatmulDesc desc) {
  Call call(__func__);
  return Destroy(All().descs, desc, call, __func__);
}

CublasStatus cublasLtMatmulDescSetAttribute(CublasLtMatmulDesc desc, int attribute,
                                            const void* value, size_t bytes) {
  Call call(__func__);
  CheckAlive(All().descs, desc, __func__);
  if (call.result != kCublasSuccess) return call.result;
  switch (attribute) {
    case kCublasDescTransA:
      return Take(value, bytes, desc->transpose_a);
    case kCublasDescTransB:
      return Take(value, bytes, desc->transpose_b);
    case kCublasDescEpilogue:
      return Take(value, bytes, desc->epilogue);
    case kCublasDescBiasPointer:
      return Take(value, bytes, desc->bias);
    default:
      return kCublasInvalidValue;
  }
}

CublasStatus cublasLtMatrixLayoutCreate(CublasLtMatrixLayout* layout, int32_t type, uint64_t rows,
                                        uint64_t columns, int64_t ld) {
  Call call(__func__);
  if (call.result != kCublasSuccess) return call.result;
  *layout = new CublasLtMatrixLayout_st{.type = type, .rows = rows, .columns = columns, .ld = ld};
  All().layouts.insert(*layout);
  return kCublasSuccess;
}

CublasStatus cublasLtMatrixLayoutDestroy(CublasLtMatrixLayout layout) {
  Call call(__func__);
  return Destroy(All().layouts, layout, call, __func__);
}

CublasStatus cublasLtMatrixLayoutSetAttribute(CublasLtMatrixLayout layout, int attribute,
                                              const void* value, size_t bytes) {
  Call call(__func__);
  CheckAlive(All().layouts, layout, __func__);
  if (call.result != kCublasSuccess) return call.result;
  switch (attribute) {
    case kCublasLayoutOrder:
      return Take(value, bytes, layout->order);
    case kCublasLayoutBatchCount:
      return Take(value, bytes, layout->batch);
    case kCublasLayoutBatchStride:
      return Take(value, bytes, layout->batch_stride);
    default:
      return kCublasInvalidValue;
  }
}

CublasStatus cublasLtMatmulPreferenceCreate(CublasLtPreference* preference) {
  Call call(__func__);
  if (call.result != kCublasSuccess) return call.result;
  *preference = new CublasLtPreference_st;
  All().preferences.insert(*preference);
  return kCublasSuccess;
}

CublasStatus cublasLtMatmulPreferenceDestroy(CublasLtPreference preference) {
  Call call(__func__);
  return Destroy(All().preferences, preference, call, __func__);
}

CublasStatus cublasLtMatmulPreferenceSetAttribute(CublasLtPreference preference, int attribute,
                                                  const void* value, size_t bytes) {
  Call call(__func__);
  CheckAlive(All().preferences, preference, __func__);
  if (call.result != kCublasSuccess) return call.result;
  if (attribute == kCublasMaxWorkspaceBytes) return Take(value, bytes, preference->workspace_bytes);
  if (attribute < kCublasMinAlignmentA || attribute > kCublasMinAlignmentD) {
    return kCublasInvalidValue;
  }
  return Take(value, bytes, preference->alignment[attribute - kCublasMinAlignmentA]);
}

CublasStatus cublasLtMatmulAlgoGetHeuristic(CublasLtHandle handle, CublasLtMatmulDesc desc,
                                            CublasLtMatrixLayout a, CublasLtMatrixLayout b,
                                            CublasLtMatrixLayout c, CublasLtMatrixLayout d,
                                            CublasLtPreference preference, int wanted,
                                            CublasLtHeuristic* found, int* count) {
  Call call(__func__);
  CheckAlive(All().handles, handle, __func__);
  CheckAlive(All().descs, desc, __func__);
  CheckAlive(All().preferences, preference, __func__);
  for (const CublasLtMatrixLayout layout : {a, b, c, d}) {
    CheckAlive(All().layouts, layout, __func__);
  }
  *count = 0;
  if (call.result != kCublasSuccess) return call.result;
  if (!IsSupported(*desc, *a, *b, *d)) return kCublasNotSupported;
  if (preference->workspace_bytes < kWorkspaceBytes) return kCublasNotSupported;
  handle->alignment = *std::min_element(preference->alignment, preference->alignment + 4);
  Loaded(handle, kIdle, "cublaslt_idle", true);
  for (int way = 0; way < std::min<int64_t>(wanted, Number("ways", 2)); ++way) {
    for (const bool has_c : {false, true}) {
      Loaded(handle, TextOf(Describe(*desc, *a, *b, *d, has_c), Number("wrong", -1) == way),
             "cublaslt_product", true);
    }
    found[way] = {.algo = {{static_cast<uint64_t>(way)}},
                  .workspace_bytes = kWorkspaceBytes,
                  .state = kCublasSuccess,
                  .waves = 1,
                  .reserved = {}};
    ++*count;
  }
  return kCublasSuccess;
}

CublasStatus cublasLtMatmul(CublasLtHandle handle, CublasLtMatmulDesc desc, const void* alpha,
                            const void* a, CublasLtMatrixLayout a_layout, const void* b,
                            CublasLtMatrixLayout b_layout, const void* beta, const void* c,
                            CublasLtMatrixLayout c_layout, void* d, CublasLtMatrixLayout d_layout,
                            const CublasLtAlgo* algo, void* workspace, size_t workspace_bytes,
                            CUstream stream) {
  Call call(__func__);
  CheckAlive(All().handles, handle, __func__);
  CheckAlive(All().descs, desc, __func__);
  for (const CublasLtMatrixLayout layout : {a_layout, b_layout, c_layout, d_layout}) {
    CheckAlive(All().layouts, layout, __func__);
  }
  if (call.result != kCublasSuccess) return call.result;
  static int64_t made = 0;
  if (made++ >= Number("most", INT64_MAX)) return kCublasExecutionFailed;
  if (*static_cast<const float*>(alpha) != 1) Violation("a factor that is not 1");
  if (workspace_bytes < kWorkspaceBytes) return kCublasInvalidValue;
  const bool has_bias = (desc->epilogue & kCublasBias) != 0;
  if (has_bias && desc->bias == nullptr) return kCublasInvalidValue;
  const bool has_c = *static_cast<const float*>(beta) != 0;
  const Product product = Describe(*desc, *a_layout, *b_layout, *d_layout, has_c);
  std::vector<const void*> addresses = {a, b, d, workspace};
  if (has_c) addresses.push_back(c);
  if (has_bias) addresses.push_back(desc->bias);
  std::vector<void*> parameters;
  for (const void*& address : addresses) {
    if (reinterpret_cast<uint64_t>(address) % handle->alignment != 0) {
      Violation("an address that is not as aligned as was promised");
    }
    parameters.push_back(&address);
  }
  const uint64_t way = algo->data[0];
  const auto launch = Driver<LaunchKernel>("cuLaunchKernel");
  const CUfunction idle = Loaded(handle, kIdle, "cublaslt_idle", false);
  for (int64_t i = 0; i < IdleLaunchesOf(way); ++i) {
    launch(idle, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
  }
  const CUfunction function =
      Loaded(handle, TextOf(product, Number("wrong", -1) == static_cast<int64_t>(way)),
             "cublaslt_product", false);
  constexpr uint64_t kInstances = 64;
  const uint64_t elements =
      static_cast<uint64_t>(product.batch) * product.d.rows * product.d.columns;
  const CUresult launched =
      launch(function, static_cast<unsigned>((elements + kInstances - 1) / kInstances), 1, 1,
             kInstances, 1, 1, 0, stream, parameters.data(), nullptr);
  return launched == kCudaSuccess ? kCublasSuccess : kCublasExecutionFailed;
}

}  // namespace slipway
