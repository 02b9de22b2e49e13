// WebOptions: what the operator of slipway-web may say.
#ifndef SLIPWAY_SERVER_WEB_WEB_OPTIONS_H_
#define SLIPWAY_SERVER_WEB_WEB_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/base/flags.h"

namespace slipway::web {

struct WebOptions {
  std::string server = "127.0.0.1:7411";
  bool insecure = false;
  std::string authority;
  std::string listen = "127.0.0.1:7480";
  std::string certificate;
  std::string key;
  std::string origin;
  std::string access_file;
  std::string upload_dir;
  int64_t max_upload_bytes = int64_t{2} << 30;
  int64_t max_connections = 512;
  int64_t ready_fd = -1;
  std::string log_level = "info";
};

// Binds every option to a flag.
FlagSet WebFlags(WebOptions& options);

// INVALID_ARGUMENT and PERMISSION_DENIED name the flag.
absl::Status CheckWebOptions(const WebOptions& options);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_WEB_OPTIONS_H_
