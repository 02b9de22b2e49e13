// MemoryStore: jobs, devices, identities and the history in memory, for tests and measurements: the second implementation of what
// server/jobs, server/devices, server/identities and server/history ask of a store, and one that several servers may share.
#ifndef SLIPWAY_SERVER_STORAGE_MEMORY_STORE_H_
#define SLIPWAY_SERVER_STORAGE_MEMORY_STORE_H_

#include <cstdint>
#include <map>
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

namespace slipway::server {

// What is stored. Thread-safe.
class MemoryDatabase {
 public:
  // From now on everything that would change something fails with this; OK: not any more.
  void Refuse(absl::Status failure) {
    absl::MutexLock lock(&mu_);
    failure_ = std::move(failure);
  }

 private:
  friend class MemoryStore;
  absl::Mutex mu_;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, JobRecord> jobs_ ABSL_GUARDED_BY(mu_);
  // Ids, by owner and request.
  std::map<std::pair<std::string, std::string>, std::string> requests_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::Device> devices_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, DeviceStanding> standings_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, ReservationRecord> reservations_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::IdentityRecord> identities_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::HistoryEntry> history_ ABSL_GUARDED_BY(mu_);
  int64_t last_revision_ ABSL_GUARDED_BY(mu_) = 0;
};

// A server's view of a database. Thread-safe.
class MemoryStore final : public JobStore,
                          public DeviceStore,
                          public IdentityStore,
                          public HistoryStore {
 public:
  // `database` must outlive the store.
  explicit MemoryStore(MemoryDatabase* database) : database_(*database) {}

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
  absl::Status DeleteDevice(absl::string_view id) override;

  absl::Status PutStanding(const DeviceStanding& standing, int64_t replaces) override;
  absl::StatusOr<std::vector<DeviceStanding>> LoadStandings() const override;
  absl::Status DeleteStanding(absl::string_view device) override;
  absl::Status PutReservation(const ReservationRecord& record) override;
  absl::StatusOr<std::vector<ReservationRecord>> LoadReservations() const override;
  absl::Status DeleteReservation(absl::string_view id) override;

  absl::Status SaveIdentity(const v1::IdentityRecord& record) override;
  absl::StatusOr<std::vector<v1::IdentityRecord>> LoadIdentities() const override;
  absl::Status DeleteIdentity(absl::string_view id) override;

  absl::StatusOr<Page<v1::HistoryEntry>> ListHistory(const HistoryFilter& filter,
                                                     const PageLimits& limits,
                                                     bool with_samples) const override;
  absl::StatusOr<v1::HistoryEntry> GetHistoryEntry(absl::string_view id) const override;
  absl::StatusOr<int64_t> DropHistoryBeyond(int64_t max_entries, int64_t max_bytes) override;

 private:
  MemoryDatabase& database_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STORAGE_MEMORY_STORE_H_
