// A connection without any protocol, for tests that speak one by hand.
#ifndef SLIPWAY_TESTS_COMMON_PLAIN_CONNECTION_H_
#define SLIPWAY_TESTS_COMMON_PLAIN_CONNECTION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/base/files.h"

namespace slipway::testing {

// To 127.0.0.1 by "HOST:PORT", or by "unix:PATH". Fails the test when nobody listens.
UniqueFd Connect(absl::string_view address);

// Sends all of it, as far as the other side takes it.
void Send(const UniqueFd& fd, absl::string_view bytes);

// All that comes until the other side ends the connection.
std::string ReadAll(const UniqueFd& fd);

// Connects, sends and reads all.
std::string Ask(absl::string_view address, absl::string_view request);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_PLAIN_CONNECTION_H_
