#include "server/storage/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "server/history/history_entry.h"
#include "server/jobs/job_contents.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/storage/sqlite_schema.h"

namespace slipway::server {
namespace {

// Servers from before they were reserved gave revisions out as they went, and the end of the machine may have undone
// the latest changes, whose revisions a watcher had seen.
constexpr int64_t kRevisionGap = 1 << 20;

bool Parse(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

absl::Status IsDamaged(absl::string_view why) { return absl::DataLossError(why); }

// What is said to who asks for a damaged row by name.
absl::Status WhatToDo(absl::string_view id, const absl::Status& damage) {
  return absl::DataLossError(absl::StrCat("what is stored of '", absl::Utf8SafeCEscape(id),
                                          "' is damaged: ", damage.message(),
                                          "; stop the server and run: slipwayd check"));
}

// A damaged row harms only who asks for it.
void LeaveOut(absl::string_view id, const absl::Status& damage) {
  Log(LogLevel::kError, "a damaged row is left out", {{"id", id}, {"why", damage.message()}});
}

// Reads a row of SLIPWAY_JOB_COLUMNS. DATA_LOSS.
absl::StatusOr<JobRecord> ReadRow(const SqliteStatement& row) {
  const absl::string_view id = row.Bytes(0);
  JobRecord record;
  v1::Job spec;
  v1::Job result;
  if (!Parse(row.Bytes(1), &record)) return IsDamaged("its record cannot be read");
  if (!Parse(row.Bytes(3), &spec)) return IsDamaged("its specification cannot be read");
  if (!Parse(row.Bytes(4), &result)) return IsDamaged("its result cannot be read");
  v1::Job& job = *record.mutable_job();
  if (job.id() != id || job.owner() != row.Bytes(5) || job.state() != row.Integer(6)) {
    return IsDamaged("its record is that of another job or state");
  }
  if (spec.spec_case() == v1::Job::SPEC_NOT_SET) return IsDamaged("it has no specification");
  if ((job.state() == v1::Job::SUCCEEDED) != (result.result_case() != v1::Job::RESULT_NOT_SET)) {
    return IsDamaged("it has succeeded without a result, or has a result all the same");
  }
  job.set_revision(row.Integer(2));
  MoveSpec(spec, job);
  MoveResult(result, job);
  return record;
}

absl::StatusOr<v1::Device> ReadDeviceRow(const SqliteStatement& row) {
  v1::Device device;
  if (!Parse(row.Bytes(1), &device)) return IsDamaged("its device cannot be read");
  if (device.description().id() != row.Bytes(0)) {
    return IsDamaged("its device is another one");
  }
  return device;
}

absl::StatusOr<v1::IdentityRecord> ReadIdentityRow(const SqliteStatement& row) {
  v1::IdentityRecord record;
  if (!Parse(row.Bytes(1), &record)) return IsDamaged("its record cannot be read");
  if (record.id() != row.Bytes(0)) return IsDamaged("its record is another one");
  SLIPWAY_RETURN_IF_ERROR(CheckIdentityRecord(record));
  return record;
}

absl::StatusOr<DeviceStanding> ReadStandingRow(const SqliteStatement& row) {
  DeviceStanding standing;
  if (!Parse(row.Bytes(1), &standing)) return IsDamaged("its record cannot be read");
  if (standing.device() != row.Bytes(0) || standing.revision() != row.Integer(2) ||
      !DeviceStanding::State_IsValid(standing.state())) {
    return IsDamaged("its record is that of another device, revision or state");
  }
  return standing;
}

absl::StatusOr<ReservationRecord> ReadReservationRow(const SqliteStatement& row) {
  ReservationRecord record;
  if (!Parse(row.Bytes(1), &record)) return IsDamaged("its record cannot be read");
  const v1::Reservation& reservation = record.reservation();
  if (reservation.id() != row.Bytes(0)) return IsDamaged("its record is another one");
  if (reservation.from_ns() < 0 || reservation.until_ns() <= reservation.from_ns()) {
    return IsDamaged("it ends before it begins");
  }
  return record;
}

#define SLIPWAY_JOB_COLUMNS                                                 \
  "SELECT jobs.id, record, revision, spec, result, owner, state FROM jobs " \
  "LEFT JOIN specs ON specs.job_id = id LEFT JOIN results ON results.job_id = id "

}  // namespace

struct SqliteStore::Statements {
  SqliteStatement insert_job;
  SqliteStatement insert_spec;
  SqliteStatement insert_result;
  SqliteStatement update_job;
  SqliteStatement get;
  SqliteStatement find_request;
  SqliteStatement list;
  SqliteStatement list_of_everybody;
  SqliteStatement list_live;
  SqliteStatement list_ended;
  SqliteStatement delete_ended;
  SqliteStatement reserve;
  SqliteStatement save_device;
  SqliteStatement load_devices;
  SqliteStatement delete_device;
  SqliteStatement list_all;
  SqliteStatement delete_job;
  SqliteStatement long_spec;
  SqliteStatement update_spec;
  SqliteStatement delete_beyond;
  SqliteStatement insert_standing;
  SqliteStatement update_standing;
  SqliteStatement load_standings;
  SqliteStatement delete_standing;
  SqliteStatement save_reservation;
  SqliteStatement load_reservations;
  SqliteStatement delete_reservation;
  SqliteStatement save_identity;
  SqliteStatement load_identities;
  SqliteStatement delete_identity;

