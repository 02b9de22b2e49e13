#include "device_agent/attached/attached_place.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/attached/attached_driver.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/attached_state.h"
#include "device_agent/runner/runner_commands.h"

namespace slipway {
namespace {

// As the last line, it is what people are told (RunnerProcess); in its absence that is what the command wrote.
void Say(absl::string_view why) {
  const std::string line = absl::StrCat("\n", why, "\n");
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

[[noreturn]] void Lose(RunnerWindow& window) {
  window.status().lost = static_cast<int32_t>(absl::StatusCode::kUnavailable);
  _exit(1);
}

// The device may be anybody's, and what it says anything.
[[noreturn]] void EndAs(const BareEnd& end, RunnerWindow& window) {
  if (!end.is_told) {
    if (!end.text.empty()) Say(end.text);
    Lose(window);
  }
  if (end.signal == 0) {
    if (!end.text.empty()) Say(absl::StrCat("this host breaks a rule: ", end.text));
    _exit(end.exit_code);
  }
  // Those stop a process, and end none.
  const bool stops = end.signal == SIGSTOP || end.signal == SIGTSTP || end.signal == SIGTTIN ||
                     end.signal == SIGTTOU;
  if (end.signal < 0 || end.signal >= NSIG || stops) Lose(window);
  signal(end.signal, SIG_DFL);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, end.signal);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  raise(end.signal);
  // A signal that kills nobody, says the device.
  Lose(window);
}

}  // namespace

absl::StatusOr<AttachedPlace> TakeAttachedPlace(RunnerWindow& window) {
  UniqueFd stream(kAttachedStream);
  absl::StatusOr<slipway_bare_hello> hello = AwaitBareHello(stream.get(), absl::InfiniteDuration());
  if (absl::IsUnavailable(hello.status())) Lose(window);
  SLIPWAY_RETURN_IF_ERROR_WITH(hello.status(), "what the attached device says of itself");
  AttachedPlace place;
  place.stream = std::make_shared<BareStream>(
      std::move(stream), [&window](const BareEnd& end) { EndAs(end, window); });
  SLIPWAY_ASSIGN_OR_RETURN(place.drivers.emplace_back(), MakeAttachedDriver(place.stream, *hello));
  SLIPWAY_ASSIGN_OR_RETURN(place.machine.device, place.drivers.back()->Open(0));
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, TargetOfBare(*hello));
  place.machine.target = target.host();
  place.machine.clock_resolution_ns =
      static_cast<int64_t>(std::min<uint64_t>(hello->clock_resolution_ns, INT64_MAX));
  place.machine.read_state = [stream = place.stream] {
    const absl::StatusOr<slipway_bare_state> state = ReadBareState(*stream);
    return state.ok() ? StateOfAttached(*state) : v1::MachineState();
  };
  return place;
}

void AwaitRequest(int socket, BareStream& stream) {
  pollfd ends[] = {{socket, POLLIN, 0}, {stream.fd(), POLLIN, 0}};
  while (true) {
    const int ready = poll(ends, 2, -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0 && ends[1].revents != 0) stream.TakeEnd();
    return;
  }
}

}  // namespace slipway
