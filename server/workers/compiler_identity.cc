#include "server/workers/compiler_identity.h"

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <utility>

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

absl::StatusOr<TargetFingerprints> Ask(const std::string& worker) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process,
                           Subprocess::Start({.argv = {worker, "--print-targets"},
                                              .stdout_stream = ChildStream::Tail(),
                                              .stderr_stream = ChildStream::Inherit()}));
  SLIPWAY_ASSIGN_OR_RETURN(const ExitStatus end, process->Wait(kAnswerTime));
  if (!end.ok()) return absl::InternalError(absl::StrCat("it ended with ", end.ToString()));
  return ParseTargetFingerprints(process->OutputTail());
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

absl::StatusOr<TargetFingerprints> CompilerIdentity::Targets() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string stamp, Stamp());
  absl::MutexLock lock(&mu_);
  if (stamp == stamp_) return targets_;
  const absl::StatusOr<std::string> kept = ReadFile(CachePath(), kMaxCacheFileBytes);
  if (kept.ok()) {
    absl::string_view rest = *kept;
    if (absl::ConsumePrefix(&rest, absl::StrCat(stamp, "\n"))) {
      absl::StatusOr<TargetFingerprints> targets = ParseTargetFingerprints(rest);
      if (targets.ok()) {
        stamp_ = stamp;
        targets_ = *std::move(targets);
        return targets_;
      }
    }
  }
  absl::StatusOr<TargetFingerprints> answer = Ask(worker_);
  if (!answer.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the compiler '", worker_,
                     "' does not tell what it compiles for: ", answer.status().message()));
  }
  Keep(stamp, *std::move(answer));
  return targets_;
}

void CompilerIdentity::Correct(const TargetFingerprints& targets) {
  const absl::StatusOr<std::string> stamp = Stamp();
  absl::MutexLock lock(&mu_);
  if (stamp.ok() && targets != targets_) Keep(*stamp, targets);
}

void CompilerIdentity::Keep(const std::string& stamp, TargetFingerprints targets) {
  stamp_ = stamp;
  targets_ = std::move(targets);
  // Only saves time.
  const absl::Status status = WriteFileAtomically(
      CachePath(), absl::StrCat(stamp, "\n", FormatTargetFingerprints(targets_)),
      /*durable=*/false);
  if (!status.ok()) Log(LogLevel::kWarning, "fingerprint not kept", {{"why", status.ToString()}});
}

}  // namespace slipway::server
