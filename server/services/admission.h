// Admission: who calls.
#ifndef SLIPWAY_SERVER_SERVICES_ADMISSION_H_
#define SLIPWAY_SERVER_SERVICES_ADMISSION_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/caller.h"

namespace slipway::server {

// What a call says of itself.
struct CallHeader {
  absl::string_view
      authorization;  // Metadata of that name; empty when there is none. The same for the next.
  absl::string_view request_id;  // Metadata "x-request-id".
  absl::Time deadline = absl::InfiniteFuture();
  std::string address;
};

// What callers prove themselves with.
struct AdmissionSecrets {
  std::string token;  // Empty: everybody may call.
  std::string
      own_worker;  // Of the server's own workers, made anew at every start; empty: there are none.
};

// Thread-safe.
class Admission {
 public:
  explicit Admission(AdmissionSecrets secrets) : secrets_(std::move(secrets)) {}

  // UNAUTHENTICATED unless the authorization is "Bearer SECRET". INVALID_ARGUMENT for a request id that is longer
  // than 128 bytes or not printable. All who are admitted are the server's own user, or workers that it
  // started; who comes over a unix socket is an administrator too, and so is everybody where there is no token.
  absl::StatusOr<Caller> Admit(const CallHeader& call) const;

 private:
  const AdmissionSecrets secrets_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_ADMISSION_H_
