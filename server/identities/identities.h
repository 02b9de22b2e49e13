// Identities: who may call this server. Invites, lets join, knows again, and shuts out.
#ifndef SLIPWAY_SERVER_IDENTITIES_IDENTITIES_H_
#define SLIPWAY_SERVER_IDENTITIES_IDENTITIES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/given_identity.h"
#include "core/identity/join_code.h"
#include "core/identity/role.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/identities/identity_store.h"
#include "server/identities/roles.h"

namespace slipway::server {

// Thread-safe. Whatever changes is stored before it is answered, or not at all: errors of IdentityStore, where none are
// named. No record that is handed out has a secret's digest.
class Identities {
 public:
  // Parts must outlive this. Errors of LoadIdentities; INVALID_ARGUMENT when the authority's certificate is none.
  static absl::StatusOr<std::unique_ptr<Identities>> Create(IdentityStore* store,
                                                            const CertificateAuthority* authority,
                                                            const Clock* clock);
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  struct Invitation {
    JoinCode code;
    v1::IdentityRecord record;
  };
  // Lets somebody join, once, within `lifetime`: kMinSecretLifetime to kMaxInvitationLifetime, 0 for the default. Roles are
  // any but that of servers. INVALID_ARGUMENT, for names of the server's own too; RESOURCE_EXHAUSTED when there are too many.
  absl::StatusOr<Invitation> Invite(absl::string_view name, RoleSet roles, absl::Duration lifetime);

  struct Token {
    std::string text;
    v1::IdentityRecord record;
  };
  // The same for kMaxTokenLifetime, and not for workers; one for agents, which are pages then, is for nothing else.
  absl::StatusOr<Token> CreateToken(absl::string_view name, RoleSet roles, absl::Duration lifetime);

  // What somebody calls with from now on.
  struct Membership {
    std::string certificate;  // PEM.
    std::string authority;    // PEM.
    std::string name;
  };
  // Spends an invitation. `role` is what the program that joins is: one of those invited, or FAILED_PRECONDITION, which names
  // the right program, and the code stays good. UNAUTHENTICATED, always the same, unless the secret is that of an open
  // invitation; INVALID_ARGUMENT for a request that SignCaller refuses, or a role that is none.
  absl::StatusOr<Membership> Join(absl::string_view secret, absl::string_view request,
                                  absl::string_view role);

  // Whether one may connect for whom another authority vouches: unless he was revoked. Makes his record when he comes for the first
  // time. INVALID_ARGUMENT for names of the server's own; RESOURCE_EXHAUSTED when there are too many; UNAUTHENTICATED when he was revoked.
  absl::Status AdmitGiven(const GivenIdentity& given);

  // Another certificate for one that Find finds. UNAUTHENTICATED when it does not; INVALID_ARGUMENT as above;
  // FAILED_PRECONDITION for one whom another authority vouches for.
  absl::StatusOr<Membership> Renew(absl::string_view id, absl::string_view request);

  // The record of the user whom this server runs as, made if there is none for this role; to be signed for by Renew.
  absl::StatusOr<v1::IdentityRecord> MakeOwn(Role role);

  // Who has joined as `id`, or was made so, and was not revoked since. Never waits for the store; the next two the same.
  absl::optional<v1::IdentityRecord> Find(absl::string_view id) const;
  // Whether the record of this id, of a member or a token, lets somebody in now.
  bool IsGood(absl::string_view id) const;
  // Who has this token; none for one that has expired or was revoked.
  absl::optional<v1::IdentityRecord> FindToken(absl::string_view text) const;
  // The name of somebody who has joined as an agent or worker, if he alone may report as the peer or device `id`: that is
  // NAME, or NAME.SOMETHING. Those who were revoked, and the server's own, have no such names.
  absl::optional<std::string> NameCovering(absl::string_view id) const;

  // Of the one with this id, or all with this name; those revoked before are shown as they are. NOT_FOUND;
  // FAILED_PRECONDITION for the server's own.
  absl::StatusOr<std::vector<v1::IdentityRecord>> Revoke(absl::string_view id_or_name);
  // Is called after each Revoke that shut somebody out, when that is stored, in its thread.
  void WhenRevoked(std::function<void()> callback);

  struct Page {
    std::vector<v1::IdentityRecord> records;  // Sorted by id.
    bool has_more = false;
  };
  // Those with ids above `after`; at most `limit`. REQUIRES: limit > 0.
  Page List(absl::string_view after, int limit) const;

 private:
  Identities(IdentityStore* store, const CertificateAuthority* authority, const Clock* clock,
             Digest fingerprint)
      : store_(*store),
        authority_(*authority),
        clock_(*clock),
        fingerprint_(std::move(fingerprint)) {}

  v1::IdentityRecord NewRecord(absl::string_view name, RoleSet roles) const;
  // Forgets what has expired, and, for want of room, who was revoked; then says whether there is room for one more.
  absl::Status MakeRoom(v1::IdentityRecord::Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu_);
  absl::Status Save(const v1::IdentityRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu_);
  absl::Status Delete(const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu_);
  absl::StatusOr<Membership> Sign(const v1::IdentityRecord& record,
                                  absl::string_view request) const;

  // With `is_new`, whether somebody was shut out, even if it ends in an error.
  absl::StatusOr<std::vector<v1::IdentityRecord>> RevokeAll(absl::string_view id_or_name,
                                                            bool& is_new)
      ABSL_LOCKS_EXCLUDED(change_mu_);

  // Puts a record in place of the one with its id, takes it out.
  void Put(v1::IdentityRecord record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Remove(const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Who has this secret, if it is good.
  absl::optional<v1::IdentityRecord> FindSecret(absl::string_view secret,
                                                v1::IdentityRecord::Kind kind) const;
  std::vector<v1::IdentityRecord> All() const;

  IdentityStore& store_;
  const CertificateAuthority& authority_;
  const Clock& clock_;
  const Digest fingerprint_;  // Of the authority's certificate.

  // Held while something changes, and while it is stored. Before mu_, which is held while it is looked up.
  absl::Mutex change_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  std::function<void()> when_revoked_ ABSL_GUARDED_BY(change_mu_);

  mutable absl::Mutex mu_;
  absl::btree_map<std::string, v1::IdentityRecord> records_ ABSL_GUARDED_BY(mu_);  // By id.
  // Ids, by the digest of the secret of those who have one and were not revoked.
  absl::flat_hash_map<std::string, std::string> by_secret_ ABSL_GUARDED_BY(mu_);
  // How many there are that NameCovering names.
  absl::flat_hash_map<std::string, int> peer_names_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_IDENTITIES_H_
