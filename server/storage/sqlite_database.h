// SQLite with Status: a connection, statements, transactions. Knows no table.
#ifndef SLIPWAY_SERVER_STORAGE_SQLITE_DATABASE_H_
#define SLIPWAY_SERVER_STORAGE_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace slipway::server {

// One prepared statement, used over and over. Not thread-safe.
//
// Use: Bind the parameters in order, Step until there are no rows, Reset.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  SqliteStatement& Bind(int64_t value);
  // `bytes` must stay as they are until Reset.
  SqliteStatement& BindText(absl::string_view bytes);
  SqliteStatement& BindBlob(absl::string_view bytes);

  // True when there is a row to read.
  absl::StatusOr<bool> Step();
  // Steps to the end; for statements without rows.
  absl::Status Run();
  void Reset();

  int64_t Integer(int column) const;
  // Valid until the next Step or Reset.
  absl::string_view Bytes(int column) const;

 private:
  friend class SqliteDatabase;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int bind_error_ = 0;
};

// A connection. Not thread-safe.
class SqliteDatabase {
 public:
  // Opens or makes the file, in WAL mode, for this process alone.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  absl::Status Execute(const char* sql);
  absl::StatusOr<SqliteStatement> Prepare(const char* sql);
  int64_t changes() const;  // Rows changed by the last statement.
  // What the pages in use take, together; reads none of them.
  absl::StatusOr<int64_t> UsedBytes();

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  sqlite3* const database_;
};

// Rolls back on destruction unless committed. Not thread-safe.
class SqliteTransaction {
 public:
  // Begins a transaction. `durable`: Commit returns when the disk has it; otherwise the end of the machine
  // may undo it, and it alone or with what came after.
  static absl::StatusOr<SqliteTransaction> Begin(SqliteDatabase* database, bool durable);
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  ~SqliteTransaction();
  absl::Status Commit();

 private:
  explicit SqliteTransaction(SqliteDatabase* database) : database_(database) {}
  SqliteDatabase* database_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STORAGE_SQLITE_DATABASE_H_
