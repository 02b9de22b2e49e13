// What the child of ProbeConfinement tells through a pipe. Internal to confinement.cc.
#ifndef SLIPWAY_CORE_CONFINEMENT_PROBE_REPORT_H_
#define SLIPWAY_CORE_CONFINEMENT_PROBE_REPORT_H_

#include "absl/status/statusor.h"
#include "core/confinement/confinement.h"

namespace slipway {

// A confined process can do so: it writes to what is open.
void WriteProbeReport(int fd, const absl::StatusOr<MissingParts>& found);

// Until the end of the file. INTERNAL when the child ended before it had told all.
absl::StatusOr<MissingParts> ReadProbeReport(int fd);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_PROBE_REPORT_H_
