#include "core/runtime/drivers/vendor_log.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace slipway {

std::string BoundedLog(absl::string_view log, size_t max_bytes) {
  log = absl::StripAsciiWhitespace(log);
  std::string text =
      absl::StrReplaceAll(absl::Utf8SafeCEscape(log.substr(0, max_bytes)),
                          {{"\\n", "\n"}, {"\\t", " "}, {"\\\"", "\""}, {"\\'", "'"}});
  if (log.size() > max_bytes) {
    absl::StrAppend(&text, " ... and ", log.size() - max_bytes, " bytes more");
  }
  return text;
}

}  // namespace slipway
