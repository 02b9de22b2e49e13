#include "server/identities/identities.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_id.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

constexpr char kTokenPrefix[] = "slipway_";
constexpr int kTokenCharacters = 32;
constexpr char kCrockford[] = "0123456789abcdefghjkmnpqrstvwxyz";

constexpr RoleSet kInvitedRoles = {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin};
constexpr RoleSet kTokenRoles = {Role::kUser, Role::kAgent, Role::kAdmin};
// Whose names are those of peers.
constexpr RoleSet kPeerRoles = {Role::kAgent, Role::kWorker};

std::string DigestOf(absl::string_view secret) {
  return absl::HexStringToBytes(Digest::Of(secret).hex());
}

// Behind the dot it says whose server's it is.
std::string NewTokenText(const Digest& authority) {
  std::string text = kTokenPrefix;
  while (text.size() < sizeof(kTokenPrefix) - 1 + kTokenCharacters) {
    // 60 of its 64 bits.
    uint64_t random = SystemRandom();
    for (int i = 0; i < 12 && text.size() < sizeof(kTokenPrefix) - 1 + kTokenCharacters; ++i) {
      text.push_back(kCrockford[random & 31]);
      random >>= 5;
    }
  }
  return absl::StrCat(text, ".", AuthorityText(authority));
}

bool IsRevoked(const v1::IdentityRecord& record) { return record.revoked_ns() != 0; }

bool HasExpired(const v1::IdentityRecord& record, absl::Time now) {
  return record.expires_ns() != 0 && absl::FromUnixNanos(record.expires_ns()) <= now;
}

bool HasPeerName(const v1::IdentityRecord& record) {
  return record.kind() == v1::IdentityRecord::JOINED && !IsRevoked(record) && !record.is_own() &&
         RolesOf(record).HasAnyOf(kPeerRoles);
}

v1::IdentityRecord Shown(v1::IdentityRecord record) {
  record.clear_secret_sha256();
  return record;
}

absl::Status CheckName(absl::string_view name) {
  SLIPWAY_RETURN_IF_ERROR(CheckIdentityName(name));
  if (name == kOwnIdentityName || IsLocalWorker(WorkerKey(name))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is a name of this server's own user and workers: choose another one"));
  }
  if (IsIdentityId(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' looks like an identity's id: choose another name"));
  }
  return absl::OkStatus();
}

absl::Status CheckRoles(RoleSet roles) {
  if (roles.empty()) return absl::InvalidArgumentError("an identity has one role at least");
  if (roles.Has(Role::kServer)) {
    return absl::InvalidArgumentError("nobody but the server has the role 'server'");
  }
  return absl::OkStatus();
}

// `lifetime`, or what stands for it.
absl::StatusOr<absl::Duration> CheckLifetime(absl::Duration lifetime, absl::Duration most,
                                             absl::Duration in_place_of_none) {
  if (lifetime == absl::ZeroDuration()) return in_place_of_none;
  if (lifetime >= kMinSecretLifetime && lifetime <= most) return lifetime;
  return absl::InvalidArgumentError(absl::StrCat("a lifetime of ", absl::FormatDuration(lifetime),
                                                 "; ", absl::FormatDuration(kMinSecretLifetime),
                                                 " to ", absl::FormatDuration(most), " wanted"));
}

// Whoever guesses learns nothing from it.
absl::Status NoSuchCode() {
  return absl::UnauthenticatedError(
      "the code is not, or no longer, valid: ask an administrator of the server for another one "
      "(slipwayd invite)");
}

absl::Status CheckRequestSize(absl::string_view request) {
  if (request.size() <= kMaxCertificateRequestBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a request for a certificate of ", request.size(),
                                                 " bytes; at most ", kMaxCertificateRequestBytes));
}

