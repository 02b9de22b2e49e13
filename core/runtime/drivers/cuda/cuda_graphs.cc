#include "core/runtime/drivers/cuda/cuda_graphs.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {

CudaGraphs::~CudaGraphs() {
  const CurrentContext current(device_);
  for (const Kept& kept : kept_) {
    if (kept.graph != nullptr) device_.cuda().GraphExecDestroy(kept.graph);
  }
}

absl::Status CudaGraphs::Run(const CudaWork& work, CUstream stream) {
  if (work.count() < kLeastPieces || !device_.has_graphs()) return work.Issue(device_, stream);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&work](const Kept& kept) { return kept.words == work.words(); });
  if (found == kept_.end()) {
    kept_.push_front({work.words()});
    if (kept_.size() > kMostKept) {
      if (kept_.back().graph != nullptr) {
        // May be in work yet, which the driver then ends first.
        SLIPWAY_RETURN_IF_ERROR(
            device_.ToStatus(device_.cuda().GraphExecDestroy(kept_.back().graph), "a graph"));
      }
      kept_.pop_back();
    }
    return work.Issue(device_, stream);
  }
  kept_.splice(kept_.begin(), kept_, found);
  Kept& kept = kept_.front();
  if (kept.graph == nullptr) SLIPWAY_RETURN_IF_ERROR(Capture(work, stream, kept.graph));
  return device_.ToStatus(device_.cuda().GraphLaunch(kept.graph, stream),
                          absl::StrCat("a graph of ", work.count(), " pieces of work"));
}

absl::Status CudaGraphs::Capture(const CudaWork& work, CUstream stream, CUgraphExec& graph) const {
  const CudaLibrary& cuda = device_.cuda();
  const std::string what = absl::StrCat("capturing ", work.count(), " pieces of work");
  SLIPWAY_RETURN_IF_ERROR(
      device_.ToStatus(cuda.StreamBeginCapture(stream, kCudaCaptureThreadLocal), what));
  absl::Status status = work.Issue(device_, stream);
  // Whatever became of it: else the stream captures on.
  CUgraph captured = nullptr;
  status.Update(device_.ToStatus(cuda.StreamEndCapture(stream, &captured), what));
  if (status.ok()) {
    status = device_.ToStatus(cuda.GraphInstantiate(&graph, captured, 0), what);
  }
  if (captured != nullptr) cuda.GraphDestroy(captured);
  return status;
}

}  // namespace slipway
