// Sessions: who is signed in on the page. Kept in the process: who restarts it signs everybody out.
#ifndef SLIPWAY_SERVER_WEB_SESSIONS_H_
#define SLIPWAY_SERVER_WEB_SESSIONS_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "server/web/upstream.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {

// Somebody who has shown a token. Immutable but for what the upstream does.
struct SignedIn {
  std::string key;  // Equal for all sessions of one token, and for no others; no secret.
  std::shared_ptr<Upstream> upstream;
  bool is_administrator = false;
  slipway::v1::ServerInfo server;
  absl::Time until;
};

struct SessionLimits {
  size_t most_sessions = 1'000;
  absl::Duration idle = absl::Hours(12);
  absl::Duration longest = absl::Hours(24 * 7);
  // How often somebody of one address may show what is no token: as many at once, and one more in each such time. Who has shown a token before is
  // let in all the same, lest others of his address, or behind his proxy, shut him out.
  int most_failures = 10;
  absl::Duration failure_pause = absl::Seconds(2);
};

// Thread-safe.
class Sessions {
 public:
  // `own_token`: what is shown in place of one of the server's, where that asks nobody who he is; empty otherwise. `clock` must outlive
  // this.
  Sessions(const SessionLimits& limits, ConnectUpstream connect, std::string own_token,
           const Clock* clock);

  struct Begun {
    std::string cookie;  // Secret.
    std::shared_ptr<const SignedIn> signed_in;
  };
  // Asks the server whether it takes the token. UNAUTHENTICATED; RESOURCE_EXHAUSTED for an address that shows too many that are none;
  // UNAVAILABLE when the server is away. May wait.
  absl::StatusOr<Begun> SignIn(const std::string& token, absl::string_view address);
  // Whose cookie it is; null: nobody's any more. Begins the idle time anew.
  std::shared_ptr<const SignedIn> Find(absl::string_view cookie);
  // The same for a token that comes with a request, by a program, and was shown before.
  std::shared_ptr<const SignedIn> FindKnownToken(absl::string_view token);
  // The same for one that may not have been. Errors of SignIn. May wait.
  absl::StatusOr<std::shared_ptr<const SignedIn>> FindByToken(const std::string& token,
                                                              absl::string_view address);
  void SignOut(absl::string_view cookie);
  // The server does not take the token any more.
  void Forget(const SignedIn& signed_in);

  size_t size() const;

 private:
  struct Session {
    std::shared_ptr<const SignedIn> signed_in;
    absl::Duration last_use;
  };
  // What an address may still do wrong.
  struct Failures {
    double left = 0;
    absl::Duration counted_at;
  };
  absl::Status CheckFailures(absl::string_view token, absl::string_view address);
  void CountFailure(absl::string_view address);
  absl::StatusOr<std::shared_ptr<const SignedIn>> Connect(const std::string& token,
                                                          absl::string_view address);
  void Add(const std::string& name, std::shared_ptr<const SignedIn> signed_in);
  std::shared_ptr<const SignedIn> FindByName(const std::string& name);
  bool HasEnded(const Session& session) const;

  const SessionLimits limits_;
  const ConnectUpstream connect_;
  const std::string own_token_;
  const Clock& clock_;

  mutable absl::Mutex mutex_;
  // By the digest of the cookie, or of the token of a program: who reads this memory has no cookie yet.
  absl::flat_hash_map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Failures> failures_ ABSL_GUARDED_BY(mutex_);
  // Digests of tokens that the server took once.
  absl::flat_hash_set<std::string> shown_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_SESSIONS_H_
