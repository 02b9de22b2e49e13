#include "device_agent/attached/attached_device.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/confinement/confinement.h"
#include "core/runtime/drivers/attached/attached_driver.h"
#include "core/runtime/drivers/attached/bare_stream.h"
#include "device_agent/attached/bare_runners.h"
#include "device_agent/attached/machine_files.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/inventory.h"
#include "device_agent/runner/runner_commands.h"
#include "device_agent/runner/stream.h"

namespace slipway {
namespace {

constexpr size_t kMaxLineBytes = 512;
// A command whose connection has ended is about to end.
constexpr absl::Duration kTimeToEnd = absl::Seconds(5);
// For what an agent can do without.
constexpr absl::Duration kTimeToTell = absl::Seconds(10);
// Exit codes of lines for the device's shell.
constexpr int kNotThere = 66;
constexpr int kNoRoom = 67;
// Of a shell: there is a file that it cannot run, or none.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
// What the name of the device's machine comes behind.
constexpr char kMachineMark[] = "slipway-machine ";

// Sets "d" to the folder.
std::string FolderLine(const AttachedDevice& device) {
  if (!device.folder.empty()) return absl::StrCat("d=", QuoteForShell(device.folder), "; ");
  return "d=/data/local/tmp/slipway; test -w /data/local/tmp || "
         "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/slipway/attached\"; ";
}

std::string RunLine(const AttachedDevice& device, const BareRunnerOptions& options) {
  return absl::StrCat(FolderLine(device), "b=\"$d/", BareRunnerName(),
                      "\"; test -x \"$b\" || exit ", kNotThere, "; exec \"$b\" ",
                      options.require_confinement ? kConfinedWholly : kConfinedAsCan, " ",
                      options.memory_bytes);
}

// Makes a bare runner of what it reads, in place of what agents have brought there before, and fails where not all of it came.
std::string PushLine(const AttachedDevice& device, size_t bytes) {
  return absl::StrCat(
      FolderLine(device),
      "f=\"$d/part.$$\"; umask 077; mkdir -p \"$d\" && : > \"$f\" || exit 1; "
      "cat > \"$f\" || { rm -f \"$f\"; exit ",
      kNoRoom, "; }; test $(wc -c < \"$f\") -eq ", bytes,
      " && chmod 700 \"$f\" && rm -f \"$d\"/slipway-agent-* \"$d\"/slipway-bare-runner-* && "
      "mv \"$f\" \"$d/",
      BareRunnerName(), "\" || { rm -f \"$f\"; exit 1; }");
}

SubprocessOptions OnDevice(const AttachedDevice& device, const std::string& line) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", absl::StrCat("exec ", device.exec_prefix, " \"$1\""), "sh",
                  line};
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
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

// A line that ends by itself.
struct LineEnd {
  ExitStatus status;
  std::string output;
};

absl::StatusOr<LineEnd> RunToEnd(const SubprocessOptions& options, absl::Duration deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> command, Subprocess::Start(options));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus status,
                                command->Wait(deadline - SystemClock().Monotonic()),
                                "bringing the bare runner to the device");
  return LineEnd{status, command->OutputTail()};
}

// Of `uname -m` there.
absl::StatusOr<std::string> AskMachine(const AttachedDevice& device, absl::Duration deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const LineEnd end,
      RunToEnd(OnDevice(device, absl::StrCat("echo ", kMachineMark, "$(uname -m)")), deadline));
  const size_t begin = end.output.rfind(kMachineMark);
  if (!end.status.ok() || begin == std::string::npos) {
    return absl::UnavailableError(absl::StrCat("cannot ask the device what machine it is, ",
                                               end.status.ToString(), LastLine(end.output)));
  }
  const std::string rest = end.output.substr(begin + sizeof(kMachineMark) - 1);
  return std::string(absl::StripAsciiWhitespace(rest.substr(0, rest.find_first_of("\r\n"))));
}

absl::StatusOr<UniqueFd> InMemory(absl::string_view bytes) {
  UniqueFd file(memfd_create("slipway-bare-runner", MFD_CLOEXEC));
  if (!file.is_open() ||
      write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      lseek(file.get(), 0, SEEK_SET) != 0) {
    return ErrnoStatus(errno, "cannot make a file in memory");
  }
  return file;
}

absl::Status Push(const AttachedDevice& device, absl::Duration deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string machine, AskMachine(device, deadline));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view bytes, FindBareRunner(machine));
  SLIPWAY_ASSIGN_OR_RETURN(const UniqueFd file, InMemory(bytes));
  SubprocessOptions options = OnDevice(device, PushLine(device, bytes.size()));
  options.stdin_stream = ChildStream::Fd(file.get());
  SLIPWAY_ASSIGN_OR_RETURN(const LineEnd end, RunToEnd(options, deadline));
  if (end.status.ok()) return absl::OkStatus();
  if (end.status.exit_code == kNoRoom) {
    return absl::ResourceExhaustedError(absl::StrCat("the device has no room for the ",
                                                     bytes.size(), " bytes of a bare runner",
                                                     LastLine(end.output)));
  }
  return absl::UnavailableError(absl::StrCat("cannot bring the bare runner to the device, ",
                                             end.status.ToString(), LastLine(end.output)));
}