  absl::Status Prepare(SqliteDatabase& database) {
    const std::pair<SqliteStatement*, const char*> all[] = {
        {&insert_job,
         "INSERT INTO jobs (id, owner, request_id, state, revision, end_time_ns, record) "
         "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, request_id) DO NOTHING"},
        {&insert_spec, "INSERT INTO specs VALUES (?, ?)"},
        {&insert_result, "INSERT INTO results VALUES (?, ?)"},
        {&update_job,
         "UPDATE jobs SET state = ?, revision = ?, end_time_ns = ?, record = ? "
         "WHERE id = ? AND revision = ?"},
        {&get, SLIPWAY_JOB_COLUMNS "WHERE id = ?"},
        {&find_request, SLIPWAY_JOB_COLUMNS "WHERE owner = ? AND request_id = ?"},
        // The states wanted arrive as a set of bits. Without a limit: rows are read one by one, until a page is full.
        // What is large is read only of those that the page may have.
        {&list,
         "SELECT id, record FROM jobs WHERE owner = ? AND id < ? AND id >= ? "
         "AND ((1 << state) & ?) != 0 ORDER BY id DESC"},
        {&list_of_everybody,
         "SELECT id, record FROM jobs WHERE id < ? AND id >= ? AND ((1 << state) & ?) != 0 "
         "ORDER BY id DESC"},
        {&list_live, SLIPWAY_JOB_COLUMNS "WHERE state < 4 ORDER BY id"},
        {&list_ended, "SELECT id, record FROM jobs WHERE state >= 4 AND end_time_ns >= ?"},
        {&delete_ended, "DELETE FROM jobs WHERE state >= 4 AND end_time_ns < ?"},
        // A counter that is lost, or no number, is made anew.
        {&reserve,
         "INSERT INTO counters VALUES ('revision', "
         "?1 + (SELECT coalesce(max(CAST(revision AS INTEGER)), 0) FROM jobs)) "
         "ON CONFLICT (name) DO UPDATE SET "
         "value = max(excluded.value, ?1 + CAST(value AS INTEGER)) RETURNING value"},
        {&save_device, "INSERT OR REPLACE INTO devices VALUES (?, ?)"},
        {&load_devices, "SELECT id, device FROM devices ORDER BY id"},
        {&delete_device, "DELETE FROM devices WHERE id = ?"},
        {&list_all, SLIPWAY_JOB_COLUMNS "ORDER BY id"},
        {&delete_job, "DELETE FROM jobs WHERE id = ?"},
        // SQLite tells the length of a blob without reading it.
        {&long_spec, "SELECT spec FROM specs WHERE job_id = ? AND length(spec) > ?"},
        {&update_spec, "UPDATE specs SET spec = ? WHERE job_id = ?"},
        {&delete_beyond,
         "DELETE FROM jobs WHERE id IN (SELECT id FROM ("
         "SELECT jobs.id AS id, sum(length(record) + coalesce(length(spec), 0) + "
         "coalesce(length(result), 0)) OVER (PARTITION BY owner ORDER BY end_time_ns DESC, jobs.id "
         "DESC ROWS UNBOUNDED PRECEDING) AS total FROM jobs "
         "LEFT JOIN specs ON specs.job_id = jobs.id LEFT JOIN results ON results.job_id = jobs.id "
         "WHERE state >= 4) WHERE total > ?)"},
        {&insert_standing,
         "INSERT INTO standings (revision, record, device) VALUES (?, ?, ?) "
         "ON CONFLICT (device) DO NOTHING"},
        {&update_standing,
         "UPDATE standings SET revision = ?, record = ? WHERE device = ? AND revision = ?"},
        {&load_standings, "SELECT device, record, revision FROM standings ORDER BY device"},
        {&delete_standing, "DELETE FROM standings WHERE device = ?"},
        {&save_reservation, "INSERT OR REPLACE INTO reservations VALUES (?, ?)"},
        {&load_reservations, "SELECT id, record FROM reservations ORDER BY id"},
        {&delete_reservation, "DELETE FROM reservations WHERE id = ?"},
        {&save_identity, "INSERT OR REPLACE INTO identities VALUES (?, ?)"},
        {&load_identities, "SELECT id, record FROM identities ORDER BY id"},
        {&delete_identity, "DELETE FROM identities WHERE id = ?"},
    };
    for (const auto& [statement, sql] : all) {
      SLIPWAY_ASSIGN_OR_RETURN(*statement, database.Prepare(sql));
    }
    return absl::OkStatus();
  }
};

// What the rows of a job hold. Those of spec and result are written once.
struct SqliteStore::Row {
  std::string record;
  std::string spec;
  std::string result;  // Empty: none yet.
  absl::optional<SqliteHistory::Row> entry;
};

SqliteStore::SqliteStore() = default;

SqliteStore::~SqliteStore() {
  absl::MutexLock lock(&mu_);
  statements_.reset();
  history_.reset();
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& path) {
  std::unique_ptr<SqliteStore> store(new SqliteStore);
  absl::MutexLock lock(&store->mu_);
  SLIPWAY_ASSIGN_OR_RETURN(store->database_, SqliteDatabase::Open(path));
  SLIPWAY_RETURN_IF_ERROR(BringToSchema(*store->database_, path));
  store->statements_ = std::make_unique<Statements>();
  SLIPWAY_RETURN_IF_ERROR(store->statements_->Prepare(*store->database_));
  SLIPWAY_ASSIGN_OR_RETURN(SqliteHistory history, SqliteHistory::Prepare(store->database_.get()));
  store->history_ = std::make_unique<SqliteHistory>(std::move(history));
  return store;
}

SqliteStore::Row SqliteStore::RowOf(const Change& change) {
  absl::optional<SqliteHistory::Row> entry;
  if (change.entry.has_value()) {
    v1::HistoryEntry complete = *change.entry;
    CompleteEntry(change.record.job().benchmark_result(), &complete);
    entry = SqliteHistory::RowOf(std::move(complete));
  }
  JobRecord small = change.record;
  v1::Job spec;
  v1::Job result;
  MoveSpec(*small.mutable_job(), spec);
  MoveResult(*small.mutable_job(), result);
  return {.record = small.SerializeAsString(),
          .spec = spec.SerializeAsString(),
          .result = result.SerializeAsString(),
          .entry = std::move(entry)};
}

absl::StatusOr<std::vector<JobStore::Outcome>> SqliteStore::Commit(absl::Span<const Change> group) {
  bool durable = false;
  std::vector<Row> rows;
  for (const Change& change : group) {
    rows.push_back(RowOf(change));
    durable = durable || change.replaces == 0;
  }
  std::vector<Outcome> outcomes;
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), durable));
  for (size_t i = 0; i < group.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(Outcome outcome, group[i].replaces == 0
                                                  ? Insert(group[i].record, rows[i])
                                                  : Update(group[i], rows[i]));
    outcomes.push_back(std::move(outcome));
  }
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return outcomes;
}

