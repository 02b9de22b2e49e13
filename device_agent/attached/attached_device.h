// A device that is attached to this machine: reached by a command, such as `ssh board` or `adb shell -T`, with nothing on it but a bare
// runner (core/bare_runner) that this machine brings there.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/bare_runner/protocol.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/target/measure_machine.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// How it is reached. A value.
struct AttachedDevice {
  // A command of this machine's shell that hands its last argument over to the device's shell, and stands for what that
  // starts: its standard streams, and its exit code.
  std::string exec_prefix;
  // Folder of the device for the bare runner. Empty: slipway in /data/local/tmp if that can be written to, else in the user's cache folder.
  std::string folder;
};

// `word` as a shell's single word.
std::string QuoteForShell(absl::string_view word);

// How a bare runner is held.
struct BareRunnerOptions {
  bool require_confinement = false;
  int64_t memory_bytes = 0;  // Of address space; 0: no limit.
};

// A bare runner on the device: the command that runs it, and the socket of its standard input and output.
struct DeviceCommand {
  std::unique_ptr<Subprocess> process;
  UniqueFd stream;
};

// Starts a bare runner on the device, and brings it there if it is not, until `deadline` of Clock::Monotonic; returns behind its greeting,
// before its hello. UNAVAILABLE when the device cannot be reached, with the last line that the command wrote where `errors` is a tail;
// UNIMPLEMENTED for a machine that there is no bare runner for; FAILED_PRECONDITION when it does not run there, what answers is none, or
// confinement is required that there is not; RESOURCE_EXHAUSTED when there is no room for it; DEADLINE_EXCEEDED.
absl::StatusOr<DeviceCommand> StartOnDevice(const AttachedDevice& device,
                                            const BareRunnerOptions& options, ChildStream errors,
                                            absl::Duration deadline);

// What follows the greeting. UNAVAILABLE when the stream ends; errors of ParseBareHello.
absl::StatusOr<slipway_bare_hello> AwaitBareHello(int stream, absl::Duration deadline);

struct AttachedDescription {
  v1::DeviceDescription device;  // Id and labels are left to set.
  CacheSizes caches;
};

// What the device is, by its bare runner and, of its inventory and caches, by its shell, where that tells. Errors of StartOnDevice, AwaitBareHello and
// TargetOfBare.
absl::StatusOr<AttachedDescription> DescribeAttached(const AttachedDevice& device,
                                                     bool require_confinement,
                                                     absl::Duration deadline);

// The last line of what a command wrote, as ": LINE"; empty if it wrote none.
std::string LastLine(absl::string_view output);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_
