#include "client/terminal/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"

namespace slipway::cli {
namespace {

constexpr int64_t kMaxFileBytes = 16 << 20;
constexpr mode_t kMode = 0600;

// A terminal is sent nothing that could steer it.
bool IsPrintable(absl::string_view line) {
  return IsUtf8(line) && std::none_of(line.begin(), line.end(), absl::ascii_iscntrl);
}

absl::Status WriteTo(const std::string& path, int flags, const std::string& bytes) {
  const UniqueFd fd(open(path.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
  if (!fd.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot open \"", path, "\""));
  // One that somebody else made readable is made his alone, too.
  if (fchmod(fd.get(), kMode) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot protect \"", path, "\""));
  }
  // At once, lest lines of two processes come in between each other.
  if (write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return ErrnoStatus(errno, absl::StrCat("cannot write \"", path, "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> HistoryFile::Read() const {
  const absl::StatusOr<std::string> bytes = ReadFile(path_, kMaxFileBytes);
  if (absl::IsNotFound(bytes.status())) return std::vector<std::string>();
  SLIPWAY_RETURN_IF_ERROR(bytes.status());
  std::vector<std::string> lines = absl::StrSplit(*bytes, '\n', absl::SkipWhitespace());
  std::erase_if(lines, [](const std::string& line) { return !IsPrintable(line); });
  if (lines.size() <= kMaxLines) return lines;
  const bool is_long = lines.size() > 2 * kMaxLines;
  lines.erase(lines.begin(), lines.end() - kMaxLines);
  if (is_long) {
    SLIPWAY_RETURN_IF_ERROR(
        WriteTo(path_, O_TRUNC, absl::StrCat(absl::StrJoin(lines, "\n"), "\n")));
  }
  return lines;
}

absl::Status HistoryFile::Append(absl::string_view line) const {
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(path_.substr(0, path_.rfind('/'))));
  return WriteTo(path_, O_APPEND, absl::StrCat(line, "\n"));
}

}  // namespace slipway::cli
