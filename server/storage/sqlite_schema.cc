#include "server/storage/sqlite_schema.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/storage/sqlite_history.h"

namespace slipway::server {
namespace {

constexpr int64_t kSchemaVersion = 4;

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

// What each later version adds: the first of these makes version 2 of version 1.
constexpr const char* kUpgrades[] = {R"sql(
  CREATE TABLE identities (
    id TEXT NOT NULL PRIMARY KEY,
    record BLOB NOT NULL
  ) WITHOUT ROWID;
)sql",
                                     SqliteHistory::kSchema,
                                     R"sql(
  CREATE TABLE standings (
    device TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    record BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE reservations (
    id TEXT NOT NULL PRIMARY KEY,
    record BLOB NOT NULL
  ) WITHOUT ROWID;
)sql"};
static_assert(std::size(kUpgrades) == kSchemaVersion - 1);

}  // namespace

absl::Status BringToSchema(SqliteDatabase& database, const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(SqliteStatement statement, database.Prepare("PRAGMA user_version"));
  SLIPWAY_ASSIGN_OR_RETURN(bool has_row, statement.Step());
  const int64_t version = has_row ? statement.Integer(0) : 0;
  statement.Reset();
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version < 0 || version > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' has schema version ", version, ", this server knows ",
                     kSchemaVersion, ": use the server that wrote it, or another data folder"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(SqliteTransaction transaction,
                           SqliteTransaction::Begin(&database, true));
  if (version == 0) SLIPWAY_RETURN_IF_ERROR(database.Execute(kSchema));
  for (int64_t from = std::max<int64_t>(version, 1); from < kSchemaVersion; ++from) {
    SLIPWAY_RETURN_IF_ERROR(database.Execute(kUpgrades[from - 1]));
  }
  SLIPWAY_RETURN_IF_ERROR(
      database.Execute(absl::StrCat("PRAGMA user_version=", kSchemaVersion).c_str()));
  return transaction.Commit();
}

}  // namespace slipway::server
