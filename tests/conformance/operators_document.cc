#include "tests/conformance/operators_document.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/importers/onnx/forms.h"
#include "core/importers/onnx/limits.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "core/reference/register_all.h"

namespace slipway {
namespace {

using Types = std::set<DataType>;

// Of one operator's elements, which its type rule and its lowering take.
struct Asked {
  Types accepted;
  Types lowered;
};

const std::vector<DataType>& AllTypes() {
  static const auto& all = *[] {
    auto* types = new std::vector<DataType>;
    for (int64_t number = 1; number < 64; ++number) {
      const auto dtype = DataTypeFromNumber(number);
      if (dtype.ok()) types->push_back(*dtype);
    }
    return types;
  }();
  return all;
}

const Types& Floats() {
  static const auto& types =
      *new Types{DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32, DataType::kFloat64};
  return types;
}

const Types& Integers() {
  static const auto& types =
      *new Types{DataType::kInt8,  DataType::kInt16,  DataType::kInt32,  DataType::kInt64,
                 DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64};
  return types;
}

// What is stored in 8 bits or fewer and is none of C++'s types.
const Types& SmallTypes() {
  static const auto& types =
      *new Types{DataType::kFloat8E4M3Fn,   DataType::kFloat8E4M3FnUz, DataType::kFloat8E5M2,
                 DataType::kFloat8E5M2FnUz, DataType::kFloat8E8M0,     DataType::kFloat6E2M3,
                 DataType::kFloat6E3M2,     DataType::kFloat4E2M1,     DataType::kInt4,
                 DataType::kUint4,          DataType::kInt2,           DataType::kUint2};
  return types;
}

// "floats, i32": groups by one word where they are complete.
std::string Describe(Types types) {
  if (types.size() == AllTypes().size()) return "all";
  std::vector<std::string> words;
  for (const auto& [word, group] :
       {std::pair("floats", &Floats()), std::pair("integers", &Integers()),
        std::pair("small", &SmallTypes())}) {
    if (!std::includes(types.begin(), types.end(), group->begin(), group->end())) continue;
    words.push_back(word);
    for (const DataType dtype : *group) types.erase(dtype);
  }
  for (const DataType dtype : types) words.push_back(std::string(Name(dtype)));
  return absl::StrJoin(words, ", ");
}

// Asks about the node with other types in the place of its data's: that of its output where inputs have it, or else of the
// first input. `values` are all values of the graph.
absl::Status Ask(const Node& node, const std::vector<Tensor>& values,
                 const OperatorRegistry& registry, const Lowerings& lowerings, Asked& asked) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return absl::OkStatus();
  DataType data = values[node.inputs[0]].dtype();
  for (const ValueId id : node.inputs) {
    if (id != kNoValue && node.outputs[0] != kNoValue &&
        values[id].dtype() == values[node.outputs[0]].dtype()) {
      data = values[id].dtype();
    }
  }
  for (const DataType dtype : AllTypes()) {
    std::vector<ValueType> types;
    for (const ValueId id : node.inputs) {
      types.push_back(id == kNoValue ? ValueType() : ValueType(values[id].type()));
      if (id == kNoValue || values[id].dtype() != data) continue;
      types.back() = ValueType(TensorType{dtype, values[id].type().shape});
    }
    std::vector<const ValueType*> inputs;
    std::vector<const Tensor*> constants;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      inputs.push_back(id == kNoValue ? nullptr : &types[i]);
      const bool is_same = id != kNoValue && (values[id].dtype() != data || dtype == data);
      constants.push_back(is_same ? &values[id] : nullptr);
    }
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(node, registry, node.op, inputs, constants));
    const auto outputs = InferNodeTypes(view);
    // What hangs on a value is not refused for its type.
    if (!outputs.ok() && !absl::IsFailedPrecondition(outputs.status())) continue;
    asked.accepted.insert(dtype);
    const Lowering* lowering = lowerings.Find(node.op);
    if (lowering == nullptr || !outputs.ok()) continue;
    if (CheckLowered(lowerings, view, *outputs).ok()) asked.lowered.insert(dtype);
  }
  return absl::OkStatus();
}

