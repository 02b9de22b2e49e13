#include "core/codegen/generator.h"

#include "absl/strings/str_cat.h"
#include "core/base/build_id.h"
#include "core/base/status_macros.h"
#include "core/codegen/codegen_source_digest.h"

namespace slipway {

absl::StatusOr<std::string> GeneratorFingerprint() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string halide, LoadedLibraryId("libHalide"));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string llvm, LoadedLibraryId("libLLVM"));
  return absl::StrCat("codegen ", CodegenSourceDigest(), "\n", halide, "\n", llvm);
}

}  // namespace slipway
