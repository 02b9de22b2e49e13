// SqliteStore: jobs, devices with what was decided about them, identities and the history in one SQLite file. All SQL stands in
// sqlite_store.cc and sqlite_history.cc, that of the tables in sqlite_schema.cc.
#ifndef SLIPWAY_SERVER_STORAGE_SQLITE_STORE_H_
#define SLIPWAY_SERVER_STORAGE_SQLITE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/devices/device_store.h"
#include "server/history/history_store.h"
#include "server/identities/identity_store.h"
#include "server/jobs/job_store.h"
#include "server/page.h"
#include "server/storage/sqlite_database.h"
#include "server/storage/sqlite_history.h"

namespace slipway::server {

// A row that cannot be read.
struct DamagedRow {
  enum class Kind { kJob, kDevice, kStanding, kReservation, kIdentity, kHistory };
  Kind kind = Kind::kJob;
  std::string id;
  std::string why;
  // Its bytes as they are, by the name of their column.
  std::vector<std::pair<std::string, std::string>> contents;
};

// Thread-safe: one connection behind one lock. The caller keeps other processes away from the file. A damaged row is
// DATA_LOSS for who asks for its job by id or request, and left out of everything else.
class SqliteStore final : public JobStore,
                          public DeviceStore,
                          public IdentityStore,
                          public HistoryStore {
 public:
  // Opens or makes the database at `path`; ":memory:" for one that ends with the object. One that an earlier version made is
  // brought to this one's schema.
  // FAILED_PRECONDITION when its schema is of a later version; DATA_LOSS when it is no database.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path);
  ~SqliteStore() override;

  absl::StatusOr<std::vector<Outcome>> Commit(absl::Span<const Change> group) override;
  absl::StatusOr<int64_t> ReserveRevisions(int64_t count) override;
  absl::StatusOr<JobRecord> Get(absl::string_view id) const override;
  absl::StatusOr<absl::optional<JobRecord>> FindRequest(
      absl::string_view owner, absl::string_view request_id) const override;
  absl::StatusOr<JobPage> List(const JobFilter& filter, const PageLimits& limits) const override;
  absl::StatusOr<std::vector<JobRecord>> ListLive() const override;
  absl::Status ForEachEndedSince(absl::Time time,
                                 absl::FunctionRef<void(const EndedJob&)> tell) const override;
  absl::StatusOr<int64_t> DeleteEndedBefore(absl::Time time) override;
  absl::StatusOr<int64_t> DeleteEndedBeyond(int64_t max_bytes) override;

  absl::Status SaveDevice(const v1::Device& device) override;
  absl::StatusOr<std::vector<v1::Device>> LoadDevices() const override;
  absl::Status DeleteDevice(absl::string_view id) override {
    return DeleteRow(DamagedRow::Kind::kDevice, id);
  }

  absl::Status PutStanding(const DeviceStanding& standing, int64_t replaces) override;
  absl::StatusOr<std::vector<DeviceStanding>> LoadStandings() const override;
  absl::Status DeleteStanding(absl::string_view device) override {
    return DeleteRow(DamagedRow::Kind::kStanding, device);
  }
  absl::Status PutReservation(const ReservationRecord& record) override;
  absl::StatusOr<std::vector<ReservationRecord>> LoadReservations() const override;
  absl::Status DeleteReservation(absl::string_view id) override {
    return DeleteRow(DamagedRow::Kind::kReservation, id);
  }

  absl::Status SaveIdentity(const v1::IdentityRecord& record) override;
  absl::StatusOr<std::vector<v1::IdentityRecord>> LoadIdentities() const override;
  absl::Status DeleteIdentity(absl::string_view id) override;

  absl::StatusOr<Page<v1::HistoryEntry>> ListHistory(const HistoryFilter& filter,
                                                     const PageLimits& limits,
                                                     bool with_samples) const override;
  absl::StatusOr<v1::HistoryEntry> GetHistoryEntry(absl::string_view id) const override;
  absl::StatusOr<int64_t> DropHistoryBeyond(int64_t max_entries, int64_t max_bytes) override;

  // What is damaged. Reads the whole file.
  struct Damage {
    int64_t rows_read = 0;  // Of all kinds.
    std::vector<DamagedRow> rows;
    // What SQLite says of the file itself: pages and indexes that do not fit together. Empty when it is sound.
    std::vector<std::string> file;
  };
  absl::StatusOr<Damage> FindDamage() const;
  // Takes a damaged row out; durably.
  absl::Status Delete(const DamagedRow& row);

 private:
  struct Statements;
  struct Row;
  SqliteStore();

  static Row RowOf(const Change& change);
  absl::StatusOr<Outcome> Insert(const JobRecord& record, const Row& row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<Outcome> Update(const Change& change, const Row& row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Of each row that `load` reads: what `read` makes of it, or a line in the log.
  template <typename Record>
  static absl::StatusOr<std::vector<Record>> LoadAll(
      SqliteStatement& load, absl::StatusOr<Record> (*read)(const SqliteStatement& row));
  // REQUIRES: not of the history.
  SqliteStatement& DeleteOf(DamagedRow::Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Deletes a row by its id, which is not waited for.
  absl::Status DeleteRow(DamagedRow::Kind kind, absl::string_view id);
  // Lets go of what nobody needs of the specification of a job that has ended.
  absl::Status ShortenSpec(absl::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // DATA_LOSS as ReadRow says it.
  absl::StatusOr<JobRecord> GetLocked(absl::string_view id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<absl::optional<JobRecord>> FindRequestLocked(absl::string_view owner,
                                                              absl::string_view request_id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  std::unique_ptr<SqliteDatabase> database_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Statements> statements_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<SqliteHistory> history_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STORAGE_SQLITE_STORE_H_
