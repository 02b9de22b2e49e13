#include "core/reference/string_node_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

// The type without symbols, which the new graph does not have.
ValueType WithoutSymbols(DataType dtype, const ValueType& type) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (!dimension.is_known()) dimension = Dimension();
  }
  return ValueType(dtype, dimensions);
}

}  // namespace

StringNodeWriter::StringNodeWriter(const NodeView& view, absl::Span<const ValueType> outputs,
                                   const OperatorRegistry& registry)
    : view_(view),
      outputs_(outputs),
      builder_(view.op(), registry),
      inputs_(static_cast<size_t>(view.num_inputs())),
      made_(static_cast<size_t>(view.num_outputs())) {
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (!view.has_input(i)) continue;
    const ValueType& type = view.input_type(i);
    const DataType dtype = IsString(i) ? DataType::kInt64 : type.dtype();
    const std::string name = absl::StrCat("i", i);
    inputs_[i].places = builder_.Input(name, WithoutSymbols(dtype, type));
    if (!IsString(i)) continue;
    inputs_[i].contents =
        builder_.Input(absl::StrCat(name, " contents"), {DataType::kUint8, {Dimension()}});
  }
}

bool StringNodeWriter::IsString(int input) const {
  return view_.has_input(input) && view_.input_type(input).dtype() == DataType::kString;
}

ValueId StringNodeWriter::Ints(const std::vector<int64_t>& values) {
  return Constant(Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

StringValue StringNodeWriter::Strings(const std::vector<std::string>& strings) {
  return Strings(slipway::Strings({static_cast<int64_t>(strings.size())}, strings));
}

StringValue StringNodeWriter::Strings(const Tensor& tensor) {
  absl::StatusOr<StringParts> parts = SplitStrings(tensor);
  if (!parts.ok()) {
    status_ = parts.status();
    return {};
  }
  return {Constant(std::move(parts->places)), Constant(std::move(parts->contents))};
}

std::vector<StringValue> StringNodeWriter::WithCommonContents(
    const std::vector<StringValue>& strings) {
  std::vector<ValueId> contents;
  for (const StringValue& value : strings) {
    if (std::find(contents.begin(), contents.end(), value.contents) == contents.end()) {
      contents.push_back(value.contents);
    }
  }
  if (contents.size() < 2) return strings;
  const ValueId common = Make("Concat", contents, {{"axis", int64_t{0}}});
  std::vector<StringValue> moved = strings;
  ValueId before = kNoValue;  // Bytes of the contents before.
  for (size_t c = 0; c < contents.size(); ++c) {
    const ValueId shift =
        before == kNoValue ? kNoValue : Make("Mul", {before, Int(StringPlace(1, 0))});
    for (size_t i = 0; i < strings.size(); ++i) {
      if (strings[i].contents != contents[c]) continue;
      moved[i].contents = common;
      if (shift != kNoValue) moved[i].places = Make("Add", {strings[i].places, shift});
    }
    const ValueId size = Make("Size", {contents[c]});
    before = before == kNoValue ? size : Make("Add", {before, size});
  }
  return moved;
}

Attributes StringNodeWriter::AttributesWithout(const std::vector<std::string>& names) const {
  Attributes kept;
  for (const auto& [name, value] : view_.node().attributes) {
    if (std::find(names.begin(), names.end(), name) == names.end()) kept.Set(name, value);
  }
  return kept;
}

absl::StatusOr<Graph> StringNodeWriter::Finish() && {
  SLIPWAY_RETURN_IF_ERROR(status_);
  for (int i = 0; i < view_.num_outputs(); ++i) {
    if (!view_.has_output(i)) continue;
    builder_.Output(made_[i].places);
    if (MakesString(i)) builder_.Output(made_[i].contents);
  }
  absl::StatusOr<Graph> graph = std::move(builder_).Build();
  if (!graph.ok()) return view_.Annotated(graph.status());
  return graph;
}

}  // namespace slipway
