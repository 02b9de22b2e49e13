#include "server/audit/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kComplainEvery = absl::Minutes(1);

}  // namespace

std::string AuditFileName(int age) {
  return age == 0 ? "audit.jsonl" : absl::StrCat("audit.", age, ".jsonl");
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(std::string folder,
                                                         AuditLogOptions options,
                                                         const Clock* clock) {
  SLIPWAY_CHECK(options.max_files >= 1 && options.max_files <= kMostAuditFiles,
                "there is a file, and not too many");
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder));
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(folder), options, clock));
  absl::MutexLock lock(&log->mu_);
  SLIPWAY_RETURN_IF_ERROR(log->OpenFile());
  return log;
}

AuditLog::~AuditLog() {
  absl::MutexLock lock(&mu_);
  WriteLeftOut(refusals_.TakeLeftOut());
}

void AuditLog::Append(AuditEntry entry) {
  absl::MutexLock lock(&mu_);
  WriteLeftOut(refusals_.TakeLeftOut(clock_.Monotonic()));
  Write(std::move(entry));
}

void AuditLog::AppendRefusal(AuditEntry entry) {
  const absl::Duration now = clock_.Monotonic();
  absl::MutexLock lock(&mu_);
  WriteLeftOut(refusals_.TakeLeftOut(now));
  if (refusals_.LetIn(entry.address, now)) Write(std::move(entry));
}

void AuditLog::TellLeftOut() {
  absl::MutexLock lock(&mu_);
  WriteLeftOut(refusals_.TakeLeftOut(clock_.Monotonic()));
}

int64_t AuditLog::lost() const {
  absl::MutexLock lock(&mu_);
  return lost_;
}

void AuditLog::WriteLeftOut(int64_t count) {
  if (count == 0) return;
  Write({.call = "refused", .message = absl::StrCat(count, " refused calls were left out")});
}

void AuditLog::Write(AuditEntry entry) {
  entry.time = clock_.Now();
  const absl::Status status = WriteLine(FormatAuditLine(entry));
  if (status.ok()) return;
  ++lost_;
  Complain(status);
}

void AuditLog::Complain(const absl::Status& why) {
  const absl::Duration now = clock_.Monotonic();
  if (now - complained_at_ < kComplainEvery) return;
  complained_at_ = now;
  Log(LogLevel::kError, "the audit log cannot be written",
      {{"folder", folder_}, {"why", why.message()}, {"entries lost", lost_}});
}

absl::Status AuditLog::WriteLine(absl::string_view line) {
  const auto size = static_cast<int64_t>(line.size());
  if (file_.is_open() && bytes_ > 0 && bytes_ + size > options_.max_file_bytes) {
    // A file that grows is better than entries that are lost.
    if (const absl::Status status = Rotate(); !status.ok()) Complain(status);
  }
  if (!file_.is_open()) SLIPWAY_RETURN_IF_ERROR(OpenFile());
  const std::string bytes = absl::StrCat(is_cut_ ? "\n" : "", line);
  ssize_t written = 0;
  do {
    written = write(file_.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return ErrnoStatus(errno, absl::StrCat("cannot write '", Path(0), "'"));
  bytes_ += written;
  if (written > 0) is_cut_ = bytes[static_cast<size_t>(written) - 1] != '\n';
  if (static_cast<size_t>(written) == bytes.size()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("there is no room for a line in '", Path(0), "'"));
}

absl::Status AuditLog::Rotate() {
  for (int age = options_.max_files - 1; age > 0; --age) {
    if (rename(Path(age - 1).c_str(), Path(age).c_str()) == 0 || errno == ENOENT) continue;
    return ErrnoStatus(errno, absl::StrCat("cannot rename '", Path(age - 1), "'"));
  }
  if (options_.max_files == 1 && unlink(Path(0).c_str()) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("cannot remove '", Path(0), "'"));
  }
  file_.reset();
  return absl::OkStatus();
}

absl::Status AuditLog::OpenFile() {
  const std::string path = Path(0);
  UniqueFd file(
      open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot open '", path, "'"));
  struct stat info;
  if (fstat(file.get(), &info) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot stat '", path, "'"));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("'", path, "' is no file: move it away"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckSecretFile(info, geteuid(), path));
  char last = '\n';
  if (info.st_size > 0 && pread(file.get(), &last, 1, info.st_size - 1) != 1) {
    return ErrnoStatus(errno, absl::StrCat("cannot read '", path, "'"));
  }
  file_ = std::move(file);
  bytes_ = info.st_size;
  is_cut_ = last != '\n';
  return absl::OkStatus();
}

}  // namespace slipway::server