absl::StatusOr<JobStore::Outcome> SqliteStore::Insert(const JobRecord& record, const Row& row) {
  const v1::Job& job = record.job();
  SLIPWAY_RETURN_IF_ERROR(statements_->insert_job.BindText(job.id())
                              .BindText(job.owner())
                              .BindText(job.request_id())
                              .Bind(job.state())
                              .Bind(job.revision())
                              .Bind(job.end_time_ns())
                              .BindBlob(row.record)
                              .Run());
  if (database_->changes() == 0) {
    SLIPWAY_ASSIGN_OR_RETURN(absl::optional<JobRecord> earlier,
                             FindRequestLocked(job.owner(), job.request_id()));
    if (!earlier.has_value()) return WhatToDo(job.request_id(), IsDamaged("its job is gone"));
    absl::Status same = CheckSameWork(*earlier, record.work_digest());
    if (!same.ok()) return Outcome{std::move(same), absl::nullopt};
    return Outcome{absl::OkStatus(), std::move(earlier)};
  }
  SLIPWAY_RETURN_IF_ERROR(statements_->insert_spec.BindText(job.id()).BindBlob(row.spec).Run());
  if (!row.result.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        statements_->insert_result.BindText(job.id()).BindBlob(row.result).Run());
  }
  return Outcome{};
}

