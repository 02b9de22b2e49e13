// A libcublasLt over the libcuda without a GPU (fake_libcuda.cc): products are made by a text of PTX, an instance an element, written for what descriptors say.
//
// As strict as that one: handles that are not there any more, matrices that do not belong together, descriptors that are left when the last handle goes and addresses
// that are not as aligned as was promised end the process. Like the library it loads code when it looks for ways, and none while a stream captures. Of
// $SLIPWAY_FAKE_CUDA (fake_settings.h) it takes "cublaslt=11.2.3", its version; "ways=2", how many it has; "idle=3,0", how many launches that do nothing the first and
// second one have besides; "wrong=1", the way whose results are; "row_bias=0", that it has no products with a bias for each row where rows come first; "most=2", the products after which all others fail; and
// "cublasLtMatmul=13", results.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/drivers/cuda/cublaslt_api.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/testing/fake_call.h"
#include "core/runtime/drivers/cuda/testing/fake_kernels.h"
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
  uint32_t alignment_a = 256;
  uint32_t alignment_b = 256;
  uint32_t alignment_c = 256;
  uint32_t alignment_d = 256;
};

struct CublasLtContext_st {
  fake_cuda::FakeKernels kernels;
  uint32_t alignment = 256;  // The least that was promised.
};

namespace fake_cuda {
namespace {

// All that is alive.
struct Objects {
  std::set<CublasLtContext_st*> handles;
  std::set<CublasLtMatmulDesc_st*> descs;
  std::set<CublasLtMatrixLayout_st*> layouts;
  std::set<CublasLtPreference_st*> preferences;
};
Objects& All() {
  static auto& objects = *new Objects;
  return objects;
}

// Where an object keeps an attribute.
struct Field {
  int attribute;
  size_t offset;
  size_t bytes;
};
#define SLIPWAY_FIELD(attribute, type, member) \
  { attribute, offsetof(type, member), sizeof(type::member) }
constexpr Field kDescFields[] = {
    SLIPWAY_FIELD(kCublasDescTransA, CublasLtMatmulDesc_st, transpose_a),
    SLIPWAY_FIELD(kCublasDescTransB, CublasLtMatmulDesc_st, transpose_b),
    SLIPWAY_FIELD(kCublasDescEpilogue, CublasLtMatmulDesc_st, epilogue),
    SLIPWAY_FIELD(kCublasDescBiasPointer, CublasLtMatmulDesc_st, bias)};
constexpr Field kLayoutFields[] = {
    SLIPWAY_FIELD(kCublasLayoutOrder, CublasLtMatrixLayout_st, order),
    SLIPWAY_FIELD(kCublasLayoutBatchCount, CublasLtMatrixLayout_st, batch),
    SLIPWAY_FIELD(kCublasLayoutBatchStride, CublasLtMatrixLayout_st, batch_stride)};
constexpr Field kPreferenceFields[] = {
    SLIPWAY_FIELD(kCublasMaxWorkspaceBytes, CublasLtPreference_st, workspace_bytes),
    SLIPWAY_FIELD(kCublasMinAlignmentA, CublasLtPreference_st, alignment_a),
    SLIPWAY_FIELD(kCublasMinAlignmentB, CublasLtPreference_st, alignment_b),
    SLIPWAY_FIELD(kCublasMinAlignmentC, CublasLtPreference_st, alignment_c),
    SLIPWAY_FIELD(kCublasMinAlignmentD, CublasLtPreference_st, alignment_d)};
#undef SLIPWAY_FIELD

template <typename T, size_t n>
CublasStatus SetField(const std::set<T*>& alive, const Field (&fields)[n], T* object, int attribute,
                      const void* value, size_t bytes, const char* function) {
  const Call call(function);
  CheckAlive(alive, object, function);
  if (call.result != kCublasSuccess) return call.result;
  for (const Field& field : fields) {
    if (field.attribute != attribute) continue;
    if (bytes != field.bytes) Violation("an attribute of another size");
    memcpy(reinterpret_cast<char*>(object) + field.offset, value, bytes);
    return kCublasSuccess;
  }
  return kCublasInvalidValue;
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

FakeType TypeOf(int32_t type) {
  if (type == kCublasFloat32) return FakeType::kFloat32;
  return type == kCublasFloat16 ? FakeType::kFloat16 : FakeType::kBfloat16;
}

// %rd9 = pointer + (batch * %rd2 + row * %rd3 + column * %rd4) elements.
std::string Address(const std::string& pointer, const View& view, const std::string& row,
                    const std::string& column) {
  const std::string size = Text(BytesOf(TypeOf(view.type)));
  return "  ld.param.u64 %rd9, [" + pointer + "];\n" + "  mul.lo.u64 %rd10, %rd2, " +
         Text(view.batch_stride) + ";\n" + "  mad.lo.u64 %rd10, " + row + ", " +
         Text(view.row_stride) + ", %rd10;\n" + "  mad.lo.u64 %rd10, " + column + ", " +
         Text(view.column_stride) + ", %rd10;\n" + "  mad.lo.u64 %rd9, %rd10, " + size +
         ", %rd9;\n";
}

std::string TextOf(const Product& product, bool is_wrong) {
  const bool has_bias = (product.epilogue & kCublasBias) != 0;
  std::vector<std::string> parameters = {"a", "b", "d", "w"};
  if (product.has_c) parameters.push_back("c");
  if (has_bias) parameters.push_back("bias");
  const auto rows = static_cast<int64_t>(product.d.rows);
  const auto columns = static_cast<int64_t>(product.d.columns);
  std::string text = BeginKernel("cublaslt_product", parameters, product.batch * rows * columns);
  text += "  rem.u64 %rd4, %rd1, " + Text(columns) + ";\n";
  text += "  div.u64 %rd1, %rd1, " + Text(columns) + ";\n";
  text += "  rem.u64 %rd3, %rd1, " + Text(rows) + ";\n";
  text += "  div.u64 %rd2, %rd1, " + Text(rows) + ";\n";
  text += "  mov.u64 %rd5, 0;\n  mov.f32 %f1, 0f00000000;\nNEXT:\n";
  text += Address("a", product.a, "%rd3", "%rd5") + LoadText(TypeOf(product.a.type), "%f2", "%rd9");
  text += Address("b", product.b, "%rd5", "%rd4") + LoadText(TypeOf(product.b.type), "%f3", "%rd9");
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
  if ((product.epilogue & kCublasGelu) != 0) text += GeluText();
  if (is_wrong) text += "  add.f32 %f1, %f1, 0f41200000;\n";
  text += Address("d", product.d, "%rd3", "%rd4");
  return text + "  st.global.f32 [%rd9], %f1;\nDONE:\n  ret;\n}\n";
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
  handle->kernels.Unload();
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
  return SetField(All().descs, kDescFields, desc, attribute, value, bytes, __func__);
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
  return SetField(All().layouts, kLayoutFields, layout, attribute, value, bytes, __func__);
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
  return SetField(All().preferences, kPreferenceFields, preference, attribute, value, bytes,
                  __func__);
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
  handle->alignment = std::min({preference->alignment_a, preference->alignment_b,
                                preference->alignment_c, preference->alignment_d});
  for (int way = 0; way < std::min<int64_t>(wanted, Number("ways", 2)); ++way) {
    for (const bool has_c : {false, true}) {
      handle->kernels.Load(TextOf(Describe(*desc, *a, *b, *d, has_c), Number("wrong", -1) == way),
                           "cublaslt_product");
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
  for (const void* const address : addresses) {
    if (reinterpret_cast<uint64_t>(address) % handle->alignment != 0) {
      Violation("an address that is not as aligned as was promised");
    }
  }
  const uint64_t way = algo->data[0];
  const uint64_t elements =
      static_cast<uint64_t>(product.batch) * product.d.rows * product.d.columns;
  const CUresult launched =
      handle->kernels.Launch(TextOf(product, Number("wrong", -1) == static_cast<int64_t>(way)),
                             std::move(addresses), elements, way, stream);
  return launched == kCudaSuccess ? kCublasSuccess : kCublasExecutionFailed;
}

}  // namespace slipway
