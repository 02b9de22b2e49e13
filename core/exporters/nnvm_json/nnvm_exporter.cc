#include "core/exporters/nnvm_json/nnvm_exporter.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/graph/bind_symbols.h"
#include "core/operators/convolution.h"
#include "core/operators/movement.h"
#include "core/operators/pooling.h"
#include "core/tensor/nd_array_file.h"

namespace slipway {
namespace {

// How a node is said in MXNet: its inputs are those named here, in order.
struct Said {
  std::string op;
  std::map<std::string, std::string> attributes;
  int inputs = -1;  // How many of the node's; all by default.
};

std::string Tuple(absl::Span<const int64_t> list) {
  return absl::StrCat("(", absl::StrJoin(list, ", "), list.size() == 1 ? ",)" : ")");
}

// Operators that mean the same under another name.
struct Renamed {
  const char* ours;
  const char* theirs;
};
constexpr Renamed kRenamed[] = {{"Abs", "abs"},
                                {"Add", "broadcast_add"},
                                {"Ceil", "ceil"},
                                {"Cos", "cos"},
                                {"Div", "broadcast_div"},
                                {"Dropout", "identity"},
                                {"Erf", "erf"},
                                {"Exp", "exp"},
                                {"Floor", "floor"},
                                {"Identity", "identity"},
                                {"Log", "log"},
                                {"Mul", "broadcast_mul"},
                                {"Neg", "negative"},
                                {"Pow", "broadcast_power"},
                                {"Reciprocal", "reciprocal"},
                                {"Relu", "relu"},
                                {"Sigmoid", "sigmoid"},
                                {"Sign", "sign"},
                                {"Sin", "sin"},
                                {"Softsign", "softsign"},
                                {"Sqrt", "sqrt"},
                                {"Sub", "broadcast_sub"},
                                {"Sum", "add_n"},
                                {"Tanh", "tanh"}};

absl::StatusOr<Said> Convolution(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  if (conv.window.pads_begin != conv.window.pads_end) return view.Unimplemented("uneven pads");
  return Said{"Convolution",
              {{"kernel", Tuple(conv.window.kernel)},
               {"stride", Tuple(conv.window.strides)},
               {"dilate", Tuple(conv.window.dilations)},
               {"pad", Tuple(conv.window.pads_begin)},
               {"num_filter", absl::StrCat(conv.out_channels)},
               {"num_group", absl::StrCat(conv.group)},
               {"no_bias", conv.has_bias ? "False" : "True"}}};
}

absl::StatusOr<Said> Pooling(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const PoolView pool, DecodePool(view));
  const Window& window = pool.window;
  const std::vector<int64_t> ones(window.kernel.size(), 1);
  if (window.pads_begin != window.pads_end || window.dilations != ones ||
      view.Int("ceil_mode") != 0 || view.has_output(1)) {
    return view.Unimplemented("uneven pads, dilations, \"ceil_mode\" or indices");
  }
  return Said{"Pooling",
              {{"pool_type", pool.is_max ? "max" : "avg"},
               {"kernel", Tuple(window.kernel)},
               {"stride", Tuple(window.strides)},
               {"pad", Tuple(window.pads_begin)},
               {"count_include_pad", pool.count_include_pad ? "True" : "False"}}};
}

absl::StatusOr<Said> GlobalPooling(const NodeView& view) {
  return Said{"Pooling",
              {{"pool_type", view.op() == "GlobalMaxPool" ? "max" : "avg"},
               {"global_pool", "True"},
               {"kernel", Tuple(std::vector<int64_t>(view.input_type(0).rank() - 2, 1))}}};
}

absl::StatusOr<Said> FullyConnected(const NodeView& view) {
  const bool has_bias = view.has_input(2);
  if (view.Int("transA") != 0 || view.Int("transB") == 0 || view.Float("alpha") != 1 ||
      (has_bias && (view.Float("beta") != 1 || view.input_type(2).rank() != 1))) {
    return view.Unimplemented("a form other than x * transposed(w) + vector");
  }
  return Said{"FullyConnected",
              {{"num_hidden", absl::StrCat(view.input_shape(1)[0])},
               {"no_bias", has_bias ? "False" : "True"}}};
}

absl::StatusOr<Said> BatchNorm(const NodeView& view) {
  if (view.Int("training_mode") != 0) return view.Unimplemented("training");
  return Said{"BatchNorm", {{"eps", absl::StrCat(view.Float("epsilon"))}, {"fix_gamma", "False"}}};
}

absl::StatusOr<Said> LeakyRelu(const NodeView& view) {
  return Said{"LeakyReLU", {{"act_type", "leaky"}, {"slope", absl::StrCat(view.Float("alpha"))}}};
}

absl::StatusOr<Said> Softmax(const NodeView& view) {
  return Said{"softmax", {{"axis", absl::StrCat(view.Int("axis"))}}};
}

absl::StatusOr<Said> Flatten(const NodeView& view) {
  if (view.Int("axis") != 1) return view.Unimplemented("\"axis\" other than 1");
  return Said{"Flatten", {}};
}

absl::StatusOr<Said> Concat(const NodeView& view) {
  return Said{
      "Concat",
      {{"dim", absl::StrCat(view.Int("axis"))}, {"num_args", absl::StrCat(view.num_inputs())}}};
}

absl::StatusOr<Said> Transpose(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(view));
  return Said{"transpose", {{"axes", Tuple(perm)}}};
}

// What only changes the shape, which is written out.
absl::StatusOr<Said> Reshape(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<ValueType> types, InferNodeTypes(view));
  return Said{"Reshape", {{"shape", Tuple(types[0].shape())}}, 1};
}