absl::Status WrongProgram(RoleSet invited, absl::string_view role) {
  std::string programs;
  for (const Role each : {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}) {
    if (!invited.Has(each)) continue;
    absl::StrAppend(&programs, programs.empty() ? "`" : " or `", JoinCommand(each), "`");
  }
  return absl::FailedPreconditionError(absl::StrCat("the code is for '", invited.ToString("+"),
                                                    "', not for '", role, "': use it with ",
                                                    programs, "; it is still good"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Identities>> Identities::Create(
    IdentityStore* store, const CertificateAuthority* authority, const Clock* clock) {
  SLIPWAY_ASSIGN_OR_RETURN(Digest fingerprint, FingerprintOf(authority->certificate()));
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<v1::IdentityRecord> records, store->LoadIdentities());
  std::unique_ptr<Identities> identities(
      new Identities(store, authority, clock, std::move(fingerprint)));
  absl::MutexLock lock(&identities->mu_);
  for (v1::IdentityRecord& record : records) identities->Put(std::move(record));
  return identities;
}

absl::StatusOr<Identities::Invitation> Identities::Invite(absl::string_view name, RoleSet roles,
                                                          absl::Duration lifetime) {
  SLIPWAY_RETURN_IF_ERROR(CheckName(name));
  SLIPWAY_RETURN_IF_ERROR(CheckRoles(roles));
  SLIPWAY_ASSIGN_OR_RETURN(
      lifetime, CheckLifetime(lifetime, kMaxInvitationLifetime, kDefaultInvitationLifetime));
  Invitation invitation{.code = JoinCode::New(fingerprint_), .record = NewRecord(name, roles)};
  v1::IdentityRecord& record = invitation.record;
  record.set_kind(v1::IdentityRecord::INVITED);
  record.set_expires_ns(record.created_ns() + absl::ToInt64Nanoseconds(lifetime));
  record.set_secret_sha256(DigestOf(invitation.code.secret));
  absl::MutexLock change(&change_mu_);
  SLIPWAY_RETURN_IF_ERROR(MakeRoom(record.kind()));
  SLIPWAY_RETURN_IF_ERROR(Save(record));
  record = Shown(std::move(record));
  return invitation;
}

absl::StatusOr<Identities::Token> Identities::CreateToken(absl::string_view name, RoleSet roles,
                                                          absl::Duration lifetime) {
  SLIPWAY_RETURN_IF_ERROR(CheckName(name));
  SLIPWAY_RETURN_IF_ERROR(CheckRoles(roles));
  if (roles.Has(Role::kWorker)) {
    return absl::InvalidArgumentError(
        absl::StrCat("tokens are for ", kTokenRoles.ToString(" and "),
                     " alone, not for 'worker', which joins: slipwayd invite worker ", name));
  }
  // It is shown to a page, where whoever passes by may read it.
  if (roles.Has(Role::kAgent) && roles.HasAnyOf({Role::kUser, Role::kAdmin})) {
    return absl::InvalidArgumentError("a token of an agent is for nothing else: make two");
  }
  SLIPWAY_ASSIGN_OR_RETURN(lifetime,
                           CheckLifetime(lifetime, kMaxTokenLifetime, kDefaultTokenLifetime));
  Token token{.text = NewTokenText(fingerprint_), .record = NewRecord(name, roles)};
  v1::IdentityRecord& record = token.record;
  record.set_kind(v1::IdentityRecord::TOKEN);
  record.set_expires_ns(record.created_ns() + absl::ToInt64Nanoseconds(lifetime));
  record.set_secret_sha256(DigestOf(token.text));
  absl::MutexLock change(&change_mu_);
  SLIPWAY_RETURN_IF_ERROR(MakeRoom(record.kind()));
  SLIPWAY_RETURN_IF_ERROR(Save(record));
  record = Shown(std::move(record));
  return token;
}

absl::StatusOr<Identities::Membership> Identities::Join(absl::string_view secret,
                                                        absl::string_view request,
                                                        absl::string_view role) {
  // Strangers wait for nobody, and nobody waits for them.
  if (!FindSecret(secret, v1::IdentityRecord::INVITED).has_value()) return NoSuchCode();
  absl::MutexLock change(&change_mu_);
  absl::optional<v1::IdentityRecord> record = FindSecret(secret, v1::IdentityRecord::INVITED);
  if (!record.has_value()) return NoSuchCode();
  const RoleSet invited = RolesOf(*record);
  const auto wanted = RoleNamed(role);
  if (!wanted.has_value() || !kInvitedRoles.Has(*wanted)) {
    return absl::InvalidArgumentError(absl::StrCat("there is no role '",
                                                   absl::Utf8SafeCEscape(role), "' to join with; ",
                                                   kInvitedRoles.ToString(", "), " wanted"));
  }
  if (!invited.Has(*wanted)) return WrongProgram(invited, role);
  SLIPWAY_ASSIGN_OR_RETURN(Membership membership, Sign(*record, request));
  record->set_kind(v1::IdentityRecord::JOINED);
  record->set_joined_ns(absl::ToUnixNanos(clock_.Now()));
  record->clear_expires_ns();
  record->clear_secret_sha256();
  SLIPWAY_RETURN_IF_ERROR(Save(*record));
  Log(LogLevel::kInfo, "joined",
      {{"id", record->id()}, {"name", record->name()}, {"roles", invited.ToString("+")}});
  return membership;
}

absl::Status Identities::AdmitGiven(const GivenIdentity& given) {
  const std::string id = given.id();
  if (IsGood(id)) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckName(given.name));
  absl::MutexLock change(&change_mu_);
  {
    absl::MutexLock lock(&mu_);
    const auto found = records_.find(id);
    if (found != records_.end() && !IsRevoked(found->second)) return absl::OkStatus();
    if (found != records_.end()) {
      return absl::UnauthenticatedError(absl::StrCat("'", given.name, "' was revoked"));
    }
  }
  v1::IdentityRecord record = NewRecord(given.name, given.roles);
  record.set_id(id);
  record.set_kind(v1::IdentityRecord::JOINED);
  record.set_joined_ns(record.created_ns());
  record.set_is_given(true);
  SLIPWAY_RETURN_IF_ERROR(MakeRoom(record.kind()));
  SLIPWAY_RETURN_IF_ERROR(Save(record));
  Log(LogLevel::kInfo, "came with a certificate of the given authority",
      {{"id", id}, {"name", given.name}, {"roles", given.roles.ToString("+")}});
  return absl::OkStatus();
}

absl::StatusOr<Identities::Membership> Identities::Renew(absl::string_view id,
                                                         absl::string_view request) {
  const absl::optional<v1::IdentityRecord> record = Find(id);
  if (record.has_value() && record->is_given()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", record->name(), "' has a certificate of another authority: ask there for a new one"));
  }
  if (record.has_value()) return Sign(*record, request);
  return absl::UnauthenticatedError(
      "this server does not know you any more: ask an administrator for a code (slipwayd invite)");
}

absl::StatusOr<v1::IdentityRecord> Identities::MakeOwn(Role role) {
  absl::MutexLock change(&change_mu_);
  for (v1::IdentityRecord& record : All()) {
    if (record.is_own() && RolesOf(record) == RoleSet({role})) return std::move(record);
  }
  v1::IdentityRecord record = NewRecord(kOwnIdentityName, {role});
  record.set_kind(v1::IdentityRecord::JOINED);
  record.set_joined_ns(record.created_ns());
  record.set_is_own(true);
  SLIPWAY_RETURN_IF_ERROR(Save(record));
  return record;
}

absl::optional<v1::IdentityRecord> Identities::Find(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(id);
  if (found == records_.end() || found->second.kind() != v1::IdentityRecord::JOINED ||
      IsRevoked(found->second)) {
    return absl::nullopt;
  }
  return found->second;
}

bool Identities::IsGood(absl::string_view id) const {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(id);
  if (found == records_.end() || IsRevoked(found->second)) return false;
  return found->second.kind() == v1::IdentityRecord::JOINED ||
         (found->second.kind() == v1::IdentityRecord::TOKEN &&
          !HasExpired(found->second, clock_.Now()));
}

absl::optional<v1::IdentityRecord> Identities::FindToken(absl::string_view text) const {
  absl::optional<v1::IdentityRecord> found = FindSecret(text, v1::IdentityRecord::TOKEN);
  if (found.has_value()) found->clear_secret_sha256();
  return found;
}

absl::optional<std::string> Identities::NameCovering(absl::string_view id) const {
  const absl::string_view name = id.substr(0, id.find('.'));
  absl::MutexLock lock(&mu_);
  if (!peer_names_.contains(name)) return absl::nullopt;
  return std::string(name);
}

absl::StatusOr<std::vector<v1::IdentityRecord>> Identities::Revoke(absl::string_view id_or_name) {
  bool is_new = false;
  absl::StatusOr<std::vector<v1::IdentityRecord>> revoked = RevokeAll(id_or_name, is_new);
  if (!is_new) return revoked;
  std::function<void()> tell;
  {
    absl::MutexLock change(&change_mu_);
    tell = when_revoked_;
  }
  if (tell) tell();
  return revoked;
}

absl::StatusOr<std::vector<v1::IdentityRecord>> Identities::RevokeAll(absl::string_view id_or_name,
                                                                      bool& is_new) {
  const bool is_id = IsIdentityId(id_or_name);
  std::vector<v1::IdentityRecord> revoked;
  absl::Status status;
  absl::MutexLock change(&change_mu_);
  for (v1::IdentityRecord& record : All()) {
    if ((is_id ? record.id() : record.name()) != id_or_name) continue;
    if (record.is_own()) {
      status = absl::FailedPreconditionError(
          absl::StrCat("'", id_or_name,
                       "' is of the user whom this server runs as, who can read "
                       "and write all that it keeps: that does not end by revoking"));
      break;
    }
    if (!IsRevoked(record)) {
      record.set_revoked_ns(absl::ToUnixNanos(clock_.Now()));
      status = Save(record);
      if (!status.ok()) break;
      is_new = true;
    }
    revoked.push_back(Shown(std::move(record)));
  }
  if (!status.ok()) return status;
  if (revoked.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no identity '",
                                            absl::Utf8SafeCEscape(id_or_name),
                                            "': `slipwayd identities` lists them"));
  }
  return revoked;
}