// Why a command ended before it greeted; `command` may still be there.
absl::Status WhyNone(const DeviceCommand& command, const absl::Status& status) {
  const absl::StatusOr<ExitStatus> end = command.process->Wait(kTimeToEnd);
  const std::string line = LastLine(command.process->OutputTail());
  if (end.ok() && (end->exit_code == kCannotRun || end->exit_code == kNotFound)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the bare runner does not run on the device", line,
                     ": a folder is needed in which files can be run (--exec-folder)"));
  }
  if (end.ok() && end->exit_code == SLIPWAY_BARE_UNCONFINED) {
    return absl::FailedPreconditionError(
        absl::StrCat("--require-confinement: programs on the device cannot be confined wholly",
                     line, "; or do without --require-confinement"));
  }
  return absl::Status(status.code(), absl::StrCat(status.message(), line));
}

// As DescribeThisMachine has it. Files, networks and other processes are out of reach by the filter alone, which lets nothing be opened.
MissingParts MissingPartsOf(const slipway_bare_hello& hello) {
  MissingParts missing;
  if ((hello.missing & SLIPWAY_BARE_NO_SYSTEM_CALL_FILTER) != 0) {
    missing.push_back({ConfinementPart::kSystemCalls,
                       "the device's kernel takes no filter (seccomp), without which programs "
                       "there may do what the user may whom the command reaches"});
  }
  if ((hello.missing & SLIPWAY_BARE_NO_NEW_PRIVILEGES) != 0) {
    missing.push_back({ConfinementPart::kPrivileges,
                       "the device's kernel does not keep programs from privileges"});
  }
  return missing;
}

// What a device says of itself, as text that any message may have.
std::string TextOf(absl::string_view said) {
  return absl::Utf8SafeCEscape(ToUtf8(absl::StripAsciiWhitespace(said)));
}

// Inventory and caches. A device that does not tell has none of the one, and what its target has of the other; errors are this machine's.
absl::Status AskShell(const AttachedDevice& device, const DeviceTarget& machine,
                      absl::Duration deadline, AttachedDescription& described) {
  SLIPWAY_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("slipway-files"));
  const absl::StatusOr<LineEnd> end =
      RunToEnd(OnDevice(device, MachineFilesLine()),
               std::min(deadline, SystemClock().Monotonic() + kTimeToTell));
  if (end.ok()) WriteMachineFiles(end->output, folder.path());
  v1::DeviceInventory inventory = ReadInventory(folder.path(), ProcessorsOf(folder.path()));
  if (inventory.ByteSizeLong() > 0) *described.device.mutable_inventory() = std::move(inventory);
  described.caches =
      CachesOf(machine, absl::StrCat(folder.path(), "/sys/devices/system/cpu/cpu0/cache"));
  return absl::OkStatus();
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

absl::StatusOr<DeviceCommand> StartOnDevice(const AttachedDevice& device,
                                            const BareRunnerOptions& options, ChildStream errors,
                                            absl::Duration deadline) {
  const std::string line = RunLine(device, options);
  bool was_pushed = false;
  while (true) {
    SLIPWAY_ASSIGN_OR_RETURN(DeviceCommand started, Start(device, line, errors));
    const absl::Status greeted = AwaitGreeting(started.stream.get(), deadline);
    if (greeted.ok()) return started;
    if (!absl::IsUnavailable(greeted)) return WhyNone(started, greeted);
    const absl::StatusOr<ExitStatus> end = started.process->Wait(kTimeToEnd);
    if (was_pushed || !end.ok() || end->exit_code != kNotThere) return WhyNone(started, greeted);
    SLIPWAY_RETURN_IF_ERROR(Push(device, deadline));
    was_pushed = true;
  }
}

absl::StatusOr<slipway_bare_hello> AwaitBareHello(int stream, absl::Duration deadline) {
  std::string bytes(sizeof(slipway_bare_hello), '\0');
  size_t received = 0;
  while (received < bytes.size()) {
    SLIPWAY_ASSIGN_OR_RETURN(const size_t some, ReceiveSome(stream, &bytes[received],
                                                            bytes.size() - received, deadline));
    received += some;
  }
  return ParseBareHello(bytes);
}

absl::StatusOr<AttachedDescription> DescribeAttached(const AttachedDevice& device,
                                                     bool require_confinement,
                                                     absl::Duration deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const DeviceCommand command,
      StartOnDevice(device, {.require_confinement = require_confinement, .memory_bytes = 0},
                    ChildStream::Tail(), deadline));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const slipway_bare_hello hello,
                                AwaitBareHello(command.stream.get(), deadline),
                                "what the device says of itself");
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, TargetOfBare(hello));
  AttachedDescription described;
  v1::DeviceDescription& description = described.device;
  description.set_target(target.ToString());
  description.set_model(TextOf(hello.model));
  description.set_cores(
      static_cast<int32_t>(std::clamp<uint32_t>(hello.processors, 1, SLIPWAY_BARE_MAX_THREADS)));
  description.set_memory_bytes(
      static_cast<int64_t>(std::min<uint64_t>(hello.memory_bytes, INT64_MAX)));
  description.set_os(TextOf(hello.system));
  description.mutable_confinement();
  for (const MissingPart& part : MissingPartsOf(hello)) {
    description.mutable_confinement()->add_missing(ToString({&part, 1}));
  }
  SLIPWAY_RETURN_IF_ERROR(AskShell(device, target.host(), deadline, described));
  return described;
}

}  // namespace slipway
