// DeviceKernel: a kernel for a device that is not the host, as text, and how its entries are launched.
#ifndef SLIPWAY_CORE_CODEGEN_DEVICE_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_DEVICE_KERNEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// A tensor that an entry takes.
struct DeviceArgument {
  enum class Kind {
    kInput,    // Number `index` of the kernel's inputs,
    kOutput,   // of its outputs,
    kScratch,  // of its own memory, which no other kernel needs to find as it was.
  };
  Kind kind = Kind::kInput;
  int index = 0;

  friend bool operator==(const DeviceArgument& a, const DeviceArgument& b) {
    return a.kind == b.kind && a.index == b.index;
  }
};

struct EntryLaunch {
  std::string entry;  // A C identifier, of this kernel alone.
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<int64_t, 3> group = {1, 1, 1};
  int64_t shared_bytes = 0;  // Of a group, beyond what the entry declares.
  // In the order of the entry's parameters: what it only reads, and what it writes, and may read as well.
  std::vector<DeviceArgument> reads;
  std::vector<DeviceArgument> writes;
};

struct DeviceKernel {
  // Definitions that all kernels of one generator begin with, and what is this kernel's.
  std::string preamble;
  std::string text;
  std::vector<int64_t> scratch_bytes;
  std::vector<EntryLaunch> launches;  // One after the other.
};

// What a cache of kernels keeps.
std::string FormatDeviceKernel(const DeviceKernel& kernel);
// INVALID_ARGUMENT for what FormatDeviceKernel does not write.
absl::StatusOr<DeviceKernel> ParseDeviceKernel(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEVICE_KERNEL_H_
