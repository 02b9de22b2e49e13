#include "core/importers/nnvm_json/mxnet_node.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// What changes how MXNet computes or trains, but not what.
constexpr const char* kWithoutMeaning[] = {
    "ctx_group",      "cudnn_algo_verbose", "cudnn_off",    "cudnn_tune",    "force_mirroring",
    "grad_scale",     "ignore_label",       "lr_mult",      "momentum",      "normalization",
    "num_args",       "out_grad",           "sparse_grad",  "use_ignore",    "wd_mult",
    "weight_lr_mult", "workspace",          "smooth_alpha", "profiler_scope"};

}  // namespace

MxnetNode::MxnetNode(std::string name, std::string op,
                     std::map<std::string, std::string> attributes, int num_inputs, Input input,
                     GraphBuilder& builder)
    : name_(std::move(name)),
      op_(std::move(op)),
      attributes_(std::move(attributes)),
      num_inputs_(num_inputs),
      input_(std::move(input)),
      builder_(builder) {}

ValueId MxnetNode::input(int i) {
  if (i >= num_inputs_) {
    Refuse(absl::StrCat("it has ", num_inputs_, " inputs, and input ", i, " is needed"));
    return kNoValue;
  }
  const absl::StatusOr<ValueId> value = input_(i);
  Keep(value.status());
  return value.ok() ? *value : kNoValue;
}

std::vector<ValueId> MxnetNode::inputs() {
  std::vector<ValueId> values;
  for (int i = 0; i < num_inputs_; ++i) values.push_back(input(i));
  return values;
}

Shape MxnetNode::shape(ValueId value) {
  const ValueType* type = value == kNoValue ? nullptr : builder_.type(value);
  if (type == nullptr) return {};
  if (!type->is_static()) {
    Lack(absl::StrCat("an input of type ", ToString(*type), ", whose extents are not known,"));
    return {};
  }
  return type->shape();
}

DataType MxnetNode::dtype(ValueId value) {
  const ValueType* type = value == kNoValue ? nullptr : builder_.type(value);
  return type == nullptr ? DataType::kFloat32 : type->dtype();
}

const std::string* MxnetNode::Find(absl::string_view name) {
  read_.insert(std::string(name));
  const auto found = attributes_.find(std::string(name));
  return found == attributes_.end() || found->second == "None" ? nullptr : &found->second;
}

bool MxnetNode::has(absl::string_view name) { return Find(name) != nullptr; }

int64_t MxnetNode::Int(absl::string_view name, int64_t otherwise) {
  const std::string* text = Find(name);
  int64_t value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(*text, &value)) {
    Refuse(absl::StrCat("\"", name, "\" is \"", *text, "\", not a whole number"));
  }
  return value;
}

float MxnetNode::Float(absl::string_view name, float otherwise) {
  const std::string* text = Find(name);
  float value = otherwise;
  if (text != nullptr && !absl::SimpleAtof(*text, &value)) {
    Refuse(absl::StrCat("\"", name, "\" is \"", *text, "\", not a number"));
  }
  return value;
}

bool MxnetNode::Bool(absl::string_view name, bool otherwise) {
  const std::string* text = Find(name);
  bool value = otherwise;
  if (text != nullptr && !absl::SimpleAtob(*text, &value)) {
    Refuse(absl::StrCat("\"", name, "\" is \"", *text, "\", not True or False"));
  }
  return value;
}

std::string MxnetNode::Text(absl::string_view name, absl::string_view otherwise) {
  const std::string* text = Find(name);
  return text == nullptr ? std::string(otherwise) : *text;
}

std::vector<int64_t> MxnetNode::Ints(absl::string_view name, std::vector<int64_t> otherwise,
                                     int64_t none) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  absl::string_view list = *text;
  for (const absl::string_view bracket : {"(", "["}) absl::ConsumePrefix(&list, bracket);
  for (const absl::string_view bracket : {")", "]"}) absl::ConsumeSuffix(&list, bracket);
  std::vector<int64_t> values;
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    absl::ConsumeSuffix(&part, "L");
    int64_t value = none;
    if (part != "None" && !absl::SimpleAtoi(part, &value)) {
      Refuse(absl::StrCat("\"", name, "\" is \"", *text, "\", not a list of whole numbers"));
      return otherwise;
    }
    values.push_back(value);
  }
  return values;
}

ValueId MxnetNode::Constant(const std::vector<int64_t>& values) {
  return builder_.Constant(absl::StrCat(name_, "_list"),
                           Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId MxnetNode::Scalar(double value, ValueId like) {
  const auto constant = [&](Tensor tensor) {
    return builder_.Constant(absl::StrCat(name_, "_scalar"), std::move(tensor));
  };
  switch (dtype(like)) {
    case DataType::kFloat32:
      return constant(Tensor::Scalar(static_cast<float>(value)));
    case DataType::kFloat64:
      return constant(Tensor::Scalar(value));
    case DataType::kInt32:
      return constant(Tensor::Scalar(static_cast<int32_t>(value)));
    case DataType::kInt64:
      return constant(Tensor::Scalar(static_cast<int64_t>(value)));
    default:
      Lack(absl::StrCat("a scalar beside ", Name(dtype(like))));
      return kNoValue;
  }
}

ValueId MxnetNode::Add(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  if (!ok()) return kNoValue;
  return builder_.AddNamed(name_, op, std::move(inputs), std::move(attributes));
}

void MxnetNode::Refuse(absl::string_view why) { Keep(absl::InvalidArgumentError(why)); }

void MxnetNode::Lack(absl::string_view what) {
  Keep(absl::UnimplementedError(absl::StrCat(what, " is not supported")));
}

void MxnetNode::Keep(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

absl::Status MxnetNode::Finish() const {
  SLIPWAY_RETURN_IF_ERROR(status_);
  for (const auto& [name, value] : attributes_) {
    bool known =
        read_.contains(name) || (absl::StartsWith(name, "__") && absl::EndsWith(name, "__"));
    for (const char* harmless : kWithoutMeaning) known |= name == harmless;
    if (!known) {
      return absl::UnimplementedError(
          absl::StrCat("the attribute \"", name, "\" = \"", value, "\" is not supported"));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
