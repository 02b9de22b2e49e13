// Files of ELF for several machines, of which one is for a given one.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_FILE_FOR_MACHINE_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_FILE_FOR_MACHINE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/base/embedded_file.h"

namespace slipway {

// `machine` as e_machine has it. Null where there is none.
const EmbeddedFile* FindFileFor(uint16_t machine, absl::Span<const EmbeddedFile> files);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_FILE_FOR_MACHINE_H_
