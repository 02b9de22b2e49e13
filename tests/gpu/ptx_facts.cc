#include "tests/gpu/ptx_facts.h"

#include <map>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "tests/gpu/attention_graphs.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/product_graphs.h"
#include "tests/gpu/row_graphs.h"

namespace slipway::testing {
namespace {

constexpr char kTarget[] = "x86-64-linux,cuda-sm80";
constexpr char kWarpGroupTarget[] = "x86-64-linux,cuda-sm90a";

struct EntryFacts {
  int parameters = 0;
  std::map<std::string, int> instructions;
};

std::map<std::string, EntryFacts> ReadEntries(const std::string& text) {
  std::map<std::string, EntryFacts> entries;
  EntryFacts* entry = nullptr;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, ".visible .entry ")) {
      entry = &entries[std::string(line.substr(0, line.find('(')))];
    } else if (absl::StartsWith(line, "\t.param")) {
      ++entry->parameters;
    } else if (absl::ConsumePrefix(&line, "\t") && !absl::StartsWith(line, ".")) {
      if (absl::StartsWith(line, "@")) line.remove_prefix(line.find(' ') + 1);
      ++entry->instructions[std::string(line.substr(0, line.find_first_of(" \t;")))];
    }
  }
  return entries;
}

std::string Sizes(const google::protobuf::RepeatedPtrField<v1::Size>& groups) {
  std::vector<int64_t> sizes;
  for (const v1::Size& size : groups) sizes.push_back(size.constant());
  return absl::StrJoin(sizes, "x");
}

std::string SharedBytes(int64_t bytes) {
  return bytes == 0 ? "" : absl::StrCat(", sharing ", bytes, " bytes");
}

std::string FactsOf(const CompiledGraph& compiled) {
  std::string facts = compiled.notes + "\n";
  if (!compiled.products.empty()) absl::StrAppend(&facts, compiled.products, "\n");
  const v1::Manifest& manifest = compiled.artifact.manifest().proto();
  const std::map<std::string, EntryFacts> entries = ReadEntries(DeviceTextOf(compiled.artifact));
  for (const v1::Function& function : manifest.functions()) {
    for (const v1::Step& step : function.steps()) {
      if (step.device() == 0 || !step.has_kernel()) continue;
      const v1::Step::Kernel& kernel = step.kernel();
      const EntryFacts& entry = entries.at(manifest.code(static_cast<int>(kernel.code()))
                                               .entries(static_cast<int>(kernel.kernel())));
      absl::StrAppend(&facts, step.name(), ": ", Sizes(kernel.launch().groups()), " groups of ",
                      absl::StrJoin(kernel.launch().group(), "x"),
                      SharedBytes(kernel.launch().shared_bytes()), ", reads ", kernel.inputs_size(),
                      ", writes ", kernel.outputs_size(), ", takes ", entry.parameters, "\n  ",
                      absl::StrJoin(entry.instructions, ", ", absl::PairFormatter(" ")), "\n");
    }
  }
  return facts;
}

// One of each way in which factors come to shared memory.
absl::Status AddWarpGroups(GraphCompiler& compiler, std::string& facts) {
  constexpr absl::string_view kNames[] = {"even", "rows_of_columns", "residual"};
  TensorTile largest;
  for (const TensorTile& tile : TensorTiles()) {
    if (tile.is_of_warp_groups && tile.rows * tile.columns > largest.rows * largest.columns) {
      largest = tile;
    }
  }
  for (const ProductGraph& graph : ProductGraphs()) {
    if (!absl::c_linear_search(kNames, graph.name)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const Graph parsed, compiler.tester().Parse(graph.text));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(
        const CompiledGraph compiled,
        compiler.Compile(parsed, kWarpGroupTarget, Precision::kBfloat16, {largest, 1}), graph.name);
    absl::StrAppend(&facts, "\n== ", graph.name, ", bf16, sm90a\n", FactsOf(compiled));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PtxFacts() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<GraphCompiler> compiler, GraphCompiler::Create());
  std::string facts;
  for (const SmallGraph& graph : SmallGraphs()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const CompiledGraph compiled,
                                  compiler->Compile(graph.text, kTarget), graph.name);
    absl::StrAppend(&facts, facts.empty() ? "" : "\n", "== ", graph.name, "\n", FactsOf(compiled));
  }
  for (const ProductGraph& graph : ProductGraphs()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const CompiledGraph compiled,
                                  compiler->Compile(graph.text, kTarget, Precision::kBfloat16),
                                  graph.name);
    absl::StrAppend(&facts, "\n== ", graph.name, ", bf16\n", FactsOf(compiled));
  }
  // One without a mask, and one with each kind; one whose mask is known.
  for (const AttentionGraph& graph : AttentionGraphs()) {
    constexpr absl::string_view kNames[] = {"plain", "causal_numbers", "causal_choice",
                                            "causal_triangle"};
    if (!absl::c_linear_search(kNames, graph.name)) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const CompiledGraph compiled,
                                  compiler->Compile(graph.text, kTarget, Precision::kBfloat16),
                                  graph.name);
    absl::StrAppend(&facts, "\n== attention ", graph.name, ", bf16\n", FactsOf(compiled));
  }
  SLIPWAY_RETURN_IF_ERROR(AddWarpGroups(*compiler, facts));
  // With something behind them: rows, groups of channels, and groups that are longer than a group of instances holds.
  for (const RowGraph& graph : RowGraphs()) {
    constexpr absl::string_view kNames[] = {"layers_and_more", "groups", "groups_of_codes",
                                            "groups_of_parts", "channels"};
    if (!absl::c_linear_search(kNames, graph.name)) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const CompiledGraph compiled,
                                  compiler->Compile(graph.text, kTarget), graph.name);
    absl::StrAppend(&facts, "\n== rows ", graph.name, "\n", FactsOf(compiled));
  }
  return facts;
}

}  // namespace slipway::testing
