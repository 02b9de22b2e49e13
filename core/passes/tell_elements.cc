#include "core/passes/tell_elements.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/sequence.h"

namespace slipway {
namespace {

// Nodes that take `packed` apart, and make `whole` of its elements again.
absl::Status Unpack(ValueId packed, ValueId whole, const Tensor& like, Graph& graph,
                    UniqueNames& names, std::vector<Node>& nodes) {
  SLIPWAY_ASSIGN_OR_RETURN(const Pack pack, ToPack(like));
  std::vector<int64_t> types;
  std::vector<ValueId> elements;
  const std::string name = graph.values[whole].name;
  for (const Tensor& element : pack.elements) {
    if (ByteSize(element.dtype()) == 0) {
      return absl::UnimplementedError(absl::StrCat("\"", name, "\" holds elements of type ",
                                                   Name(element.dtype()),
                                                   ", which a program cannot take"));
    }
    types.push_back(static_cast<int64_t>(element.dtype()));
    types.push_back(std::ssize(element.shape()));
    types.insert(types.end(), element.shape().begin(), element.shape().end());
    elements.push_back(graph.AddValue(names.Make(absl::StrCat(name, " element"))));
  }
  if (!elements.empty()) {
    nodes.push_back(
        Node{"", kUnpackElementsOperator, {packed}, elements, {{"types", std::move(types)}}});
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!IsPack(pack.elements[i])) continue;
    const ValueId inner = graph.AddValue(names.Make(absl::StrCat(name, " elements")));
    SLIPWAY_RETURN_IF_ERROR(Unpack(elements[i], inner, pack.elements[i], graph, names, nodes));
    elements[i] = inner;
  }
  const char* const op = pack.kind == PackKind::kOptional ? "Optional"
                         : elements.empty()               ? "SequenceEmpty"
                                                          : "SequenceConstruct";
  nodes.push_back(Node{"", op, elements, {whole}, {}});
  return absl::OkStatus();
}

}  // namespace

absl::Status TellElements(Graph& graph, ValueId input, const Tensor& like) {
  UniqueNames names(graph);
  const std::string name = graph.values[input].name;
  graph.values[input].name = names.Make(absl::StrCat(name, " elements"));
  graph.values[input].type.reset();
  const ValueId packed = graph.AddValue(name, ValueType(like.type()));
  std::replace(graph.inputs.begin(), graph.inputs.end(), input, packed);
  std::vector<Node> nodes;
  SLIPWAY_RETURN_IF_ERROR(Unpack(packed, input, like, graph, names, nodes));
  nodes.insert(nodes.end(), graph.nodes.begin(), graph.nodes.end());
  graph.nodes = std::move(nodes);
  return absl::OkStatus();
}

}  // namespace slipway
