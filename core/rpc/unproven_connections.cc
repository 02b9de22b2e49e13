#include "core/rpc/unproven_connections.h"

#include <iterator>
#include <utility>

namespace slipway {

HeldConnection UnprovenConnections::TakeFirst() {
  HeldConnection connection = std::move(entries_.front().connection);
  by_address_.erase(entries_.front().address);
  entries_.pop_front();
  return connection;
}

std::optional<HeldConnection> UnprovenConnections::Add(absl::string_view address,
                                                       HeldConnection connection,
                                                       absl::Duration now) {
  // Whoever had the address before has gone: nobody else gets it while he is there.
  Prove(address);
  entries_.push_back({.address = std::string(address),
                      .connection = std::move(connection),
                      .until = now + patience_});
  by_address_[address] = std::prev(entries_.end());
  if (size() <= most_) return std::nullopt;
  return TakeFirst();
}

std::optional<HeldConnection> UnprovenConnections::Prove(absl::string_view address) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  HeldConnection connection = std::move(found->second->connection);
  entries_.erase(found->second);
  by_address_.erase(found);
  return connection;
}

std::vector<HeldConnection> UnprovenConnections::TakeOverdue(absl::Duration now) {
  std::vector<HeldConnection> overdue;
  while (!entries_.empty() && entries_.front().until <= now) overdue.push_back(TakeFirst());
  return overdue;
}

absl::Duration UnprovenConnections::NextEnd() const {
  return entries_.empty() ? absl::InfiniteDuration() : entries_.front().until;
}

}  // namespace slipway
