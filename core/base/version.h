// The version of Slipway, the same in every binary.
#ifndef SLIPWAY_CORE_BASE_VERSION_H_
#define SLIPWAY_CORE_BASE_VERSION_H_

namespace slipway {

// Semantic versioning (semver.org).
inline constexpr char kVersion[] = "0.1.0";

// Versions of the gRPC protocol (proto/slipway/v1) that this build speaks.
inline constexpr int kMinProtocol = 1;
inline constexpr int kMaxProtocol = 1;

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_VERSION_H_
