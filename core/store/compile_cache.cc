#include "core/store/compile_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/store/file_names.h"

namespace slipway {
namespace {

// An entry is this line, the digest of what follows the next line, the digest of
// the manifest, each ended by a newline, and the report.
constexpr absl::string_view kFirstLine = "slipway compiled 1";
// One with a statement: behind the digest of the manifest come the statement's
// length in decimal, a newline and the statement.
constexpr absl::string_view kFirstLineStated = "slipway compiled 2";
constexpr int64_t kMaxEntryBytes = kMaxCachedReportBytes + kMaxCachedStatementBytes + 1024;

absl::Status CheckKey(absl::string_view key) {
  return Annotate(Digest::FromHex(key, 0).status(), "compile key");
}

// The next line of `text`, which loses it; false if there is none.
bool TakeLine(absl::string_view& text, absl::string_view& line) {
  const size_t end = text.find('\n');
  if (end == absl::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

std::string Format(const CachedCompilation& compilation) {
  const bool is_stated = !compilation.statement.empty();
  const std::string stated =
      is_stated ? absl::StrCat(compilation.statement.size(), "\n", compilation.statement) : "";
  const std::string body =
      absl::StrCat(compilation.manifest.ToString(), "\n", stated, compilation.report);
  return absl::StrCat(is_stated ? kFirstLineStated : kFirstLine, "\n", Digest::Of(body).ToString(),
                      "\n", body);
}

absl::StatusOr<CachedCompilation> Parse(absl::string_view text) {
  const absl::Status bad = absl::DataLossError("entry is damaged");
  absl::string_view line;
  if (!TakeLine(text, line) || (line != kFirstLine && line != kFirstLineStated)) return bad;
  const bool is_stated = line == kFirstLineStated;
  if (!TakeLine(text, line) || line != Digest::Of(text).ToString()) return bad;
  if (!TakeLine(text, line)) return bad;
  CachedCompilation compilation;
  SLIPWAY_ASSIGN_OR_RETURN(compilation.manifest, Digest::Parse(line));
  if (is_stated) {
    size_t size = 0;
    if (!TakeLine(text, line) || !absl::SimpleAtoi(line, &size) || size > text.size()) return bad;
    compilation.statement = std::string(text.substr(0, size));
    text.remove_prefix(size);
  }
  compilation.report = std::string(text);
  return compilation;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  return names;
}

}  // namespace

FileCompileCache::FileCompileCache(std::string folder, const Clock* clock)
    : folder_(std::move(folder)), clock_(clock != nullptr ? *clock : system_clock_) {}

absl::StatusOr<std::unique_ptr<FileCompileCache>> FileCompileCache::Create(std::string folder,
                                                                           const Clock* clock) {
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(CompiledFolder(folder)));
  return std::unique_ptr<FileCompileCache>(new FileCompileCache(std::move(folder), clock));
}

std::string FileCompileCache::Path(absl::string_view key) const {
  return HexPath(CompiledFolder(folder_), key);
}

absl::StatusOr<CachedCompilation> FileCompileCache::Find(absl::string_view key) {
  SLIPWAY_RETURN_IF_ERROR(CheckKey(key));
  const std::string path = Path(key);
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxEntryBytes);
  const absl::Status missing =
      absl::NotFoundError(absl::StrCat("nothing is compiled for key ", key));
  if (absl::IsNotFound(text.status())) return missing;
  absl::StatusOr<CachedCompilation> compilation = text.ok() ? Parse(*text) : text.status();
  if (!compilation.ok()) {
    unlink(path.c_str());
    return missing;
  }
  const timespec now = absl::ToTimespec(clock_.Now());
  const timespec times[2] = {now, now};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
  return compilation;
}

absl::Status FileCompileCache::Record(absl::string_view key, const CachedCompilation& compilation) {
  SLIPWAY_RETURN_IF_ERROR(CheckKey(key));
  if (!compilation.manifest.is_set()) {
    return absl::InvalidArgumentError("a compilation without a manifest");
  }
  if (static_cast<int64_t>(compilation.report.size()) > kMaxCachedReportBytes) {
    return absl::InvalidArgumentError(absl::StrCat("report of ", compilation.report.size(),
                                                   " bytes, more than the limit of ",
                                                   kMaxCachedReportBytes));
  }
  if (static_cast<int64_t>(compilation.statement.size()) > kMaxCachedStatementBytes) {
    return absl::InvalidArgumentError(absl::StrCat("statement of ", compilation.statement.size(),
                                                   " bytes, more than the limit of ",
                                                   kMaxCachedStatementBytes));
  }
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(HexParent(CompiledFolder(folder_), key)));
  return WriteFileAtomically(Path(key), Format(compilation),
                             /*durable=*/false);
}

absl::Status FileCompileCache::Remove(absl::string_view key) {
  SLIPWAY_RETURN_IF_ERROR(CheckKey(key));
  const std::string path = Path(key);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("cannot remove '", path, "'"));
  }
  return absl::OkStatus();
}

absl::Status FileCompileCache::Prune(absl::Duration age) {
  const absl::Time limit = clock_.Now() - age;
  const std::string folder = CompiledFolder(folder_);
  for (const std::string& parent : ListFolder(folder)) {
    const std::string parent_path = JoinPath(folder, parent);
    for (const std::string& name : ListFolder(parent_path)) {
      const std::string key = ParseHexPath(parent, name);
      struct stat info;
      if (key.empty() || stat(Path(key).c_str(), &info) != 0 ||
          absl::TimeFromTimespec(info.st_mtim) >= limit) {
        continue;
      }
      SLIPWAY_RETURN_IF_ERROR(Remove(key));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
