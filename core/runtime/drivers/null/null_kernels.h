// The entries that a NullDevice knows.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_KERNELS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_KERNELS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/runtime/device.h"

namespace slipway {

// What one instance of an entry does: element `i`.
struct NullKernel {
  absl::string_view name;
  int inputs;
  int outputs;
  // Reads the first element of its inputs alone, and not the one that the instance does.
  bool reads_first;
  // Memory that its group shares and that it uses, for each instance.
  int64_t shared_bytes;
  absl::Status (*function)(absl::Span<float* const> tensors, int64_t i);
};

class NullCode final : public DeviceCode {
 public:
  explicit NullCode(std::vector<const NullKernel*> kernels) : kernels_(std::move(kernels)) {}
  absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const override;
  const NullKernel& kernel(uint32_t index) const { return *kernels_[index]; }

 private:
  const std::vector<const NullKernel*> kernels_;
};

// UNIMPLEMENTED names the kind or the entry that is unknown.
absl::StatusOr<std::unique_ptr<DeviceCode>> LoadNullCode(const v1::Code& code);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_KERNELS_H_