void Identities::WhenRevoked(std::function<void()> callback) {
  absl::MutexLock change(&change_mu_);
  when_revoked_ = std::move(callback);
}

Identities::Page Identities::List(absl::string_view after, int limit) const {
  Page page;
  absl::MutexLock lock(&mu_);
  for (auto it = records_.upper_bound(after); it != records_.end(); ++it) {
    if (static_cast<int>(page.records.size()) == limit) {
      page.has_more = true;
      break;
    }
    page.records.push_back(Shown(it->second));
  }
  return page;
}

v1::IdentityRecord Identities::NewRecord(absl::string_view name, RoleSet roles) const {
  v1::IdentityRecord record;
  record.set_id(NewIdentityId());
  record.set_name(std::string(name));
  for (const v1::Role role : ToProto(roles)) record.add_roles(role);
  record.set_created_ns(absl::ToUnixNanos(clock_.Now()));
  return record;
}

absl::Status Identities::MakeRoom(v1::IdentityRecord::Kind kind) {
  const absl::Time now = clock_.Now();
  int count = 0;
  int invitations = 0;
  std::vector<v1::IdentityRecord> revoked;
  for (v1::IdentityRecord& record : All()) {
    // Nobody asks who had a code that was not used.
    const bool is_invitation = record.kind() == v1::IdentityRecord::INVITED;
    if (HasExpired(record, now) || (is_invitation && IsRevoked(record))) {
      SLIPWAY_RETURN_IF_ERROR(Delete(record.id()));
      continue;
    }
    ++count;
    if (is_invitation) ++invitations;
    // Another authority's certificates would make a record that is forgotten anew.
    if (IsRevoked(record) && !record.is_given()) revoked.push_back(std::move(record));
  }
  std::sort(revoked.begin(), revoked.end(),
            [](const v1::IdentityRecord& a, const v1::IdentityRecord& b) {
              return a.revoked_ns() < b.revoked_ns();
            });
  // Certificates that name nobody are refused as those of the revoked are.
  for (size_t i = 0; count >= kMaxIdentities && i < revoked.size(); ++i, --count) {
    SLIPWAY_RETURN_IF_ERROR(Delete(revoked[i].id()));
  }
  const bool is_full = count >= kMaxIdentities;
  if (is_full || (kind == v1::IdentityRecord::INVITED && invitations >= kMaxOpenInvitations)) {
    return absl::ResourceExhaustedError(
        is_full ? absl::StrCat("there are ", count,
                               " identities, as many as may be: revoke those that are not needed "
                               "(slipwayd identities, slipwayd revoke)")
                : absl::StrCat("there are ", invitations,
                               " open invitations, as many as may be: revoke those that are not "
                               "needed (slipwayd revoke), or wait until some have expired"));
  }
  return absl::OkStatus();
}

