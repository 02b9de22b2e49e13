#include "tests/common/gpu_cluster.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "tests/common/fake_gpu.h"

namespace slipway::testing {

absl::StatusOr<std::unique_ptr<Cluster>> StartGpuCluster(Cluster::Options options) {
  options.agent_flags.emplace_back("--accelerator=cuda");
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<Cluster> cluster, Cluster::Create(std::move(options)));
  SLIPWAY_RETURN_IF_ERROR(cluster->server().Start());
  for (int i = 0; i < cluster->agents(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(
        std::string libraries,
        PutFakeGpu(cluster->Path(absl::StrCat(cluster->agent(i).options().name, "-cache"))));
    cluster->agent(i).options().environment.emplace_back("LD_LIBRARY_PATH", std::move(libraries));
    SLIPWAY_RETURN_IF_ERROR(cluster->agent(i).Start());
  }
  return cluster;
}

}  // namespace slipway::testing
