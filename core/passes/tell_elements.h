// What a graph's inputs of sequences hold, told before compiling: a program is for sequences of known elements.
#ifndef SLIPWAY_CORE_PASSES_TELL_ELEMENTS_H_
#define SLIPWAY_CORE_PASSES_TELL_ELEMENTS_H_

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

namespace slipway {

// Makes the input take packs alone that have as many elements as `like`, of the same types; it stands in its old place under
// its old name. REQUIRES: `input` is among the graph's inputs. INVALID_ARGUMENT where `like` is no pack; UNIMPLEMENTED for
// elements without fixed size.
absl::Status TellElements(Graph& graph, ValueId input, const Tensor& like);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_TELL_ELEMENTS_H_
