#include "server/storage/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/jobs/job_state.h"

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

// The end of the machine may undo the latest transitions, whose revisions a watcher has seen already.
// New revisions begin so far above the last one stored that none is given twice.
constexpr int64_t kRevisionGap = 1 << 20;

// Moves what stands in rows of its own out of a record and back.
v1::Job TakeSpec(v1::Job& job) {
  v1::Job spec;
  switch (job.spec_case()) {
    case v1::Job::kCompilation:
      spec.mutable_compilation()->Swap(job.mutable_compilation());
      break;
    case v1::Job::kRun:
      spec.mutable_run()->Swap(job.mutable_run());
      break;
    case v1::Job::kBenchmark:
      spec.mutable_benchmark()->Swap(job.mutable_benchmark());
      break;
    case v1::Job::SPEC_NOT_SET:
      break;
  }
  job.clear_spec();
  return spec;
}

v1::Job TakeResult(v1::Job& job) {
  v1::Job result;
  switch (job.result_case()) {
    case v1::Job::kCompilationResult:
      result.mutable_compilation_result()->Swap(job.mutable_compilation_result());
      break;
    case v1::Job::kRunResult:
      result.mutable_run_result()->Swap(job.mutable_run_result());
      break;
    case v1::Job::kBenchmarkResult:
      result.mutable_benchmark_result()->Swap(job.mutable_benchmark_result());
      break;
    case v1::Job::RESULT_NOT_SET:
      break;
  }
  job.clear_result();
  return result;
}

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
  job.MergeFrom(spec);
  job.MergeFrom(result);
  return record;
}

#define SLIPWAY_JOB_COLUMNS                              \
  "SELECT id, record, revision, spec, result FROM jobs " \
  "LEFT JOIN specs ON specs.job_id = id LEFT JOIN results ON results.job_id = id "

void ClearTensors(google::protobuf::RepeatedPtrField<v1::Tensor>* tensors) {
  for (v1::Tensor& tensor : *tensors) tensor.clear_content();
}

void ClearContents(v1::Job& job) {
  if (job.has_run()) ClearTensors(job.mutable_run()->mutable_inputs());
  if (job.has_benchmark()) ClearTensors(job.mutable_benchmark()->mutable_run()->mutable_inputs());
  if (job.has_run_result()) ClearTensors(job.mutable_run_result()->mutable_outputs());
  if (job.has_compilation_result()) {
    job.mutable_compilation_result()->mutable_report()->clear_printed_graph();
  }
}

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
  SqliteStatement keep_revision;
  SqliteStatement save_device;
  SqliteStatement load_devices;
  SqliteStatement delete_device;

  absl::Status Prepare(SqliteDatabase& database) {
    const std::pair<SqliteStatement*, const char*> all[] = {
        {&insert_job,
         "INSERT INTO jobs (id, owner, request_id, state, revision, end_time_ns, record) "
         "VALUES (?, ?, ?, ?, ?, ?, ?)"},
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
        {&keep_revision, "UPDATE counters SET value = ? WHERE name = 'revision'"},
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
  SLIPWAY_ASSIGN_OR_RETURN(
      SqliteStatement last,
      store->database_->Prepare("SELECT max(value, (SELECT coalesce(max(revision), 0) FROM jobs)) "
                                "FROM counters WHERE name = 'revision'"));
  SLIPWAY_ASSIGN_OR_RETURN(bool has_row, last.Step());
  if (!has_row) return DamagedRow("revision");
  store->last_revision_ = last.Integer(0) + kRevisionGap;
  return store;
}

absl::StatusOr<JobStore::Created> SqliteStore::Create(JobRecord record) {
  absl::MutexLock lock(&mu_);
  SLIPWAY_ASSIGN_OR_RETURN(absl::optional<JobRecord> existing,
                           FindRequestLocked(record.job().owner(), record.job().request_id()));
  if (existing.has_value()) {
    if (existing->work_digest() != record.work_digest()) {
      return absl::AlreadyExistsError(absl::StrCat("request_id '", record.job().request_id(),
                                                   "' was used for different work, job '",
                                                   existing->job().id(), "': choose another"));
    }
    return Created{*std::move(existing), true};
  }
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/true));
  v1::Job& job = *record.mutable_job();
  job.set_revision(++last_revision_);
  JobRecord small = record;
  const std::string spec = TakeSpec(*small.mutable_job()).SerializeAsString();
  const std::string result = TakeResult(*small.mutable_job()).SerializeAsString();
  const std::string bytes = small.SerializeAsString();
  SLIPWAY_RETURN_IF_ERROR(statements_->insert_job.BindText(job.id())
                              .BindText(job.owner())
                              .BindText(job.request_id())
                              .Bind(job.state())
                              .Bind(job.revision())
                              .Bind(job.end_time_ns())
                              .BindBlob(bytes)
                              .Run());
  SLIPWAY_RETURN_IF_ERROR(statements_->insert_spec.BindText(job.id()).BindBlob(spec).Run());
  if (!result.empty()) {
    SLIPWAY_RETURN_IF_ERROR(statements_->insert_result.BindText(job.id()).BindBlob(result).Run());
  }
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return Created{std::move(record), false};
}

