// From MXNet's layers to our operators. What each means is told in MXNet's operator reference (1.9).
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/nnvm_json/mxnet_node.h"

namespace slipway {
namespace {

using Values = std::vector<ValueId>;

// Operators that mean the same under another name.
struct Renamed {
  const char* theirs;
  const char* ours;
};

void CheckLayout(MxnetNode& node) {
  const std::string layout = node.Text("layout", "");
  if (!layout.empty() && layout != "NCHW" && layout != "NCW" && layout != "NCDHW") {
    node.Lack(absl::StrCat("\"layout\" = ", layout));
  }
}

// The attributes that Conv, ConvTranspose and pools have in common; empty lists are left to the default.
Attributes WindowAttributes(MxnetNode& node) {
  Attributes attributes;
  const std::vector<int64_t> kernel = node.Ints("kernel", {});
  if (kernel.empty()) node.Refuse("\"kernel\" is not given");
  attributes.Set("kernel_shape", kernel);
  const std::vector<int64_t> stride = node.Ints("stride", {});
  if (!stride.empty()) attributes.Set("strides", stride);
  const std::vector<int64_t> dilate = node.Ints("dilate", {});
  if (!dilate.empty()) attributes.Set("dilations", dilate);
  std::vector<int64_t> pads = node.Ints("pad", {});
  const std::vector<int64_t> begins = pads;
  pads.insert(pads.end(), begins.begin(), begins.end());
  if (!pads.empty()) attributes.Set("pads", pads);
  return attributes;
}

// Inputs x, weights and, unless there is none, bias.
Values WeightedInputs(MxnetNode& node, bool no_bias_by_default) {
  Values inputs = {node.input(0), node.input(1)};
  if (!node.Bool("no_bias", no_bias_by_default)) inputs.push_back(node.input(2));
  return inputs;
}

Values ConvertConvolution(MxnetNode& node) {
  CheckLayout(node);
  Attributes attributes = WindowAttributes(node);
  attributes.Set("group", node.Int("num_group", 1));
  const Values inputs = WeightedInputs(node, false);
  const Shape weights = node.shape(inputs[1]);
  const int64_t filters = node.Int("num_filter", weights.empty() ? 0 : weights[0]);
  if (!weights.empty() && weights[0] != filters) {
    node.Refuse(
        absl::StrCat("\"num_filter\" is ", filters, ", the weights are ", ToString(weights)));
  }
  return {node.Add("Conv", inputs, attributes)};
}

Values ConvertDeconvolution(MxnetNode& node) {
  CheckLayout(node);
  Attributes attributes = WindowAttributes(node);
  attributes.Set("group", node.Int("num_group", 1));
  if (!node.Ints("target_shape", {}).empty()) node.Lack("\"target_shape\"");
  const std::vector<int64_t> adj = node.Ints("adj", {});
  if (!adj.empty()) attributes.Set("output_padding", adj);
  node.Int("num_filter", 0);
  return {node.Add("ConvTranspose", WeightedInputs(node, true), attributes)};
}

Values ConvertFullyConnected(MxnetNode& node) {
  Values inputs = WeightedInputs(node, false);
  node.Int("num_hidden", 0);
  if (node.Bool("flatten", true)) {
    inputs[0] = node.Add("Flatten", {inputs[0]});
    return {node.Add("Gemm", inputs, {{"transB", int64_t{1}}})};
  }
  const ValueId weights = node.Add("Transpose", {inputs[1]}, {{"perm", Ints({1, 0})}});
  const ValueId product = node.Add("MatMul", {inputs[0], weights});
  return {inputs.size() < 3 ? product : node.Add("Add", {product, inputs[2]})};
}

Values ConvertActivation(MxnetNode& node) {
  constexpr Renamed kTypes[] = {{"relu", "Relu"},
                                {"sigmoid", "Sigmoid"},
                                {"tanh", "Tanh"},
                                {"softrelu", "Softplus"},
                                {"softsign", "Softsign"}};
  const std::string type = node.Text("act_type", "");
  for (const Renamed& row : kTypes) {
    if (type == row.theirs) return {node.Add(row.ours, {node.input(0)})};
  }
  node.Lack(absl::StrCat("\"act_type\" = ", type));
  return {kNoValue};
}

// A vector of one a channel as [C, 1, 1, ...] for an operand of this rank.
ValueId PerChannel(MxnetNode& node, ValueId vector, size_t rank) {
  std::vector<int64_t> shape = {-1};
  for (size_t d = 2; d < rank; ++d) shape.push_back(1);
  return node.Add("Reshape", {vector, node.Constant(shape)});
}

Values ConvertLeakyRelu(MxnetNode& node) {
  const std::string type = node.Text("act_type", "leaky");
  const float slope = node.Float("slope", 0.25f);
  const ValueId x = node.input(0);
  if (type == "leaky") return {node.Add("LeakyRelu", {x}, {{"alpha", slope}})};
  if (type == "elu") return {node.Add("Elu", {x}, {{"alpha", slope}})};
  if (type == "selu") return {node.Add("Selu", {x})};
  if (type == "gelu") return {node.Add("Gelu", {x})};
  if (type == "prelu") {
    return {node.Add("PRelu", {x, PerChannel(node, node.input(1), node.shape(x).size())})};
  }
  node.Lack(absl::StrCat("\"act_type\" = ", type));
  return {kNoValue};
}

Values ConvertHardSigmoid(MxnetNode& node) {
  return {node.Add("HardSigmoid", {node.input(0)},
                   {{"alpha", node.Float("alpha", 0.2f)}, {"beta", node.Float("beta", 0.5f)}})};
}

Values ConvertBatchNorm(MxnetNode& node) {
  if (node.Int("axis", 1) != 1) node.Lack("\"axis\" other than 1");
  if (node.Bool("output_mean_var", false)) node.Lack("\"output_mean_var\"");
  node.Bool("use_global_stats", false);
  Values inputs = node.inputs();
  if (inputs.size() != 5) node.Refuse("it needs data, gamma, beta, mean and variance");
  if (!node.ok()) return {kNoValue};
  if (node.Bool("fix_gamma", true)) {
    const Shape shape = node.shape(inputs[1]);
    std::vector<float> ones(static_cast<size_t>(NumElements(shape)), 1);
    inputs[1] =
        node.builder().Constant(absl::StrCat(node.name(), "_ones"), Tensor::Of<float>(shape, ones));
  }
  return {node.Add("BatchNormalization", inputs, {{"epsilon", node.Float("eps", 1e-3f)}})};
}

Values ConvertInstanceNorm(MxnetNode& node) {
  return {
      node.Add("InstanceNormalization", node.inputs(), {{"epsilon", node.Float("eps", 1e-3f)}})};
}

Values ConvertLayerNorm(MxnetNode& node) {
  const Values inputs = node.inputs();
  const int64_t axis = node.Int("axis", -1);
  if (node.Bool("output_mean_var", false)) node.Lack("\"output_mean_var\"");
  if (axis != -1 && axis + 1 != static_cast<int64_t>(node.shape(inputs[0]).size())) {
    node.Lack("\"axis\" other than the last");
  }
  return {node.Add("LayerNormalization", inputs, {{"epsilon", node.Float("eps", 1e-5f)}})};
}

Values ConvertLrn(MxnetNode& node) {
  return {node.Add("LRN", {node.input(0)},
                   {{"alpha", node.Float("alpha", 1e-4f)},
                    {"beta", node.Float("beta", 0.75f)},
                    {"bias", node.Float("knorm", 2.0f)},
                    {"size", node.Int("nsize", 0)}})};
}

Values ConvertL2Normalization(MxnetNode& node) {
  const ValueId x = node.input(0);
  const std::string mode = node.Text("mode", "instance");
  std::vector<int64_t> axes(node.shape(x).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (mode == "channel") {
    axes = {1};
  } else if (mode == "instance" || mode == "spatial") {
    axes.erase(axes.begin(),
               axes.begin() + std::min<size_t>(axes.size(), mode == "spatial" ? 2 : 1));
  } else {
    node.Refuse(absl::StrCat("\"mode\" is \"", mode, "\""));
  }
  const ValueId sum = node.Add("ReduceSumSquare", {x, node.Constant(axes)});
  const ValueId epsilon = node.Scalar(node.Float("eps", 1e-10f), x);
  return {node.Add("Div", {x, node.Add("Sqrt", {node.Add("Add", {sum, epsilon})})})};
}

// How many outputs along one dimension the convention of MXNet's makes.
int64_t PooledExtent(bool full, int64_t extent, int64_t kernel, int64_t stride, int64_t pad) {
  const int64_t range = extent + 2 * pad - kernel;
  return 1 + (full ? (range + stride - 1) / stride : range / stride);
}

Values ConvertPooling(MxnetNode& node) {
  CheckLayout(node);
  const ValueId x = node.input(0);
  const std::string type = node.Text("pool_type", "max");
  const std::string convention = node.Text("pooling_convention", "valid");
  const bool counts_pads = node.Bool("count_include_pad", true);
  const int64_t p = node.Int("p_value", 2);
  if (type != "max" && type != "avg" && type != "lp") {
    node.Lack(absl::StrCat("\"pool_type\" = ", type));
  }
  if (node.Bool("global_pool", false)) {
    for (const char* name : {"kernel", "stride", "pad"}) node.Ints(name, {});
    if (type == "lp") return {node.Add("GlobalLpPool", {x}, {{"p", p}})};
    return {node.Add(type == "max" ? "GlobalMaxPool" : "GlobalAveragePool", {x})};
  }
  if (convention != "valid" && convention != "full") {
    node.Lack(absl::StrCat("\"pooling_convention\" = ", convention));
  }
  Attributes attributes = WindowAttributes(node);
  if (convention == "full") attributes.Set("ceil_mode", int64_t{1});
  if (type == "avg" && counts_pads) attributes.Set("count_include_pad", int64_t{1});
  if (type == "lp") attributes.Set("p", p);
  const char* op = type == "max" ? "MaxPool" : type == "avg" ? "AveragePool" : "LpPool";
  const ValueId y = node.Add(op, {x}, attributes);
  const Shape from = node.shape(x);
  const Shape to = node.shape(y);
  const std::vector<int64_t> kernel = node.Ints("kernel", {});
  const std::vector<int64_t> strides = node.Ints("stride", std::vector<int64_t>(kernel.size(), 1));
  const std::vector<int64_t> pads = node.Ints("pad", std::vector<int64_t>(kernel.size(), 0));
  for (size_t d = 0; d + 2 < to.size(); ++d) {
    // A last window that sees pads alone is one here and none in ONNX.
    if (PooledExtent(convention == "full", from[d + 2], kernel[d], strides[d], pads[d]) !=
        to[d + 2]) {
      node.Lack("a last window behind the end");
    }
  }
  return {y};
}

Values ConvertUpSampling(MxnetNode& node) {
  const std::string type = node.Text("sample_type", "");
  if (type != "nearest" || node.num_inputs() != 1) {
    node.Lack(absl::StrCat("\"sample_type\" = ", type, " with ", node.num_inputs(), " inputs"));
  }
  node.Int("num_filter", 0);
  node.Text("multi_input_mode", "");
  const float scale = static_cast<float>(node.Int("scale", 1));
  const ValueId scales = node.builder().Constant(absl::StrCat(node.name(), "_scales"),
                                                 Tensor::Of<float>({4}, {1, 1, scale, scale}));
  return {node.Add("Resize", {node.input(0), kNoValue, scales},
                   {{"mode", std::string("nearest")},
                    {"coordinate_transformation_mode", std::string("asymmetric")},
                    {"nearest_mode", std::string("floor")}})};
}

Values ConvertSoftmax(MxnetNode& node) {
  const bool log = node.op() == "log_softmax";
  ValueId x = node.input(0);
  if (node.Bool("use_length", false)) node.Lack("\"use_length\"");
  if (node.has("temperature")) {
    x = node.Add("Div", {x, node.Scalar(node.Float("temperature", 1), x)});
  }
  return {node.Add(log ? "LogSoftmax" : "Softmax", {x}, {{"axis", node.Int("axis", -1)}})};
}

// Softmax over all dimensions but the first, unless an attribute says over which.
Values ConvertSoftmaxOutput(MxnetNode& node) {
  const ValueId x = node.input(0);
  const bool channels = node.Bool("multi_output", false) || node.Text("mode", "") == "channel";
  const bool last = node.Bool("preserve_shape", false);
  if (channels) return {node.Add("Softmax", {x}, {{"axis", int64_t{1}}})};
  const Shape shape = node.shape(x);
  if (last || shape.size() == 2) return {node.Add("Softmax", {x}, {{"axis", int64_t{-1}}})};
  const ValueId soft = node.Add("Softmax", {node.Add("Flatten", {x})});
  return {node.Add("Reshape", {soft, node.Constant({shape.begin(), shape.end()})})};
}

constexpr MxnetRow kRows[] = {
    {"Activation", ConvertActivation},
    {"BatchNorm", ConvertBatchNorm},
    {"BatchNorm_v1", ConvertBatchNorm},
    {"Convolution", ConvertConvolution},
    {"Convolution_v1", ConvertConvolution},
    {"Deconvolution", ConvertDeconvolution},
    {"FullyConnected", ConvertFullyConnected},
    {"InstanceNorm", ConvertInstanceNorm},
    {"L2Normalization", ConvertL2Normalization},
    {"LRN", ConvertLrn},
    {"LayerNorm", ConvertLayerNorm},
    {"LeakyReLU", ConvertLeakyRelu},
    {"Pooling", ConvertPooling},
    {"Pooling_v1", ConvertPooling},
    {"Softmax", ConvertSoftmaxOutput},
    {"SoftmaxActivation", ConvertSoftmaxOutput},
    {"SoftmaxOutput", ConvertSoftmaxOutput},
    {"UpSampling", ConvertUpSampling},
    {"hard_sigmoid", ConvertHardSigmoid},
    {"log_softmax", ConvertSoftmax},
    {"softmax", ConvertSoftmax},
};

}  // namespace

absl::Span<const MxnetRow> MxnetLayers() { return kRows; }

}  // namespace slipway
