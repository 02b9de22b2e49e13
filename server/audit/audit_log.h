// AuditLog: keeps who did what, in files that are only ever added to.
#ifndef SLIPWAY_SERVER_AUDIT_AUDIT_LOG_H_
#define SLIPWAY_SERVER_AUDIT_AUDIT_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "server/audit/audit_entry.h"
#include "server/audit/refusal_limit.h"

namespace slipway::server {

// The folder below the server's data folder.
inline constexpr char kAuditFolderName[] = "audit";
// "audit.jsonl" for 0, which is being written; "audit.1.jsonl" for the one before, and so on.
std::string AuditFileName(int age);

struct AuditLogOptions {
  int64_t max_file_bytes = 16 << 20;
  int max_files = 8;  // 1 to kMostAuditFiles.
};
inline constexpr int kMostAuditFiles = 100;

// Thread-safe. One at a time for a folder. Files have mode 0600. A line is one write(2), which is not synced: the end of the machine
// may lose the latest ones, the end of the process none.
class AuditLog {
 public:
  // Makes the folder; goes on with what is there. PERMISSION_DENIED when others may write to the folder, or read or write the file
  // (core/base/own_files.h); errors of making and opening them. The clock must outlive the log.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(std::string folder, AuditLogOptions options,
                                                        const Clock* clock);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Writes the entry, with the time that it is now. What cannot be written is counted, and logged once in a minute.
  void Append(AuditEntry entry);
  // The same for one that was refused, as far as RefusalLimit lets it in.
  void AppendRefusal(AuditEntry entry);
  // Writes how many refusals were left out, if that is due. To be called now and then; the two above and the end do so, too.
  void TellLeftOut();

  // Entries that could not be written.
  int64_t lost() const;

 private:
  AuditLog(std::string folder, AuditLogOptions options, const Clock* clock)
      : folder_(std::move(folder)), options_(options), clock_(*clock) {}

  std::string Path(int age) const { return JoinPath(folder_, AuditFileName(age)); }
  absl::Status OpenFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Rotate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WriteLine(absl::string_view line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(AuditEntry entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteLeftOut(int64_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Complain(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string folder_;
  const AuditLogOptions options_;
  const Clock& clock_;

  mutable absl::Mutex mu_;
  UniqueFd file_ ABSL_GUARDED_BY(mu_);  // Closed when it is to be opened anew.
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_cut_ ABSL_GUARDED_BY(mu_) = false;  // The file ends within a line, which is damaged.
  RefusalLimit refusals_ ABSL_GUARDED_BY(mu_);
  int64_t lost_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration complained_at_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_AUDIT_AUDIT_LOG_H_
