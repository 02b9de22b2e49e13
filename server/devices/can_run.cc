#include "server/devices/can_run.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

absl::Status CheckVersion(absl::string_view what, uint32_t needed, const VersionRange& offered) {
  if (offered.Includes(needed)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the artifact is of ", what, " ", needed, ", but the device's agent takes ",
                   ToString(offered), ": ",
                   needed > offered.highest ? "update the agent" : "compile the model again"));
}

}  // namespace

absl::Status CheckCanRun(const ProgramNeeds& program, const DeviceOffer& device) {
  if (program.is_session) {
    if (device.max_session < 1) {
      return absl::FailedPreconditionError("its agent serves no sessions: update the agent");
    }
    return program.target.devices.empty() ? absl::OkStatus()
                                          : CheckRunsOn(program.target, device.target);
  }
  SLIPWAY_RETURN_IF_ERROR(CheckRunsOn(program.target, device.target));
  if (device.is_compiled_only && !program.is_compiled_here) {
    return absl::FailedPreconditionError(
        "it takes only programs that this server's workers have compiled (--programs compiled of "
        "its agent), and the server knows of no such compilation of this one: compile the model "
        "with this server, or choose another device");
  }
  if (program.benchmark > device.max_benchmark) {
    return absl::FailedPreconditionError(
        "its agent is from before scenarios and settling, and would measure calls one after the "
        "other at once: update the agent");
  }
  SLIPWAY_RETURN_IF_ERROR(CheckVersion("manifest format", program.format, device.formats));
  return CheckVersion("kernel ABI", program.abi, device.abis);
}

absl::StatusOr<VersionRange> ReadVersionRange(int32_t lowest, int32_t highest,
                                              absl::string_view what) {
  if (lowest == 0 && highest == 0) return VersionRange{1, 1};
  if (lowest < 1 || highest < lowest) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", lowest, " to ", highest, " are no range of versions"));
  }
  return VersionRange{static_cast<uint32_t>(lowest), static_cast<uint32_t>(highest)};
}

}  // namespace slipway::server