struct Row {
  const char* op;
  absl::StatusOr<Said> (*say)(const NodeView&);
};
constexpr Row kRows[] = {{"AveragePool", Pooling},
                         {"BatchNormalization", BatchNorm},
                         {"Concat", Concat},
                         {"Conv", Convolution},
                         {"Flatten", Flatten},
                         {"Gemm", FullyConnected},
                         {"GlobalAveragePool", GlobalPooling},
                         {"GlobalMaxPool", GlobalPooling},
                         {"LeakyRelu", LeakyRelu},
                         {"MaxPool", Pooling},
                         {"Reshape", Reshape},
                         {"Softmax", Softmax},
                         {"Squeeze", Reshape},
                         {"Transpose", Transpose},
                         {"Unsqueeze", Reshape}};

absl::StatusOr<Said> Say(const NodeView& view) {
  for (const Row& row : kRows) {
    if (view.op() == row.op) return row.say(view);
  }
  for (const Renamed& row : kRenamed) {
    if (view.op() == row.ours) return Said{row.theirs, {}, view.op() == "Dropout" ? 1 : -1};
  }
  return view.Unimplemented("MXNet's form of the operator is not known");
}

class Exporter {
 public:
  Exporter(const Graph& graph, const OperatorRegistry& registry)
      : graph_(graph), registry_(registry), node_of_(graph.values.size(), -1) {}

  absl::StatusOr<NnvmExport> Run() {
    json_.BeginObject();
    json_.BeginArray("nodes");
    for (const ValueId id : graph_.inputs) SLIPWAY_RETURN_IF_ERROR(AddVariable(id, "arg:"));
    for (const Node& node : graph_.nodes) SLIPWAY_RETURN_IF_ERROR(AddNode(node));
    for (const ValueId id : graph_.outputs) SLIPWAY_RETURN_IF_ERROR(AddVariable(id, "arg:"));
    json_.EndArray();
    json_.Integers("arg_nodes", variables_);
    std::vector<int64_t> rows(nodes_ + 1);
    for (int64_t n = 0; n <= nodes_; ++n) rows[n] = n;
    json_.Integers("node_row_ptr", rows);
    json_.BeginArray("heads");
    for (const ValueId id : graph_.outputs) json_.Integers("", {node_of_[id], 0, 0});
    json_.EndArray();
    json_.BeginObject("attrs");
    json_.EndObject();
    json_.EndObject();
    SLIPWAY_ASSIGN_OR_RETURN(std::string parameters, FormatNdArrayFile(parameters_));
    return NnvmExport{json_.Take(), std::move(parameters)};
  }

 private:
  // A node without inputs, for an input or a constant that has none yet.
  absl::Status AddVariable(ValueId id, absl::string_view prefix) {
    if (node_of_[id] >= 0) return absl::OkStatus();
    const Value& value = graph_.values[id];
    if (value.constant.has_value()) {
      Tensor tensor = *value.constant;
      // MXNet has no scalars; one element broadcasts as well.
      if (tensor.shape().empty()) {
        SLIPWAY_ASSIGN_OR_RETURN(tensor, tensor.Reshaped({1}));
      }
      parameters_.push_back({absl::StrCat(prefix, value.name), std::move(tensor)});
    } else if (value.type->dtype() != DataType::kFloat32) {
      return absl::UnimplementedError(absl::StrCat("input \"", value.name, "\" is of type ",
                                                   ToString(*value.type), ", only f32 is written"));
    }
    variables_.push_back(nodes_);
    Begin("null", value.name, id);
    json_.BeginObject("attrs");
    if (!value.constant.has_value()) json_.Text("__shape__", Tuple(value.type->shape()));
    json_.EndObject();
    json_.BeginArray("inputs");
    json_.EndArray();
    json_.EndObject();
    return absl::OkStatus();
  }

  absl::Status AddNode(const Node& node) {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, registry_));
    SLIPWAY_ASSIGN_OR_RETURN(const Said said, Say(view));
    if (node.outputs.size() != 1) return view.Unimplemented("several outputs");
    const int count = said.inputs < 0 ? view.num_inputs() : said.inputs;
    for (int i = 0; i < count; ++i) {
      if (!view.has_input(i)) return view.Unimplemented("an omitted input");
      const bool is_state = node.op == "BatchNormalization" && i >= 3;
      SLIPWAY_RETURN_IF_ERROR(AddVariable(node.inputs[i], is_state ? "aux:" : "arg:"));
    }
    Begin(said.op, graph_.values[node.outputs[0]].name, node.outputs[0]);
    json_.BeginObject("attrs");
    for (const auto& [name, value] : said.attributes) json_.Text(name, value);
    json_.EndObject();
    json_.BeginArray("inputs");
    for (int i = 0; i < count; ++i) json_.Integers("", {node_of_[node.inputs[i]], 0, 0});
    json_.EndArray();
    json_.EndObject();
    return absl::OkStatus();
  }

  void Begin(absl::string_view op, absl::string_view name, ValueId made) {
    node_of_[made] = nodes_++;
    json_.BeginObject();
    json_.Text("op", op);
    json_.Text("name", name);
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  JsonWriter json_;
  std::vector<int64_t> node_of_;  // By value; -1 where it has none yet.
  std::vector<int64_t> variables_;
  std::vector<NamedTensor> parameters_;
  int64_t nodes_ = 0;
};

}  // namespace

absl::StatusOr<NnvmExport> ExportNnvm(const Graph& graph, const OperatorRegistry& registry) {
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, "NNVM's form"));
  return Exporter(graph, registry).Run();
}

}  // namespace slipway
