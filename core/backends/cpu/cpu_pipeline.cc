#include "core/backends/cpu/cpu_pipeline.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "core/passes/alter_layout_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/pack_gemm_pass.h"
#include "core/passes/plan_memory_pass.h"

namespace slipway {
namespace {

std::vector<int64_t> ChannelBlocks(const DeviceTarget& device) {
  if (device.Has("avx512f")) return {16, 8, 4};
  if (device.Has("avx2")) return {8, 4};
  return {4};
}

int64_t PanelColumns(const DeviceTarget& device) { return device.Has("avx2") ? 16 : 8; }

}  // namespace

BackendPipeline CpuPipeline(const DeviceTarget& device) {
  const auto alter_layout = [blocks = ChannelBlocks(device)](Graph graph,
                                                             const PassContext& context) {
    return AlterLayout(std::move(graph), context, blocks);
  };
  const auto pack_gemm = [columns = PanelColumns(device)](Graph graph, const PassContext& context) {
    return PackGemm(std::move(graph), context, columns);
  };
  return {{{"AlterLayout", alter_layout}, {"PackGemm", pack_gemm}, {"FuseOps", FuseOps}},
          [](const Graph& graph, const PassContext& context) {
            return PlanMemory(graph, context.registry);
          }};
}

}  // namespace slipway
