#include "core/passes/block_size.h"

namespace slipway {

std::vector<int64_t> ChannelBlocks(const DeviceTarget& device) {
  if (device.Has("avx512f")) return {16, 8, 4};
  if (device.Has("avx2")) return {8, 4};
  return {4};
}

int64_t PanelColumns(const DeviceTarget& device) { return device.Has("avx2") ? 16 : 8; }

}  // namespace slipway
