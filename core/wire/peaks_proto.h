// What machines do at most, on the wire.
#ifndef SLIPWAY_CORE_WIRE_PEAKS_PROTO_H_
#define SLIPWAY_CORE_WIRE_PEAKS_PROTO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/target/machine_peaks.h"
#include "proto/slipway/v1/peaks.pb.h"

namespace slipway {

// `accelerators` in the order in which the device's target names them.
v1::DevicePeaks ToProto(absl::Span<const MachinePeaks> peaks,
                        absl::Span<const AcceleratorPeaks> accelerators = {});

// By number of threads, ascending, each with numbers above 0, with arithmetic and with a level of any number of bytes, the
// last. None where nothing is told. INVALID_ARGUMENT says what is wrong.
absl::StatusOr<std::vector<MachinePeaks>> FromProto(const v1::DevicePeaks& proto);
// Likewise of accelerators.
absl::StatusOr<std::vector<AcceleratorPeaks>> AcceleratorsFromProto(const v1::DevicePeaks& proto);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_PEAKS_PROTO_H_
