#include "core/runtime/drivers/cpu/cpu_driver.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/runtime/drivers/cpu/cpu_program.h"

namespace slipway {
namespace {

class CpuDriver final : public Driver {
 public:
  explicit CpuDriver(Target host) : host_(std::move(host)) {}

  absl::string_view name() const override { return "cpu"; }

  absl::StatusOr<std::unique_ptr<Program>> Load(const Artifact& artifact) const override {
    SLIPWAY_RETURN_IF_ERROR(CheckRunsOn(artifact.manifest().target(), host_));
    return CpuProgram::Load(artifact);
  }

 private:
  const Target host_;
};

}  // namespace

std::unique_ptr<Driver> MakeCpuDriver(Target host) {
  return std::make_unique<CpuDriver>(std::move(host));
}

}  // namespace slipway
