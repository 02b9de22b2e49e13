#include "server/web/sessions.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/server.pb.h"

namespace slipway::web {
namespace {

// Addresses whose failures are counted; of more the ones that may do most are forgotten.
constexpr size_t kMostAddresses = 10'000;
// That are known to be some.
constexpr size_t kMostTokens = 10'000;
// No token is longer.
constexpr size_t kMaxTokenBytes = 1'024;

std::string CookieName(absl::string_view cookie) {
  return Digest::Of(absl::StrCat("cookie ", cookie)).hex();
}
std::string TokenName(absl::string_view token) {
  return Digest::Of(absl::StrCat("token ", token)).hex();
}

}  // namespace

Sessions::Sessions(const SessionLimits& limits, ConnectUpstream connect, std::string own_token,
                   const Clock* clock)
    : limits_(limits),
      connect_(std::move(connect)),
      own_token_(std::move(own_token)),
      clock_(*clock) {}

absl::Status Sessions::CheckFailures(absl::string_view token, absl::string_view address) {
  const std::string name = TokenName(token);
  absl::MutexLock lock(&mutex_);
  if (shown_.contains(name)) return absl::OkStatus();
  const auto found = failures_.find(address);
  if (found == failures_.end()) return absl::OkStatus();
  Failures& failures = found->second;
  const absl::Duration now = clock_.Monotonic();
  failures.left = std::min<double>(
      limits_.most_failures,
      failures.left + absl::FDivDuration(now - failures.counted_at, limits_.failure_pause));
  failures.counted_at = now;
  if (failures.left >= 1) return absl::OkStatus();
  return absl::ResourceExhaustedError("too many wrong tokens came from here: try again in a while");
}

void Sessions::CountFailure(absl::string_view address) {
  absl::MutexLock lock(&mutex_);
  const auto [place, is_new] = failures_.try_emplace(std::string(address));
  if (is_new) {
    place->second = {static_cast<double>(limits_.most_failures), clock_.Monotonic()};
  }
  place->second.left -= 1;
  if (failures_.size() <= kMostAddresses) return;
  const auto least =
      std::max_element(failures_.begin(), failures_.end(),
                       [](const auto& a, const auto& b) { return a.second.left < b.second.left; });
  failures_.erase(least);
}

absl::StatusOr<std::shared_ptr<const SignedIn>> Sessions::Connect(const std::string& token,
                                                                  absl::string_view address) {
  SLIPWAY_RETURN_IF_ERROR(CheckFailures(token, address));
  const auto refuse = [&](const absl::Status& status) {
    if (absl::IsUnauthenticated(status)) CountFailure(address);
    return status;
  };
  if (token.empty() || token.size() > kMaxTokenBytes ||
      (!own_token_.empty() && !IsSameSecret(own_token_, token))) {
    return refuse(absl::UnauthenticatedError("this is no token"));
  }
  auto signed_in = std::make_shared<SignedIn>();
  absl::StatusOr<std::shared_ptr<Upstream>> upstream = connect_(token);
  if (!upstream.ok()) return refuse(upstream.status());
  signed_in->upstream = *std::move(upstream);
  const absl::Status greeted =
      signed_in->upstream->Call("slipway.v1.ServerService.GetServerInfo",
                                slipway::v1::GetServerInfoRequest(), signed_in->server);
  if (!greeted.ok()) return refuse(greeted);
  signed_in->is_administrator =
      absl::c_linear_search(signed_in->server.caller().roles(), slipway::v1::ROLE_ADMIN);
  signed_in->key = TokenName(token);
  signed_in->until = clock_.Now() + limits_.longest;
  absl::MutexLock lock(&mutex_);
  if (shown_.size() < kMostTokens) shown_.insert(signed_in->key);
  return signed_in;
}

bool Sessions::HasEnded(const Session& session) const {
  return session.last_use + limits_.idle <= clock_.Monotonic() ||
         session.signed_in->until <= clock_.Now();
}

void Sessions::Add(const std::string& name, std::shared_ptr<const SignedIn> signed_in) {
  absl::MutexLock lock(&mutex_);
  if (sessions_.size() >= limits_.most_sessions) {
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto here = it++;
      if (HasEnded(here->second)) sessions_.erase(here);
    }
  }
  if (sessions_.size() >= limits_.most_sessions) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
  }
  sessions_[name] = {std::move(signed_in), clock_.Monotonic()};
}

absl::StatusOr<Sessions::Begun> Sessions::SignIn(const std::string& token,
                                                 absl::string_view address) {
  Begun begun;
  SLIPWAY_ASSIGN_OR_RETURN(begun.signed_in, Connect(token, address));
  begun.cookie = NewSecret();
  Add(CookieName(begun.cookie), begun.signed_in);
  return begun;
}

std::shared_ptr<const SignedIn> Sessions::FindByName(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return nullptr;
  if (HasEnded(found->second)) {
    sessions_.erase(found);
    return nullptr;
  }
  found->second.last_use = clock_.Monotonic();
  return found->second.signed_in;
}

std::shared_ptr<const SignedIn> Sessions::Find(absl::string_view cookie) {
  return cookie.empty() ? nullptr : FindByName(CookieName(cookie));
}

std::shared_ptr<const SignedIn> Sessions::FindKnownToken(absl::string_view token) {
  return FindByName(TokenName(token));
}

absl::StatusOr<std::shared_ptr<const SignedIn>> Sessions::FindByToken(const std::string& token,
                                                                      absl::string_view address) {
  if (auto known = FindKnownToken(token); known != nullptr) return known;
  SLIPWAY_ASSIGN_OR_RETURN(std::shared_ptr<const SignedIn> signed_in, Connect(token, address));
  Add(TokenName(token), signed_in);
  return signed_in;
}

void Sessions::SignOut(absl::string_view cookie) {
  const std::string name = CookieName(cookie);
  absl::MutexLock lock(&mutex_);
  sessions_.erase(name);
}

void Sessions::Forget(const SignedIn& signed_in) {
  absl::MutexLock lock(&mutex_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto here = it++;
    if (here->second.signed_in->key == signed_in.key) sessions_.erase(here);
  }
}

size_t Sessions::size() const {
  absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

}  // namespace slipway::web
