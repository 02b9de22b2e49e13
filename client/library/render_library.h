// What came of an export, for people and for machines.
#ifndef SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_
#define SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_

#include <cstdint>
#include <string>

#include "client/library/library_files.h"
#include "client/library/library_plan.h"

namespace slipway {

// `scratch_bytes` is ScratchBytesOf; `folder` is where the library was written.
std::string RenderLibraryText(const LibraryPlan& plan, const LibraryOptions& options,
                              int64_t scratch_bytes, const std::string& folder);
std::string RenderLibraryJson(const LibraryPlan& plan, const LibraryOptions& options,
                              int64_t scratch_bytes, const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_RENDER_LIBRARY_H_
