// Build ids: which build of a shared library this process really uses.
#ifndef SLIPWAY_CORE_BASE_BUILD_ID_H_
#define SLIPWAY_CORE_BASE_BUILD_ID_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// "libLLVM-14.so.1 e03ce0f9...": file name and GNU build id, which linkers make of a library's contents, of
// the one library loaded into this process whose file name begins with `prefix`. NOT_FOUND when there is
// none or it has no build id; FAILED_PRECONDITION names two of that prefix. Thread-safe.
absl::StatusOr<std::string> LoadedLibraryId(absl::string_view prefix);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_BUILD_ID_H_