absl::StatusOr<JobStore::Outcome> SqliteStore::Update(const Change& change, const Row& row) {
  const v1::Job& job = change.record.job();
  SLIPWAY_RETURN_IF_ERROR(statements_->update_job.Bind(job.state())
                              .Bind(job.revision())
                              .Bind(job.end_time_ns())
                              .BindBlob(row.record)
                              .BindText(job.id())
                              .Bind(change.replaces)
                              .Run());
  if (database_->changes() != 1) return Outcome{ChangedMeanwhile(job.id()), absl::nullopt};
  if (IsTerminal(job.state())) SLIPWAY_RETURN_IF_ERROR(ShortenSpec(job.id()));
  if (!row.result.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        statements_->insert_result.BindText(job.id()).BindBlob(row.result).Run());
  }
  if (row.entry.has_value()) SLIPWAY_RETURN_IF_ERROR(history_->Insert(*row.entry));
  return Outcome{};
}

absl::Status SqliteStore::ShortenSpec(absl::string_view id) {
  SqliteStatement& read = statements_->long_spec;
  const absl::StatusOr<bool> row = read.BindText(id).Bind(kMaxKeptSpecBytes).Step();
  v1::Job spec;
  // A damaged one stays as it is.
  const bool is_long = row.ok() && *row && Parse(read.Bytes(0), &spec);
  read.Reset();
  if (!is_long) return row.status();
  ClearContents(spec);
  const std::string bytes = spec.SerializeAsString();
  return statements_->update_spec.BindBlob(bytes).BindText(id).Run();
}

absl::StatusOr<int64_t> SqliteStore::ReserveRevisions(int64_t count) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  SqliteStatement& reserve = statements_->reserve;
  reserve.Bind(kRevisionGap + count);
  const absl::StatusOr<bool> row = reserve.Step();
  const int64_t last = row.ok() && *row ? reserve.Integer(0) : 0;
  reserve.Reset();
  if (!row.ok()) return row.status();
  if (!*row) return IsDamaged("the counter of revisions cannot be set");
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return last - count + 1;
}

absl::StatusOr<JobRecord> SqliteStore::Get(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  absl::StatusOr<JobRecord> record = GetLocked(id);
  return absl::IsDataLoss(record.status()) ? WhatToDo(id, record.status()) : record;
}

absl::StatusOr<JobRecord> SqliteStore::GetLocked(absl::string_view id) const {
  SqliteStatement& get = statements_->get;
  get.BindText(id);
  absl::StatusOr<JobRecord> record = NoSuchJob(id);
  const absl::StatusOr<bool> row = get.Step();
  if (!row.ok()) {
    record = row.status();
  } else if (*row) {
    record = ReadRow(get);
  }
  get.Reset();
  return record;
}

absl::StatusOr<absl::optional<JobRecord>> SqliteStore::FindRequest(
    absl::string_view owner, absl::string_view request_id) const {
  absl::MutexLock lock(&mu_);
  return FindRequestLocked(owner, request_id);
}

