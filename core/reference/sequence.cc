#include "core/operators/sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/sequence.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

using Results = absl::StatusOr<std::vector<Tensor>>;
using Inputs = absl::Span<const Tensor>;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

Results Packed(PackKind kind, std::vector<Tensor> elements) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ToTensor({kind, std::move(elements)}));
  return std::vector<Tensor>{std::move(tensor)};
}

// The elements of a sequence, which an optional may hold.
absl::StatusOr<std::vector<Tensor>> ElementsOf(const Tensor& tensor) {
  SLIPWAY_ASSIGN_OR_RETURN(Pack pack, ToPack(tensor));
  if (pack.kind == PackKind::kOptional) {
    if (pack.elements.empty()) return Invalid("it is given an optional without an element");
    SLIPWAY_ASSIGN_OR_RETURN(pack, ToPack(pack.elements[0]));
  }
  if (pack.kind == PackKind::kSequence) return std::move(pack.elements);
  return Invalid("it is given an optional where a sequence is needed");
}

Results Construct(const NodeView&, Inputs inputs, BodyEvaluator&) {
  return Packed(PackKind::kSequence, std::vector<Tensor>(inputs.begin(), inputs.end()));
}

Results Insert(const NodeView&, Inputs inputs, BodyEvaluator&) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> elements, ElementsOf(inputs[0]));
  const int64_t size = static_cast<int64_t>(elements.size());
  int64_t position = size;
  if (inputs.size() > 2 && inputs[2].is_set()) {
    SLIPWAY_ASSIGN_OR_RETURN(position, PositionIn(inputs[2], size, size));
  }
  elements.insert(elements.begin() + position, inputs[1]);
  return Packed(PackKind::kSequence, std::move(elements));
}

Results Erase(const NodeView&, Inputs inputs, BodyEvaluator&) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> elements, ElementsOf(inputs[0]));
  const int64_t size = static_cast<int64_t>(elements.size());
  if (size == 0) return Invalid("there is nothing to erase");
  int64_t position = size - 1;
  if (inputs.size() > 1 && inputs[1].is_set()) {
    SLIPWAY_ASSIGN_OR_RETURN(position, PositionIn(inputs[1], size, size - 1));
  }
  elements.erase(elements.begin() + position);
  return Packed(PackKind::kSequence, std::move(elements));
}

Results At(const NodeView&, Inputs inputs, BodyEvaluator&) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> elements, ElementsOf(inputs[0]));
  const int64_t size = static_cast<int64_t>(elements.size());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t position, PositionIn(inputs[1], size, size - 1));
  return std::vector<Tensor>{elements[position]};
}

Results Length(const NodeView&, Inputs inputs, BodyEvaluator&) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> elements, ElementsOf(inputs[0]));
  return std::vector<Tensor>{Tensor::Scalar(static_cast<int64_t>(elements.size()))};
}

// What follows calls operators that do the same to tensors.
absl::StatusOr<Tensor> Apply(const std::string& op, const std::vector<Tensor>& inputs,
                             const Attributes& attributes, BodyEvaluator& evaluator) {
  Graph graph;
  graph.name = op;
  Node node;
  node.op = op;
  node.attributes = attributes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    node.inputs.push_back(graph.AddInput(absl::StrCat("i", i), std::nullopt));
  }
  node.outputs = {graph.AddValue("o")};
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, evaluator.Evaluate(graph, inputs));
  return outputs[0];
}

Tensor Ints(const std::vector<int64_t>& values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Results Concat(const NodeView& view, Inputs inputs, BodyEvaluator& evaluator) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> elements, ElementsOf(inputs[0]));
  if (elements.empty()) return Invalid("of an empty sequence there is nothing to join");
  if (view.Int("new_axis") != 0) {
    for (Tensor& element : elements) {
      SLIPWAY_ASSIGN_OR_RETURN(
          element, Apply("Unsqueeze", {element, Ints({view.Int("axis")})}, {}, evaluator));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor joined,
                           Apply("Concat", elements, {{"axis", view.Int("axis")}}, evaluator));
  return std::vector<Tensor>{std::move(joined)};
}

Results Split(const NodeView& view, Inputs inputs, BodyEvaluator& evaluator) {
  const int64_t rank = static_cast<int64_t>(inputs[0].shape().size());
  const int64_t given = view.Int("axis");
  if (given < -rank || given >= rank) {
    return Invalid(absl::StrCat("axis ", given, " is outside of rank ", rank));
  }
  const int64_t axis = given < 0 ? given + rank : given;
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> parts,
                           PartsOf(inputs.size() > 1 && inputs[1].is_set() ? &inputs[1] : nullptr,
                                   inputs[0].shape()[axis]));
  const bool squeeze = view.Int("keepdims") == 0 && (inputs.size() < 2 || !inputs[1].is_set());
  std::vector<Tensor> elements;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    SLIPWAY_ASSIGN_OR_RETURN(
        Tensor element,
        Apply("Slice", {inputs[0], Ints({begin}), Ints({begin + part}), Ints({axis})}, {},
              evaluator));
    if (squeeze) {
      SLIPWAY_ASSIGN_OR_RETURN(element, Apply("Squeeze", {element, Ints({axis})}, {}, evaluator));
    }
    elements.push_back(std::move(element));
    begin += part;
  }
  return Packed(PackKind::kSequence, std::move(elements));
}

