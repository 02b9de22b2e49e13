#include "client/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/external_data.h"
#include "core/base/beneath.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kMaxNameBytes = 255;
constexpr int64_t kHashedAtOnce = 16 << 20;
constexpr absl::string_view kSymbolEnd = "-symbol.json";
constexpr absl::string_view kParametersEnd = ".params";

v1::ModelFormat FormatOf(absl::string_view path) {
  if (absl::EndsWith(path, ".graph")) return v1::MODEL_FORMAT_GRAPH_TEXT;
  if (absl::EndsWith(path, ".graphpb")) return v1::MODEL_FORMAT_GRAPH_PROTO;
  if (absl::EndsWith(path, kSymbolEnd)) return v1::MODEL_FORMAT_NNVM_JSON;
  return v1::MODEL_FORMAT_ONNX;
}

// Without keeping all of it in memory.
Digest DigestOf(const Blob& contents) {
  Hasher hasher;
  for (int64_t at = 0; at < contents.size_bytes(); at += kHashedAtOnce) {
    const Blob part = contents.Part(at, std::min(kHashedAtOnce, contents.size_bytes() - at));
    hasher.Update(part.bytes());
    part.LetGo();
  }
  return hasher.Finish();
}

// The parameters beside a symbol file, as MXNet names them: NAME-0010.params, by epoch. Empty where there are none.
absl::StatusOr<std::string> FindParameters(const std::string& folder, absl::string_view symbol) {
  const std::string start = absl::StrCat(absl::StripSuffix(symbol, kSymbolEnd), "-");
  std::string found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!absl::StartsWith(name, start) || !absl::EndsWith(name, kParametersEnd)) continue;
    const std::string epoch =
        name.substr(start.size(), name.size() - start.size() - kParametersEnd.size());
    if (epoch.empty() || epoch.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!found.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("model \"", symbol, "\" has parameters of several epochs, \"", found,
                       "\" and \"", name, "\"; keep one in its folder"));
    }
    found = name;
  }
  return found;
}

}  // namespace

absl::Status CheckModelFileName(absl::string_view name) {
  const auto refuse = [name](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("file name \"", absl::Utf8SafeCEscape(name.substr(0, kMaxNameBytes)), "\" ",
                     why, "; external data must lie in the model's folder"));
  };
  if (name.empty()) return refuse("is empty");
  if (name.size() > kMaxNameBytes) return refuse("is longer than 255 bytes");
  if (name.front() == '/') return refuse("is absolute");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return refuse("has control characters");
    if (c == '\\') return refuse("has a backslash");
  }
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part == "..") return refuse("points outside");
    if (part.empty() || part == ".") return refuse("has an empty part");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelFiles> ReadModelFiles(const std::string& path, int64_t max_bytes) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  ModelFiles model;
  model.display_name =
      (slash == std::string::npos ? path : path.substr(slash + 1)).substr(0, kMaxNameBytes);
  model.format = FormatOf(path);

  int64_t bytes_left = max_bytes;
  const auto add = [&](const std::string& name, absl::StatusOr<MappedFile> file) -> absl::Status {
    if (!file.ok()) {
      if (file.status().code() != absl::StatusCode::kResourceExhausted) return file.status();
      return absl::ResourceExhaustedError(
          absl::StrCat("the model's files are larger than the limit of ", max_bytes,
                       " bytes, with \"", name, "\"; --max-model-size of the server allows more"));
    }
    Blob contents = Blob::Own(*std::move(file));
    bytes_left -= contents.size_bytes();
    Digest digest = DigestOf(contents);
    model.files.push_back({name, std::move(contents), std::move(digest)});
    return absl::OkStatus();
  };

  // What the user names may be a link. What is named by the model, or beside it, is somebody else's word.
  const auto add_beside = [&](const std::string& name) {
    return add(name, MapBeneath(folder, name, bytes_left));
  };

  SLIPWAY_RETURN_IF_ERROR_WITH(add(model.display_name, MappedFile::Open(path, bytes_left)),
                               "model");
  if (model.files.front().contents.size_bytes() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("model \"", path, "\" is empty"));
  }
  if (model.format == v1::MODEL_FORMAT_NNVM_JSON) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string parameters,
                             FindParameters(folder, model.display_name));
    if (!parameters.empty()) SLIPWAY_RETURN_IF_ERROR(add_beside(parameters));
  }
  if (model.format != v1::MODEL_FORMAT_ONNX) return model;

  const std::vector<std::string> locations =
      FindExternalData(model.files.front().contents.bytes(), kMaxModelFiles);
  if (locations.size() >= kMaxModelFiles) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "model \"", path, "\" refers to too many files; at most ", kMaxModelFiles - 1));
  }
  for (const std::string& location : locations) {
    const std::string context = absl::StrCat("model \"", path, "\", external data");
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckModelFileName(location), context);
    // A tensor may lie in the main file itself.
    if (location == model.display_name) continue;
    const absl::Status added = add_beside(location);
    if (added.code() == absl::StatusCode::kNotFound) {
      return absl::NotFoundError(absl::StrCat("model \"", path, "\" refers to external data \"",
                                              location, "\", which is missing; put it at \"",
                                              JoinPath(folder, location), "\""));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(added, context);
  }
  return model;
}

}  // namespace slipway