absl::Status Identities::Save(const v1::IdentityRecord& record) {
  SLIPWAY_RETURN_IF_ERROR(store_.SaveIdentity(record));
  absl::MutexLock lock(&mu_);
  Remove(record.id());
  Put(record);
  return absl::OkStatus();
}

absl::Status Identities::Delete(const std::string& id) {
  SLIPWAY_RETURN_IF_ERROR(store_.DeleteIdentity(id));
  absl::MutexLock lock(&mu_);
  Remove(id);
  return absl::OkStatus();
}

absl::StatusOr<Identities::Membership> Identities::Sign(const v1::IdentityRecord& record,
                                                        absl::string_view request) const {
  SLIPWAY_RETURN_IF_ERROR(CheckRequestSize(request));
  // Agents are called, too: by clients whose sessions go straight to them.
  const bool is_agent = RolesOf(record).Has(Role::kAgent);
  SLIPWAY_ASSIGN_OR_RETURN(std::string certificate,
                           is_agent ? authority_.SignAgent(request, record.id(), record.name(),
                                                           clock_.Now(), kCertificateLifetime)
                                    : authority_.SignCaller(request, record.id(), record.name(),
                                                            clock_.Now(), kCertificateLifetime));
  return Membership{.certificate = std::move(certificate),
                    .authority = authority_.certificate(),
                    .name = record.name()};
}

