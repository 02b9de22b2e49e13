// IdentityStore: who was let in, so that a server still knows them after a restart.
#ifndef SLIPWAY_SERVER_IDENTITIES_IDENTITY_STORE_H_
#define SLIPWAY_SERVER_IDENTITIES_IDENTITY_STORE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/identity.pb.h"

namespace slipway::server {

// Thread-safe. Errors are those of JobStore. What is saved or deleted survives the end of the machine.
class IdentityStore {
 public:
  virtual ~IdentityStore() = default;
  // Keeps a record, in place of the one of the same id. REQUIRES: CheckIdentityRecord.
  virtual absl::Status SaveIdentity(const v1::IdentityRecord& record) = 0;
  // Every record kept, sorted by id.
  virtual absl::StatusOr<std::vector<v1::IdentityRecord>> LoadIdentities() const = 0;
  // OK when there is none.
  virtual absl::Status DeleteIdentity(absl::string_view id) = 0;
};

// DATA_LOSS, saying what, unless the record is one that Identities has made.
absl::Status CheckIdentityRecord(const v1::IdentityRecord& record);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_IDENTITY_STORE_H_
