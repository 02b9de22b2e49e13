// Why a device that is what somebody wants is not to be had.
#ifndef SLIPWAY_SERVER_DEVICES_WHY_UNAVAILABLE_H_
#define SLIPWAY_SERVER_DEVICES_WHY_UNAVAILABLE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "core/selector/explanation.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway::server {

// "matches but is quarantined"; nothing when it could be given work of this owner's, now or when what it does has ended. Pure.
std::optional<Reason> WhyUnavailable(const v1::Device& device, absl::string_view owner);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_WHY_UNAVAILABLE_H_
