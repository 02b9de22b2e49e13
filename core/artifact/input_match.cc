#include "core/artifact/input_match.h"

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/tensor_proto.h"

namespace slipway {
namespace {

// Names in messages may be anybody's.
constexpr size_t kMaxShownBytes = 255;
constexpr size_t kMaxShownInputs = 16;

std::string Quoted(absl::string_view name) {
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(name.substr(0, kMaxShownBytes)), "\"");
}

std::string Takes(absl::Span<const NamedType> inputs) {
  if (inputs.empty()) return "the program takes no inputs";
  std::string text = "the program takes ";
  for (size_t i = 0; i < std::min(inputs.size(), kMaxShownInputs); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", Quoted(inputs[i].name), " ",
                    ToString(inputs[i].type));
  }
  if (inputs.size() > kMaxShownInputs) {
    absl::StrAppend(&text, " and ", inputs.size() - kMaxShownInputs, " more");
  }
  return text;
}

}  // namespace

absl::Status CheckInput(const NamedType& input, const TensorType& type) {
  if (input.type.Admits(type)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(input.name), " is ",
                                                 ToString(input.type), ", but ", ToString(type),
                                                 " is given"));
}

InputNames::InputNames(absl::Span<const NamedType> inputs)
    : inputs_(inputs), is_taken_(inputs.size()) {
  for (size_t i = 0; i < inputs.size(); ++i) positions_[inputs[i].name] = i;
}

absl::StatusOr<size_t> InputNames::Take(absl::string_view name) {
  const auto found = positions_.find(name);
  if (found == positions_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no input ", Quoted(name), "; ", Takes(inputs_)));
  }
  if (is_taken_[found->second]) {
    return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(name), " is given twice"));
  }
  is_taken_[found->second] = true;
  return found->second;
}

absl::StatusOr<std::vector<const v1::Tensor*>> MatchInputs(
    absl::Span<const NamedType> inputs,
    const google::protobuf::RepeatedPtrField<v1::Tensor>& given) {
  std::vector<const v1::Tensor*> matched(inputs.size());
  InputNames names(inputs);
  for (const v1::Tensor& tensor : given) {
    SLIPWAY_ASSIGN_OR_RETURN(const size_t position, names.Take(tensor.name()));
    SLIPWAY_RETURN_IF_ERROR(CheckTensorProto(tensor));
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(tensor.type()));
    SLIPWAY_RETURN_IF_ERROR(CheckInput(inputs[position], type));
    matched[position] = &tensor;
  }
  return matched;
}

}  // namespace slipway
