// Whatever a browser or program sends, signed in or not, is answered within the rules.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "server/web/testing/page_under_test.h"

namespace {

// "METHOD TARGET", a line "name: value" for each header, an empty line, the body. "$cookie" stands for a session's.
slipway::HttpRequest Parse(absl::string_view text, const std::string& cookie) {
  slipway::HttpRequest request;
  const size_t end = text.find("\n\n");
  std::vector<std::string> lines = absl::StrSplit(text.substr(0, end), '\n');
  if (end != text.npos) request.body = std::string(text.substr(end + 2));
  const std::pair<std::string, std::string> first =
      absl::StrSplit(lines.front(), absl::MaxSplits(' ', 1));
  request.method = first.first;
  request.target = first.second;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> header =
        absl::StrSplit(lines[i], absl::MaxSplits(": ", 1));
    request.headers.emplace_back(absl::AsciiStrToLower(header.first),
                                 absl::StrReplaceAll(header.second, {{"$cookie", cookie}}));
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  using slipway::web::FakePageServer;
  static slipway::SystemClock clock;
  static auto& page = *new slipway::web::PageUnderTest(&clock);
  if (page.sessions().Find(page.cookie()) == nullptr) page.SignIn(FakePageServer::kUser);
  const slipway::HttpRequest request =
      Parse(absl::string_view(reinterpret_cast<const char*>(data), size), page.cookie());
  const bool may_know = request.Cookie("slipway_session") == page.cookie() ||
                        absl::StrContains(request.Header("authorization"), "-token") ||
                        absl::StrContains(request.body, "-token");
  const slipway::HttpResponse response = page.Ask(request);
  SLIPWAY_CHECK(response.status >= 200 && response.status < 600, "a status of HTTP");
  SLIPWAY_CHECK(response.status != 500, "nothing that is sent is a bug of ours");
  if (!may_know && absl::StartsWith(request.target, "/api/") && response.status == 200) {
    SLIPWAY_CHECK(
        absl::StartsWith(response.body, "{}") || absl::StrContains(response.body, "\"openapi\""),
        "who is not let in is shown nothing");
  }
  if (response.status == 413) return 0;  // The listener's.
  bool has_rules = false;
  for (const auto& [name, value] : response.headers) {
    has_rules |= name == "Content-Security-Policy";
    SLIPWAY_CHECK(value.find_first_of("\r\n") == value.npos, "headers are lines");
  }
  SLIPWAY_CHECK(has_rules, "every answer has its rules");
  return 0;
}
