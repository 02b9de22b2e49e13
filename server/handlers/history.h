// What was measured (proto/slipway/v1/history.proto).
#ifndef SLIPWAY_SERVER_HANDLERS_HISTORY_H_
#define SLIPWAY_SERVER_HANDLERS_HISTORY_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/history.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status ListHistory(const Caller& caller, const Environment& env,
                         const v1::ListHistoryRequest& request, v1::ListHistoryResponse* response);

absl::Status GetHistoryEntry(const Caller& caller, const Environment& env,
                             const v1::GetHistoryEntryRequest& request, v1::HistoryEntry* response);

absl::Status GetRecord(const Caller& caller, const Environment& env,
                       const v1::GetHistoryEntryRequest& request, v1::SignedRecord* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_HISTORY_H_
