// Admission: who may call.
#ifndef SLIPWAY_SERVER_SERVICES_ADMISSION_H_
#define SLIPWAY_SERVER_SERVICES_ADMISSION_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

  // The token in a file: its content without blanks around it. INVALID_ARGUMENT when it is shorter than 16
  // bytes or holds what no header may; errors of reading.
  static absl::StatusOr<std::string> ReadToken(const std::string& path);

 private:
  const std::string token_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_ADMISSION_H_
