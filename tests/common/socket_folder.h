// SocketFolder: an address of a server in a test, that only this user reaches and nobody else listens at.
#ifndef SLIPWAY_TESTS_COMMON_SOCKET_FOLDER_H_
#define SLIPWAY_TESTS_COMMON_SOCKET_FOLDER_H_

#include <string>

#include "core/base/check.h"
#include "core/base/files.h"

namespace slipway::testing {

// Not below TEST_TMPDIR: a socket's path has at most 107 bytes. Goes with the object.
class SocketFolder {
 public:
  SocketFolder() {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("slipway-socket");
    SLIPWAY_CHECK(folder.ok(), "a folder for a socket cannot be made");
    folder_ = *std::move(folder);
  }

  // "unix:PATH"
  std::string address() const { return "unix:" + JoinPath(folder_.path(), "socket"); }

 private:
  TemporaryFolder folder_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_SOCKET_FOLDER_H_
