// LowerStrings: graphs over strings become graphs over numbers.
#ifndef SLIPWAY_CORE_PASSES_LOWER_STRINGS_PASS_H_
#define SLIPWAY_CORE_PASSES_LOWER_STRINGS_PASS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// Every value of strings becomes two (core/tensor/strings.h): its places, under its name, and behind them its contents, of
// any number of bytes, also among the inputs and outputs of the graph and of bodies. Those of the graph's are called
// ContentsName(name). Nodes become what WithoutStrings of core/reference writes. Enters bodies itself. A graph without strings
// stays as it is. UNIMPLEMENTED for what has no such form: strings that a loop slices or collects, and those in sequences.
absl::StatusOr<Graph> LowerStrings(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_LOWER_STRINGS_PASS_H_
