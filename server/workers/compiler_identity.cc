#include "server/workers/compiler_identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kAnswerTime = absl::Seconds(30);
constexpr int64_t kMaxCacheFileBytes = 16 << 10;

bool IsFingerprint(absl::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<std::string> Ask(const std::string& worker) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process,
                           Subprocess::Start({.argv = {worker, "--print-fingerprint"},
                                              .stdout_stream = ChildStream::Tail(),
                                              .stderr_stream = ChildStream::Inherit()}));
  SLIPWAY_ASSIGN_OR_RETURN(const ExitStatus end, process->Wait(kAnswerTime));
  const std::string answer(absl::StripAsciiWhitespace(process->OutputTail()));
  if (end.ok() && IsFingerprint(answer)) return answer;
  return absl::InternalError(
      absl::StrCat("it ended with ", end.ToString(), " and did not print 64 hexadecimal digits"));
}

}  // namespace

CompilerIdentity::CompilerIdentity(std::string worker, std::string cache_folder)
    : worker_(std::move(worker)), cache_folder_(std::move(cache_folder)) {}

absl::StatusOr<std::string> CompilerIdentity::Stamp() const {
  struct stat info;
  if (stat(worker_.c_str(), &info) != 0) {
    return absl::UnavailableError(
        absl::StrCat("there is no compiler: ", ErrnoStatus(errno, worker_).message(),
                     "; install slipway-compile-worker beside slipwayd, or name it with --worker"));
  }
  return absl::StrCat(worker_, "\n", info.st_size, "\n", info.st_mtim.tv_sec, ".",
                      info.st_mtim.tv_nsec, "\n", info.st_ino);
}

std::string CompilerIdentity::CachePath() const {
  return JoinPath(cache_folder_, absl::StrCat("compiler-", Digest::Of(worker_).hex().substr(0, 16),
                                              ".fingerprint"));
}

absl::StatusOr<std::string> CompilerIdentity::Fingerprint() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string stamp, Stamp());
  absl::MutexLock lock(&mu_);
  if (stamp == stamp_) return fingerprint_;
  const absl::StatusOr<std::string> kept = ReadFile(CachePath(), kMaxCacheFileBytes);
  if (kept.ok()) {
    absl::string_view rest = *kept;
    if (absl::ConsumePrefix(&rest, absl::StrCat(stamp, "\n")) && IsFingerprint(rest)) {
      stamp_ = stamp;
      fingerprint_ = std::string(rest);
      return fingerprint_;
    }
  }
  const absl::StatusOr<std::string> answer = Ask(worker_);
  if (!answer.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "the compiler '", worker_, "' does not tell its fingerprint: ", answer.status().message()));
  }
  Keep(stamp, *answer);
  return fingerprint_;
}

void CompilerIdentity::Correct(absl::string_view fingerprint) {
  const absl::StatusOr<std::string> stamp = Stamp();
  absl::MutexLock lock(&mu_);
  if (stamp.ok() && fingerprint != fingerprint_) Keep(*stamp, fingerprint);
}

void CompilerIdentity::Keep(const std::string& stamp, absl::string_view fingerprint) {
  stamp_ = stamp;
  fingerprint_ = std::string(fingerprint);
  // Only saves time.
  const absl::Status status =
      WriteFileAtomically(CachePath(), absl::StrCat(stamp, "\n", fingerprint), /*durable=*/false);
  if (!status.ok()) Log(LogLevel::kWarning, "fingerprint not kept", {{"why", status.ToString()}});
}

}  // namespace slipway::server
