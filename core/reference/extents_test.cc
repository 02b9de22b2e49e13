// Extents that values decide: what a kernel finds when it runs is what the type rule tells of constants.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/graph/edit.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

class ExtentsTest : public ::testing::Test {
 protected:
  // Compares the rule that sees all inputs with rule and kernel where it does not see those that `hidden` says. Returns
  // whether there was something to find.
  bool Compare(const Graph& graph, const Node& node, const std::vector<Tensor>& inputs,
               const std::vector<bool>& hidden) {
    std::vector<ValueType> types(inputs.size());
    std::vector<const ValueType*> type_of(inputs.size(), nullptr);
    std::vector<const Tensor*> values(inputs.size(), nullptr);
    std::vector<const Tensor*> seen(inputs.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_set()) continue;
      types[i] = inputs[i].type();
      type_of[i] = &types[i];
      values[i] = &inputs[i];
      if (!hidden[i]) seen[i] = &inputs[i];
    }
    const std::string name = DisplayName(graph, node);
    const auto whole = NodeView::Create(node, registry_, name, type_of, values);
    const auto part = NodeView::Create(node, registry_, name, type_of, seen);
    EXPECT_OK(whole.status());
    EXPECT_OK(part.status());
    const auto exact = InferNodeTypes(*whole);
    auto open = InferNodeTypes(*part);
    EXPECT_OK(exact.status());
    if (absl::IsFailedPrecondition(open.status())) return false;
    EXPECT_OK(open.status());
    if (!exact.ok() || !open.ok()) return false;
    bool is_open = false;
    for (const ValueType& type : *open) is_open = is_open || !type.is_static();
    if (!is_open) return false;
    const auto found =
        FindExtents(*reference_.FindCallable(node.op), *part, values, *std::move(open));
    EXPECT_OK(found.status());
    for (size_t i = 0; found.ok() && i < found->size(); ++i) {
      // What only values decide the rule never tells.
      if (!part->has_output(static_cast<int>(i)) || !(*exact)[i].is_static()) continue;
      EXPECT_EQ(ToString((*found)[i]), ToString((*exact)[i])) << "output " << i;
    }
    return true;
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
};

// What the corpus does not have.
constexpr char kMore[] = R"(
  graph "more" (%x: f32[2, 4], %i: i64[1, 1, 2, 2], %p: f32[1, 1, 2, 2]) -> (%e, %a, %b, %u, %r, %s, %t, %v) {
    const %wide: i64[3] = {3, 1, 1}
    const %parts: i64[2] = {1, 3}
    const %whole: i64[4] = {1, 1, 5, 6}
    const %axis: i64[1] = {-1}
    %r = ReduceMax(%x, %axis)
    %s = ReduceMin(%x, %axis) {keepdims = 0}
    %t = ReduceProd(%x, %axis)
    %v = ReduceSum(%x, %axis) {keepdims = 0}
    %e = Expand(%x, %wide)
    %a, %b = Split(%x, %parts) {axis = 1}
    %u = MaxUnpool(%p, %i, %whole) {kernel_shape = [2, 2]}
  })";

bool HasStrings(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.dtype() == DataType::kString; });
}

TEST_F(ExtentsTest, AreThoseOfTheTypeRule) {
  std::set<std::string> compared;
  std::set<std::string> wanted;
  for (const std::string& op : registry_.Names()) {
    const CallableKernel* kernel = reference_.FindCallable(op);
    if (kernel != nullptr && kernel->extents != nullptr) wanted.insert(op);
  }
  wanted.erase("slipway.PackElements");  // Its input is a sequence.
  std::map<std::string, std::string> texts = {{"kMore", kMore}};
  for (const auto& file : std::filesystem::directory_iterator("core/reference/reference_corpus")) {
    ASSERT_OK_AND_ASSIGN(texts[file.path().string()], ReadFile(file.path().string(), 1 << 20));
  }
  for (const auto& [name, text] : texts) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(text));
    std::vector<Tensor> values(graph.values.size());
    for (size_t id = 0; id < values.size(); ++id) {
      if (graph.values[id].constant.has_value()) values[id] = *graph.values[id].constant;
    }
    for (const ValueId id : graph.inputs) {
      values[id] = Tensor::Zeros(graph.values[id].type->dtype(), graph.values[id].type->shape());
    }
    for (const Node& node : graph.nodes) {
      SCOPED_TRACE(node.op + " in " + name);
      std::vector<Tensor> inputs;
      for (const ValueId id : node.inputs) {
        inputs.push_back(id == kNoValue ? Tensor() : values[id]);
      }
      auto outputs = reference_.EvaluateNode(graph, node, inputs);
      if (!outputs.ok()) break;  // Some graphs need more than zeros.
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue) values[node.outputs[i]] = (*outputs)[i];
      }
      if (!wanted.contains(node.op) || HasStrings(inputs)) continue;
      for (size_t i = 0; i < inputs.size(); ++i) {
        std::vector<bool> hidden(inputs.size(), false);
        hidden[i] = true;
        if (Compare(graph, node, inputs, hidden)) compared.insert(node.op);
      }
      if (Compare(graph, node, inputs, std::vector<bool>(inputs.size(), true))) {
        compared.insert(node.op);
      }
    }
  }
  EXPECT_THAT(compared, ::testing::ElementsAreArray(wanted));
}

}  // namespace
}  // namespace slipway
