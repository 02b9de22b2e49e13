#include "core/backends/gpu/gpu_fingerprint.h"

#include "absl/strings/str_cat.h"
#include "core/backends/gpu/gpu_backend_source_digest.h"
#include "core/base/status_macros.h"
#include "core/codegen/generator.h"

namespace slipway {

absl::StatusOr<std::string> GpuBackendFingerprint() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string generator, GeneratorFingerprint());
  return absl::StrCat("gpu ", GpuBackendSourceDigest(), "\n", generator);
}

}  // namespace slipway
