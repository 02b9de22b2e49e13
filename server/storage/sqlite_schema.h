// The tables of the database, and how those of earlier versions become them.
#ifndef SLIPWAY_SERVER_STORAGE_SQLITE_SCHEMA_H_
#define SLIPWAY_SERVER_STORAGE_SQLITE_SCHEMA_H_

#include <string>

#include "absl/status/status.h"
#include "server/storage/sqlite_database.h"

namespace slipway::server {

// Makes the tables of a new database, and brings one that an earlier version made to this one's. FAILED_PRECONDITION when a
// later version made it; `path` is what it is called.
absl::Status BringToSchema(SqliteDatabase& database, const std::string& path);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_STORAGE_SQLITE_SCHEMA_H_
