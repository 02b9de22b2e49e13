#include "server/storage/sqlite_history.h"

#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "server/history/history_entry.h"
#include "server/history/history_store.h"
#include "server/names.h"

namespace slipway::server {
namespace {

#define SLIPWAY_HISTORY_COLUMNS "SELECT id, owner, model, entry, "

bool Parse(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Reads a row of SLIPWAY_HISTORY_COLUMNS, of which the last is `samples` or nothing. DATA_LOSS.
absl::StatusOr<v1::HistoryEntry> ReadRow(const SqliteStatement& row, bool with_samples) {
  v1::HistoryEntry entry;
  if (!Parse(row.Bytes(3), &entry)) return absl::DataLossError("its entry cannot be read");
  if (entry.id() != row.Bytes(0) || entry.owner() != row.Bytes(1) ||
      entry.model() != row.Bytes(2)) {
    return absl::DataLossError("its entry is another one");
  }
  if (!with_samples) return entry;
  v1::BenchmarkResult samples;
  if (!Parse(row.Bytes(4), &samples)) return absl::DataLossError("its samples cannot be read");
  entry.mutable_result()->mutable_samples_ns()->Swap(samples.mutable_samples_ns());
  SLIPWAY_RETURN_IF_ERROR(CheckEntry(entry));
  return entry;
}

}  // namespace

absl::StatusOr<SqliteHistory> SqliteHistory::Prepare(SqliteDatabase* database) {
  SqliteHistory history(database);
  const std::pair<SqliteStatement*, const char*> all[] = {
      // An entry is what its job says: one that is there already is of a job that was taken back to before its end.
      {&history.insert_, "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?)"},
      // The last parameter says whether samples are wanted: they are not read otherwise.
      {&history.list_of_owner_, SLIPWAY_HISTORY_COLUMNS
       "CASE WHEN ?4 THEN samples END FROM history WHERE owner = ?1 AND id < ?2 AND id >= ?3 "
       "ORDER BY id DESC"},
      {&history.list_of_model_, SLIPWAY_HISTORY_COLUMNS
       "CASE WHEN ?5 THEN samples END FROM history WHERE model = ?1 AND id < ?2 AND id >= ?3 "
       "AND (?4 = '' OR owner = ?4) ORDER BY id DESC"},
      {&history.list_all_, SLIPWAY_HISTORY_COLUMNS
       "CASE WHEN ?3 THEN samples END FROM history WHERE id < ?1 AND id >= ?2 ORDER BY id DESC"},
      {&history.get_, SLIPWAY_HISTORY_COLUMNS "samples FROM history WHERE id = ?"},
      {&history.owners_beyond_,
       "SELECT owner FROM history GROUP BY owner HAVING count(*) > ? OR sum(bytes) > ?"},
      {&history.drop_,
       "DELETE FROM history WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER newer AS "
       "entries, sum(bytes) OVER newer AS total FROM history WHERE owner = ? WINDOW newer AS "
       "(ORDER BY id DESC ROWS UNBOUNDED PRECEDING)) WHERE entries > ? OR total > ?)"},
      {&history.delete_, "DELETE FROM history WHERE id = ?"},
  };
  for (const auto& [statement, sql] : all) {
    SLIPWAY_ASSIGN_OR_RETURN(*statement, database->Prepare(sql));
  }
  return history;
}

SqliteHistory::Row SqliteHistory::RowOf(v1::HistoryEntry entry) {
  v1::BenchmarkResult samples;
  samples.mutable_samples_ns()->Swap(entry.mutable_result()->mutable_samples_ns());
  return {.id = entry.id(),
          .owner = entry.owner(),
          .model = entry.model(),
          .entry = entry.SerializeAsString(),
          .samples = samples.SerializeAsString()};
}

absl::Status SqliteHistory::Insert(const Row& row) {
  return insert_.BindText(row.id)
      .BindText(row.owner)
      .BindText(row.model)
      .Bind(static_cast<int64_t>(row.entry.size() + row.samples.size()))
      .BindBlob(row.entry)
      .BindBlob(row.samples)
      .Run();
}

absl::StatusOr<Page<v1::HistoryEntry>> SqliteHistory::List(const HistoryFilter& filter,
                                                           const PageLimits& limits,
                                                           bool with_samples, TellDamage tell) {
  const std::string before = filter.before_id.empty() ? kAboveAllIds : filter.before_id;
  const std::string from = FirstIdAt(filter.since);
  const std::string owner = filter.of_everybody ? "" : filter.owner;
  SqliteStatement* list = &list_all_;
  if (!filter.model.empty()) {
    list = &list_of_model_;
    list->BindText(filter.model).BindText(before).BindText(from).BindText(owner);
  } else if (!filter.of_everybody) {
    list = &list_of_owner_;
    list->BindText(owner).BindText(before).BindText(from);
  } else {
    list->BindText(before).BindText(from);
  }
  list->Bind(with_samples ? 1 : 0);
  PageFiller<v1::HistoryEntry> filler(limits);
  absl::StatusOr<bool> row = list->Step();
  for (; row.ok() && *row; row = list->Step()) {
    if (!filler.Look(list->Bytes(0))) break;
    absl::StatusOr<v1::HistoryEntry> entry = ReadRow(*list, with_samples);
    if (!entry.ok()) {
      tell(list->Bytes(0), entry.status());
    } else if (Matches(filter, *entry) && !filler.Add(*std::move(entry))) {
      break;
    }
  }
  list->Reset();
  if (!row.ok()) return row.status();
  return std::move(filler).Take();
}

absl::StatusOr<v1::HistoryEntry> SqliteHistory::Get(absl::string_view id) {
  absl::StatusOr<bool> row = get_.BindText(id).Step();
  absl::StatusOr<v1::HistoryEntry> entry = NoSuchEntry(id);
  if (!row.ok()) {
    entry = row.status();
  } else if (*row) {
    entry = ReadRow(get_, /*with_samples=*/true);
  }
  get_.Reset();
  return entry;
}

absl::StatusOr<int64_t> SqliteHistory::DropBeyond(int64_t max_entries, int64_t max_bytes) {
  std::vector<std::string> owners;
  owners_beyond_.Bind(max_entries).Bind(max_bytes);
  absl::StatusOr<bool> row = owners_beyond_.Step();
  for (; row.ok() && *row; row = owners_beyond_.Step()) {
    owners.emplace_back(owners_beyond_.Bytes(0));
  }
  owners_beyond_.Reset();
  if (!row.ok()) return row.status();
  int64_t dropped = 0;
  for (const std::string& owner : owners) {
    SLIPWAY_RETURN_IF_ERROR(drop_.BindText(owner).Bind(max_entries).Bind(max_bytes).Run());
    dropped += database_->changes();
  }
  return dropped;
}

absl::Status SqliteHistory::Delete(absl::string_view id) { return delete_.BindText(id).Run(); }

absl::Status SqliteHistory::CheckAll(TellRow tell) {
  // Above all texts, ids or not.
  list_all_.BindBlob("\xff").BindText("").Bind(1);
  absl::StatusOr<bool> row = list_all_.Step();
  for (; row.ok() && *row; row = list_all_.Step()) {
    tell(list_all_.Bytes(0), ReadRow(list_all_, /*with_samples=*/true).status(), list_all_.Bytes(3),
         list_all_.Bytes(4));
  }
  list_all_.Reset();
  return row.status();
}

}  // namespace slipway::server
