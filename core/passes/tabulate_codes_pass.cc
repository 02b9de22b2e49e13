#include "core/passes/tabulate_codes_pass.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/graph/builder.h"
#include "core/graph/edit.h"
#include "core/operators/quantization.h"
#include "core/passes/constant_node.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// Instructions for a vector of as many elements as f32 has in a register, about, by operator.
struct Cost {
  absl::string_view op;
  int instructions;
};
constexpr Cost kCosts[] = {
    {"Cast", 1},      {"Clip", 2},       {"DequantizeLinear", 3},
    {"Div", 10},      {"Elu", 15},       {"Erf", 20},
    {"Exp", 12},      {"Gelu", 25},      {"HardSigmoid", 4},
    {"HardSwish", 5}, {"Log", 15},       {"Mish", 40},
    {"Pow", 30},      {"Reciprocal", 8}, {"QuantizeLinear", 10},
    {"Round", 2},     {"Selu", 15},      {"Sigmoid", 20},
    {"Softplus", 30}, {"Sqrt", 15},      {"Tanh", 20},
};
constexpr int kCostOfOthers = 1;
// More between two codes are not looked at.
constexpr size_t kMaxNodes = 64;

int CostOf(const Node& node) {
  const auto* const found =
      absl::c_find_if(kCosts, [&node](const Cost& cost) { return cost.op == node.op; });
  return found == std::end(kCosts) ? kCostOfOthers : found->instructions;
}

bool IsCode(DataType dtype) { return dtype == DataType::kUint8 || dtype == DataType::kInt8; }
bool IsSmallInteger(DataType dtype) { return IsCode(dtype) || dtype == DataType::kInt16; }

// What makes a tensor of small integers of one of codes.
struct Region {
  ValueId codes = kNoValue;
  std::vector<NodeId> nodes;  // The last one first.
};

struct Tabulated {
  ValueId codes = kNoValue;
  std::vector<int64_t> table;  // A number a code.
};

class Tabulation {
 public:
  Tabulation(Graph graph, const PassContext& context, int lookup_instructions)
      : context_(context),
        lookup_instructions_(lookup_instructions),
        producers_(Producers(graph)),
        users_(Users(graph)),
        is_output_(OutputFlags(graph)),
        is_tabulated_(graph.nodes.size(), false),
        old_(graph),
        rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<Graph> Run();

 private:
  bool IsElementwiseNode(NodeId id) const {
    const OperatorSchema* const schema = context_.registry.Find(old_.nodes[id].op);
    return schema != nullptr && IsElementwise(schema->pattern) && !schema->random &&
           old_.nodes[id].outputs.size() == 1;
  }
  DataType TypeOf(ValueId id) const { return old_.values[id].type->dtype(); }
  bool IsSingleConstant(ValueId id) const {
    const std::optional<Tensor>& constant = old_.values[id].constant;
    return constant.has_value() && constant->num_elements() == 1;
  }
  // The largest that ends with the node; absent where there is none, or it is no cheaper by a table.
  std::optional<Region> RegionOf(NodeId last) const;
  // A number a code. UNIMPLEMENTED where the reference has none.
  absl::StatusOr<std::vector<int64_t>> TableOf(const Region& region) const;

  const PassContext& context_;
  const int lookup_instructions_;
  // Of the old graph, by value and by node:
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<bool> is_output_;
  std::vector<bool> is_tabulated_;
  const Graph old_;
  GraphRewriter rewriter_;
};

std::optional<Region> Tabulation::RegionOf(NodeId last) const {
  if (!IsElementwiseNode(last) || !IsSmallInteger(TypeOf(old_.nodes[last].outputs[0]))) {
    return std::nullopt;
  }
  // What nodes of the region read that none of them makes, by what makes it: the latest is asked first, so that whoever reads a value
  // was there before it.
  std::set<std::pair<NodeId, ValueId>> read;
  std::set<NodeId> inside;
  Region region, best;
  int cost = 0;
  const auto add = [&](NodeId id) {
    inside.insert(id);
    region.nodes.push_back(id);
    cost += CostOf(old_.nodes[id]);
    for (const ValueId input : old_.nodes[id].inputs) {
      if (input != kNoValue && !IsSingleConstant(input)) read.insert({producers_[input], input});
    }
  };
  add(last);
  while (!read.empty() && region.nodes.size() <= kMaxNodes) {
    const auto [maker, id] = *read.rbegin();
    if (read.size() == 1 && IsCode(TypeOf(id)) && cost > lookup_instructions_) {
      best = region;
      best.codes = id;
    }
    const bool continues =
        maker != kNoNode && IsElementwiseNode(maker) && !is_output_[id] &&
        absl::c_all_of(users_[id], [&](NodeId user) { return inside.count(user) > 0; });
    if (!continues) break;
    read.erase({maker, id});
    add(maker);
  }
  return best.codes == kNoValue ? std::nullopt : std::optional<Region>(std::move(best));
}

