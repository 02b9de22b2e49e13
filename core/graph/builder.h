// GraphBuilder: writes a graph in C++, for tests and generated models.
//
//   GraphBuilder b("tiny", registry);
//   ValueId x = b.Input("x", DataType::kFloat32, {1, 3, 8, 8});
//   ValueId w = b.Constant("w", weights);
//   ValueId c = b.Add("Conv", {x, w}, {{"pads", Ints({1, 1, 1, 1})}});
//   b.Output(b.Add("Relu", {c}));
//   absl::StatusOr<Graph> graph = std::move(b).Build();
#ifndef SLIPWAY_CORE_GRAPH_BUILDER_H_
#define SLIPWAY_CORE_GRAPH_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Infers types as it goes where the type rule can; the first error is kept and returned by Build.
// `registry` must outlive the builder. Not thread-safe.
class GraphBuilder {
 public:
  GraphBuilder(absl::string_view name, const OperatorRegistry& registry);

  // The extent that a symbol stands for.
  Dimension Symbol(absl::string_view name, int64_t min, int64_t max);
  ValueId Input(absl::string_view name, DataType dtype, absl::Span<const int64_t> shape);
  ValueId Input(absl::string_view name, ValueType type);
  ValueId Constant(absl::string_view name, Tensor tensor);
  // One output, named after the operator ("Conv", "Conv_1", ...). kNoValue omits an input.
  ValueId Add(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  // The same with a name for the output.
  ValueId AddNamed(absl::string_view output, absl::string_view op, std::vector<ValueId> inputs,
                   Attributes attributes = {});
  std::vector<ValueId> AddMany(absl::string_view op, std::vector<ValueId> inputs, int num_outputs,
                               Attributes attributes = {});
  void Output(ValueId value);

  // The first error so far.
  const absl::Status& status() const { return status_; }
  // The type inferred for a value so far; null when unknown.
  const ValueType* type(ValueId value) const;

  // The verified graph, or the first error.
  absl::StatusOr<Graph> Build() &&;

 private:
  std::vector<ValueId> Append(absl::string_view op, std::vector<ValueId> inputs,
                              const std::vector<std::string>& outputs, Attributes attributes);

  const OperatorRegistry& registry_;
  Graph graph_;
  UniqueNames names_;
  absl::Status status_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_BUILDER_H_