void Identities::Put(v1::IdentityRecord record) {
  if (!record.secret_sha256().empty() && !IsRevoked(record)) {
    by_secret_[record.secret_sha256()] = record.id();
  }
  if (HasPeerName(record)) ++peer_names_[record.name()];
  std::string id = record.id();
  records_.insert_or_assign(std::move(id), std::move(record));
}

void Identities::Remove(const std::string& id) {
  const auto found = records_.find(id);
  if (found == records_.end()) return;
  by_secret_.erase(found->second.secret_sha256());
  if (HasPeerName(found->second)) {
    const auto name = peer_names_.find(found->second.name());
    if (--name->second == 0) peer_names_.erase(name);
  }
  records_.erase(found);
}

absl::optional<v1::IdentityRecord> Identities::FindSecret(absl::string_view secret,
                                                          v1::IdentityRecord::Kind kind) const {
  if (secret.empty() || secret.size() > kMaxSecretBytes) return absl::nullopt;
  // Digests tell nothing of each other: how long one is looked for tells nothing of secrets.
  const std::string digest = DigestOf(secret);
  absl::MutexLock lock(&mu_);
  const auto found = by_secret_.find(digest);
  if (found == by_secret_.end()) return absl::nullopt;
  const v1::IdentityRecord& record = records_.at(found->second);
  if (record.kind() != kind || HasExpired(record, clock_.Now())) return absl::nullopt;
  return record;
}

std::vector<v1::IdentityRecord> Identities::All() const {
  std::vector<v1::IdentityRecord> all;
  absl::MutexLock lock(&mu_);
  for (const auto& [id, record] : records_) all.push_back(record);
  return all;
}

}  // namespace slipway::server
