#include "core/runtime/drivers/cuda/cublaslt_product.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {
namespace {

CublasType TypeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return kCublasFloat16;
    case DataType::kBfloat16:
      return kCublasBfloat16;
    default:
      return kCublasFloat32;
  }
}

// `dtype` is the factors'.
CublasCompute ComputeOf(Precision precision, DataType dtype) {
  if (dtype != DataType::kFloat32) return kCublasCompute32;
  switch (precision) {
    case Precision::kTensorFloat32:
      return kCublasComputeFastTf32;
    case Precision::kFloat16:
      return kCublasComputeFast16;
    case Precision::kBfloat16:
      return kCublasComputeFastBf16;
    default:
      return kCublasCompute32;
  }
}

uint32_t EpilogueOf(const VendorStep& step) {
  uint32_t epilogue = 0;
  if (step.bias.has_value()) epilogue |= kCublasBias;
  if (step.activation == VendorStep::Activation::kRelu) epilogue |= kCublasRelu;
  if (step.activation == VendorStep::Activation::kGeluTanh) epilogue |= kCublasGelu;
  return epilogue == 0 ? uint32_t{kCublasNothing} : epilogue;
}

// A matrix as cuBLASLt is told of it.
struct Layout {
  DataType dtype = DataType::kFloat32;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t ld = 1;
  CublasOrder order = kCublasColumnsFirst;
  CublasOperation operation = kCublasAsIs;
  int64_t batch_stride = 0;
};

bool HasWholeRows(const VendorMatrix& matrix, int64_t columns) {
  return matrix.column_stride == 1 && matrix.row_stride >= columns;
}

// Of the transpose, columns first: what are whole rows there are columns.
Layout Transposed(const VendorMatrix& matrix, int64_t rows, int64_t columns) {
  if (HasWholeRows(matrix, columns)) {
    return {matrix.dtype,       columns, rows, matrix.row_stride, kCublasColumnsFirst, kCublasAsIs,
            matrix.batch_stride};
  }
  return {matrix.dtype,
          rows,
          columns,
          matrix.column_stride,
          kCublasColumnsFirst,
          kCublasTransposed,
          matrix.batch_stride};
}

Layout AsItIs(const VendorMatrix& matrix, int64_t rows, int64_t columns) {
  const bool has_whole_rows = HasWholeRows(matrix, columns);
  return {matrix.dtype,
          rows,
          columns,
          has_whole_rows ? matrix.row_stride : matrix.column_stride,
          has_whole_rows ? kCublasRowsFirst : kCublasColumnsFirst,
          kCublasAsIs,
          matrix.batch_stride};
}

// From the first element to the last one.
int64_t SpanOf(const VendorMatrix& matrix, int64_t batch, int64_t rows, int64_t columns) {
  return (batch - 1) * matrix.batch_stride + (rows - 1) * matrix.row_stride +
         (columns - 1) * matrix.column_stride + 1;
}

// Where the workspace of the product begins behind what is rounded.
int64_t RoundedUp(int64_t bytes) {
  constexpr int64_t kApart = 256;
  return (bytes + kApart - 1) / kApart * kApart;
}

}  // namespace

