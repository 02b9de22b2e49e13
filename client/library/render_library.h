// What came of an export, for people and for machines.
#ifndef SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_
#define SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_

#include <string>

#include "client/library/library_files.h"
#include "client/library/library_plan.h"

namespace slipway {

// `memory` is MemoryOf; `folder` is where the library was written.
std::string RenderLibraryText(const LibraryPlan& plan, const LibraryOptions& options,
                              const LibraryMemory& memory, const std::string& folder);
std::string RenderLibraryJson(const LibraryPlan& plan, const LibraryOptions& options,
                              const LibraryMemory& memory, const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_
