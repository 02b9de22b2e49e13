// A device that is attached to this machine: reached by a command, such as `ssh board` or `adb shell -T`, with nothing installed on
// it but a binary of the agent that this machine brings there.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "device_agent/runner/frame.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// How it is reached. A value.
struct AttachedDevice {
  // A command of this machine's shell that hands its last argument over to the device's shell, and stands for what that
  // starts: its standard streams, and its exit code.
  std::string exec_prefix;
  // Folder of the device for the binary and blobs. Empty: slipway in /data/local/tmp if that can be written to, else in the
  // user's cache folder.
  std::string folder;
  // A file of this machine: an agent for the device's kind of machine, and its digest.
  std::string binary;
  Digest digest;
};

// `word` as a shell's single word.
std::string QuoteForShell(absl::string_view word);

// What the binary is told first on the device (attached_main.h).
inline constexpr char kAttachedCommand[] = "attached";
inline constexpr char kDescribeCommand[] = "describe";

// A line for the device's shell that runs `COMMAND FOLDER ARGUMENT...` of the binary; with exit code kNoBinary it is not there.
std::string RunLine(const AttachedDevice& device, absl::string_view command,
                    const std::vector<std::string>& arguments);
inline constexpr int kNoBinary = 66;

// A line that makes a binary of what it reads, in place of those that were there, and fails where not all of it came.
std::string PushLine(const AttachedDevice& device);

// A command on the device, and the socket of its standard input and output.
struct DeviceCommand {
  std::unique_ptr<Subprocess> process;
  UniqueFd stream;
  std::unique_ptr<FrameReader> reader;  // Of what comes behind the greeting.
};

// Runs RunLine on the device, brings the binary there if it is not, and awaits its greeting, until `deadline` of Clock::Monotonic.
// UNAVAILABLE when the device cannot be reached, with the last line that the command wrote where `errors` is a tail;
// FAILED_PRECONDITION when the binary does not run there or what answers is none; RESOURCE_EXHAUSTED and others, when it cannot be
// brought there; DEADLINE_EXCEEDED.
absl::StatusOr<DeviceCommand> RunOnDevice(const AttachedDevice& device, absl::string_view command,
                                          const std::vector<std::string>& arguments,
                                          ChildStream errors, absl::Duration deadline);

// What the device says it is; id and labels are left to set. Errors of RunOnDevice, and of DescribeThisMachine there.
absl::StatusOr<v1::DeviceDescription> DescribeAttached(const AttachedDevice& device,
                                                       bool require_confinement,
                                                       absl::Duration deadline);

// The last line of what a command wrote, as ": LINE"; empty if it wrote none.
std::string LastLine(absl::string_view output);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_DEVICE_H_