absl::StatusOr<std::vector<int64_t>> Tabulation::TableOf(const Region& region) const {
  GraphBuilder builder("table", context_.registry);
  std::map<ValueId, ValueId> known;
  if (TypeOf(region.codes) == DataType::kInt8) {
    std::vector<int8_t> codes(kCodes);
    for (int64_t i = 0; i < kCodes; ++i) codes[i] = static_cast<int8_t>(i - kCodes / 2);
    known[region.codes] = builder.Constant("codes", Tensor::Of<int8_t>({kCodes}, codes));
  } else {
    std::vector<uint8_t> codes(kCodes);
    for (int64_t i = 0; i < kCodes; ++i) codes[i] = static_cast<uint8_t>(i);
    known[region.codes] = builder.Constant("codes", Tensor::Of<uint8_t>({kCodes}, codes));
  }
  std::vector<NodeId> nodes = region.nodes;
  absl::c_sort(nodes);
  for (const NodeId id : nodes) {
    const Node& node = old_.nodes[id];
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) {
        inputs.push_back(kNoValue);
        continue;
      }
      const auto [place, is_new] = known.try_emplace(input, kNoValue);
      if (is_new) {
        place->second = builder.Constant(old_.values[input].name, *old_.values[input].constant);
      }
      inputs.push_back(place->second);
    }
    known[node.outputs[0]] = builder.Add(node.op, std::move(inputs), node.attributes);
  }
  builder.Output(known[old_.nodes[nodes.back()].outputs[0]]);
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, std::move(builder).Build());
  SLIPWAY_ASSIGN_OR_RETURN(graph, FoldConstant(std::move(graph), context_));
  const std::optional<Tensor>& results = graph.values[graph.outputs[0]].constant;
  if (!results.has_value() || results->num_elements() != kCodes) {
    return absl::UnimplementedError("it is not known what is computed of codes");
  }
  std::vector<int64_t> table(kCodes);
  for (int64_t i = 0; i < kCodes; ++i) {
    switch (results->dtype()) {
      case DataType::kUint8:
        table[i] = results->values<uint8_t>()[i];
        break;
      case DataType::kInt8:
        table[i] = results->values<int8_t>()[i];
        break;
      default:
        table[i] = results->values<int16_t>()[i];
    }
  }
  return table;
}

absl::StatusOr<Graph> Tabulation::Run() {
  std::map<NodeId, Tabulated> tables;
  for (NodeId id = static_cast<NodeId>(old_.nodes.size()); id-- > 0;) {
    if (is_tabulated_[id]) continue;
    std::optional<Region> region = RegionOf(id);
    if (!region.has_value()) continue;
    absl::StatusOr<std::vector<int64_t>> table = TableOf(*region);
    if (!table.ok() && IsLeftToRunTime(table.status())) continue;
    SLIPWAY_RETURN_IF_ERROR(table.status());
    for (const NodeId inside : region->nodes) is_tabulated_[inside] = true;
    tables[id] = {region->codes, *std::move(table)};
  }
  std::vector<Node> nodes = rewriter_.TakeNodes();
  for (size_t n = 0; n < nodes.size(); ++n) {
    rewriter_.Resolve(nodes[n]);
    const auto found = tables.find(static_cast<NodeId>(n));
    if (found == tables.end()) {
      rewriter_.Keep(std::move(nodes[n]));
      continue;
    }
    Tabulated& tabulated = found->second;
    const DataType to = TypeOf(old_.nodes[n].outputs[0]);
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y,
                             rewriter_.Add("slipway.Lookup", {rewriter_.Resolve(tabulated.codes)},
                                           {{"to", static_cast<int64_t>(to)},
                                            {"table", Ints(std::move(tabulated.table))}},
                                           DisplayName(rewriter_.graph(), nodes[n])));
    rewriter_.Replace(nodes[n], y);
  }
  return std::move(rewriter_).Finish();
}

}  // namespace

absl::StatusOr<Graph> TabulateCodes(Graph graph, const PassContext& context,
                                    int lookup_instructions) {
  SLIPWAY_ASSIGN_OR_RETURN(Graph tabulated,
                           Tabulation(std::move(graph), context, lookup_instructions).Run());
  // What was between the codes.
  return DeadCode(std::move(tabulated), context);
}

}  // namespace slipway