absl::StatusOr<JobRecord> SqliteStore::Get(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  SqliteStatement& get = statements_->get;
  get.BindText(id);
  absl::StatusOr<JobRecord> record =
      absl::NotFoundError(absl::StrCat("no job '", id,
                                       "': it was never accepted, or it ended so long "
                                       "ago that it has been forgotten"));
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

absl::StatusOr<JobRecord> SqliteStore::Transition(const JobRecord& current, const JobEvent& event,
                                                  absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(JobRecord next, Apply(current, event, now));
  if (RuleFor(current.job().state(), event.index()) == Rule::kStay) return next;

  absl::MutexLock lock(&mu_);
  v1::Job& job = *next.mutable_job();
  const int64_t revision = last_revision_ + 1;
  const v1::Job spec = TakeSpec(job);
  const v1::Job result = TakeResult(job);
  job.set_revision(revision);
  const std::string record_bytes = next.SerializeAsString();
  const bool has_result = result.result_case() != v1::Job::RESULT_NOT_SET;
  const std::string result_bytes = has_result ? result.SerializeAsString() : "";
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(database_.get(), /*durable=*/false));
  SLIPWAY_RETURN_IF_ERROR(statements_->update_job.Bind(job.state())
                              .Bind(revision)
                              .Bind(job.end_time_ns())
                              .BindBlob(record_bytes)
                              .BindText(job.id())
                              .Bind(current.job().revision())
                              .Run());
  if (database_->changes() != 1) {
    return absl::AbortedError(absl::StrCat("job '", job.id(), "' has changed meanwhile"));
  }
  if (has_result) {
    SLIPWAY_RETURN_IF_ERROR(
        statements_->insert_result.BindText(job.id()).BindBlob(result_bytes).Run());
  }
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  last_revision_ = revision;
  job.MergeFrom(spec);
  job.MergeFrom(result);
  return next;
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
  // The highest revision may be among those deleted.
  SLIPWAY_RETURN_IF_ERROR(statements_->keep_revision.Bind(last_revision_).Run());
  SLIPWAY_RETURN_IF_ERROR(statements_->delete_ended.Bind(absl::ToUnixNanos(time)).Run());
  const int64_t deleted = database_->changes();
  SLIPWAY_RETURN_IF_ERROR(transaction.Commit());
  return deleted;
}

absl::Status SqliteStore::SaveDevice(const v1::Device& device) {
  v1::Device kept;
  *kept.mutable_description() = device.description();
  kept.set_agent_id(device.agent_id());
  kept.set_agent_version(device.agent_version());
  kept.set_last_seen_ns(device.last_seen_ns());
  kept.set_min_abi(device.min_abi());
  kept.set_max_abi(device.max_abi());
  kept.set_min_format(device.min_format());
  kept.set_max_format(device.max_format());
  const std::string bytes = kept.SerializeAsString();
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
