#include "server/devices/device_store.h"

#include "absl/strings/str_cat.h"

namespace slipway::server {

v1::Device KeptOf(const v1::Device& device) {
  v1::Device kept;
  *kept.mutable_description() = device.description();
  kept.set_agent_id(device.agent_id());
  kept.set_agent_version(device.agent_version());
  kept.set_last_seen_ns(device.last_seen_ns());
  kept.set_min_abi(device.min_abi());
  kept.set_max_abi(device.max_abi());
  kept.set_min_format(device.min_format());
  kept.set_max_format(device.max_format());
  kept.set_max_session(device.max_session());
  *kept.mutable_labels() = device.labels();
  kept.set_max_benchmark(device.max_benchmark());
  if (device.has_update()) *kept.mutable_update() = device.update();
  return kept;
}

absl::Status StandingChangedMeanwhile(absl::string_view device) {
  return absl::AbortedError(
      absl::StrCat("the standing of device '", device, "' was changed meanwhile"));
}

}  // namespace slipway::server
