#include "tests/common/fake_gpu.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"

namespace slipway::testing {

absl::StatusOr<std::string> PutFakeGpu(const std::string& cache, const std::string& settings) {
  // Nobody else's: else the agent does not take it.
  const std::string folder = JoinPath(cache, "accelerator");
  const std::string libraries = JoinPath(folder, "fakes");
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(libraries));
  std::error_code error;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  for (const char* file : {"core/runtime/drivers/cuda/testing/libcuda.so.1",
                           "device_agent/accelerators/testing/libnvidia-ml.so.1"}) {
    const std::string name = std::filesystem::path(file).filename().string();
    if (!error) {
      std::filesystem::copy_file(RunfilePath(file), JoinPath(libraries, name), error);
    }
  }
  if (error) return absl::InternalError(absl::StrCat(libraries, ": ", error.message()));
  if (!settings.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        WriteFileAtomically(JoinPath(libraries, "settings"), settings, /*durable=*/false));
  }
  return libraries;
}

}  // namespace slipway::testing
