#include "core/passes/testing/pass_tester.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"

namespace slipway::testing {
namespace {

// Normal and uniform numbers differ between standard libraries; these do not.
float Normal(std::mt19937_64& random) {
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<float>(random() >> 40) / (1 << 24);
  return sum - 6;
}

}  // namespace

PassTester::PassTester()
    : registry_(StandardOperators()), reference_(registry_), context_{registry_, reference_} {}

PassTester::PassTester(OperatorRegistry registry, KernelColumn kernels)
    : registry_(std::move(registry)),
      reference_(registry_, std::move(kernels)),
      context_{registry_, reference_} {}

absl::StatusOr<Graph> PassTester::Parse(absl::string_view text) const {
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, registry_));
  return InferType(std::move(graph), context_);
}

absl::Status PassTester::Check(const Pass& pass, absl::string_view before,
                               absl::string_view after) const {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Graph graph, Parse(before), "before");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Graph expected, Parse(after), "after");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Graph actual, pass(graph, context_), "pass");
  SLIPWAY_RETURN_IF_ERROR_WITH(Verify(actual, registry_, {.require_types = true}),
                               absl::StrCat("verifier, after the pass gave ", Print(actual)));
  if (Print(actual) != Print(expected)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the pass gave\n", Print(actual), "instead of\n", Print(expected)));
  }
  return CheckSameResults(graph, actual, 1);
}

absl::StatusOr<std::string> PassTester::After(const Pass& pass, absl::string_view before,
                                              const Tolerance& tolerance) const {
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, Parse(before));
  SLIPWAY_ASSIGN_OR_RETURN(const Graph after, pass(graph, context_));
  for (const uint64_t seed : {1, 2}) {
    SLIPWAY_RETURN_IF_ERROR(CheckSameResults(graph, after, seed, tolerance));
  }
  return Print(after);
}

absl::Status PassTester::CheckSameResults(const Graph& expected, const Graph& actual, uint64_t seed,
                                          const Tolerance& tolerance) const {
  const std::vector<Tensor> inputs = RandomInputs(expected, seed);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::vector<Tensor> wanted,
                                reference_.Evaluate(expected, inputs), "reference, before");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::vector<Tensor> got, reference_.Evaluate(actual, inputs),
                                "reference, after");
  if (wanted.size() != got.size()) {
    return absl::FailedPreconditionError("the number of outputs changed");
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (expected.values[expected.outputs[i]].name != actual.values[actual.outputs[i]].name) {
      return absl::FailedPreconditionError(absl::StrCat("output ", i, " changed its name to ",
                                                        actual.values[actual.outputs[i]].name));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckClose(got[i], wanted[i], tolerance),
                                 absl::StrCat("output ", i));
  }
  return absl::OkStatus();
}

std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const TensorType& type = graph.values[id].type->tensor();
    Tensor tensor = Tensor::Zeros(type.dtype, type.shape);
    switch (type.dtype) {
      case DataType::kFloat32:
        for (float& value : tensor.mutable_values<float>()) value = Normal(random);
        break;
      case DataType::kInt64:
        for (int64_t& value : tensor.mutable_values<int64_t>()) value = random() % 5;
        break;
      case DataType::kInt32:
        for (int32_t& value : tensor.mutable_values<int32_t>()) value = random() % 5;
        break;
      case DataType::kBool:
        for (bool& value : tensor.mutable_values<bool>()) value = random() % 2 == 1;
        break;
      default:
        break;  // Zeros.
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace slipway::testing
