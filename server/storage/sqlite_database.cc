#include "server/storage/sqlite_database.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

absl::StatusCode CodeOf(sqlite3* database, int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_IOERR:
      // A write beyond a quota or a file size limit arrives as an I/O error, and often without its errno.
      return result == SQLITE_IOERR_WRITE && sqlite3_system_errno(database) != EIO
                 ? absl::StatusCode::kResourceExhausted
                 : absl::StatusCode::kInternal;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status ErrorOf(sqlite3* database, int result) {
  const absl::StatusCode code = CodeOf(database, result);
  if (code == absl::StatusCode::kResourceExhausted) {
    return absl::Status(code, "the disk of the data folder is full: free space and try again");
  }
  return absl::Status(code, absl::StrCat("the job database failed: ", sqlite3_errmsg(database)));
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  if (this == &other) return *this;
  sqlite3_finalize(statement_);
  database_ = other.database_;
  statement_ = std::exchange(other.statement_, nullptr);
  return *this;
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::Bind(int64_t value) {
  const int result = sqlite3_bind_int64(statement_, ++bound_, value);
  if (result != SQLITE_OK) bind_error_ = result;
  return *this;
}

SqliteStatement& SqliteStatement::BindText(absl::string_view bytes) {
  const int result = sqlite3_bind_text64(statement_, ++bound_, bytes.empty() ? "" : bytes.data(),
                                         bytes.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (result != SQLITE_OK) bind_error_ = result;
  return *this;
}

SqliteStatement& SqliteStatement::BindBlob(absl::string_view bytes) {
  const int result = sqlite3_bind_blob64(statement_, ++bound_, bytes.empty() ? "" : bytes.data(),
                                         bytes.size(), SQLITE_STATIC);
  if (result != SQLITE_OK) bind_error_ = result;
  return *this;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  if (bind_error_ != SQLITE_OK) return ErrorOf(database_, bind_error_);
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return ErrorOf(database_, result);
}

absl::Status SqliteStatement::Run() {
  absl::StatusOr<bool> row = Step();
  while (row.ok() && *row) row = Step();
  Reset();
  return row.status();
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
  bind_error_ = SQLITE_OK;
}

int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

absl::string_view SqliteStatement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? absl::string_view()
                         : absl::string_view(static_cast<const char*>(data), size);
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(handle));
  if (result != SQLITE_OK) {
    if (handle == nullptr)
      return absl::ResourceExhaustedError("out of memory for the job database");
    return Annotate(ErrorOf(handle, result), absl::StrCat("'", path, "'"));
  }
  sqlite3_extended_result_codes(handle, 1);
  // The data folder's lock keeps others away; without a shared-memory file the WAL index lives in memory.
  SLIPWAY_RETURN_IF_ERROR_WITH(database->Execute("PRAGMA locking_mode=EXCLUSIVE;"
                                                 "PRAGMA journal_mode=WAL;"
                                                 "PRAGMA synchronous=FULL;"
                                                 "PRAGMA foreign_keys=ON;"
                                                 "PRAGMA trusted_schema=OFF;"),
                               absl::StrCat("'", path, "'"));
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(database_); }

absl::Status SqliteDatabase::Execute(const char* sql) {
  const int result = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return ErrorOf(database_, result);
  return absl::OkStatus();
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(const char* sql) {
  SqliteStatement statement;
  statement.database_ = database_;
  const int result = sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement.statement_, nullptr);
  if (result != SQLITE_OK) return ErrorOf(database_, result);
  return statement;
}

int64_t SqliteDatabase::changes() const { return sqlite3_changes64(database_); }

absl::StatusOr<int64_t> SqliteDatabase::UsedBytes() {
  SLIPWAY_ASSIGN_OR_RETURN(
      SqliteStatement used,
      Prepare("SELECT (page_count - freelist_count) * page_size "
              "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"));
  SLIPWAY_RETURN_IF_ERROR(used.Step().status());
  return used.Integer(0);
}

absl::StatusOr<SqliteTransaction> SqliteTransaction::Begin(SqliteDatabase* database, bool durable) {
  SLIPWAY_RETURN_IF_ERROR(database->Execute(durable
                                                ? "PRAGMA synchronous=FULL; BEGIN IMMEDIATE"
                                                : "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE"));
  return SqliteTransaction(database);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
  // Some errors roll back by themselves; a second time is refused and harmless.
  if (database_ != nullptr) database_->Execute("ROLLBACK").IgnoreError();
}

absl::Status SqliteTransaction::Commit() {
  SLIPWAY_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return absl::OkStatus();
}

}  // namespace slipway::server
