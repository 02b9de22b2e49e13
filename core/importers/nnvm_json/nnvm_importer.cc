#include "core/importers/nnvm_json/nnvm_importer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/graph/builder.h"
#include "core/graph/edit.h"
#include "core/importers/nnvm_json/json.h"
#include "core/importers/nnvm_json/mxnet_node.h"
#include "core/tensor/nd_array_file.h"

namespace slipway {
namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Output `index` of node `node`.
struct Entry {
  int64_t node = 0;
  int64_t index = 0;
};

struct JsonNode {
  std::string op;  // "null" for a variable.
  std::string name;
  std::map<std::string, std::string> attributes;
  std::vector<Entry> inputs;
};

absl::StatusOr<int64_t> ToIndex(const Json& json, int64_t limit, absl::string_view what) {
  const double* number = json.number();
  if (number == nullptr || !(*number >= 0 && *number < static_cast<double>(limit)) ||
      *number != static_cast<double>(static_cast<int64_t>(*number))) {
    return Invalid(absl::StrCat(what, " is no index below ", limit));
  }
  return static_cast<int64_t>(*number);
}

// [node, index] or [node, index, version]; `limit` nodes stand before it.
absl::StatusOr<Entry> ToEntry(const Json& json, int64_t limit) {
  const Json::Array* list = json.array();
  if (list == nullptr || list->size() < 2 || list->size() > 3) {
    return Invalid("an entry is no list of a node and an output");
  }
  Entry entry;
  SLIPWAY_ASSIGN_OR_RETURN(entry.node, ToIndex((*list)[0], limit, "the node of an entry"));
  SLIPWAY_ASSIGN_OR_RETURN(entry.index, ToIndex((*list)[1], kMaxNodeArity, "an entry's output"));
  return entry;
}

absl::StatusOr<const Json::Array*> FindArray(const Json& json, absl::string_view name) {
  const Json* found = json.Find(name);
  if (found == nullptr || found->array() == nullptr) {
    return Invalid(absl::StrCat("there is no list \"", name, "\": is it a graph of NNVM's?"));
  }
  return found->array();
}

absl::StatusOr<JsonNode> ToNode(const Json& json, int64_t position) {
  JsonNode node;
  for (const auto& [key, to] : {std::pair("op", &node.op), std::pair("name", &node.name)}) {
    const Json* found = json.Find(key);
    if (found == nullptr || found->text() == nullptr) {
      return Invalid(absl::StrCat("it has no \"", key, "\""));
    }
    *to = ToUtf8(*found->text());
    std::replace_if(
        to->begin(), to->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  }
  // Called so by newer, middle and the oldest files; in the oldest "attr" has what is not the operator's.
  for (const char* key : {"attrs", "attr", "param"}) {
    const Json* found = json.Find(key);
    if (found == nullptr || found->object() == nullptr) continue;
    for (const auto& [name, value] : *found->object()) {
      if (value.text() == nullptr) return Invalid(absl::StrCat("\"", name, "\" is no text"));
      node.attributes.emplace(name, *value.text());
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Json::Array* inputs, FindArray(json, "inputs"));
  if (inputs->size() > kMaxNodeArity) {
    return absl::ResourceExhaustedError(
        absl::StrCat("it has ", inputs->size(), " inputs, more than the limit of ", kMaxNodeArity));
  }
  for (const Json& input : *inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(const Entry entry, ToEntry(input, position));
    node.inputs.push_back(entry);
  }
  return node;
}

class Importer {
 public:
  Importer(const OperatorRegistry& registry, const NnvmImportOptions& options)
      : options_(options), builder_("nnvm", registry) {}

  absl::StatusOr<Graph> Run(const NnvmFiles& files) {
    if (static_cast<int64_t>(files.symbol.size()) > kMaxNnvmJsonBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("the graph has ", files.symbol.size(),
                                                       " bytes, more than the limit of ",
                                                       kMaxNnvmJsonBytes));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Json json, ParseJson(files.symbol));
    SLIPWAY_RETURN_IF_ERROR(ReadNodes(json));
    SLIPWAY_RETURN_IF_ERROR(ReadParameters(files.parameters));
    outputs_.resize(nodes_.size());
    SLIPWAY_ASSIGN_OR_RETURN(const Json::Array* heads, FindArray(json, "heads"));
    if (heads->empty()) return Invalid("the graph has no heads");
    std::vector<Entry> entries;
    int64_t last = 0;
    for (const Json& head : *heads) {
      SLIPWAY_ASSIGN_OR_RETURN(const Entry entry,
                               ToEntry(head, static_cast<int64_t>(nodes_.size())));
      entries.push_back(entry);
      last = std::max(last, entry.node);
    }
    for (int64_t n = 0; n <= last; ++n) {
      if (nodes_[n].op == "null") continue;
      SLIPWAY_RETURN_IF_ERROR_WITH(
          AddNode(n), absl::StrCat("node \"", nodes_[n].name, "\" (", nodes_[n].op, ")"));
    }
    for (const Entry& entry : entries) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(const ValueId value, ValueOf(entry), "head");
      builder_.Output(value);
    }
    SLIPWAY_ASSIGN_OR_RETURN(Graph graph, std::move(builder_).Build());
    for (const Entry& entry : entries) NameOutput(nodes_[entry.node].name, entry, graph);
    DropUnusedValues(graph);
    return graph;
  }

 private:
  absl::Status ReadNodes(const Json& json) {
    SLIPWAY_ASSIGN_OR_RETURN(const Json::Array* nodes, FindArray(json, "nodes"));
    if (nodes->size() > kMaxNodes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the graph has ", nodes->size(), " nodes, more than the limit of ", kMaxNodes));
    }
    for (const Json& node : *nodes) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(JsonNode read,
                                    ToNode(node, static_cast<int64_t>(nodes_.size())),
                                    absl::StrCat("node ", nodes_.size()));
      nodes_.push_back(std::move(read));
    }
    return absl::OkStatus();
  }

