// How many channels are kept innermost in blocked tensors (NCHWc), and columns in packed matrices.
#ifndef SLIPWAY_CORE_PASSES_BLOCK_SIZE_H_
#define SLIPWAY_CORE_PASSES_BLOCK_SIZE_H_

#include <cstdint>
#include <vector>

#include "core/target/target.h"

namespace slipway {

// The blocks worth trying, largest first: one vector register of f32 and the smaller powers of two down
// to 4. x86-64-v4: 16, 8, 4; v3: 8, 4; everything else: 4.
std::vector<int64_t> ChannelBlocks(const DeviceTarget& device);

// Columns of a panel of slipway.GemmPacked: 16 where vectors have at least 8 elements, else 8.
int64_t PanelColumns(const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_BLOCK_SIZE_H_
