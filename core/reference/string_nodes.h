// Nodes over strings, written as nodes over tensors of numbers.
//
// Kernels and programs know no strings: there a tensor of strings is two tensors, places and contents
// (core/tensor/strings.h). What only moves elements moves places, by the operator's own kernel; what looks into strings or
// makes some has operators for it ("slipway.String..." of core/operators/strings.h). The reference evaluates nodes by what
// they are written as, and the pass LowerStrings puts it in their place.
#ifndef SLIPWAY_CORE_REFERENCE_STRING_NODES_H_
#define SLIPWAY_CORE_REFERENCE_STRING_NODES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Whether there are operators that nodes of this one over strings become.
bool HasStringRule(absl::string_view op);

// Whether the node reads strings, or makes some: `outputs` are the types that its rule gives.
bool HasStrings(const NodeView& view, absl::Span<const ValueType> outputs);

// A graph that does the same. Its inputs are those that the node has, in their order, its outputs too: of strings two, places
// and contents. UNIMPLEMENTED for an operator that neither moves elements nor is known here.
absl::StatusOr<Graph> WithoutStrings(const NodeView& view, absl::Span<const ValueType> outputs,
                                     const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_STRING_NODES_H_
