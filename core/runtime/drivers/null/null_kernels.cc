#include "core/runtime/drivers/null/null_kernels.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

absl::Status CopyF32(absl::Span<float* const> tensors, int64_t i) {
  tensors[1][i] = tensors[0][i];
  return absl::OkStatus();
}

absl::Status FillF32(absl::Span<float* const> tensors, int64_t i) {
  tensors[1][i] = tensors[0][0];
  return absl::OkStatus();
}

absl::Status AddF32(absl::Span<float* const> tensors, int64_t i) {
  tensors[2][i] = tensors[0][i] + tensors[1][i];
  return absl::OkStatus();
}

absl::Status Fail(absl::Span<float* const> /*tensors*/, int64_t /*i*/) {
  return absl::InternalError("entry 'fail' failed");
}

constexpr NullKernel kKernels[] = {
    {"copy_f32", 1, 1, false, 0, &CopyF32}, {"fill_f32", 1, 1, true, 0, &FillF32},
    {"add_f32", 2, 1, false, 0, &AddF32},   {"tile_f32", 1, 1, false, sizeof(float), &CopyF32},
    {"fail", 1, 1, true, 0, &Fail},
};

}  // namespace

absl::Status NullCode::CheckArguments(uint32_t kernel, int inputs, int outputs) const {
  const NullKernel& entry = *kernels_[kernel];
  if (inputs == entry.inputs && outputs == entry.outputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gives ", inputs, " inputs and ", outputs, " outputs to entry '", entry.name,
                   "', which takes ", entry.inputs, " and ", entry.outputs));
}

absl::StatusOr<std::unique_ptr<DeviceCode>> LoadNullCode(const v1::Code& code) {
  if (code.kind() != v1::Code::KIND_PTX && code.kind() != v1::Code::KIND_OPENCL_SOURCE) {
    return absl::UnimplementedError(absl::StrCat("null devices know code of PTX and OpenCL, not ",
                                                 v1::Code::Kind_Name(code.kind())));
  }
  std::vector<const NullKernel*> kernels;
  for (const std::string& name : code.entries()) {
    const NullKernel* const found =
        std::find_if(std::begin(kKernels), std::end(kKernels),
                     [&](const NullKernel& kernel) { return kernel.name == name; });
    if (found == std::end(kKernels)) {
      return absl::UnimplementedError(
          absl::StrCat("null devices do not know entry '", absl::Utf8SafeCEscape(name), "'"));
    }
    kernels.push_back(found);
  }
  return std::unique_ptr<DeviceCode>(std::make_unique<NullCode>(std::move(kernels)));
}

}  // namespace slipway
