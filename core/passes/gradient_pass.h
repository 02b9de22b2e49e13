// Gradient: adds to a graph what computes the gradient of an output (reverse mode).
#ifndef SLIPWAY_CORE_PASSES_GRADIENT_PASS_H_
#define SLIPWAY_CORE_PASSES_GRADIENT_PASS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/gradients/gradient_node.h"
#include "core/passes/pass.h"

namespace slipway {

struct GradientOptions {
  // The output whose gradient is wanted; empty for the first. Where it is no single number, that of the sum of its
  // elements.
  std::string loss;
  // The values, inputs or constants, by which it is derived; empty for all of floating point.
  std::vector<std::string> with_respect_to;
};

// The graph with one more output a value of `with_respect_to`, in that order, called "NAME_gradient", of the value's
// type: zeros where the loss does not hang on it. Walks back over the nodes once (Griewank and Walther, "Evaluating
// Derivatives", 2008, chapter 3); gradients are made of the graph's own operators, so every other pass applies to them.
// Constants by which is derived stay constants: whoever trains makes inputs of them before. Through bodies of If, Loop and Scan
// the way back goes as through any node (gradients/control.cc).
//
// INVALID_ARGUMENT for a name that is no such value; UNIMPLEMENTED names the first node on the way whose operator has no
// rule, or not for this form of it (a Loop whose number of turns is not known, a body that reads a constant by which is
// derived), and for extents that are not known. REQUIRES: the graph is verified, all types
// known; `rules` outlive the call only.
absl::StatusOr<Graph> Gradient(Graph graph, const GradientOptions& options,
                               const GradientColumn& rules, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_GRADIENT_PASS_H_