absl::StatusOr<absl::optional<JobRecord>> SqliteStore::FindRequestLocked(
    absl::string_view owner, absl::string_view request_id) const {
  SqliteStatement& find = statements_->find_request;
  find.BindText(owner).BindText(request_id);
  absl::StatusOr<absl::optional<JobRecord>> found = absl::optional<JobRecord>();
  const absl::StatusOr<bool> row = find.Step();
  if (!row.ok()) {
    found = row.status();
  } else if (*row) {
    absl::StatusOr<JobRecord> record = ReadRow(find);
    if (record.ok()) {
      found = absl::optional<JobRecord>(*std::move(record));
    } else {
      found = WhatToDo(find.Bytes(0), record.status());
    }
  }
  find.Reset();
  return found;
}

absl::StatusOr<JobPage> SqliteStore::List(const JobFilter& filter, const PageLimits& limits) const {
  int64_t states = 0;
  for (v1::Job::State state : filter.states) states |= int64_t{1} << state;
  const std::string before = filter.before_id.empty() ? kAboveAllIds : filter.before_id;
  const std::string from = FirstIdAt(filter.since);
  PageFiller<v1::Job> filler(limits);
  absl::MutexLock lock(&mu_);
  SqliteStatement& list = filter.of_everybody ? statements_->list_of_everybody : statements_->list;
  if (!filter.of_everybody) list.BindText(filter.owner);
  list.BindText(before).BindText(from).Bind(states == 0 ? -1 : states);
  absl::StatusOr<bool> row = list.Step();
  for (; row.ok() && *row && filler.Look(list.Bytes(0)); row = list.Step()) {
    JobRecord small;
    if (!Parse(list.Bytes(1), &small)) {
      LeaveOut(list.Bytes(0), IsDamaged("its record cannot be read"));
      continue;
    }
    if (!MayMatch(filter, small.job())) continue;
    absl::StatusOr<JobRecord> record = GetLocked(list.Bytes(0));
    if (absl::IsDataLoss(record.status())) {
      LeaveOut(list.Bytes(0), record.status());
      continue;
    }
    if (!record.ok()) {
      row = record.status();
      break;
    }
    if (!Matches(filter, record->job())) continue;
    ClearContents(*record->mutable_job());
    if (!filler.Add(std::move(*record->mutable_job()))) break;
  }
  list.Reset();
  if (!row.ok()) return row.status();
  return std::move(filler).Take();
}

absl::StatusOr<std::vector<JobRecord>> SqliteStore::ListLive() const {
  std::vector<JobRecord> records;
  absl::MutexLock lock(&mu_);
  SqliteStatement& list = statements_->list_live;
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<bool> row = list.Step();
    if (!row.ok()) status = row.status();
    if (!row.ok() || !*row) break;
    absl::StatusOr<JobRecord> record = ReadRow(list);
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      LeaveOut(list.Bytes(0), record.status());
    }
  }
  list.Reset();
  if (!status.ok()) return status;
  return records;
}

absl::Status SqliteStore::ForEachEndedSince(absl::Time time,
                                            absl::FunctionRef<void(const EndedJob&)> tell) const {
  absl::MutexLock lock(&mu_);
  SqliteStatement& list = statements_->list_ended;
  list.Bind(absl::ToUnixNanos(time));
  absl::StatusOr<bool> row = list.Step();
  for (; row.ok() && *row; row = list.Step()) {
    JobRecord record;
    if (Parse(list.Bytes(1), &record)) {
      tell(EndedJobOf(record));
    } else {
      LeaveOut(list.Bytes(0), IsDamaged("its record cannot be read"));
    }
  }
  list.Reset();
  return row.status();
}

absl::StatusOr<int64_t> SqliteStore::DeleteEndedBefore(absl::Time time) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(statements_->delete_ended.Bind(absl::ToUnixNanos(time)).Run());
  const int64_t deleted = database_->changes();
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return deleted;
}

