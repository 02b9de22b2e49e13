// SqliteHistory: the table of history_store.h, for SqliteStore, under whose lock and in whose transactions all of it happens.
#ifndef SLIPWAY_SERVER_STORAGE_SQLITE_HISTORY_H_
#define SLIPWAY_SERVER_STORAGE_SQLITE_HISTORY_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/history.pb.h"
#include "server/history/history_filter.h"
#include "server/page.h"
#include "server/storage/sqlite_database.h"

namespace slipway::server {

// Not thread-safe. Errors are those of the database; of a row that cannot be read, DATA_LOSS.
class SqliteHistory {
 public:
  // The table.
  static constexpr char kSchema[] = R"sql(
  CREATE TABLE history (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    model TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    entry BLOB NOT NULL,
    samples BLOB NOT NULL
  );
  CREATE INDEX history_of_owner ON history (owner, id, bytes);
  CREATE INDEX history_of_model ON history (model, id);
)sql";

  // `database` must outlive this.
  static absl::StatusOr<SqliteHistory> Prepare(SqliteDatabase* database);

  // What the row of an entry holds.
  struct Row {
    std::string id;
    std::string owner;
    std::string model;
    std::string entry;    // Without samples,
    std::string samples;  // which are a BenchmarkResult of their own.
  };
  static Row RowOf(v1::HistoryEntry entry);

  absl::Status Insert(const Row& row);
  // Tells of rows that are left out because they are damaged.
  using TellDamage = absl::FunctionRef<void(absl::string_view id, const absl::Status& why)>;
  absl::StatusOr<Page<v1::HistoryEntry>> List(const HistoryFilter& filter, const PageLimits& limits,
                                              bool with_samples, TellDamage tell);
  absl::StatusOr<v1::HistoryEntry> Get(absl::string_view id);
  absl::StatusOr<int64_t> DropBeyond(int64_t max_entries, int64_t max_bytes);
  absl::Status Delete(absl::string_view id);

  // Tells of each row what is wrong with it, or OK, and its bytes.
  using TellRow = absl::FunctionRef<void(absl::string_view id, const absl::Status& status,
                                         absl::string_view entry, absl::string_view samples)>;
  absl::Status CheckAll(TellRow tell);

 private:
  explicit SqliteHistory(SqliteDatabase* database) : database_(database) {}

  SqliteDatabase* database_;
  SqliteStatement insert_;
  SqliteStatement list_of_owner_;
  SqliteStatement list_of_model_;
  SqliteStatement list_all_;
  SqliteStatement get_;
  SqliteStatement owners_beyond_;
  SqliteStatement drop_;
  SqliteStatement delete_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STORAGE_SQLITE_HISTORY_H_
