#include "core/backends/cpu/cpu_pipeline.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "core/backends/cpu/strassen_choice.h"
#include "core/backends/cpu/winograd_choice.h"
#include "core/base/status_macros.h"
#include "core/codegen/tile_shapes.h"
#include "core/operators/attention.h"
#include "core/passes/alter_layout_pass.h"
#include "core/passes/call_kernels_pass.h"
#include "core/passes/channel_layout.h"
#include "core/passes/choose_convolution_pass.h"
#include "core/passes/choose_product_pass.h"
#include "core/passes/complete_outputs_pass.h"
#include "core/passes/expand_ops_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fuse_attention_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/merge_transposes_pass.h"
#include "core/passes/narrow_products_pass.h"
#include "core/passes/pack_gemm_pass.h"
#include "core/passes/pad_channels_pass.h"
#include "core/passes/plan_memory_pass.h"
#include "core/passes/round_in_groups_pass.h"
#include "core/passes/split_batch_pass.h"
#include "core/passes/tabulate_codes_pass.h"
#include "core/target/machine_description.h"

namespace slipway {
namespace {

// Channels of a block, largest first: those of a vector of sums, or of a whole register of factors where products are made of such.
std::vector<int64_t> ChannelBlocks(const MachineDescription& machine, int64_t factors) {
  std::vector<int64_t> blocks;
  const int64_t largest = std::max<int64_t>(machine.vector_bytes / 4, factors);
  for (int64_t block = largest; block >= 4; block /= 2) blocks.push_back(block);
  return blocks;
}

// Factors of a type that a row of a tile register takes.
int64_t FactorsOfRow(DataType dtype) { return kTileRowBytes / ByteSize(dtype); }

// Whether a convolution of bf16 is faster in tile registers than of f32 in vectors, as one of bf16 in vectors is nowhere that has them.
bool IsForTiles(const ConvView& conv) {
  const int64_t columns = conv.window.dilations[1] == 1 ? conv.window.kernel[1] : 1;
  return FillsTiles(static_cast<int>(conv.out_block),
                    static_cast<int>(conv.in_block / 2 * columns));
}

// The same of one over an image, once its channels are a block.
bool IsForTilesWithFewChannels(const ConvView& conv) {
  ConvView packed = conv;
  packed.in_block = kFewChannels;
  packed.out_block = conv.out_channels;
  return conv.in_channels > kFewChannels / 2 && IsForTiles(packed);
}

bool HasIntegerConvolutions(const Graph& graph) {
  return absl::c_any_of(graph.nodes,
                        [](const Node& node) { return node.op == "slipway.IntegerConv"; });
}

int64_t PanelColumns(const MachineDescription& machine) {
  return machine.vector_bytes >= 32 ? 16 : 8;
}

// Permutations of four registers; else each element is taken out of a vector, its number loaded, and put into one.
int LookupInstructions(const DeviceTarget& device) { return device.Has("vbmi") ? 8 : 44; }

// With fewer queries than that it takes longer to lay keys out than to multiply by them.
constexpr int64_t kLeastQueries = 8;

absl::Status ServesBlockAttention(const NodeView& attention) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView view, DecodeBlockAttention(attention));
  const std::vector<int64_t>& order = view.orders[kQueries];
  const Dimension queries = attention.input_type(kQueries).dimension(
      static_cast<int>(absl::c_find(order, kPosition) - order.begin()));
  if (!queries.is_known() || queries.extent() >= kLeastQueries) return absl::OkStatus();
  return absl::UnimplementedError("it has few queries");
}

// Where they are not emulated: that would be slower than f32 and products of i16.
NarrowForms FormsFor(const DeviceTarget& device, const MachineDescription& machine,
                     Precision precision) {
  const bool has_instructions = device.arch == Arch::kX86_64 && device.level >= 3;
  NarrowForms forms;
  forms.bfloat16_matrices =
      has_instructions && machine.has_bf16 && precision == Precision::kBfloat16;
  if (forms.bfloat16_matrices) {
    forms.bfloat16_convolutions = [machine](const ConvView& conv) {
      return !machine.has_bf16_tiles || IsForTiles(conv);
    };
  }
  forms.bfloat16_depthwise = forms.bfloat16_matrices;
  forms.bytes = has_instructions && machine.has_int8;
  forms.depthwise_bytes = true;  // Summed in f32, which holds such sums.
  return forms;
}

}  // namespace

