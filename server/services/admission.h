// Admission: who calls.
#ifndef SLIPWAY_SERVER_SERVICES_ADMISSION_H_
#define SLIPWAY_SERVER_SERVICES_ADMISSION_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/caller.h"
#include "server/identities/identities.h"

namespace slipway::server {

// What a call says of itself, and its connection of who made it.
struct CallHeader {
  // Metadata of that name; empty when there is none. The same for the next.
  absl::string_view authorization;
  absl::string_view request_id;  // Metadata kRequestIdName (core/rpc/request_id.h).
  std::string identity;          // Whose certificate the connection was made with; empty: none.
  absl::Time deadline = absl::InfiniteFuture();
  std::string address;
};

struct AdmissionOptions {
  // Whose certificates and tokens are taken; null: nobody is asked who he is.
  const Identities* identities = nullptr;
  // The secret of the server's own workers, made anew at every start; empty: there are none.
  std::string own_worker;
};

// Thread-safe.
class Admission {
 public:
  explicit Admission(AdmissionOptions options) : options_(std::move(options)) {}

  // UNAUTHENTICATED, with what to do, unless the caller is known: by the certificate of his connection, else by "Bearer TOKEN". Where nobody is
  // asked, everybody is the server's own user, with every role; its own workers show "Bearer SECRET" everywhere. INVALID_ARGUMENT for a request
  // id that is longer than 128 bytes or not printable.
  absl::StatusOr<Caller> Admit(const CallHeader& call) const;

 private:
  // Fills in who he is.
  absl::Status Identify(const CallHeader& call, Caller& caller) const;

  const AdmissionOptions options_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_ADMISSION_H_
