// What tests of passes share: a context, graphs from text, before and after.
#ifndef SLIPWAY_CORE_PASSES_TESTING_PASS_TESTER_H_
#define SLIPWAY_CORE_PASSES_TESTING_PASS_TESTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/graph/operator_registry.h"
#include "core/passes/pass.h"
#include "core/reference/kernel.h"
#include "core/reference/reference.h"
#include "core/tensor/comparison.h"

namespace slipway::testing {

class PassTester {
 public:
  PassTester();
  // With operators and kernels of the caller's.
  PassTester(OperatorRegistry registry, KernelColumn kernels);

  const PassContext& context() const { return context_; }
  const OperatorRegistry& registry() const { return registry_; }
  const Reference& reference() const { return reference_; }

  // A graph from text that need not state the types of nodes: they are inferred.
  absl::StatusOr<Graph> Parse(absl::string_view text) const;

  // Runs the pass on `before` and verifies the result. OK when it prints as `after` does and the two
  // compute the same from random inputs; both texts as for Parse.
  absl::Status Check(const Pass& pass, absl::string_view before, absl::string_view after) const;

  // What the pass makes of `before`, printed. An error where the two do not compute the same from random inputs.
  absl::StatusOr<std::string> After(const Pass& pass, absl::string_view before,
                                    const Tolerance& tolerance = {}) const;

  // OK when both graphs make the same outputs from inputs drawn with `seed`.
  absl::Status CheckSameResults(const Graph& expected, const Graph& actual, uint64_t seed,
                                const Tolerance& tolerance = {}) const;

 private:
  OperatorRegistry registry_;
  Reference reference_;
  PassContext context_;
};

// The outputs of a fused graph, evaluated node by node in memory laid out by the plan, which holds
// nothing else: what the plan puts in one place too early comes out wrong.
absl::StatusOr<std::vector<Tensor>> EvaluateInPlannedMemory(const Graph& graph,
                                                            const MemoryPlan& plan,
                                                            absl::Span<const Tensor> inputs,
                                                            const Reference& reference);

// One tensor a graph input; floats are normal, integers small and not negative.
std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed);

}  // namespace slipway::testing

#endif  // SLIPWAY_CORE_PASSES_TESTING_PASS_TESTER_H_
