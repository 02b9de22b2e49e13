// Every form that graphs are written in reads back as the same graph: text, protocol buffers, ONNX.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/exporters/nnvm_json/nnvm_exporter.h"
#include "core/exporters/onnx/onnx_exporter.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/edit.h"
#include "core/graph/graph_digest.h"
#include "core/graph/text.h"
#include "core/importers/nnvm_json/nnvm_importer.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/random_graph.h"
#include "core/wire/graph/graph_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr uint64_t kRandomGraphs = 100;

class InterchangeTest : public ::testing::Test {
 protected:
  // The graphs of core/reference's corpus, which have every operator.
  std::vector<Graph> Corpus() const {
    std::vector<Graph> graphs;
    for (const auto& file :
         std::filesystem::directory_iterator("core/reference/reference_corpus")) {
      const auto text = ReadFile(file.path().string(), 1 << 20);
      EXPECT_OK(text.status());
      auto graph = ParseGraph(*text);
      EXPECT_OK(graph.status()) << file.path();
      if (graph.ok()) graphs.push_back(*std::move(graph));
    }
    return graphs;
  }

  void ExpectComesBack(const Graph& graph) const {
    ASSERT_OK_AND_ASSIGN(const std::string bytes, FormatGraphFile(graph));
    ASSERT_OK_AND_ASSIGN(const Graph from_proto, ParseGraphFile(bytes));
    EXPECT_TRUE(from_proto == graph) << Print(graph);
    const std::string text = Print(graph);
    ASSERT_OK_AND_ASSIGN(const Graph from_text, ParseGraph(text));
    EXPECT_EQ(Print(from_text), text);
  }

  // With all types, as `graph` has them.
  absl::StatusOr<Graph> Import(const OnnxExport& files) const {
    OnnxFiles onnx;
    onnx.main = Blob::Own(files.main);
    if (!files.external.empty()) onnx.external["w.bin"] = Blob::Own(files.external);
    auto graph = ImportOnnx(onnx, tester_.registry());
    if (!graph.ok()) return graph.status();
    return InferType(*std::move(graph), tester_.context());
  }

  void ExpectComesBackThroughOnnx(const Graph& graph, const OnnxExportOptions& options) const {
    ASSERT_OK_AND_ASSIGN(const OnnxExport files, ExportOnnx(graph, tester_.registry(), options));
    const auto again = Import(files);
    ASSERT_OK(again.status()) << Print(graph);
    EXPECT_EQ(DigestOf(*again, DigestNames::kIncluded), DigestOf(graph, DigestNames::kIncluded))
        << Print(graph) << "became\n"
        << Print(*again);
  }

  const PassTester tester_;
};

// The node alone, with what it reads, and without naming what is omitted at the end.
Graph Alone(const Graph& graph, const Node& node) {
  Graph alone;
  alone.name = "alone";
  alone.values = graph.values;
  alone.nodes = {node};
  Node& only = alone.nodes[0];
  while (!only.inputs.empty() && only.inputs.back() == kNoValue) only.inputs.pop_back();
  while (!only.outputs.empty() && only.outputs.back() == kNoValue) only.outputs.pop_back();
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || alone.values[id].constant.has_value()) continue;
    const bool is_known =
        std::find(alone.inputs.begin(), alone.inputs.end(), id) != alone.inputs.end();
    if (!is_known) alone.inputs.push_back(id);
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) alone.outputs.push_back(id);
  }
  DropUnusedValues(alone);
  return alone;
}

TEST_F(InterchangeTest, EveryOperatorInTextAndProtobuf) {
  for (const Graph& graph : Corpus()) {
    ExpectComesBack(graph);
    const auto typed = InferType(graph, tester_.context());
    if (typed.ok()) ExpectComesBack(*typed);
  }
}

TEST_F(InterchangeTest, RandomGraphsInEveryForm) {
  for (uint64_t seed = 0; seed < kRandomGraphs; ++seed) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, RandomGraph(tester_.registry(), seed));
    ExpectComesBack(graph);
    ExpectComesBackThroughOnnx(graph, {});
    ExpectComesBackThroughOnnx(graph, {.opset = 20, .external_name = "w.bin"});
  }
}

