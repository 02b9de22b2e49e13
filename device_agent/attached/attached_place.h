// What a runner is told apart by whose programs run on an attached device: it is one as any other, confined and on this machine, and the
// device is its driver's.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_PLACE_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_PLACE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/runtime/drivers/attached/bare_stream.h"
#include "core/runtime/load_program.h"
#include "device_agent/measure/attached_machine.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {

struct AttachedPlace {
  std::shared_ptr<BareStream> stream;
  Drivers drivers;
  AttachedMachine machine;
};

// Of the bare runner at the other end of kAttachedStream, behind its greeting. From now on this process ends when that does, and in the same
// way: by the same signal or with the same exit code; when the device is lost, RunnerStatus::lost says so. `window` must outlive the stream.
// Errors of AwaitBareHello and MakeAttachedDriver.
absl::StatusOr<AttachedPlace> TakeAttachedPlace(RunnerWindow& window);

// Returns when there is something to read from `socket`; meanwhile hears the device's end.
void AwaitRequest(int socket, BareStream& stream);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_PLACE_H_