struct CublasLtProduct::Descriptors {
  Descriptors(const CublasLtLibrary& cublaslt, CublasLtHandle of, const ConvertingCode* with)
      : library(cublaslt), handle(of), rounding(with) {}
  ~Descriptors() {
    for (const CublasLtMatrixLayout layout : {a, b, c}) {
      if (layout != nullptr) library.LayoutDestroy(layout);
    }
    if (desc != nullptr) library.DescDestroy(desc);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  absl::Status Make(const VendorStep& step);
  absl::Status MakeLayout(const Layout& layout, int64_t batch, CublasLtMatrixLayout& made) const;
  template <typename T>
  absl::Status Set(int attribute, T value) const {
    return ToStatus(library.DescSet(desc, attribute, &value, sizeof(value)), "a product");
  }

  const CublasLtLibrary& library;
  const CublasLtHandle handle;
  const ConvertingCode* const rounding;
  CublasLtMatmulDesc desc = nullptr;
  CublasLtMatrixLayout a = nullptr;
  CublasLtMatrixLayout b = nullptr;
  CublasLtMatrixLayout c = nullptr;  // And of the result.
  bool left_is_a = false;            // Else the right matrix is, of the transposes.
  bool has_bias = false;
  bool has_added = false;
  // Of the factor that is rounded first: its elements, 0 where none is, and the type that it gets.
  bool rounds_left = false;
  int64_t rounded = 0;
  DataType rounded_type = DataType::kFloat32;
  // A bias's address is a part of the description, which lasts for one call.
  mutable std::mutex mutex;
};

absl::Status CublasLtProduct::Descriptors::MakeLayout(const Layout& layout, int64_t batch,
                                                      CublasLtMatrixLayout& made) const {
  constexpr char kWhat[] = "a matrix";
  SLIPWAY_RETURN_IF_ERROR(
      ToStatus(library.LayoutCreate(&made, TypeOf(layout.dtype), static_cast<uint64_t>(layout.rows),
                                    static_cast<uint64_t>(layout.columns), layout.ld),
               kWhat));
  const auto set = [&](int attribute, auto value) {
    return ToStatus(library.LayoutSet(made, attribute, &value, sizeof(value)), kWhat);
  };
  SLIPWAY_RETURN_IF_ERROR(set(kCublasLayoutOrder, int32_t{layout.order}));
  if (batch == 1) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(set(kCublasLayoutBatchCount, static_cast<int32_t>(batch)));
  return set(kCublasLayoutBatchStride, layout.batch_stride);
}

// Columns come first there: what has rows one behind the other is the transpose of a matrix, and so the right factor's transpose times the left one's is made. But a
// bias is for the result's rows, as it is told: where it is for ours, the result's rows come first.
absl::Status CublasLtProduct::Descriptors::Make(const VendorStep& step) {
  const auto& product = std::get<VendorProduct>(step.computed);
  const int64_t m = product.m;
  const int64_t n = product.n;
  const int64_t k = product.k;
  has_bias = step.bias.has_value();
  has_added = step.added.has_value();
  VendorMatrix left = product.left;
  VendorMatrix right = product.right;
  if (left.dtype != right.dtype) {
    rounds_left = left.dtype == DataType::kFloat32;
    VendorMatrix& narrowed = rounds_left ? left : right;
    rounded_type = rounds_left ? right.dtype : left.dtype;
    rounded = rounds_left ? SpanOf(left, product.batch, m, k) : SpanOf(right, product.batch, k, n);
    narrowed.dtype = rounded_type;
  }
  left_is_a = has_bias && product.bias_is_of_rows;
  const Layout of_a = left_is_a ? AsItIs(left, m, k) : Transposed(right, k, n);
  const Layout of_b = left_is_a ? AsItIs(right, k, n) : Transposed(left, m, k);
  const VendorMatrix result = {step.result, DataType::kFloat32, m * n, n, 1};
  const Layout of_c = left_is_a ? AsItIs(result, m, n) : Transposed(result, m, n);
  SLIPWAY_RETURN_IF_ERROR(
      ToStatus(library.DescCreate(&desc, ComputeOf(step.precision, left.dtype), kCublasFloat32),
               "a product"));
  SLIPWAY_RETURN_IF_ERROR(Set(kCublasDescTransA, int32_t{of_a.operation}));
  SLIPWAY_RETURN_IF_ERROR(Set(kCublasDescTransB, int32_t{of_b.operation}));
  SLIPWAY_RETURN_IF_ERROR(Set(kCublasDescEpilogue, EpilogueOf(step)));
  SLIPWAY_RETURN_IF_ERROR(MakeLayout(of_a, product.batch, a));
  SLIPWAY_RETURN_IF_ERROR(MakeLayout(of_b, product.batch, b));
  return MakeLayout(of_c, product.batch, c);
}

absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> CublasLtProduct::Find(
    const CudaDevice& device, const CublasLtLibrary& library, CublasLtHandle handle,
    const ConvertingCode* rounding, const VendorStep& step, int most) {
  constexpr char kWhat[] = "ways to make a product";
  const auto& product = std::get<VendorProduct>(step.computed);
  std::vector<std::unique_ptr<LibraryWay>> ways;
  if (product.left.dtype != product.right.dtype && rounding == nullptr) return ways;
  auto descriptors = std::make_shared<Descriptors>(library, handle, rounding);
  const auto annotated = [&device](const absl::Status& status) {
    return Annotate(status, device.name());
  };
  SLIPWAY_RETURN_IF_ERROR(annotated(descriptors->Make(step)));
  CublasLtPreference preference = nullptr;
  absl::Status status = ToStatus(library.PreferenceCreate(&preference), kWhat);
  const auto set = [&](int attribute, auto value) {
    if (!status.ok()) return;
    status = ToStatus(library.PreferenceSet(preference, attribute, &value, sizeof(value)), kWhat);
  };
  set(kCublasMaxWorkspaceBytes, kMostWorkspaceBytes);
  for (const int tensor :
       {kCublasMinAlignmentA, kCublasMinAlignmentB, kCublasMinAlignmentC, kCublasMinAlignmentD}) {
    set(tensor, kAlignment);
  }
  std::vector<CublasLtHeuristic> found(static_cast<size_t>(most));
  int count = 0;
  if (status.ok()) {
    const CublasStatus told = library.GetHeuristic(handle, descriptors->desc, descriptors->a,
                                                   descriptors->b, descriptors->c, descriptors->c,
                                                   preference, most, found.data(), &count);
    if (told != kCublasNotSupported) status = ToStatus(told, kWhat);
    if (told != kCublasSuccess) count = 0;
  }
  if (preference != nullptr) library.PreferenceDestroy(preference);
  SLIPWAY_RETURN_IF_ERROR(annotated(status));
  const int64_t rounded_bytes = RoundedUp(descriptors->rounded * 2);
  for (int i = 0; i < std::min(count, most); ++i) {
    const CublasLtHeuristic& way = found[static_cast<size_t>(i)];
    if (way.state != kCublasSuccess || way.workspace_bytes > kMostWorkspaceBytes) continue;
    ways.emplace_back(new CublasLtProduct(descriptors, way, rounded_bytes));
  }
  return ways;
}

CublasLtProduct::~CublasLtProduct() = default;

absl::Status CublasLtProduct::Issue(const CudaDevice& device, CUstream stream,
                                    const CudaWayAddresses& addresses) const {
  const Descriptors& all = *descriptors_;
  auto [left, right] = addresses.factors;
  if (all.rounded > 0) {
    CUdeviceptr& factor = all.rounds_left ? left : right;
    SLIPWAY_RETURN_IF_ERROR(
        all.rounding->Round(stream, factor, addresses.workspace, all.rounded, all.rounded_type));
    factor = addresses.workspace;
  }
  const float one = 1;
  const float beta = all.has_added ? 1 : 0;
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.has_bias) {
    SLIPWAY_RETURN_IF_ERROR(
        all.Set(kCublasDescBiasPointer, static_cast<const void*>(pointer(addresses.bias))));
  }
  const CublasStatus status = all.library.Matmul(
      all.handle, all.desc, &one, pointer(all.left_is_a ? left : right), all.a,
      pointer(all.left_is_a ? right : left), all.b, &beta,
      pointer(all.has_added ? addresses.added : addresses.result), all.c, pointer(addresses.result),
      all.c, &way_.algo, pointer(addresses.workspace + static_cast<CUdeviceptr>(rounded_bytes_)),
      way_.workspace_bytes, stream);
  return ToStatus(status, absl::StrCat(device.name(), ": ", all.library.name, "'s product"));
}

}  // namespace slipway