TEST_F(InterchangeTest, BodiesThroughOnnx) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(R"(
graph "g" (%c: bool[], %x: f32[2], %m: i64[]) -> (%y, %all) {
  const %two: f32[1] = {2}
  const %w: f32[300] = splat 0.5
  %first = Mul(%x, %two)
  %y, %all = Loop "turns" (%m, %c, %first, %x) {captures = 1,
    body = graph "loop" (%i, %on, %v, %x) -> (%on, %next, %out) {
      const %half: f32[1] = {0.5}
      %less = Mul(%x, %half)
      %sum, %sums = Scan(%less, %v) {num_scan_inputs = 1,
        body = graph "scan" (%s, %slice) -> (%after, %after) {
          %after = Add(%s, %slice)
        }
      }
      %next = If "which" (%on, %sum, %v) {captures = 2,
        then_branch = graph "then" (%sum, %unread) -> (%y) { %y = Neg(%sum) },
        else_branch = graph "else" (%unread, %v) -> (%v) {}
      }
      const %w: f32[300] = splat 0.5
      %top = ReduceMax(%w)
      %out = Add(%sums, %top)
    }
  }
})"));
  for (const OnnxExportOptions& options :
       {OnnxExportOptions(), OnnxExportOptions{.opset = 20, .external_name = "w.bin"}}) {
    ASSERT_OK_AND_ASSIGN(const OnnxExport files, ExportOnnx(graph, tester_.registry(), options));
    ASSERT_OK_AND_ASSIGN(const Graph imported, Import(files));
    EXPECT_OK(tester_.CheckSameResults(graph, imported, 3));
    ExpectComesBackThroughOnnx(imported, options);
  }
}

TEST_F(InterchangeTest, NetworksThroughNnvm) {
  constexpr char kNetwork[] = R"(graph "net" (%x: f32[1, 3, 8, 8]) -> (%y) {
    const %w: f32[4, 3, 3, 3] = splat 0.1
    const %b: f32[4] = {0.5, -0.5, 0, 1}
    const %s: f32[4] = {1, 2, 3, 4}
    const %half: f32[] = {0.5}
    const %v: f32[5, 16] = splat 0.25
    const %shape: i64[2] = {1, -1}
    %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1], strides = [2, 2]}
    %n = BatchNormalization(%c, %s, %b, %b, %s)
    %l = LeakyRelu(%n) {alpha = 0.1}
    %p = AveragePool(%l) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
    %m = MaxPool(%l) {kernel_shape = [2, 2], strides = [2, 2]}
    %a = Add(%p, %m)
    %h = Mul(%a, %half)
    %r = Reshape(%h, %shape)
    %g = Gemm(%r, %v) {transB = 1}
    %y = Softmax(%g)
  })";
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(kNetwork));
  ASSERT_OK_AND_ASSIGN(const NnvmExport files, ExportNnvm(graph, tester_.registry()));
  ASSERT_OK_AND_ASSIGN(const Graph again,
                       ImportNnvm({files.symbol, files.parameters}, tester_.registry()));
  EXPECT_EQ(again.values[again.outputs[0]].name, "y");
  EXPECT_OK(tester_.CheckSameResults(graph, again, 3));
  ASSERT_OK_AND_ASSIGN(const Graph unsayable, tester_.Parse(R"(graph "g" (%x: f32[2]) -> (%y) {
    %y = Mish "act" (%x) })"));
  EXPECT_THAT(ExportNnvm(unsayable, tester_.registry()),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::HasSubstr("\"act\" (Mish)")));
}

TEST_F(InterchangeTest, EveryOperatorOfOnnxThroughOnnx) {
  int nodes = 0;
  for (const Graph& untyped : Corpus()) {
    const auto graph = InferType(untyped, tester_.context());
    // Of what types the elements of sequences are is found out by running.
    if (absl::IsUnimplemented(graph.status())) continue;
    ASSERT_OK(graph.status());
    for (const Node& node : graph->nodes) {
      const Graph alone = Alone(*graph, node);
      if (absl::StartsWith(node.op, "slipway.")) continue;
      SCOPED_TRACE(node.op);
      if (!CheckStatic(alone, "the importer").ok()) continue;
      ++nodes;
      ExpectComesBackThroughOnnx(alone, {});
      // Older opsets say less, but nothing else.
      for (const int opset : {26, 21, 18}) {
        const auto files = ExportOnnx(alone, tester_.registry(), {.opset = opset});
        if (files.ok()) {
          EXPECT_OK(Import(*files).status()) << opset;
        } else {
          EXPECT_THAT(files.status(), StatusIs(absl::StatusCode::kUnimplemented));
        }
      }
    }
  }
  EXPECT_GT(nodes, 150);
}

}  // namespace
}  // namespace slipway::testing
