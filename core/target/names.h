// The spellings of architectures and operating systems. Internal to core/target.
#ifndef SLIPWAY_CORE_TARGET_NAMES_H_
#define SLIPWAY_CORE_TARGET_NAMES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/target/target.h"

namespace slipway {

// "x86-64", "arm-64", ..., "cuda", "opencl".
absl::string_view ArchName(Arch arch);

// "linux", "android", "wasi"; empty for kNone.
absl::string_view OsName(Os os);

// All that are CPUs.
absl::Span<const Arch> CpuArchs();

// The operating systems that there are for a CPU architecture.
absl::Span<const Os> OsesOf(Arch arch);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_NAMES_H_
