#include "server/audit/audit_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "server/audit/audit_log.h"

namespace slipway::server {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

struct LogFile {
  UniqueFd fd;
  std::string name;
  dev_t device;
  ino_t number;
};

// The newest first: a file that is renamed meanwhile is met twice then, and none is missed.
absl::StatusOr<std::vector<LogFile>> OpenFiles(const std::string& folder) {
  std::vector<LogFile> files;
  for (int age = 0; age < kMostAuditFiles; ++age) {
    std::string name = AuditFileName(age);
    const std::string path = JoinPath(folder, name);
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.is_open() && errno == ENOENT) continue;
    struct stat info;
    if (!fd.is_open() || fstat(fd.get(), &info) != 0) {
      return ErrnoStatus(errno, absl::StrCat("cannot open '", path, "'"));
    }
    if (!S_ISREG(info.st_mode)) {
      return absl::FailedPreconditionError(absl::StrCat("'", path, "' is no file"));
    }
    const bool is_known = std::any_of(files.begin(), files.end(), [&info](const LogFile& file) {
      return file.device == info.st_dev && file.number == info.st_ino;
    });
    if (!is_known) files.push_back({std::move(fd), std::move(name), info.st_dev, info.st_ino});
  }
  return files;
}

// Cuts a file into lines.
class LineSplitter {
 public:
  LineSplitter(absl::string_view file, const AuditVisitor& visitor)
      : file_(file), visitor_(visitor) {}

  void Add(absl::string_view piece) {
    for (size_t end = piece.find('\n'); end != absl::string_view::npos; end = piece.find('\n')) {
      Keep(piece.substr(0, end));
      EndLine();
      piece.remove_prefix(end + 1);
    }
    Keep(piece);
  }
  // A last line that does not end is damaged.
  void End() {
    if (!line_.empty()) visitor_.damaged(file_, number_);
  }

 private:
  // No more than shows that the line is too long.
  void Keep(absl::string_view part) {
    absl::StrAppend(&line_, part.substr(0, kMaxAuditLineBytes + 1 - line_.size()));
  }
  void EndLine() {
    if (absl::optional<AuditEntry> entry = ParseAuditLine(line_); entry.has_value()) {
      visitor_.entry(*std::move(entry));
    } else {
      visitor_.damaged(file_, number_);
    }
    line_.clear();
    ++number_;
  }

  const absl::string_view file_;
  const AuditVisitor& visitor_;
  std::string line_;
  int64_t number_ = 1;
};

absl::Status ReadLines(const LogFile& file, const AuditVisitor& visitor) {
  LineSplitter lines(file.name, visitor);
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t size = read(file.fd.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, absl::StrCat("cannot read '", file.name, "'"));
    if (size == 0) break;
    lines.Add(absl::string_view(piece.data(), static_cast<size_t>(size)));
  }
  lines.End();
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadAuditLog(const std::string& folder, const AuditVisitor& visitor) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<LogFile> files, OpenFiles(folder));
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no audit log in '", folder, "'"));
  }
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    SLIPWAY_RETURN_IF_ERROR(ReadLines(*file, visitor));
  }
  return absl::OkStatus();
}

}  // namespace slipway::server
