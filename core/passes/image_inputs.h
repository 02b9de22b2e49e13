// Which inputs of a node its output images are made of, one by one.
#ifndef SLIPWAY_CORE_PASSES_IMAGE_INPUTS_H_
#define SLIPWAY_CORE_PASSES_IMAGE_INPUTS_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// An image is one step along the first dimension. Where image n of each output is made of image n of some inputs, all of which have as
// many, two or more, and of the others as they are: by input whether it is of images. nullopt where that isn't so, or not seen:
// extents are open, the node is no operator whose traits or attributes say it. REQUIRES: `node` is of the graph, whose types are known.
std::optional<std::vector<bool>> ImageInputs(const Graph& graph, const NodeView& node);

// Of such a node: the input, a constant, whose first number is how many images it makes, where there is one.
std::optional<int> CountOfImages(const NodeView& node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_IMAGE_INPUTS_H_
