#include "device_agent/agent_options.h"

#include <sys/utsname.h>

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "core/base/state_folder.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_address.h"
#include "core/runtime/vendor_library.h"
#include "core/selector/labels.h"

namespace slipway {
namespace {

constexpr char kDefaultServer[] = "127.0.0.1:7411";

}  // namespace

FlagSet AgentFlags(AgentOptions& options) {
  FlagSet flags("slipway-agent [flags]",
                "Runs programs on this machine, for a server or for clients that call. One agent a "
                "state folder. `slipway-agent join` makes a server know it.");
  flags.Add(
      "server", &options.server, "ADDRESS",
      "Server to work for: HOST:PORT or unix:PATH; default: 127.0.0.1:7411, none with --listen.");
  flags.Add("listen", &options.listen, "ADDRESS",
            "Serve sessions here: HOST:PORT or unix:PATH; port 0 takes a free one. Without "
            "--server clients open them here; "
            "with it they come to sessions that the server has given this device to.");
  flags.Add("announce", &options.announce, "ADDRESS",
            "Where clients of the server reach --listen; default: the same, with the machine's "
            "name for 0.0.0.0 and "
            "[::].");
  flags.Add(
      "insecure", &options.insecure,
      "Call the server without TLS, and listen without it: whoever reaches this runs code here.");
  flags.Add(
      "identity", &options.identity, "FILE",
      "Who the agent is, as `slipway-agent join` wrote it; default: the one for this server.");
  flags.Add("authority", &options.authority, "FILE",
            "Certificates of who vouches for the server by its address, and for --identity; else "
            "the server's own authority does.");
  flags.Add("id", &options.id, "ID",
            "Name in the fleet; default: the one it joined the server by, else the one it had "
            "before, at first made "
            "from the host's name.");
  flags.Add(
      "label", &options.labels, "KEY=VALUE",
      "What selectors find the device by as label:KEY=VALUE, such as lab=berlin; repeatable.");
  flags.Add("state-dir", &options.state_dir, "DIR",
            "Keeps the id; default: slipway/agent below $XDG_STATE_HOME or ~/.local/state.");
  flags.Add(
      "cache-dir", &options.cache_dir, "DIR",
      "Keeps blobs, and may be shared with other processes; default: cache in the state folder.");
  flags.AddBytes("cache-quota", &options.cache_quota_bytes, 0, int64_t{1} << 50,
                 "Largest size of the cache; 0: no limit, as for a folder that others look after.");
  flags.AddBytes("runner-memory", &options.runner_memory_bytes, 0, int64_t{1} << 50,
                 "Address space a program may use; 0: half of the machine's memory.");
  flags.Add(
      "programs", &options.programs, "WHICH",
      "Programs to take: any of the server's users; or compiled: only those that a worker of "
      "the server that the agent has joined has compiled, as the server's signature says, and "
      "none that somebody has brought as native code.");
  flags.Add(
      "accept-updates", &options.accept_updates,
      "Run another binary of the agent when the server that it has joined offers one and has "
      "signed that: whoever administers the server then has all that this user may do. What was "
      "installed stays, and runs again if the other one fails.");
  flags.Add("update-deadline", &options.update_deadline, "DURATION",
            "A binary that is new must have reported to the server within this time.");
  flags.Add("measure", &options.measure,
            "Find out at the first start what this machine does at most, which profiles are held "
            "against: some 0.6 s.");
  flags.Add("require-confinement", &options.require_confinement,
            "Do not start where a part of what confines programs is missing; "
            "`slipway devices --long` tells.");
  flags.Add("exec-prefix", &options.exec_prefix, "COMMAND",
            "Run programs on a device that is attached to this machine: the command hands its last "
            "argument over to the device's shell, as `ssh board` and `adb shell -T` do. Nothing "
            "need be installed there: a file of 18 KB is brought.");
  flags.Add("exec-folder", &options.exec_folder, "DIR",
            "Folder of that device for this file, in which files can be run; default: slipway in "
            "/data/local/tmp, else slipway/attached in the user's cache folder.");
  flags.Add("accelerator", &options.accelerators, "KIND",
            "Let programs use this machine's first device of the kind beside its CPU, by the "
            "vendor's library: cuda or opencl. Programs "
            "are then confined less: that library opens devices, writes below --cache-dir and "
            "starts its compiler.");
  flags.Add("vendor-libraries", &options.vendor_libraries, "WHEN",
            "When a vendor's library that the machine has (cuBLASLt, cuDNN) makes a product or a "
            "convolution in place of a program's own code: measured, where it was faster when the "
            "program was loaded; never; "
            "or always, where it can.");
  flags.Add("metrics-listen", &options.metrics_listen, "ADDRESS",
            "Where Prometheus reads /metrics by HTTP, as may everybody who reaches it: HOST:PORT, "
            "or unix:PATH; port 0 takes a free one. Default: nowhere.");
  flags.Add("ready-fd", &options.ready_fd, -1, 1 << 20, "N",
            "Descriptor that gets a line once the server has answered, with --listen the address, "
            "and is then "
            "closed.");
  flags.Add("log-level", &options.log_level, "LEVEL",
            "debug, info, warning or error; with debug, clients are told what their runners do.");
  return flags;
}

bool HasOwnDoor(const AgentOptions& options) {
  return options.server.empty() && !options.listen.empty() && !options.insecure &&
         !absl::StartsWith(options.listen, kUnixAddressPrefix);
}

absl::Status CompleteOptions(AgentOptions& options) {
  if (options.state_dir.empty()) {
    const absl::StatusOr<std::string> folder = UserStateFolder();
    SLIPWAY_RETURN_IF_ERROR_WITH(folder.status(), "--state-dir is not given");
    options.state_dir = JoinPath(*folder, "agent");
  }
  SLIPWAY_RETURN_IF_ERROR(Annotate(ParseLabels(options.labels).status(), "--label"));
  if (!options.metrics_listen.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        Annotate(ParseListenAddress(options.metrics_listen).status(), "--metrics-listen"));
  }
  if (options.cache_dir.empty()) options.cache_dir = JoinPath(options.state_dir, "cache");
  if (options.programs != kAnyPrograms && options.programs != kCompiledPrograms) {
    return absl::InvalidArgumentError(
        absl::StrCat("--programs is \"", options.programs, "\": \"any\" or \"compiled\" wanted"));
  }
  if (options.exec_prefix.empty() && !options.exec_folder.empty()) {
    return absl::InvalidArgumentError("--exec-folder is for a device that --exec-prefix reaches");
  }
  for (const std::string& accelerator : options.accelerators) {
    const bool is_known = accelerator == kCudaAccelerator || accelerator == kOpenClAccelerator;
    if (is_known && absl::c_count(options.accelerators, accelerator) == 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--accelerator is \"", accelerator,
                     "\": \"cuda\" or \"opencl\" wanted, each once; there are no drivers for "
                     "others yet"));
  }
  if (!options.accelerators.empty() && !options.exec_prefix.empty()) {
    return absl::UnimplementedError(
        "--accelerator is for this machine: accelerators of a device that --exec-prefix reaches "
        "are not used yet");
  }
  if (!FindLibraryUse(options.vendor_libraries).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--vendor-libraries is \"", options.vendor_libraries,
                     "\": \"measured\", \"never\" or \"always\" wanted"));
  }
  const bool knows_signatures = !options.insecure && options.authority.empty() &&
                                !absl::StartsWith(options.server, kUnixAddressPrefix) &&
                                (!options.server.empty() || options.listen.empty());
  for (const auto& [flag, is_given] :
       {std::pair("--programs compiled", options.programs == kCompiledPrograms),
        std::pair("--accept-updates", options.accept_updates)}) {
    if (!is_given || knows_signatures) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag,
                     " is for agents that have joined a server and call it over TLS: no other "
                     "server's signatures can be checked (slipway-agent join)"));
  }
  if (options.listen.empty()) {
    if (!options.announce.empty()) {
      return absl::InvalidArgumentError("--announce is for agents that --listen");
    }
    if (options.server.empty()) options.server = kDefaultServer;
    return absl::OkStatus();
  }
  if (!options.authority.empty()) {
    return absl::InvalidArgumentError(
        "--listen is not together with --authority: clients know agents by the authority of their "
        "server alone, so let the agent join it");
  }
  if (!options.announce.empty()) {
    SLIPWAY_RETURN_IF_ERROR(Annotate(ParseListenAddress(options.announce).status(), "--announce"));
  }
  // Over TLS, callers are known to the server or by the agent's own authority.
  const bool is_over_tls =
      !options.insecure && !absl::StartsWith(options.server, kUnixAddressPrefix);
  return CheckListen(options.listen, is_over_tls, options.insecure);
}

std::string AddressForClients(const AgentOptions& options, const std::string& listened) {
  if (!options.announce.empty()) return options.announce;
  const size_t colon = listened.rfind(':');
  const absl::string_view host = absl::string_view(listened).substr(0, colon);
  if (host != "0.0.0.0" && host != "[::]") return listened;
  utsname system;
  uname(&system);
  return absl::StrCat(system.nodename, listened.substr(colon));
}

}  // namespace slipway
