// The rules of CanonicalizeOps: by operator, and one for other views (Movement::kView), a file a family. Private to that pass.
#ifndef SLIPWAY_CORE_PASSES_CANONICALIZE_RULES_H_
#define SLIPWAY_CORE_PASSES_CANONICALIZE_RULES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pass.h"

namespace slipway {

// Sees a node whose inputs are resolved. Returns true when it replaced the node; otherwise the node,
// perhaps changed in place, is kept.
using CanonicalizeRule = absl::StatusOr<bool> (*)(Node&, GraphRewriter&, const PassContext&);
using CanonicalizeRules = absl::flat_hash_map<std::string, CanonicalizeRule>;

// Dropout, Constant, Cast, Clip, Concat, Transpose.
void AddIdentityRules(CanonicalizeRules& rules);
// Sum, Max, Min.
void AddVariadicRules(CanonicalizeRules& rules);
// Gemm, MatMul.
void AddProductRules(CanonicalizeRules& rules);
// Conv, the pools.
void AddWindowRules(CanonicalizeRules& rules);
// Scan.
void AddControlRules(CanonicalizeRules& rules);
// InstanceNormalization, Resize, Softmax, slipway.Again.
void AddShapeRules(CanonicalizeRules& rules);

// The rule of all views without one of their own: a Reshape, or nothing where the type stays.
absl::StatusOr<bool> ViewToReshape(Node& node, GraphRewriter& rewriter, const PassContext& context);

// The rule of elementwise operators, behind their own if they have one: over a product's matrix rather than the tensor that it is
// shown as, so that they can be one kernel with it and biases become the product's.
absl::StatusOr<bool> ElementwiseOverRows(Node& node, GraphRewriter& rewriter,
                                         const PassContext& context);

// A constant 1-D i64 tensor.
ValueId ShapeConstant(GraphRewriter& rewriter, absl::string_view name, const Shape& shape);

// Reshape to a shape without empty extents; slipway.View where extents are open. REQUIRES: none is unknown.
absl::StatusOr<ValueId> AddReshape(GraphRewriter& rewriter, ValueId x, const Dimensions& shape,
                                   absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CANONICALIZE_RULES_H_
