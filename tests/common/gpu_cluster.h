// A cluster whose agents have GPUs, which are fakes.
#ifndef SLIPWAY_TESTS_COMMON_GPU_CLUSTER_H_
#define SLIPWAY_TESTS_COMMON_GPU_CLUSTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tests/common/cluster.h"

namespace slipway::testing {

// As Cluster::Start, with `--accelerator cuda`. REQUIRES: not `tcp`.
absl::StatusOr<std::unique_ptr<Cluster>> StartGpuCluster(Cluster::Options options);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_GPU_CLUSTER_H_