  absl::Status ReadParameters(absl::string_view bytes) {
    if (bytes.empty()) return absl::OkStatus();
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> arrays, ParseNdArrayFile(bytes));
    for (NamedTensor& array : arrays) {
      absl::string_view name = array.name;
      if (absl::StartsWith(name, "arg:") || absl::StartsWith(name, "aux:")) name.remove_prefix(4);
      if (!parameters_.emplace(std::string(name), std::move(array.tensor)).second) {
        return Invalid(absl::StrCat("the parameters have \"", name, "\" twice"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> ValueOf(const Entry& entry) {
    std::vector<ValueId>& outputs = outputs_[entry.node];
    if (outputs.empty() && nodes_[entry.node].op == "null") {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId value, AddVariable(nodes_[entry.node]));
      outputs = {value};
    }
    if (entry.index >= static_cast<int64_t>(outputs.size())) {
      return Invalid(absl::StrCat("output ", entry.index, " of node \"", nodes_[entry.node].name,
                                  "\" is read, which makes ", outputs.size()));
    }
    return outputs[entry.index];
  }

  absl::StatusOr<ValueId> AddVariable(const JsonNode& node) {
    const auto parameter = parameters_.find(node.name);
    if (parameter != parameters_.end()) return builder_.Constant(node.name, parameter->second);
    MxnetNode attributes(node.name, node.op, node.attributes, 0, nullptr, builder_);
    std::vector<int64_t> shape = attributes.Ints("__shape__", {});
    for (size_t d = 0; d < kMaxRank; ++d) {
      const auto given = options_.dims.find(absl::StrCat(node.name, "[", d, "]"));
      if (given == options_.dims.end()) continue;
      if (d > shape.size()) break;
      if (d == shape.size()) shape.push_back(0);
      shape[d] = given->second;
    }
    // Extents of 0 stand for what was not known.
    if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](int64_t e) { return e < 1; })) {
      return Invalid(absl::StrCat("\"", node.name,
                                  "\" has no value in the parameters and no shape: give its "
                                  "extents, as in --dimension \"",
                                  node.name, "[0]=1\""));
    }
    // MXNet's numbers of element types, of which these are common for inputs.
    constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16,
                                   DataType::kUint8,   DataType::kInt32,   DataType::kInt8,
                                   DataType::kInt64};
    const int64_t flag = attributes.Int("__dtype__", 0);
    if (flag < 0 || flag >= static_cast<int64_t>(std::size(kTypes))) {
      return absl::UnimplementedError(
          absl::StrCat("\"", node.name, "\" is of element type ", flag, ", which is not known"));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckShape(shape, ByteSize(kTypes[flag])).status(), node.name);
    return builder_.Input(node.name, kTypes[flag], shape);
  }

  absl::Status AddNode(int64_t n) {
    const JsonNode& node = nodes_[n];
    const MxnetConversion conversion = FindMxnetConversion(node.op);
    if (conversion == nullptr) return absl::UnimplementedError("the operator is not supported");
    MxnetNode view(
        node.name, node.op, node.attributes, static_cast<int>(node.inputs.size()),
        [this, &node](int i) { return ValueOf(node.inputs[i]); }, builder_);
    outputs_[n] = conversion(view);
    // What could not be added has no type, which conversions would stumble over.
    SLIPWAY_RETURN_IF_ERROR(builder_.status());
    return view.Finish();
  }

  // Where a node became several, the last of them has its name, if it has one output.
  void NameOutput(const std::string& name, const Entry& entry, Graph& graph) const {
    if (outputs_[entry.node].size() != 1) return;
    Value& output = graph.values[outputs_[entry.node][0]];
    for (Value& value : graph.values) {
      if (value.name == name) std::swap(value.name, output.name);
    }
  }

  const NnvmImportOptions& options_;
  GraphBuilder builder_;
  std::vector<JsonNode> nodes_;
  std::vector<std::vector<ValueId>> outputs_;  // By node.
  absl::flat_hash_map<std::string, Tensor> parameters_;
};

}  // namespace

absl::StatusOr<Graph> ImportNnvm(const NnvmFiles& files, const OperatorRegistry& registry,
                                 const NnvmImportOptions& options) {
  return Importer(registry, options).Run(files);
}

}  // namespace slipway
