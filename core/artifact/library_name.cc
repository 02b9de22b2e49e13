#include "core/artifact/library_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace slipway {

absl::Status CheckLibraryName(absl::string_view name) {
  bool good = !name.empty() && name.size() <= kMaxLibraryNameBytes &&
              absl::ascii_islower(name[0]) && !absl::StrContains(name, "__") &&
              !absl::EndsWith(name, "_");
  for (const char c : name) {
    good = good && (c == '_' || absl::ascii_islower(c) || absl::ascii_isdigit(c));
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::Utf8SafeCEscape(name.substr(0, kMaxLibraryNameBytes)),
      "\" is no name for a library: at most ", kMaxLibraryNameBytes,
      " of a-z, 0-9 and single \"_\" are, beginning with a letter and not ending with \"_\""));
}

std::string LibraryKernelsSymbol(absl::string_view name) { return absl::StrCat(name, "_kernels"); }
std::string LibraryImportsSymbol(absl::string_view name) { return absl::StrCat(name, "_imports"); }

}  // namespace slipway
