#include "core/runtime/drivers/opencl/opencl_driver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/opencl/binary_cache.h"
#include "core/runtime/drivers/opencl/opencl_device.h"
#include "core/runtime/drivers/opencl/opencl_library.h"

namespace slipway {
namespace {

constexpr cl_uint kMaxPlatforms = 64;
constexpr cl_uint kMaxDevices = 64;

struct Found {
  cl_platform_id platform;
  cl_device_id id;
  OpenClFacts facts;
};

absl::StatusOr<std::vector<Found>> FindDevices(const OpenClLibrary& cl) {
  cl_platform_id platforms[kMaxPlatforms];
  cl_uint platform_count = 0;
  const cl_int error = cl.GetPlatformIDs(kMaxPlatforms, platforms, &platform_count);
  if (error != CL_SUCCESS) platform_count = 0;
  std::vector<Found> found;
  std::string lacking;
  for (cl_uint p = 0; p < std::min(platform_count, kMaxPlatforms); ++p) {
    cl_device_id ids[kMaxDevices];
    cl_uint count = 0;
    if (cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, kMaxDevices, ids, &count) != CL_SUCCESS) {
      continue;
    }
    for (cl_uint i = 0; i < std::min(count, kMaxDevices); ++i) {
      absl::StatusOr<OpenClFacts> facts = ReadFacts(cl, platforms[p], ids[i]);
      if (facts.ok()) {
        found.push_back({platforms[p], ids[i], *std::move(facts)});
      } else {
        absl::StrAppend(&lacking, "; ", std::string(facts.status().message()));
      }
    }
  }
  if (found.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "opencl: no device of ", platform_count, " platforms runs programs", lacking,
        ": install what the device's vendor offers (pocl-opencl-icd computes on the CPU)"));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return !a.facts.is_cpu && b.facts.is_cpu;
  });
  return found;
}

class OpenClDriver final : public Driver {
 public:
  explicit OpenClDriver(OpenClDriverOptions options) : options_(std::move(options)) {}

  absl::string_view name() const override { return "opencl"; }

  bool Drives(const DeviceTarget& target) const override { return target.arch == Arch::kOpenCl; }

  absl::Status Supports(const CheckedManifest& checked, uint32_t device) const override {
    const v1::Manifest& manifest = checked.proto();
    for (const v1::Code& code : manifest.code()) {
      if (code.device() == device && code.kind() != v1::Code::KIND_OPENCL_SOURCE) {
        return absl::UnimplementedError(absl::StrCat("opencl: code of ",
                                                     v1::Code::Kind_Name(code.kind()),
                                                     " does not run on such a device"));
      }
    }
    for (const v1::Function& function : manifest.functions()) {
      for (const v1::Step& step : function.steps()) {
        if (step.device() != device || !step.has_kernel()) continue;
        if (step.kernel().launch().shared_bytes() == 0) continue;
        return absl::UnimplementedError(
            absl::StrCat("opencl: step '", absl::Utf8SafeCEscape(step.name()), "' asks for ",
                         step.kernel().launch().shared_bytes(),
                         " bytes that a group shares beyond what its text of OpenCL C declares"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const override {
    if (!options_.refusal.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("opencl: ", options_.refusal));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const OpenClLibrary* cl, OpenClLibrary::Load());
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Found> found, FindDevices(*cl));
    if (ordinal < 0 || static_cast<size_t>(ordinal) >= found.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("opencl: this machine has ", found.size(), " devices, not ", ordinal + 1));
    }
    std::optional<BinaryCache> cache;
    if (!options_.cache_folder.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(cache, BinaryCache::Open(options_.cache_folder));
    }
    const Found& one = found[static_cast<size_t>(ordinal)];
    SLIPWAY_ASSIGN_OR_RETURN(
        std::shared_ptr<OpenClDevice> device,
        OpenClDevice::Create(*cl, one.platform, one.id, ordinal, std::move(cache)));
    return std::shared_ptr<ComputeDevice>(std::move(device));
  }

 private:
  const OpenClDriverOptions options_;
};

}  // namespace

std::unique_ptr<Driver> MakeOpenClDriver(OpenClDriverOptions options) {
  return std::make_unique<OpenClDriver>(std::move(options));
}

absl::StatusOr<std::vector<OpenClDeviceName>> ListOpenClDevices() {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenClLibrary* cl, OpenClLibrary::Load());
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Found> found, FindDevices(*cl));
  std::vector<OpenClDeviceName> names;
  for (const Found& one : found) {
    names.push_back({one.facts.name, one.facts.driver, one.facts.is_cpu});
  }
  return names;
}

}  // namespace slipway