BackendPipeline CpuPipeline(const DeviceTarget& device, IsLowered is_lowered, Precision precision) {
  const MachineDescription machine = DescribeMachine(device);
  const NarrowForms forms = FormsFor(device, machine, precision);
  const auto alter_layout = [machine, forms](Graph graph, const PassContext& context) {
    const bool is_bfloat16 = machine.has_bf16_tiles && forms.bfloat16_convolutions != nullptr;
    int64_t factors = is_bfloat16 ? FactorsOfRow(DataType::kBfloat16) : 0;
    if (machine.has_int8_tiles && HasIntegerConvolutions(graph)) {
      factors = FactorsOfRow(DataType::kUint8);
    }
    return AlterLayout(std::move(graph), context, ChannelBlocks(machine, factors),
                       is_bfloat16 ? IsForTilesWithFewChannels : nullptr);
  };
  const auto pad_channels = [blocks = ChannelBlocks(machine, /*factors=*/0)](
                                Graph graph, const PassContext& context) {
    return PadChannels(std::move(graph), context, blocks, blocks.front());
  };
  const auto choose_convolution = [machine, forms](Graph graph, const PassContext& context) {
    return ChooseConvolution(std::move(graph), context, [&](const ConvView& conv) {
      const bool is_narrow = forms.bfloat16_convolutions && forms.bfloat16_convolutions(conv);
      return ChooseWinogradTile(machine, conv,
                                is_narrow ? DataType::kBfloat16 : DataType::kFloat32);
    });
  };
  const auto narrow_products = [forms](Graph graph, const PassContext& context) {
    return NarrowProducts(std::move(graph), context, forms);
  };
  const auto tabulate_codes = [instructions = LookupInstructions(device)](
                                  Graph graph, const PassContext& context) {
    return TabulateCodes(std::move(graph), context, instructions);
  };
  const auto split_batch = [bytes = machine.l2_bytes](Graph graph, const PassContext& context) {
    return SplitBatch(std::move(graph), context, bytes);
  };
  const auto fuse_attention = [](Graph graph, const PassContext& context) {
    return FuseAttention(std::move(graph), context, ServesBlockAttention);
  };
  const auto pack_gemm = [columns = PanelColumns(machine)](Graph graph,
                                                           const PassContext& context) {
    return PackGemm(std::move(graph), context, columns);
  };
  const auto choose_product = [machine, forms](Graph graph, const PassContext& context) {
    return ChooseProduct(std::move(graph), context, [&](const ProductExtents& product) {
      // Tiles of images have too few rows where registers are few.
      if (product.is_of_images && machine.vector_registers < 32) return false;
      return !forms.bfloat16_matrices &&
             IsFasterByHalves(machine, product.rows, product.depth, product.columns);
    });
  };
  if (!is_lowered) is_lowered = [](const NodeView&, absl::Span<const ValueType>) { return true; };
  const auto expand_ops = [is_lowered](Graph graph, const PassContext& context) {
    return ExpandOps(std::move(graph), context, is_lowered);
  };
  const auto call_kernels = [is_lowered = std::move(is_lowered)](Graph graph,
                                                                 const PassContext& context) {
    return CallKernels(std::move(graph), context, is_lowered);
  };
  return {{{"ExpandOps", expand_ops},
           {"FoldConstant", FoldConstant},  // What ExpandOps wrote around constants.
           {"FuseAttention", fuse_attention, /*descends=*/true, /*is_optional=*/true},
           {"PadChannels", pad_channels, /*descends=*/true, /*is_optional=*/true},
           {"AlterLayout", alter_layout, /*descends=*/true, /*is_optional=*/true},
           {"ChooseConvolution", choose_convolution, /*descends=*/true, /*is_optional=*/true},
           {"MergeTransposes", MergeTransposes, /*descends=*/true, /*is_optional=*/true},
           {"PackGemm", pack_gemm, /*descends=*/true, /*is_optional=*/true},
           {"ChooseProduct", choose_product, /*descends=*/true, /*is_optional=*/true},
           {"NarrowProducts", narrow_products, /*descends=*/true, /*is_optional=*/true},
           {"TabulateCodes", tabulate_codes, /*descends=*/true, /*is_optional=*/true},
           {"SplitBatch", split_batch, /*descends=*/false, /*is_optional=*/true},
           {"CallKernels", call_kernels},
           {"FuseOps", FuseOps},
           {"RoundInGroups", RoundInGroups},
           {"CompleteOutputs", CompleteOutputs}},
          [](const Graph& graph, const PassContext& context) {
            return PlanMemory(graph, context.registry);
          }};
}

}  // namespace slipway
