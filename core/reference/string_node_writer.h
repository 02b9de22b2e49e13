// StringNodeWriter: what the rules of string_nodes.cc write nodes with. Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_STRING_NODE_WRITER_H_
#define SLIPWAY_CORE_REFERENCE_STRING_NODE_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/builder.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// A tensor of strings in the new graph.
struct StringValue {
  ValueId places = kNoValue;
  ValueId contents = kNoValue;
};

// Writes the graph for one node. `view` and `registry` must outlive it.
class StringNodeWriter {
 public:
  StringNodeWriter(const NodeView& view, absl::Span<const ValueType> outputs,
                   const OperatorRegistry& registry);

  const NodeView& view() const { return view_; }
  bool IsString(int input) const;
  bool MakesString(int output) const { return outputs_[output].dtype() == DataType::kString; }
  // An input of numbers; kNoValue where omitted.
  ValueId input(int i) const { return inputs_[i].places; }
  StringValue strings(int i) const { return inputs_[i]; }

  ValueId Constant(Tensor tensor) { return builder_.Constant("constant", std::move(tensor)); }
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Int(int64_t value) { return Constant(Tensor::Scalar(value)); }
  StringValue Strings(const std::vector<std::string>& strings);
  StringValue Strings(const Tensor& tensor);
  ValueId Make(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return builder_.Add(op, std::move(inputs), std::move(attributes));
  }
  std::vector<ValueId> MakeMany(absl::string_view op, std::vector<ValueId> inputs, int outputs,
                                Attributes attributes = {}) {
    return builder_.AddMany(op, std::move(inputs), outputs, std::move(attributes));
  }
  // The strings with contents that all of them share.
  std::vector<StringValue> WithCommonContents(const std::vector<StringValue>& strings);
  // The attributes of the node with some instead of others.
  Attributes AttributesWithout(const std::vector<std::string>& names) const;

  void SetOutput(int i, ValueId value) { made_[i].places = value; }
  void SetOutput(int i, const StringValue& strings) { made_[i] = strings; }

  absl::StatusOr<Graph> Finish() &&;

 private:
  const NodeView& view_;
  const absl::Span<const ValueType> outputs_;
  GraphBuilder builder_;
  absl::Status status_;  // Of making constants.
  std::vector<StringValue> inputs_;
  std::vector<StringValue> made_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_STRING_NODE_WRITER_H_