// Every value of a graph, evaluated.
absl::StatusOr<std::vector<Tensor>> ValuesOf(Graph& graph, const Reference& reference) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    Tensor tensor = Tensor::Zeros(graph.values[id].type->dtype(), graph.values[id].type->shape());
    if (tensor.dtype() == DataType::kFloat32) {
      float next = 0;
      for (float& value : tensor.mutable_values<float>()) value = next += 0.125f;
    }
    inputs.push_back(std::move(tensor));
  }
  graph.outputs.clear();
  for (size_t id = 0; id < graph.values.size(); ++id) graph.outputs.push_back(id);
  return reference.Evaluate(graph, inputs);
}

absl::StatusOr<std::map<std::string, Asked>> AskAll(const std::string& corpus,
                                                    const OperatorRegistry& registry) {
  const Reference reference(registry);
  Lowerings lowerings;
  SLIPWAY_RETURN_IF_ERROR(RegisterAllLowerings(lowerings));
  std::map<std::string, Asked> by_operator;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    const std::string path = file.path().string();
    SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 20));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Graph graph, ParseGraph(text), path);
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::vector<Tensor> values, ValuesOf(graph, reference),
                                  path);
    for (const Node& node : graph.nodes) {
      SLIPWAY_RETURN_IF_ERROR(Ask(node, values, registry, lowerings, by_operator[node.op]));
    }
  }
  return by_operator;
}

constexpr char kHead[] =
    "# Operators\n"
    "\n"
    "Made by //tests/conformance:operators_document, as [the folder's "
    "README](README.md#to-add-an-operator)\n"
    "says; a test tells when it is stale.\n"
    "\n"
    "- **opsets**: what the importer takes; where the form changed, up to which opset nodes are\n"
    "  upgraded. Operators of other domains are known by their names.\n"
    "- **elements**: what the type rule takes for the operator's data. \"floats\" are f16, bf16, "
    "f32\n"
    "  and f64, \"integers\" those of 8 to 64 bits, \"small\" those of 2 and 4 bits and floats of "
    "up to 8.\n"
    "- **lowered**: of these, what becomes code of its own, fused with its neighbours.\n"
    "- **kernel**: whether there is one that is linked into programs, for what is not lowered.\n"
    "\n";

}  // namespace

absl::StatusOr<std::string> OperatorsDocument(const std::string& corpus) {
  const OperatorRegistry registry = StandardOperators();
  SLIPWAY_ASSIGN_OR_RETURN(const auto by_operator, AskAll(corpus, registry));
  KernelColumn kernels;
  SLIPWAY_RETURN_IF_ERROR(RegisterAllKernels(kernels));
  std::map<std::string, int> old_forms;
  for (const OldOnnxForm& form : OldOnnxForms()) old_forms[form.op] = form.last_opset;

  std::string text = kHead;
  absl::StrAppend(&text,
                  "| operator | opsets | elements | lowered | kernel |\n|---|---|---|---|---|\n");
  const std::string every = absl::StrCat(kMinOnnxOpset, " to ", kMaxOnnxOpset);
  for (const std::string& op : registry.Names()) {
    if (absl::StartsWith(op, "slipway.")) continue;
    const auto asked = by_operator.find(op);
    const bool known = asked != by_operator.end() && !asked->second.accepted.empty();
    const auto old = old_forms.find(op);
    const std::string opsets = absl::StrContains(op, '.') ? "-"
                               : old == old_forms.end()
                                   ? every
                                   : absl::StrCat(every, ", upgraded to ", old->second);
    const bool callable = kernels.Find(op) != nullptr && kernels.Find(op)->callable.has_value();
    absl::StrAppend(&text, "| ", op, " | ", opsets, " | ",
                    known ? Describe(asked->second.accepted) : "-", " | ",
                    known && !asked->second.lowered.empty() ? Describe(asked->second.lowered) : "-",
                    " | ", callable ? "yes" : "-", " |\n");
  }
  absl::StrAppend(&text,
                  "\n## Expanded\n\nThese become nodes of the operators above where they are "
                  "imported, and so do nodes with an old\nname:\n\n");
  for (const std::string& op : ExpandedOnnxOperators()) absl::StrAppend(&text, "- ", op, "\n");
  for (const auto& [op, last] : old_forms) {
    if (registry.Find(op) == nullptr)
      absl::StrAppend(&text, "- ", op, ", opsets up to ", last, "\n");
  }
  return text;
}

}  // namespace slipway
