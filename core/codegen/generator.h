// What makes kernels, as far as it decides over their bytes.
#ifndef SLIPWAY_CORE_CODEGEN_GENERATOR_H_
#define SLIPWAY_CORE_CODEGEN_GENERATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// For people. Halide 14's headers have no version macro; its release and LLVM's are those of Debian 12.
inline constexpr absl::string_view kGeneratorVersions = "halide-14.0.0 llvm-14.0.6";

// A line each: the digest of the sources that lowerings, schedules and everything under them are built from
// (slipway_source_digest), and the build ids of the Halide and LLVM in this process. Equal ones make equal
// kernels; it is part of every kernel's key. Errors of LoadedLibraryId.
absl::StatusOr<std::string> GeneratorFingerprint();

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_GENERATOR_H_
