// OpenClCode: a program that a device's compiler has built, and what it says of its entries.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_CODE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_CODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/device_entry.h"
#include "core/runtime/drivers/opencl/opencl_library.h"

namespace slipway {

class OpenClDevice;

class OpenClCode final : public DeviceCode {
 public:
  // What a program may have in bytes of source, and a message in bytes of a compiler's log.
  static constexpr size_t kMaxSourceBytes = size_t{64} << 20;
  static constexpr size_t kMaxLogBytes = 4096;

  // From the device's cache of binaries, or by its compiler, and then into the cache. UNIMPLEMENTED for a kind that is no
  // OpenCL C; INVALID_ARGUMENT with the start of the compiler's log, or the entry that the text does not have.
  static absl::StatusOr<std::unique_ptr<DeviceCode>> Build(const OpenClDevice& device,
                                                           const v1::Code& code,
                                                           absl::string_view source);
  ~OpenClCode() override;

  absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const override;
  const DeviceEntry& entry(uint32_t kernel) const { return entries_[kernel]; }
  // An object of its own for each caller: arguments are set in it.
  absl::StatusOr<cl_kernel> NewKernel(uint32_t kernel) const;

 private:
  OpenClCode(const OpenClDevice& device, cl_program program) : device_(device), program_(program) {}
  absl::Status ReadEntries(const v1::Code& code);

  const OpenClDevice& device_;
  const cl_program program_;
  std::vector<DeviceEntry> entries_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_CODE_H_
