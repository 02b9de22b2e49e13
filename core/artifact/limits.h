// How large an artifact a reader accepts.
#ifndef SLIPWAY_CORE_ARTIFACT_LIMITS_H_
#define SLIPWAY_CORE_ARTIFACT_LIMITS_H_

#include <cstdint>

namespace slipway {

// Newest version of the manifest this source reads and writes; it reads all before.
inline constexpr uint32_t kManifestFormatVersion = 2;
// Placement of everything a kernel may touch, in memory and in blobs.
inline constexpr int64_t kBufferAlignment = 64;

// Bounds a reader holds an artifact to before it allocates anything for it.
struct ReaderLimits {
  int64_t manifest_bytes = 32 << 20;
  int64_t blob_bytes = int64_t{1} << 36;
  // Largest .slip file.
  int64_t file_bytes = int64_t{1} << 37;
  // All static buffers of a space; all external buffers, as small as they can be; a dynamic one, likewise.
  int64_t arena_bytes = int64_t{1} << 36;
  int64_t external_bytes = int64_t{1} << 36;
  int64_t dynamic_bytes = int64_t{1} << 36;
  // Kernels index elements with 32 bits.
  int64_t value_bytes = (int64_t{1} << 31) - 1;
  int devices = 16;
  int codes = 1024;
  uint32_t kernels_per_code = 1 << 16;
  // Each of: constants, buffers, values, steps.
  int entries = 1 << 18;
  int bindings = 1024;
  int symbols = 4096;
  int expressions = 1 << 16;
  int symbols_per_expression = 16;
  int functions = 4096;
  // Of one function; and equalities of one.
  int constraints = 4096;
  int equalities_per_constraint = 8;
  // Of functions that call each other: a runtime may need a frame of its own for each.
  int call_depth = 64;
  int spaces = 64;
  // Queues in use by one function, of all devices.
  int queues = 64;
  int after_per_step = 1024;
  // Pieces of memory looked at while a function is followed.
  int64_t memory_visits = int64_t{1} << 27;
  int arguments_per_step = 256;
  int operators_per_step = 1024;
  int tools = 64;
  int name_bytes = 255;
  int binding_name_bytes = 1024;
  int step_name_bytes = 1024;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_LIMITS_H_
