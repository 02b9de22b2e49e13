#include "core/runtime/drivers/cuda/cuda_work.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {
namespace {

constexpr size_t kSizes = 7;  // Of a launch: groups, their instances, shared bytes.
// No addresses of functions.
constexpr uint64_t kCopy = 0;
constexpr uint64_t kWay = 1;

}  // namespace

void CudaWork::AddLaunch(CUfunction function, const LaunchSizes& sizes,
                         absl::Span<const uint64_t> parameters, Label label) {
  words_.push_back(reinterpret_cast<uint64_t>(function));
  words_.push_back(kSizes + parameters.size());
  for (const auto& three : {sizes.groups, sizes.group}) {
    for (const int64_t size : three) words_.push_back(static_cast<uint64_t>(size));
  }
  words_.push_back(static_cast<uint64_t>(sizes.shared_bytes));
  words_.insert(words_.end(), parameters.begin(), parameters.end());
  labels_.push_back(std::move(label));
}

void CudaWork::AddCopy(CUdeviceptr to, CUdeviceptr from, int64_t bytes) {
  words_.insert(words_.end(), {kCopy, 3, to, from, static_cast<uint64_t>(bytes)});
  labels_.push_back(nullptr);
}

void CudaWork::AddWay(const CudaWay& way, const CudaWayAddresses& addresses, Label label) {
  words_.insert(words_.end(), {kWay, 7, reinterpret_cast<uint64_t>(&way), addresses.factors[0],
                               addresses.factors[1], addresses.result, addresses.bias,
                               addresses.added, addresses.workspace});
  labels_.push_back(std::move(label));
}

void CudaWork::Clear() {
  words_.clear();
  labels_.clear();
}

absl::Status CudaWork::Issue(const CudaDevice& device, CUstream stream) const {
  const CudaLibrary& cuda = device.cuda();
  const uint64_t* next = words_.data();
  std::vector<void*> parameters;
  for (const Label& label : labels_) {
    const uint64_t kind = next[0];
    const uint64_t* const words = next + 2;
    next = words + next[1];
    if (kind == kCopy) {
      SLIPWAY_RETURN_IF_ERROR(
          device.ToStatus(cuda.MemcpyDtoDAsync(words[0], words[1], words[2], stream),
                          absl::StrCat("copy of ", words[2], " bytes")));
      continue;
    }
    if (kind == kWay) {
      const auto& way = *reinterpret_cast<const CudaWay*>(words[0]);
      SLIPWAY_RETURN_IF_ERROR_WITH(
          way.Issue(device, stream, {{words[1], words[2]}, words[3], words[4], words[5], words[6]}),
          *label);
      continue;
    }
    const auto function = reinterpret_cast<CUfunction>(kind);
    const auto size = [&](size_t i) { return static_cast<unsigned>(words[i]); };
    parameters.clear();
    for (const uint64_t* value = words + kSizes; value < next; ++value) {
      parameters.push_back(const_cast<uint64_t*>(value));
    }
    SLIPWAY_RETURN_IF_ERROR(
        device.ToStatus(cuda.LaunchKernel(function, size(0), size(1), size(2), size(3), size(4),
                                          size(5), size(6), stream, parameters.data(), nullptr),
                        *label));
  }
  return absl::OkStatus();
}

}  // namespace slipway
