#include "core/runtime/vendor_library.h"

namespace slipway {

std::optional<LibraryUse> FindLibraryUse(absl::string_view name) {
  if (name == "never") return LibraryUse::kNever;
  if (name == "measured") return LibraryUse::kMeasured;
  if (name == "always") return LibraryUse::kAlways;
  return std::nullopt;
}

}  // namespace slipway
