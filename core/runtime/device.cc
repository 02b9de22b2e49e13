#include "core/runtime/device.h"

#include "core/runtime/vendor_library.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<DeviceLaunch>> DeviceQueues::PrepareLibrary(
    const LibraryWay& /*way*/, const LibraryArguments& /*arguments*/, std::string label) {
  return absl::UnimplementedError(label + ": the device has no library");
}

absl::StatusOr<DeviceMemory> ComputeDevice::TakeConstant(absl::string_view /*key*/,
                                                         const DeviceMemory& bytes,
                                                         MemoryKind kind) {
  absl::StatusOr<DeviceMemory> memory = Allocate(bytes.bytes, kind);
  if (!memory.ok()) return memory;
  const absl::Status copied = Copy({nullptr, bytes}, {this, *memory}, bytes.bytes);
  if (copied.ok()) return memory;
  Free(*memory);
  return copied;
}

void ComputeDevice::ReturnConstant(const DeviceMemory& memory) { Free(memory); }

}  // namespace slipway
