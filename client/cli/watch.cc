#include "client/cli/watch.h"

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace slipway::cli {
namespace {

// How often a list that is watched is asked for.
constexpr absl::Duration kWatchEvery = absl::Seconds(1);

}  // namespace

absl::Status WatchUntilInterrupted(Environment& environment, Client& client,
                                   absl::FunctionRef<absl::Status()> look) {
  absl::Notification interrupted;
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&interrupted, &client] {
      client.Interrupt();
      interrupted.Notify();
    });
  }
  absl::Status status;
  while (status.ok() || absl::IsUnavailable(status)) {
    status = look();
    environment.out.flush();
    if (!environment.out.good()) break;  // Nobody reads any more.
    if (interrupted.WaitForNotificationWithTimeout(kWatchEvery)) break;
  }
  if (environment.interrupts != nullptr) environment.interrupts->SetHandler(nullptr);
  return absl::IsCancelled(status) || absl::IsUnavailable(status) ? absl::OkStatus() : status;
}

}  // namespace slipway::cli
