// Admission: who may call.
#ifndef SLIPWAY_SERVER_SERVICES_ADMISSION_H_
#define SLIPWAY_SERVER_SERVICES_ADMISSION_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway::server {

// Thread-safe.
class Admission {
 public:
  // With an empty token everybody may call.
  explicit Admission(std::string token) : token_(std::move(token)) {}

  // `authorization` is the call's metadata of that name, empty when there is none. UNAUTHENTICATED unless it is
  // "Bearer TOKEN".
  absl::Status Check(absl::string_view authorization) const;

 private:
  const std::string token_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_ADMISSION_H_
