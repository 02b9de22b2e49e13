// ListenerCounts: what became of the connections to a server.
#ifndef SLIPWAY_CORE_RPC_LISTENER_COUNTS_H_
#define SLIPWAY_CORE_RPC_LISTENER_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace slipway {

// Why one was not let in, or was ended.
enum class ListenerRefusal {
  kNoTls,           // It does not begin as TLS for gRPC does.
  kNoProxy,         // Where proxies connect, it comes from none, or does not begin as theirs do.
  kNoMemory,        // The process has all the memory that it may.
  kFull,            // As many are open as may be.
  kFullForAddress,  // The same of its address.
  kSilent,          // It sent nothing.
  kUnproven,        // Too many had not proven who they are.
  kBanned,          // Its address has flooded the server with calls.
  kFlood,           // Its calls were a flood.
};
inline constexpr size_t kListenerRefusals = 9;
// Their names in metrics, by ListenerRefusal.
inline constexpr std::array<absl::string_view, kListenerRefusals> kListenerRefusalNames = {
    "no_tls", "no_proxy", "no_memory", "full", "full_for_address",
    "silent", "unproven", "banned",    "flood"};

struct ListenerCounts {
  int64_t accepted = 0;  // Since the listener began, whatever became of them.
  int64_t held = 0;      // Let in, and open now.
  std::array<int64_t, kListenerRefusals> refused = {};  // Since the listener began.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_LISTENER_COUNTS_H_
