#include "core/codegen/tensor_cores/attention_kernel.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/attention_text.h"
#include "core/codegen/tensor_cores/attention_tile.h"
#include "core/codegen/tensor_cores/fused_attention.h"
#include "core/codegen/tensor_cores/kernel_text.h"

namespace slipway {
namespace {

KernelSchedule ScheduleOf(const AttentionTile& tile) {
  return {{"attention", {{"queries", tile.queries}, {"keys", tile.keys}, {"warps", tile.warps}}}};
}

absl::StatusOr<AttentionTile> TileOf(const ScheduleRecord& record, const FusedAttention& attention,
                                     int number_bytes) {
  for (const AttentionTile& tile : AttentionTiles()) {
    if (ScheduleOf(tile) != record.schedule) continue;
    if (CanAttend(tile, attention.size, attention.value_size, number_bytes)) return tile;
  }
  return absl::InvalidArgumentError(absl::StrCat("its schedule in line ", record.line,
                                                 ": there is no \"", ToString(record.schedule),
                                                 "\" for attention on tensor cores"));
}

}  // namespace

bool IsAttention(const Graph& body) {
  return body.nodes.size() == 1 && body.nodes[0].op == "slipway.BlockAttention";
}

absl::StatusOr<ScheduledKernel> MakeAttentionKernel(const Graph& body,
                                                    const OperatorRegistry& registry,
                                                    const TensorGpu& gpu, Precision precision,
                                                    const std::string& function,
                                                    const ScheduleRecord* record) {
  const Node& node = body.nodes[0];
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body, node, registry));
  SLIPWAY_ASSIGN_OR_RETURN(const FusedAttention attention, DecodeFusedAttention(view));
  std::vector<int> operands;
  for (const ValueId id : node.inputs) {
    const auto input = absl::c_find(body.inputs, id);
    if (input == body.inputs.end()) {
      return absl::UnimplementedError("a tensor of it is in its code");
    }
    operands.push_back(static_cast<int>(input - body.inputs.begin()));
  }
  const int bytes = FindNumberForm(precision)->bytes;
  AttentionTile tile =
      ChooseAttentionTile(gpu, attention.batch * attention.heads, attention.queries, attention.size,
                          attention.value_size, bytes);
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(tile, TileOf(*record, attention, bytes));
  }
  ScheduledKernel made{AttentionKernel(attention, operands, body.inputs.size(), precision, tile,
                                       absl::StrCat(function, "_0")),
                       ScheduleOf(tile),
                       {}};
  for (const AttentionTile& other : AttentionTiles()) {
    if (other == tile || !CanAttend(other, attention.size, attention.value_size, bytes)) continue;
    made.candidates.push_back(ScheduleOf(other));
  }
  return made;
}

}  // namespace slipway