// Other sequences are as long as the first; what is no sequence, and what is captured, is handed on unchanged.
Results Map(const NodeView& view, Inputs inputs, BodyEvaluator& evaluator) {
  const Graph& body = view.Body("body");
  const int64_t captured = view.Int(kCapturesAttribute);
  const int64_t count = static_cast<int64_t>(inputs.size());
  if (captured < 0 || captured >= count || body.outputs.size() < view.node().outputs.size()) {
    return Invalid("its body does not fit it");
  }
  std::vector<std::vector<Tensor>> sequences(inputs.size());
  std::vector<bool> is_sequence(inputs.size(), false);
  for (int64_t i = 0; i < count - captured; ++i) {
    is_sequence[i] = i == 0 || IsPack(inputs[i]);
    if (!is_sequence[i]) continue;
    SLIPWAY_ASSIGN_OR_RETURN(sequences[i], ElementsOf(inputs[i]));
    if (sequences[i].size() == sequences[0].size()) continue;
    return Invalid(absl::StrCat("maps sequences of ", sequences[0].size(), " and ",
                                sequences[i].size(), " elements"));
  }
  std::vector<std::vector<Tensor>> made(body.outputs.size());
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  for (size_t turn = 0; turn < sequences[0].size(); ++turn) {
    SLIPWAY_RETURN_IF_ERROR(evaluator.BeginTurn());
    for (size_t i = 0; i < given.size(); ++i) {
      if (is_sequence[i]) given[i] = sequences[i][turn];
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, evaluator.Evaluate(body, given));
    for (size_t i = 0; i < outputs.size(); ++i) made[i].push_back(std::move(outputs[i]));
  }
  std::vector<Tensor> results;
  for (std::vector<Tensor>& elements : made) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor packed, ToTensor({PackKind::kSequence, std::move(elements)}));
    results.push_back(std::move(packed));
  }
  return results;
}

Results Optional(const NodeView&, Inputs inputs, BodyEvaluator&) {
  std::vector<Tensor> elements;
  if (!inputs.empty() && inputs[0].is_set()) elements.push_back(inputs[0]);
  return Packed(PackKind::kOptional, std::move(elements));
}

// Whatever is no optional has an element: itself.
Results HasElement(const NodeView&, Inputs inputs, BodyEvaluator&) {
  bool has = !inputs.empty() && inputs[0].is_set();
  if (has && IsPack(inputs[0])) {
    SLIPWAY_ASSIGN_OR_RETURN(const Pack pack, ToPack(inputs[0]));
    has = pack.kind == PackKind::kSequence || !pack.elements.empty();
  }
  return std::vector<Tensor>{Tensor::Scalar(has)};
}

Results GetElement(const NodeView&, Inputs inputs, BodyEvaluator&) {
  if (!IsPack(inputs[0])) return std::vector<Tensor>{inputs[0]};
  SLIPWAY_ASSIGN_OR_RETURN(const Pack pack, ToPack(inputs[0]));
  if (pack.kind == PackKind::kSequence) return std::vector<Tensor>{inputs[0]};
  if (pack.elements.empty()) return Invalid("the optional has no element");
  return std::vector<Tensor>{pack.elements[0]};
}

absl::Status PackKindParameter(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("kind"));
  return absl::OkStatus();
}

// Errors name the node.
Kernel Named(EvaluateBodiesFunction function) {
  return Kernel(
      [function](const NodeView& view, Inputs inputs, BodyEvaluator& evaluator) -> Results {
        Results results = function(view, inputs, evaluator);
        if (!results.ok()) return view.Annotated(results.status());
        return results;
      });
}

}  // namespace

absl::Status RegisterSequenceKernels(KernelColumn& kernels) {
  const std::pair<const char*, EvaluateBodiesFunction> rows[] = {{"ConcatFromSequence", Concat},
                                                                 {"Optional", Optional},
                                                                 {"OptionalGetElement", GetElement},
                                                                 {"OptionalHasElement", HasElement},
                                                                 {"SequenceAt", At},
                                                                 {"SequenceConstruct", Construct},
                                                                 {"SequenceEmpty", Construct},
                                                                 {"SequenceErase", Erase},
                                                                 {"SequenceInsert", Insert},
                                                                 {"SequenceLength", Length},
                                                                 {"SequenceMap", Map},
                                                                 {"SplitToSequence", Split}};
  for (const auto& [op, function] : rows) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, Named(function)));
  }
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add(kPackElementsOperator,
                  CallableKernel{"slipway_PackElements", slipway_PackElements, PackKindParameter,
                                 "slipway_PackElements_count", slipway_PackElements_count}));
  return kernels.Add(kUnpackElementsOperator,
                     CallableKernel{"slipway_UnpackElements", slipway_UnpackElements, nullptr});
}

}  // namespace slipway
