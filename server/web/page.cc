#include "server/web/page.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "server/web/page_files.h"
#include "server/web/problem.h"

namespace slipway::web {
namespace {

// The first part of a view's address (assets/router.js).
constexpr absl::string_view kViews[] = {"",        "devices",   "queue",  "jobs",   "compare",
                                        "history", "artifacts", "submit", "access", "status"};

constexpr std::pair<absl::string_view, absl::string_view> kTypes[] = {
    {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
    {".json", "application/json"},         {".wasm", "application/wasm"},
};

constexpr char kPolicy[] = "Content-Security-Policy";
// Where scripts come from stands in front.
constexpr char kSources[] =
    "; default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

constexpr std::pair<absl::string_view, absl::string_view> kRules[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    // With the one before, browsers give the page a finer clock.
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"},
};

// Files of the page that is a device: its programs are WebAssembly, which reaches nothing that scripts do not hand to it.
bool RunsPrograms(absl::string_view name) { return absl::StartsWith(name, "device"); }

struct PageFile {
  absl::string_view contents;
  std::string tag;  // Another for other contents.
};

const PageFile* FindFile(const std::string& name) {
  static const std::map<std::string, PageFile>& files = *[] {
    auto* made = new std::map<std::string, PageFile>();
    for (const EmbeddedFile& file : PageFiles()) {
      (*made)[std::string(file.name)] = {
          file.contents, absl::StrCat("\"", Digest::Of(file.contents).hex().substr(0, 32), "\"")};
    }
    return made;
  }();
  const auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

}  // namespace

absl::string_view ContentTypeOf(absl::string_view name) {
  for (const auto& [end, type] : kTypes) {
    if (absl::EndsWith(name, end)) return type;
  }
  return "application/octet-stream";
}

HttpResponse AnswerPage(const HttpRequest& request, const Url& url) {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refused = ProblemAnswer(405, absl::UnimplementedError("pages are read alone"));
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  const std::string first = url.path.empty() ? "" : url.path.front();
  const bool is_asset = first == "assets" && url.path.size() == 2;
  const bool is_device = first == "device" && url.path.size() == 1;
  const std::string name = is_asset ? url.path[1] : is_device ? "device.html" : "index.html";
  const PageFile* file = FindFile(name);
  if (file == nullptr) return ProblemAnswer(absl::NotFoundError("there is no such file"));
  HttpResponse response;
  const bool is_view = std::find(std::begin(kViews), std::end(kViews), first) != std::end(kViews);
  if (!is_asset && !is_view && !is_device) response.status = 404;
  response.headers = {{"Content-Type", std::string(ContentTypeOf(name))},
                      {"Cache-Control", "no-cache"},
                      {"ETag", file->tag}};
  if (RunsPrograms(name)) {
    response.headers.emplace_back(kPolicy,
                                  absl::StrCat("script-src 'self' 'wasm-unsafe-eval'", kSources));
  }
  if (response.status == 200 && request.Header("if-none-match") == file->tag) {
    response.status = 304;
    return response;
  }
  response.body = std::string(file->contents);
  return response;
}

void AddRules(HttpResponse& response) {
  const bool has_policy = std::any_of(response.headers.begin(), response.headers.end(),
                                      [](const auto& header) { return header.first == kPolicy; });
  if (!has_policy) {
    response.headers.emplace_back(kPolicy, absl::StrCat("script-src 'self'", kSources));
  }
  for (const auto& [name, value] : kRules) {
    response.headers.emplace_back(std::string(name), std::string(value));
  }
}

}  // namespace slipway::web
