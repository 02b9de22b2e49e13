#include "server/web/web_options.h"

#include <climits>

#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_address.h"
#include "server/web/guard.h"

namespace slipway::web {

FlagSet WebFlags(WebOptions& options) {
  FlagSet flags("slipway-web [flags]",
                "Serves the page of a server: its fleet, queue, jobs and results in a browser, and "
                "the same as JSON under /api/v1. Who signs in shows a token of `slipwayd token`; "
                "the server wants --accept-tokens for it.");
  flags.Add("server", &options.server, "ADDRESS", "The server: HOST:PORT or unix:PATH.");
  flags.Add("insecure", &options.insecure,
            "The server was started with --insecure: it is called without TLS.");
  flags.Add("authority", &options.authority, "FILE",
            "Who vouches for the server by its name; default: the server itself, as tokens say.");
  flags.Add("listen", &options.listen, "ADDRESS",
            "Where browsers connect: HOST:PORT or, for a proxy, unix:PATH; port 0 takes a free "
            "one.");
  flags.Add("certificate", &options.certificate, "FILE",
            "Serve by TLS: a certificate for the page's name, and those between it and its "
            "authority. Read anew when it changes.");
  flags.Add("key", &options.key, "FILE", "The key of --certificate; default: in the same file.");
  flags.Add("origin", &options.origin, "URL",
            "What browsers call the page where a proxy stands before it, https://lab.example; "
            "requests of other pages are refused.");
  flags.Add("access-file", &options.access_file, "FILE",
            "Where the server asks nobody who he is: write the token there that the page then "
            "wants, which is made anew with every start; default: into the log.");
  flags.Add("upload-dir", &options.upload_dir, "FOLDER",
            "Where models lie while they are uploaded; default: $TMPDIR, or /tmp.");
  flags.AddBytes("max-upload", &options.max_upload_bytes, 1 << 10, int64_t{1} << 50,
                 "Largest model that a browser may send; the server's own limit holds as well.");
  flags.Add("max-connections", &options.max_connections, 8, 100'000, "COUNT", "Most connections.");
  flags.Add("ready-fd", &options.ready_fd, -1, INT_MAX, "FD",
            "Write the page's address there when serving, and close it.");
  flags.Add("log-level", &options.log_level, "LEVEL", "debug, info, warning or error.");
  return flags;
}

absl::Status CheckWebOptions(const WebOptions& options) {
  SLIPWAY_RETURN_IF_ERROR_WITH(ParseLogLevel(options.log_level).status(), "--log-level");
  SLIPWAY_RETURN_IF_ERROR_WITH(ParseListenAddress(options.server).status(), "--server");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ListenAddress listen, ParseListenAddress(options.listen),
                                "--listen");
  if (!options.key.empty() && options.certificate.empty()) {
    return absl::InvalidArgumentError("--key is for --certificate");
  }
  if (!listen.is_loopback && !listen.host.empty() && options.certificate.empty()) {
    return absl::PermissionDeniedError(
        "--listen: other machines reach this address, and tokens would cross the network in the "
        "open: pass --certificate, or listen on 127.0.0.1 behind a proxy that speaks TLS");
  }
  return OriginsOf(options.listen, !options.certificate.empty(), options.origin).status();
}

}  // namespace slipway::web