absl::StatusOr<int64_t> SqliteStore::DeleteEndedBeyond(int64_t max_bytes) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t all, database_->UsedBytes());
  if (all <= max_bytes) return 0;  // Summing up reads every job.
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(statements_->delete_beyond.Bind(max_bytes).Run());
  const int64_t deleted = database_->changes();
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return deleted;
}

absl::Status SqliteStore::SaveDevice(const v1::Device& device) {
  const std::string bytes = KeptOf(device).SerializeAsString();
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(
      statements_->save_device.BindText(device.description().id()).BindBlob(bytes).Run());
  return transaction.Commit();
}

template <typename Record>
absl::StatusOr<std::vector<Record>> SqliteStore::LoadAll(
    SqliteStatement& load, absl::StatusOr<Record> (*read)(const SqliteStatement& row)) {
  std::vector<Record> records;
  absl::StatusOr<bool> row = load.Step();
  for (; row.ok() && *row; row = load.Step()) {
    absl::StatusOr<Record> record = read(load);
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      LeaveOut(load.Bytes(0), record.status());
    }
  }
  load.Reset();
  if (!row.ok()) return row.status();
  return records;
}

absl::Status SqliteStore::DeleteRow(DamagedRow::Kind kind, absl::string_view id) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(DeleteOf(kind).BindText(id).Run());
  return transaction.Commit();
}

absl::StatusOr<std::vector<v1::Device>> SqliteStore::LoadDevices() const {
  absl::MutexLock lock(&mu_);
  return LoadAll(statements_->load_devices, ReadDeviceRow);
}

absl::Status SqliteStore::PutStanding(const DeviceStanding& standing, int64_t replaces) {
  const std::string bytes = standing.SerializeAsString();
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  SqliteStatement& put =
      replaces == 0 ? statements_->insert_standing : statements_->update_standing;
  put.Bind(standing.revision()).BindBlob(bytes).BindText(standing.device());
  if (replaces != 0) put.Bind(replaces);
  SLIPWAY_RETURN_IF_ERROR(put.Run());
  if (database_->changes() != 1) return StandingChangedMeanwhile(standing.device());
  return transaction.Commit();
}

absl::StatusOr<std::vector<DeviceStanding>> SqliteStore::LoadStandings() const {
  absl::MutexLock lock(&mu_);
  return LoadAll(statements_->load_standings, ReadStandingRow);
}

absl::Status SqliteStore::PutReservation(const ReservationRecord& record) {
  const std::string bytes = record.SerializeAsString();
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  SLIPWAY_RETURN_IF_ERROR(
      statements_->save_reservation.BindText(record.reservation().id()).BindBlob(bytes).Run());
  return transaction.Commit();
}

absl::StatusOr<std::vector<ReservationRecord>> SqliteStore::LoadReservations() const {
  absl::MutexLock lock(&mu_);
  return LoadAll(statements_->load_reservations, ReadReservationRow);
}

