#include "server/storage/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/jobs/job_contents.h"

namespace slipway::server {
namespace {

constexpr int64_t kSchemaVersion = 1;

// A job is three rows: what changes often and is small; the specification, written once; the result,
// written once. States are the numbers of v1.Job.State: below 4 a job has not ended.
constexpr char kSchema[] = R"sql(
  CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    request_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    end_time_ns INTEGER NOT NULL,
    record BLOB NOT NULL,
    UNIQUE (owner, request_id)
  ) WITHOUT ROWID;
  CREATE INDEX live_jobs ON jobs (id) WHERE state < 4;
  CREATE INDEX ended_jobs ON jobs (end_time_ns) WHERE state >= 4;
  CREATE TABLE specs (
    job_id TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    spec BLOB NOT NULL
  );
  CREATE TABLE results (
    job_id TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    result BLOB NOT NULL
  );
  CREATE TABLE devices (
    id TEXT NOT NULL PRIMARY KEY,
    device BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO counters VALUES ('revision', 0);
)sql";

// Servers from before reservations gave revisions out as they went, and the end of the machine may have undone
// the latest changes, whose revisions a watcher had seen.
constexpr int64_t kRevisionGap = 1 << 20;

bool Parse(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

absl::Status DamagedRow(absl::string_view id) {
  return absl::DataLossError(absl::StrCat("the stored record of '", id, "' is damaged"));
}

// Reads a row of (id, record, revision, spec, result).
absl::StatusOr<JobRecord> ReadRow(const SqliteStatement& row) {
  JobRecord record;
  v1::Job spec;
  v1::Job result;
  if (!Parse(row.Bytes(1), &record) || !Parse(row.Bytes(3), &spec) ||
      !Parse(row.Bytes(4), &result)) {
    return DamagedRow(row.Bytes(0));
  }
  v1::Job& job = *record.mutable_job();
  job.set_revision(row.Integer(2));
  MoveSpec(spec, job);
  MoveResult(result, job);
  return record;
}

#define SLIPWAY_JOB_COLUMNS                              \
  "SELECT id, record, revision, spec, result FROM jobs " \
  "LEFT JOIN specs ON specs.job_id = id LEFT JOIN results ON results.job_id = id "

absl::Status CheckSchema(SqliteDatabase& database, const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(SqliteStatement statement, database.Prepare("PRAGMA user_version"));
  SLIPWAY_ASSIGN_OR_RETURN(bool has_row, statement.Step());
  const int64_t version = has_row ? statement.Integer(0) : 0;
  statement.Reset();
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' has schema version ", version, ", this server knows ",
                     kSchemaVersion, ": use the server that wrote it, or another data folder"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(&database, true));
  SLIPWAY_RETURN_IF_ERROR(database.Execute(kSchema));
  SLIPWAY_RETURN_IF_ERROR(
      database.Execute(absl::StrCat("PRAGMA user_version=", kSchemaVersion).c_str()));
  return transaction.Commit();
}

}  // namespace

struct SqliteStore::Statements {
  SqliteStatement insert_job;
  SqliteStatement insert_spec;
  SqliteStatement insert_result;
  SqliteStatement update_job;
  SqliteStatement get;
  SqliteStatement find_request;
  SqliteStatement list;
  SqliteStatement list_live;
  SqliteStatement delete_ended;
  SqliteStatement reserve;
  SqliteStatement save_device;
  SqliteStatement load_devices;
  SqliteStatement delete_device;

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
        // The states wanted arrive as a set of bits.
        {&list, SLIPWAY_JOB_COLUMNS
         "WHERE owner = ? AND id < ? AND ((1 << state) & ?) != 0 ORDER BY id DESC LIMIT ?"},
        {&list_live, SLIPWAY_JOB_COLUMNS "WHERE state < 4 ORDER BY id"},
        {&delete_ended, "DELETE FROM jobs WHERE state >= 4 AND end_time_ns < ?"},
        {&reserve,
         "UPDATE counters SET value = ? + max(value, (SELECT coalesce(max(revision), 0) FROM "
         "jobs)) "
         "WHERE name = 'revision' RETURNING value"},
        {&save_device, "INSERT OR REPLACE INTO devices VALUES (?, ?)"},
        {&load_devices, "SELECT id, device FROM devices ORDER BY id"},
        {&delete_device, "DELETE FROM devices WHERE id = ?"},
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
};

