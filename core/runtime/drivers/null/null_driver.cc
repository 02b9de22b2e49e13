#include "core/runtime/drivers/null/null_driver.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/null/null_kernels.h"

namespace slipway {
namespace {

class NullDriver final : public Driver {
 public:
  explicit NullDriver(const NullDeviceOptions& options) : options_(options) {}

  absl::string_view name() const override { return "null"; }

  bool Drives(const DeviceTarget& target) const override {
    return target.arch == Arch::kCuda || target.arch == Arch::kOpenCl;
  }

  absl::Status Supports(const CheckedManifest& manifest, uint32_t device) const override {
    for (const v1::Code& code : manifest.proto().code()) {
      if (code.device() != device) continue;
      SLIPWAY_RETURN_IF_ERROR_WITH(LoadNullCode(code).status(), "null");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const override {
    NullDeviceOptions options = options_;
    options.ordinal = ordinal;
    return std::shared_ptr<ComputeDevice>(std::make_shared<NullDevice>(options));
  }

 private:
  const NullDeviceOptions options_;
};

}  // namespace

std::unique_ptr<Driver> MakeNullDriver(const NullDeviceOptions& options) {
  return std::make_unique<NullDriver>(options);
}

}  // namespace slipway
