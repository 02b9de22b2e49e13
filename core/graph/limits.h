// The limits of graphs and their text. What a file asks for beyond these is refused by name.
#ifndef SLIPWAY_CORE_GRAPH_LIMITS_H_
#define SLIPWAY_CORE_GRAPH_LIMITS_H_

#include <cstdint>

namespace slipway {

inline constexpr int kMaxNodes = 200'000;     // Nodes of one graph, bodies not counted.
inline constexpr int kMaxValues = 1'000'000;  // Values of one graph.
inline constexpr int kMaxNodeArity = 65'536;  // Inputs, or outputs, of one node.
inline constexpr int kMaxGraphNesting = 16;   // Bodies within bodies.
inline constexpr int kMaxNameBytes = 4'096;   // The name of a value, node, graph or attribute.
inline constexpr int64_t kMaxGraphTextBytes = int64_t{256} << 20;

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_LIMITS_H_
