// Composition: operators of other domains, written as nodes of ours. Private to this folder.
//
// An operator that is a composition of canonical ones gets no schema and no kernel of its own: its row in a table of
// expansions says what it takes, and a function makes its outputs from its inputs.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_COMPOSITION_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_COMPOSITION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"
#include "core/importers/onnx/emitter.h"
#include "core/operators/checks.h"

namespace slipway {

// A node that is being expanded, and the nodes that it becomes. The first error stands: after it nothing more is made, and
// values are kNoValue.
class Composition {
 public:
  // `node` has every default of its schema as an attribute. Both must outlive it.
  Composition(const Node& node, Emitter& emitter);

  ValueId input(int i) const;  // kNoValue where omitted.
  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  bool has_input(int i) const { return input(i) != kNoValue; }
  bool has_output(int i) const;
  // For inputs that stand behind optional ones: false, and an error, where one is omitted.
  bool RequireInputs(const std::vector<int>& inputs);
  bool has(absl::string_view attribute) const;
  // REQUIRES: has(attribute), and the schema says that kind.
  int64_t Int(absl::string_view attribute) const;
  float Float(absl::string_view attribute) const;
  const std::string& String(absl::string_view attribute) const;
  const std::vector<int64_t>& Ints(absl::string_view attribute) const;
  const std::vector<float>& Floats(absl::string_view attribute) const;
  const std::vector<std::string>& Strings(absl::string_view attribute) const;
  const Attributes& attributes() const { return node_.attributes; }
  const Graph& Body(absl::string_view attribute) const;
  // Those of these names, as far as the node has them.
  Attributes Only(const std::vector<std::string>& names) const;

  // Null while unknown. Valid until the next value is made.
  const ValueType* type(ValueId id) const { return emitter_.type(id); }
  // -1 while unknown.
  int RankOf(ValueId id) const;
  bool IsOfType(ValueId id, DataType dtype) const;
  const Tensor* constant(ValueId id) const { return emitter_.constant(id); }

  // A constant: i64[n], i64[], or f32[].
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Int(int64_t value);
  ValueId Float(float value);
  // A scalar of the type that `like` has: f32 while that is unknown.
  ValueId FloatLike(float value, ValueId like);
  ValueId Constant(Tensor tensor);

  // A node with one output. Trailing inputs may be kNoValue.
  ValueId Make(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  // The same, whose output is the `output`th of the expanded node, or a value of its own where that is omitted.
  ValueId MakeOutput(int output, absl::string_view op, std::vector<ValueId> inputs,
                     Attributes attributes = {});
  // A node with the outputs given, see Output and NewValue.
  void MakeAll(std::vector<ValueId> outputs, absl::string_view op, std::vector<ValueId> inputs,
               Attributes attributes = {});
  // The nodes of a body of one input and one output; its output. INVALID_ARGUMENT for another body.
  ValueId Inline(const Graph& body, ValueId input);
  ValueId Output(int i) const;  // kNoValue where omitted.
  ValueId NewValue(absl::string_view what);

  // Ends the expansion: UNIMPLEMENTED "WHAT is not supported", or INVALID_ARGUMENT.
  void Unsupported(absl::string_view what);
  void Fail(absl::string_view message);
  const absl::Status& status() const { return status_; }

 private:
  const Node& node_;
  Emitter& emitter_;
  const std::string display_name_;
  absl::Status status_;
};

struct Expansion {
  OperatorSchema schema;  // Its type rule is never asked.
  void (*expand)(Composition& node);
};
using Expansions = OperatorColumn<Expansion>;

// Rows, as OpaqueSchema and AddAll of core/operators/checks.h make those of schemas.
Expansion ExpansionOf(absl::string_view op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes = {}, int max_outputs = 1);
absl::Status AddAll(Expansions& expansions, absl::Span<const Expansion> rows);

// Emits `node` by its expansion. Errors name the node.
absl::Status EmitExpanded(const Expansion& expansion, Node node, Emitter& emitter);

// The tables: ai.onnx.ml; com.microsoft and what ONNX Runtime writes into ONNX's own domain, by what they are about.
absl::Status AddAttentionExpansions(Expansions& expansions);
absl::Status AddClassicalExpansions(Expansions& expansions);
absl::Status AddFusedExpansions(Expansions& expansions);
absl::Status AddQuantizedExpansions(Expansions& expansions);
Expansions AllExpansions();

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_COMPOSITION_H_
