// A C library as its files: sources that any C99 compiler takes, the kernels' object, the weights, and what builds them.
#ifndef SLIPWAY_CLIENT_LIBRARY_LIBRARY_FILES_H_
#define SLIPWAY_CLIENT_LIBRARY_LIBRARY_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/library_plan.h"
#include "core/base/blob.h"

namespace slipway {

struct LibraryOptions {
  std::string name;   // CheckLibraryName holds; the object was linked by it.
  std::string model;  // For people.
  bool weights_are_linked =
      true;  // A section of the program; else a file that the program brings to memory.
  // For scratch memory: at least LibraryPlan::scratch_bytes; 0 for these and, where a step is unbounded, kUnboundedScratchBytes at least.
  int64_t scratch_bytes = 0;
  // That may work on a run, by a hook that the program brings; 1 to kMaxLibraryThreads. Modules have one.
  int64_t threads = 1;
};

inline constexpr int64_t kMaxLibraryThreads = 64;
inline constexpr int64_t kUnboundedScratchBytes = 256 << 10;

struct LibraryFile {
  std::string path;          // In the library's folder.
  std::vector<Blob> pieces;  // One behind the other.
  bool is_padded = false;    // Zeros follow each piece, up to the next multiple of 64.

  std::string Contents() const;
};

// All multiples of 64.
struct LibraryMemory {
  int64_t scratch_bytes = 0;       // For the thread that runs the model.
  int64_t task_scratch_bytes = 0;  // For each that helps it.
  int64_t arena_bytes = 0;         // With what lies between steps.
};

// What a library has by these options. INVALID_ARGUMENT where generated kernels want more; UNIMPLEMENTED for several threads where the
// compiler did not tell what helpers take.
absl::StatusOr<LibraryMemory> MemoryOf(const LibraryPlan& plan, const LibraryOptions& options);

// A pure rendering. Names of the model's are in it only as comments and literals, escaped. Errors of MemoryOf.
absl::StatusOr<std::vector<LibraryFile>> RenderLibrary(const LibraryPlan& plan,
                                                       const LibraryOptions& options);

// OK unless there is something at `folder` that is no empty folder: ALREADY_EXISTS names it.
absl::Status CheckLibraryFolder(const std::string& folder);

// Writes all files into `folder`, or none. Errors of CheckLibraryFolder; RESOURCE_EXHAUSTED on a full disk.
absl::Status WriteLibrary(const std::vector<LibraryFile>& files, const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_LIBRARY_FILES_H_
