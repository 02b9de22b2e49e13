// Graph: the compiler's one form of a model, a plain value.
//
// Operators have ONNX's names and the semantics of opset 28 (kOpset); importers upgrade older
// models. Internal operators begin with "slipway.". Nothing here checks anything: see verifier.h.
#ifndef SLIPWAY_CORE_GRAPH_GRAPH_H_
#define SLIPWAY_CORE_GRAPH_GRAPH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/graph/attributes.h"
#include "core/graph/limits.h"
#include "core/graph/value_type.h"
#include "core/symbolic/constraint.h"
#include "core/symbolic/evaluation.h"
#include "core/tensor/tensor.h"

namespace slipway {

// The one opset whose semantics the operators have.
inline constexpr int kOpset = 28;

using ValueId = int32_t;  // Index into Graph::values.
using NodeId = int32_t;   // Index into Graph::nodes.

inline constexpr ValueId kNoValue = -1;  // An optional input or output that is omitted.
inline constexpr NodeId kNoNode = -1;

// What a node makes or reads: a graph input, a constant, or a node's output.
struct Value {
  std::string name;  // Not empty, unique in its graph.
  // Absent until type inference. A constant's is its tensor's and may add a quantization.
  std::optional<ValueType> type;
  std::optional<Tensor> constant;  // Set for constants: such a value has no producer.
};

struct Node {
  std::string name;  // For messages; need not be unique. Empty stands for the first output's name.
  std::string op;    // "Conv", "slipway.Fused"
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
};

struct Graph {
  std::string name;
  int opset = kOpset;
  // What types may mention; known when the graph is bound to its inputs. A body lists those it
  // mentions, which are the ones of the graph around it.
  std::vector<Symbol> symbols;
  // What the nodes need to hold between symbols; made by type inference. Those of a body are its own.
  std::vector<Constraint> constraints;
  std::vector<Value> values;
  std::vector<Node> nodes;       // In topological order.
  std::vector<ValueId> inputs;   // Values without producer that the caller supplies.
  std::vector<ValueId> outputs;  // In order; a value may occur more than once.

  const Value& value(ValueId id) const { return values[id]; }
  Value& value(ValueId id) { return values[id]; }

  // Append a value and return its id. Names are not checked for uniqueness (see UniqueNames).
  ValueId AddValue(std::string value_name, std::optional<ValueType> type = std::nullopt);
  ValueId AddConstant(std::string value_name, Tensor tensor);
  // AddValue and an entry in `inputs`.
  ValueId AddInput(std::string value_name, std::optional<ValueType> type);
};

// The node's name for messages: its own, or its first output's.
std::string DisplayName(const Graph& graph, const Node& node);

// The types of the values in order; an invalid one for each that is omitted. REQUIRES: the others have types.
std::vector<ValueType> TypesOf(const Graph& graph, absl::Span<const ValueId> ids);

// Deep equality: same names, symbols, constraints, ids, types, attributes, constants bit by bit.
bool operator==(const Graph& a, const Graph& b);
inline bool operator!=(const Graph& a, const Graph& b) { return !(a == b); }

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_GRAPH_H_
