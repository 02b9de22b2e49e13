// What Halide made of a kernel for a device that is no host, taken apart: launches, tensors, and the text of the entries.
#ifndef SLIPWAY_CORE_CODEGEN_DEVICE_MODULE_H_
#define SLIPWAY_CORE_CODEGEN_DEVICE_MODULE_H_

#include <halide14/Halide.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/device_lowering.h"

namespace slipway {

// A table that the kernel reads: constants of the module, whose bits the text shall hold.
struct ModuleTable {
  size_t parameter = 0;  // Of the entry.
  int element_bytes = 0;
  std::vector<uint64_t> elements;
};

// A launch of an entry, with sizes and tensors. Parameters are numbered as the text has them; those that are no tables are `order`: what the
// entry only reads, then what it writes.
struct ModuleLaunch {
  std::string name_in_text;
  EntryLaunch launch;
  size_t parameters = 0;
  std::vector<size_t> order;
  std::vector<ModuleTable> tables;
};

struct DeviceModule {
  std::string text;  // As Halide's generator for the device wrote it.
  std::vector<int64_t> scratch_bytes;
  std::vector<ModuleLaunch> launches;
};

// A module that was compiled for a device has, in place of the loops of instances, calls of Halide's runtime that launch entries of a text,
// which it holds, too. `stores` is what LowerForDevice noted. Entries are to be called `prefix` and a number, "f_0".
// UNIMPLEMENTED for a module that does something else on the host, or whose launches hang on what only a run knows.
absl::StatusOr<DeviceModule> ReadDeviceModule(const Halide::Module& module,
                                              const DeviceStores& stores,
                                              const std::string& prefix);

// Of a kernel that a device cannot have, "a device's kernel `what`".
absl::Status DeviceKernelUnimplemented(absl::string_view what);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEVICE_MODULE_H_