absl::StatusOr<SqliteStore::Damage> SqliteStore::FindDamage() const {
  Damage damage;
  absl::MutexLock lock(&mu_);
  // Reads every page; then the rows of what it found readable.
  SLIPWAY_ASSIGN_OR_RETURN(SqliteStatement check, database_->Prepare("PRAGMA integrity_check(20)"));
  while (true) {
    SLIPWAY_ASSIGN_OR_RETURN(const bool has_row, check.Step());
    if (!has_row) break;
    if (check.Bytes(0) != "ok") damage.file.emplace_back(check.Bytes(0));
  }
  SqliteStatement& jobs = statements_->list_all;
  absl::StatusOr<bool> row = jobs.Step();
  for (; row.ok() && *row; row = jobs.Step()) {
    ++damage.rows_read;
    const absl::Status status = ReadRow(jobs).status();
    if (status.ok()) continue;
    damage.rows.push_back({.kind = DamagedRow::Kind::kJob,
                           .id = std::string(jobs.Bytes(0)),
                           .why = std::string(status.message()),
                           .contents = {{"record", std::string(jobs.Bytes(1))},
                                        {"spec", std::string(jobs.Bytes(3))},
                                        {"result", std::string(jobs.Bytes(4))}}});
  }
  jobs.Reset();
  if (!row.ok()) damage.file.emplace_back(row.status().message());
  using Kind = DamagedRow::Kind;
  const auto look_at = [&damage](Kind kind, const char* contents, SqliteStatement& rows,
                                 auto read) {
    absl::StatusOr<bool> row = rows.Step();
    for (; row.ok() && *row; row = rows.Step()) {
      ++damage.rows_read;
      const absl::Status status = read(rows).status();
      if (status.ok()) continue;
      damage.rows.push_back({.kind = kind,
                             .id = std::string(rows.Bytes(0)),
                             .why = std::string(status.message()),
                             .contents = {{contents, std::string(rows.Bytes(1))}}});
    }
    rows.Reset();
    if (!row.ok()) damage.file.emplace_back(row.status().message());
  };
  look_at(Kind::kDevice, "device", statements_->load_devices, ReadDeviceRow);
  look_at(Kind::kStanding, "record", statements_->load_standings, ReadStandingRow);
  look_at(Kind::kReservation, "record", statements_->load_reservations, ReadReservationRow);
  look_at(Kind::kIdentity, "record", statements_->load_identities, ReadIdentityRow);
  const absl::Status read =
      history_->CheckAll([&damage](absl::string_view id, const absl::Status& status,
                                   absl::string_view entry, absl::string_view samples) {
        ++damage.rows_read;
        if (status.ok()) return;
        damage.rows.push_back(
            {.kind = DamagedRow::Kind::kHistory,
             .id = std::string(id),
             .why = std::string(status.message()),
             .contents = {{"entry", std::string(entry)}, {"samples", std::string(samples)}}});
      });
  if (!read.ok()) damage.file.emplace_back(read.message());
  return damage;
}

SqliteStatement& SqliteStore::DeleteOf(DamagedRow::Kind kind) {
  switch (kind) {
    case DamagedRow::Kind::kJob:
      return statements_->delete_job;
    case DamagedRow::Kind::kDevice:
      return statements_->delete_device;
    case DamagedRow::Kind::kStanding:
      return statements_->delete_standing;
    case DamagedRow::Kind::kReservation:
      return statements_->delete_reservation;
    case DamagedRow::Kind::kIdentity:
    case DamagedRow::Kind::kHistory:
      break;
  }
  return statements_->delete_identity;
}

absl::Status SqliteStore::Delete(const DamagedRow& row) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  if (row.kind == DamagedRow::Kind::kHistory) {
    SLIPWAY_RETURN_IF_ERROR(history_->Delete(row.id));
  } else {
    SLIPWAY_RETURN_IF_ERROR(DeleteOf(row.kind).BindText(row.id).Run());
  }
  return transaction.Commit();
}

absl::Status SqliteStore::SaveIdentity(const v1::IdentityRecord& record) {
  const std::string bytes = record.SerializeAsString();
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  SLIPWAY_RETURN_IF_ERROR(statements_->save_identity.BindText(record.id()).BindBlob(bytes).Run());
  return transaction.Commit();
}

absl::StatusOr<std::vector<v1::IdentityRecord>> SqliteStore::LoadIdentities() const {
  absl::MutexLock lock(&mu_);
  return LoadAll(statements_->load_identities, ReadIdentityRow);
}

absl::Status SqliteStore::DeleteIdentity(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  SLIPWAY_RETURN_IF_ERROR(statements_->delete_identity.BindText(id).Run());
  return transaction.Commit();
}

absl::StatusOr<Page<v1::HistoryEntry>> SqliteStore::ListHistory(const HistoryFilter& filter,
                                                                const PageLimits& limits,
                                                                bool with_samples) const {
  absl::MutexLock lock(&mu_);
  return history_->List(filter, limits, with_samples, LeaveOut);
}

absl::StatusOr<v1::HistoryEntry> SqliteStore::GetHistoryEntry(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  absl::StatusOr<v1::HistoryEntry> entry = history_->Get(id);
  return absl::IsDataLoss(entry.status()) ? WhatToDo(id, entry.status()) : entry;
}

absl::StatusOr<int64_t> SqliteStore::DropHistoryBeyond(int64_t max_entries, int64_t max_bytes) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t dropped, history_->DropBeyond(max_entries, max_bytes));
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return dropped;
}

}  // namespace slipway::server
