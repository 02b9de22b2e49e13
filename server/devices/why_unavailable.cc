#include "server/devices/why_unavailable.h"

namespace slipway::server {

std::optional<Reason> WhyUnavailable(const v1::Device& device, absl::string_view owner) {
  if (device.state() == v1::Device::LOST) return MatchesBut("lost");
  switch (device.availability().state()) {
    case v1::Availability::QUARANTINED:
      return MatchesBut("quarantined");
    case v1::Availability::DRAINED:
      return MatchesBut("drained");
    case v1::Availability::DRAINING:
      return MatchesBut("being drained");
    case v1::Availability::RESERVED:
      if (device.availability().reservation().owner() == owner) return std::nullopt;
      return MatchesBut("reserved for somebody else");
    default:
      return std::nullopt;
  }
}

}  // namespace slipway::server
