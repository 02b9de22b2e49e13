// KeepValues: values in between that a program gives as outputs, too, for those who debug numerics.
#ifndef SLIPWAY_CORE_COMPILER_KEPT_VALUES_H_
#define SLIPWAY_CORE_COMPILER_KEPT_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"

namespace slipway {

// Makes outputs of the values that nodes make of the graph's inputs and whose names a pattern matches, behind the graph's
// own outputs, in the order of the nodes. As outputs they pass through all passes with name, type and meaning: none is fused over, none stays
// in blocks. Values in bodies are none of the graph's.
//
// INVALID_ARGUMENT names a pattern that matches no such value, also where it matches constants alone; RESOURCE_EXHAUSTED: a program cannot have so
// many outputs.
absl::Status KeepValues(absl::Span<const std::string> patterns, Graph& graph);

// Makes outputs of these values, but of those that are the graph's inputs, behind the outputs that there are. RESOURCE_EXHAUSTED as above.
absl::Status KeepValues(absl::Span<const ValueId> values, Graph& graph);

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_KEPT_VALUES_H_
