// CudaGraphs: work that comes again is given to the driver as a graph, in one call.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_GRAPHS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_GRAPHS_H_

#include <cstdint>
#include <list>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/cuda_work.h"

namespace slipway {

class CudaDevice;

// Of the streams of one program context. The first time work is done piece by piece, the second time it is captured, and from then on the graph
// is launched as long as functions, sizes and addresses are the same; other sizes of a program's symbols have graphs of their own. Not
// thread-safe.
class CudaGraphs {
 public:
  // Less than this is no less work for the driver as a graph.
  static constexpr int64_t kLeastPieces = 3;
  // Graphs, and work that may become one; what was used longest ago goes.
  static constexpr size_t kMostKept = 16;

  explicit CudaGraphs(const CudaDevice& device) : device_(device) {}
  // Their work has ended.
  ~CudaGraphs();
  CudaGraphs(const CudaGraphs&) = delete;
  CudaGraphs& operator=(const CudaGraphs&) = delete;

  // The device's context is current.
  absl::Status Run(const CudaWork& work, CUstream stream);

 private:
  struct Kept {
    std::vector<uint64_t> words;
    CUgraphExec graph = nullptr;
  };

  absl::Status Capture(const CudaWork& work, CUstream stream, CUgraphExec& graph) const;

  const CudaDevice& device_;
  std::list<Kept> kept_;  // What was used last is the first.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_GRAPHS_H_
