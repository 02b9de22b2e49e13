// A model for wasm-32 as its files: the module, its plan, the weights, and client/js, which runs them.
#ifndef SLIPWAY_CLIENT_LIBRARY_MODULE_FILES_H_
#define SLIPWAY_CLIENT_LIBRARY_MODULE_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/library/library_files.h"
#include "client/library/library_plan.h"

namespace slipway {

// A pure rendering of a plan for wasm-32. Weights are always a file; scratch memory of MemoryOf is what there is to begin with, since
// memory grows. RESOURCE_EXHAUSTED where a module cannot have as much memory as the model takes; errors of MemoryOf.
absl::StatusOr<std::vector<LibraryFile>> RenderModule(const LibraryPlan& plan,
                                                      const LibraryOptions& options);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_MODULE_FILES_H_
