#include "device_agent/attached/attached_device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/agent_stamp.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/base/version.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner_commands.h"

namespace slipway {
namespace {

constexpr size_t kMaxLineBytes = 512;
// A command whose connection has ended is about to end.
constexpr absl::Duration kTimeToEnd = absl::Seconds(5);
// Of a shell: there is a file that it cannot run, or none.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

// Sets "d" to the folder.
std::string FolderLine(const AttachedDevice& device) {
  if (!device.folder.empty()) return absl::StrCat("d=", QuoteForShell(device.folder), "; ");
  return "d=/data/local/tmp/slipway; test -w /data/local/tmp || "
         "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/slipway/attached\"; ";
}

std::string BinaryName(const AttachedDevice& device) {
  return absl::StrCat("slipway-agent-", device.digest.hex().substr(0, 16));
}

SubprocessOptions OnDevice(const AttachedDevice& device, const std::string& line) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", absl::StrCat("exec ", device.exec_prefix, " \"$1\""), "sh",
                  line};
  return options;
}

absl::StatusOr<DeviceCommand> Start(const AttachedDevice& device, const std::string& line,
                                    ChildStream errors) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return ErrnoStatus(errno, "cannot make a pair of sockets");
  }
  DeviceCommand command;
  command.stream.reset(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  SubprocessOptions options = OnDevice(device, line);
  options.stdin_stream = ChildStream::Fd(theirs.get());
  options.stdout_stream = ChildStream::Fd(theirs.get());
  options.stderr_stream = errors;
  SLIPWAY_ASSIGN_OR_RETURN(command.process, Subprocess::Start(options));
  return command;
}

absl::Status Push(const AttachedDevice& device, absl::Duration deadline) {
  const UniqueFd binary(open(device.binary.c_str(), O_RDONLY | O_CLOEXEC));
  if (!binary.is_open()) return ErrnoStatus(errno, device.binary);
  SubprocessOptions options = OnDevice(device, PushLine(device));
  options.stdin_stream = ChildStream::Fd(binary.get());
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> command, Subprocess::Start(options));
  const absl::StatusOr<ExitStatus> end = command->Wait(deadline - SystemClock().Monotonic());
  SLIPWAY_RETURN_IF_ERROR_WITH(end.status(), "bringing the agent to the device");
  if (end->ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot bring the agent to the device, ",
                                             end->ToString(), LastLine(command->OutputTail())));
}

// Why a command ended before it greeted; `command` may still be there.
absl::Status WhyNone(const AttachedDevice& device, const DeviceCommand& command,
                     const absl::Status& status) {
  const absl::StatusOr<ExitStatus> end = command.process->Wait(kTimeToEnd);
  const std::string line = LastLine(command.process->OutputTail());
  if (end.ok() && (end->exit_code == kCannotRun || end->exit_code == kNotFound)) {
    const absl::StatusOr<std::string> bytes = ReadFile(device.binary, int64_t{1} << 30);
    const std::optional<AgentStamp> stamp = bytes.ok() ? FindAgentStamp(*bytes) : std::nullopt;
    return absl::FailedPreconditionError(absl::StrCat(
        "the agent's binary", stamp.has_value() ? absl::StrCat(" for ", stamp->platform) : "",
        " does not run on the device", line, ": give one that does (--exec-binary)"));
  }
  return absl::Status(status.code(), absl::StrCat(status.message(), line));
}

absl::Status Greet(DeviceCommand& command, absl::Duration deadline) {
  SLIPWAY_RETURN_IF_ERROR(AwaitGreeting(command.stream.get(), deadline));
  attached::Greeting greeting;
  command.reader = std::make_unique<FrameReader>(command.stream.get());
  SLIPWAY_RETURN_IF_ERROR(command.reader->Read(greeting, deadline));
  if (greeting.version() == kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the agent brought to the device is version ",
      Utf8Prefix(ToUtf8(greeting.version()), kMaxLineBytes), ", this one is ", kVersion));
}

}  // namespace

std::string QuoteForShell(absl::string_view word) {
  // Between quotes all is as it stands, but a quote: that ends them, is escaped, and begins them again.
  const std::string quote(1, '\'');
  return absl::StrCat(
      quote, absl::StrReplaceAll(word, {{quote, absl::StrCat(quote, "\\", quote, quote)}}), quote);
}

std::string LastLine(absl::string_view output) {
  absl::string_view text = absl::StripTrailingAsciiWhitespace(output);
  const size_t newline = text.find_last_of("\r\n");
  if (newline != absl::string_view::npos) text.remove_prefix(newline + 1);
  const std::string line = ToUtf8(text);
  return line.empty() ? "" : absl::StrCat(": ", Utf8Prefix(line, kMaxLineBytes));
}

std::string RunLine(const AttachedDevice& device, absl::string_view command,
                    const std::vector<std::string>& arguments) {
  std::string line =
      absl::StrCat(FolderLine(device), "b=\"$d/", BinaryName(device), "\"; test -x \"$b\" || exit ",
                   kNoBinary, "; exec \"$b\" ", QuoteForShell(command), " \"$d\"");
  for (const std::string& argument : arguments) {
    absl::StrAppend(&line, " ", QuoteForShell(argument));
  }
  return line;
}

std::string PushLine(const AttachedDevice& device) {
  return absl::StrCat(
      FolderLine(device),
      "umask 077; mkdir -p \"$d\" && cat > \"$d/part.$$\" && test $(wc -c < \"$d/part.$$\") -eq ",
      device.digest.size_bytes(),
      " && chmod 700 \"$d/part.$$\" && rm -f \"$d\"/slipway-agent-* && mv \"$d/part.$$\" \"$d/",
      BinaryName(device), "\" || { rm -f \"$d/part.$$\"; exit 1; }");
}

absl::StatusOr<DeviceCommand> RunOnDevice(const AttachedDevice& device, absl::string_view command,
                                          const std::vector<std::string>& arguments,
                                          ChildStream errors, absl::Duration deadline) {
  const std::string line = RunLine(device, command, arguments);
  bool was_pushed = false;
  while (true) {
    SLIPWAY_ASSIGN_OR_RETURN(DeviceCommand started, Start(device, line, errors));
    const absl::Status greeted = Greet(started, deadline);
    if (greeted.ok()) return started;
    if (!absl::IsUnavailable(greeted)) return WhyNone(device, started, greeted);
    const absl::StatusOr<ExitStatus> end = started.process->Wait(kTimeToEnd);
    if (was_pushed || !end.ok() || end->exit_code != kNoBinary) {
      return WhyNone(device, started, greeted);
    }
    SLIPWAY_RETURN_IF_ERROR(Push(device, deadline));
    was_pushed = true;
  }
}

absl::StatusOr<v1::DeviceDescription> DescribeAttached(const AttachedDevice& device,
                                                       bool require_confinement,
                                                       absl::Duration deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceCommand command,
                           RunOnDevice(device, kDescribeCommand,
                                       {require_confinement ? kConfinedWholly : kConfinedAsCan},
                                       ChildStream::Tail(), deadline));
  attached::Description description;
  const absl::Status read = command.reader->Read(description, deadline);
  if (!read.ok()) return WhyNone(device, command, read);
  if (description.code() != 0) {
    return absl::Status(static_cast<absl::StatusCode>(description.code()),
                        ToUtf8(description.message()));
  }
  return std::move(*description.mutable_device());
}

}  // namespace slipway