SqliteStore::SqliteStore() = default;

SqliteStore::~SqliteStore() {
  absl::MutexLock lock(&mu_);
  statements_.reset();
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& path) {
  std::unique_ptr<SqliteStore> store(new SqliteStore);
  absl::MutexLock lock(&store->mu_);
  SLIPWAY_ASSIGN_OR_RETURN(store->database_, SqliteDatabase::Open(path));
  SLIPWAY_RETURN_IF_ERROR(CheckSchema(*store->database_, path));
  store->statements_ = std::make_unique<Statements>();
  SLIPWAY_RETURN_IF_ERROR(store->statements_->Prepare(*store->database_));
  return store;
}

SqliteStore::Row SqliteStore::RowOf(const JobRecord& record) {
  JobRecord small = record;
  v1::Job spec;
  v1::Job result;
  MoveSpec(*small.mutable_job(), spec);
  MoveResult(*small.mutable_job(), result);
  return {.record = small.SerializeAsString(),
          .spec = spec.SerializeAsString(),
          .result = result.SerializeAsString()};
}

absl::StatusOr<std::vector<JobStore::Outcome>> SqliteStore::Commit(absl::Span<const Change> group) {
  bool durable = false;
  std::vector<Row> rows;
  for (const Change& change : group) {
    rows.push_back(RowOf(change.record));
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
    if (!earlier.has_value()) return DamagedRow(job.request_id());
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
  if (!row.result.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        statements_->insert_result.BindText(job.id()).BindBlob(row.result).Run());
  }
  return Outcome{};
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
  if (!*row) return DamagedRow("revision");
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return last - count + 1;
}

absl::StatusOr<JobRecord> SqliteStore::Get(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
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
      found = record.status();
    }
  }
  find.Reset();
  return found;
}

absl::StatusOr<std::vector<v1::Job>> SqliteStore::List(const JobFilter& filter, int limit) const {
  int64_t states = 0;
  for (v1::Job::State state : filter.states) states |= int64_t{1} << state;
  // Above every id: '~' follows all characters ids are made of.
  const std::string before = filter.before_id.empty() ? "~" : filter.before_id;
  std::vector<v1::Job> jobs;
  absl::MutexLock lock(&mu_);
  SqliteStatement& list = statements_->list;
  list.BindText(filter.owner).BindText(before).Bind(states == 0 ? -1 : states).Bind(limit);
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<bool> row = list.Step();
    if (!row.ok()) status = row.status();
    if (!row.ok() || !*row) break;
    absl::StatusOr<JobRecord> record = ReadRow(list);
    status = record.status();
    if (!record.ok()) break;
    ClearContents(*record->mutable_job());
    jobs.push_back(std::move(*record->mutable_job()));
  }
  list.Reset();
  if (!status.ok()) return status;
  return jobs;
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
    status = record.status();
    if (record.ok()) records.push_back(*std::move(record));
  }
  list.Reset();
  if (!status.ok()) return status;
  return records;
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

absl::Status SqliteStore::SaveDevice(const v1::Device& device) {
  const std::string bytes = KeptOf(device).SerializeAsString();
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(
      statements_->save_device.BindText(device.description().id()).BindBlob(bytes).Run());
  return transaction.Commit();
}

absl::StatusOr<std::vector<v1::Device>> SqliteStore::LoadDevices() const {
  std::vector<v1::Device> devices;
  absl::MutexLock lock(&mu_);
  SqliteStatement& load = statements_->load_devices;
  absl::Status status;
  while (status.ok()) {
    const absl::StatusOr<bool> row = load.Step();
    if (!row.ok()) status = row.status();
    if (!row.ok() || !*row) break;
    if (!Parse(load.Bytes(1), &devices.emplace_back())) status = DamagedRow(load.Bytes(0));
  }
  load.Reset();
  if (!status.ok()) return status;
  return devices;
}

absl::Status SqliteStore::DeleteDevice(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(statements_->delete_device.BindText(id).Run());
  return transaction.Commit();
}

}  // namespace slipway::server
