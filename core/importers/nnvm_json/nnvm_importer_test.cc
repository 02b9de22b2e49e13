#include "core/importers/nnvm_json/nnvm_importer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/tensor/nd_array_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NnvmImporterTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Import(absl::string_view symbol,
                                     const std::vector<NamedTensor>& parameters = {},
                                     const NnvmImportOptions& options = {}) {
    auto bytes = FormatNdArrayFile(parameters);
    if (!bytes.ok()) return bytes.status();
    auto graph = ImportNnvm({symbol, *bytes}, registry_, options);
    if (!graph.ok()) return graph.status();
    return Print(*graph);
  }
  static std::string WithQuotes(absl::string_view text) {
    return absl::StrReplaceAll(text, {{"`", "\""}});
  }
  // A graph of one node that reads inputs x0, x1... of the shapes.
  absl::StatusOr<std::string> ImportNode(absl::string_view op, absl::string_view attributes,
                                         const std::vector<std::string>& shapes) {
    std::string nodes;
    std::string entries;
    for (size_t i = 0; i < shapes.size(); ++i) {
      absl::StrAppend(&nodes, "{`op`: `null`, `name`: `x", i, "`, `attrs`: {`__shape__`: `",
                      shapes[i], "`}, `inputs`: []},");
      absl::StrAppend(&entries, i == 0 ? "" : ",", "[", i, ",0,0]");
    }
    return Import(WithQuotes(
        absl::StrCat("{`nodes`: [", nodes, "{`op`: `", op, "`, `name`: `y`, `attrs`: {", attributes,
                     "}, `inputs`: [", entries, "]}], `heads`: [[", shapes.size(), ",0,0]]}")));
  }
  const OperatorRegistry registry_ = StandardOperators();
};

// As MXNet saves a network: parameters by name, a label that inference has no use for.
constexpr char kNetwork[] = R"json({
  "nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "null", "name": "c_weight", "attrs": {"num_filter": "2"}, "inputs": []},
    {"op": "null", "name": "c_bias", "inputs": []},
    {"op": "Convolution", "name": "c", "attrs": {"kernel": "(3, 3)", "num_filter": "2", "pad": "(1, 1)",
      "workspace": "1024"}, "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
    {"op": "null", "name": "b_gamma", "inputs": []},
    {"op": "null", "name": "b_beta", "inputs": []},
    {"op": "null", "name": "b_moving_mean", "inputs": []},
    {"op": "null", "name": "b_moving_var", "inputs": []},
    {"op": "BatchNorm", "name": "b", "attrs": {"eps": "2e-05", "momentum": "0.9"},
      "inputs": [[3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 1], [7, 0, 1]]},
    {"op": "Activation", "name": "r", "attrs": {"act_type": "relu"}, "inputs": [[8, 0, 0]]},
    {"op": "Pooling", "name": "p", "attrs": {"global_pool": "True", "kernel": "(7, 7)", "pool_type": "avg"},
      "inputs": [[9, 0, 0]]},
    {"op": "null", "name": "f_weight", "inputs": []},
    {"op": "FullyConnected", "name": "f", "attrs": {"no_bias": "True", "num_hidden": "3"},
      "inputs": [[10, 0, 0], [11, 0, 0]]},
    {"op": "null", "name": "softmax_label", "inputs": []},
    {"op": "SoftmaxOutput", "name": "softmax", "inputs": [[12, 0, 0], [13, 0, 0]]}
  ],
  "arg_nodes": [0, 1, 2, 4, 5, 11, 13],
  "node_row_ptr": [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17],
  "heads": [[14, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10900]}
})json";

TEST_F(NnvmImporterTest, ReadsANetworkWithItsParameters) {
  const auto floats = [](const Shape& shape) {
    return Tensor::Of<float>(shape, std::vector<float>(NumElements(shape), 0.5f));
  };
  const std::vector<NamedTensor> parameters = {
      {"arg:c_weight", floats({2, 3, 3, 3})}, {"arg:c_bias", floats({2})},
      {"arg:b_gamma", floats({2})},           {"arg:b_beta", floats({2})},
      {"aux:b_moving_mean", floats({2})},     {"aux:b_moving_var", floats({2})},
      {"arg:f_weight", floats({3, 2})}};
  const NnvmImportOptions options = {
      .dims = {{"data[0]", 1}, {"data[1]", 3}, {"data[2]", 4}, {"data[3]", 4}}};
  ASSERT_OK_AND_ASSIGN(const std::string text, Import(kNetwork, parameters, options));
  EXPECT_EQ(text, R"(graph "nnvm" opset 28 (%data: f32[1, 3, 4, 4]) -> (%softmax) {
  const %c_weight: f32[2, 3, 3, 3] = splat 0.5
  const %c_bias: f32[2] = {0.5, 0.5}
  %c = Conv(%data, %c_weight, %c_bias) {group = 1, kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : f32[1, 2, 4, 4]
  const %b_ones: f32[2] = {1, 1}
  const %b_beta: f32[2] = {0.5, 0.5}
  const %b_moving_mean: f32[2] = {0.5, 0.5}
  const %b_moving_var: f32[2] = {0.5, 0.5}
  %b = BatchNormalization(%c, %b_ones, %b_beta, %b_moving_mean, %b_moving_var) {epsilon = 2e-05} : f32[1, 2, 4, 4]
  %r = Relu(%b) : f32[1, 2, 4, 4]
  %p = GlobalAveragePool(%r) : f32[1, 2, 1, 1]
  %f = Flatten(%p) : f32[1, 2]
  const %f_weight: f32[3, 2] = splat 0.5
  %f_1 = Gemm(%f, %f_weight) {transB = 1} : f32[1, 3]
  %softmax = Softmax(%f_1) {axis = -1} : f32[1, 3]
}
)");
  EXPECT_THAT(
      Import(kNetwork, parameters),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("node \"c\" (Convolution)"),
                                                         HasSubstr("--dimension \"data[0]=1\""))));
}

// What one node becomes; further rows are held by the types that come out.
TEST_F(NnvmImporterTest, ConvertsOperators) {
  struct Row {
    const char* op;
    const char* attributes;
    std::vector<std::string> shapes;
    const char* expected;
  };
  const Row rows[] = {
      {"Reshape", "`shape`: `(-4, 2, -1, 0, -2)`", {"(6, 2, 5)"}, "f32[2, 3, 2, 5]"},
      {"Reshape", "`shape`: `(-3, -1)`", {"(6, 2, 5)"}, "f32[12, 5]"},
      {"Pooling",
       "`kernel`: `(3, 3)`, `stride`: `(2, 2)`, `pooling_convention`: `full`",
       {"(1, 1, 6, 6)"},
       "{ceil_mode = 1, kernel_shape = [3, 3], strides = [2, 2]} : f32[1, 1, 3, 3]"},
      {"LeakyReLU", "`act_type`: `prelu`", {"(1, 2, 3, 3)", "(2)"}, "PRelu(%x0, %"},
      {"_rminus_scalar", "`scalar`: `3`", {"(2)"}, "%y = Sub(%y_scalar, %x0)"},
      {"broadcast_lesser", "", {"(2)", "(1)"}, "Cast(%"},
      {"elemwise_add", "", {"(2)", "(2)"}, "%y = Add(%x0, %x1) : f32[2]"},
      {"SliceChannel",
       "`num_outputs`: `2`, `squeeze_axis`: `True`, `axis`: `0`",
       {"(2, 3)"},
       "Squeeze"},
      {"slice_axis", "`axis`: `1`, `begin`: `1`, `end`: `None`", {"(2, 3)"}, "f32[2, 2]"},
      {"slice", "`begin`: `(0, 1)`, `end`: `(None, 3)`", {"(2, 5)"}, "f32[2, 2]"},
      {"transpose", "`axes`: `[1, 0]`", {"(2, 5)"}, "f32[5, 2]"},
      {"SwapAxis", "`dim1`: `0`, `dim2`: `-1`", {"(2, 5, 3)"}, "f32[3, 5, 2]"},
      {"Embedding", "`input_dim`: `7`, `output_dim`: `4`", {"(2, 3)", "(7, 4)"}, "f32[2, 3, 4]"},
      {"mean", "`axis`: `1`, `exclude`: `True`, `keepdims`: `True`", {"(2, 3, 4)"}, "f32[1, 3, 1]"},
      {"Pad",
       "`mode`: `edge`, `pad_width`: `(0,0,0,0,1,2,3,4)`",
       {"(1, 1, 2, 2)"},
       "f32[1, 1, 5, 9]"},
      {"UpSampling", "`scale`: `2`, `sample_type`: `nearest`", {"(1, 2, 3, 3)"}, "f32[1, 2, 6, 6]"},
      {"L2Normalization", "`mode`: `channel`", {"(1, 2, 3, 3)"}, "ReduceSumSquare"},
      {"LRN", "`nsize`: `5`", {"(1, 8, 3, 3)"}, "bias = 2.0"},
      {"batch_dot", "`transpose_b`: `True`", {"(3, 2, 4)", "(3, 5, 4)"}, "f32[3, 2, 5]"},
      {"stack", "`axis`: `1`", {"(2, 3)", "(2, 3)"}, "f32[2, 2, 3]"},
      {"Deconvolution",
       "`kernel`: `(2, 2)`, `stride`: `(2, 2)`, `num_filter`: `3`",
       {"(1, 4, 3, 3)", "(4, 3, 2, 2)"},
       "f32[1, 3, 6, 6]"},
      {"FullyConnected",
       "`flatten`: `False`, `num_hidden`: `5`",
       {"(2, 3, 4)", "(5, 4)", "(5)"},
       "f32[2, 3, 5]"},
      {"Dropout", "`p`: `0.5`", {"(2)"}, "%y = Identity(%x0)"},
      {"clip", "`a_min`: `0`, `a_max`: `6`", {"(2)"}, "Clip(%x0, "},
      {"argmax", "`axis`: `1`", {"(2, 3)"}, "f32[2]"},
      {"softmax", "`temperature`: `2`", {"(2, 3)"}, "Softmax"},
      {"tile", "`reps`: `(2, 1)`", {"(2, 3)"}, "f32[4, 3]"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrCat(row.op, " ", row.attributes));
    const auto text = ImportNode(row.op, row.attributes, row.shapes);
    ASSERT_OK(text.status());
    EXPECT_THAT(*text, HasSubstr(row.expected));
  }
}

TEST_F(NnvmImporterTest, NamesWhatItRefuses) {
  const auto invalid = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(what)));
  };
  const auto lacks = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(std::string(what)));
  };
  EXPECT_THAT(ImportNode("NoSuchThing", "", {"(2)"}),
              lacks("node \"y\" (NoSuchThing): the operator"));
  EXPECT_THAT(ImportNode("relu", "`surprise`: `1`", {"(2)"}), lacks("\"surprise\" = \"1\""));
  EXPECT_THAT(ImportNode("Activation", "`act_type`: `odd`", {"(2)"}), lacks("odd"));
  EXPECT_THAT(ImportNode("Convolution", "`kernel`: `(3, x)`", {"(1, 1, 4, 4)", "(1, 1, 3, 3)"}),
              invalid("\"kernel\" is \"(3, x)\""));
  EXPECT_THAT(ImportNode("FullyConnected", "`num_hidden`: `2`", {"(2, 3)", "(2, 3)"}),
              invalid("it has 2 inputs, and input 2 is needed"));
  EXPECT_THAT(ImportNode("elemwise_add", "", {"(2)", "(3)"}), invalid("node \"y\""));
  EXPECT_THAT(ImportNode("Pooling",
                         "`kernel`: `(2, 2)`, `stride`: `(3, 3)`, `pad`: `(1, 1)`, "
                         "`pooling_convention`: `full`",
                         {"(1, 1, 4, 4)"}),
              lacks("a last window behind the end"));
  EXPECT_THAT(Import("{}"), invalid("\"nodes\""));
  EXPECT_THAT(Import("{\"nodes\": [1"), invalid("no JSON: at byte 12"));
  EXPECT_THAT(Import(WithQuotes("{`nodes`: [{`op`: `relu`, `name`: `y`, `inputs`: [[0, 0, 0]]}], "
                                "`heads`: [[0, 0, 0]]}")),
              invalid("node 0: the node of an entry is no index below 0"));
  EXPECT_THAT(Import(WithQuotes("{`nodes`: [{`op`: `null`, `name`: `y`, `inputs`: []}], "
                                "`heads`: [[0, 1, 0]]}")),
              invalid("\"y\" has no value in the parameters"));
  EXPECT_THAT(Import(WithQuotes("{`nodes`: [], `heads`: []}")), invalid("no heads"));
  EXPECT_THAT(Import(std::string(100, '[')),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("nested deeper than 64")));
  EXPECT_THAT(ImportNnvm({"{\"nodes\": []}", "no file"}, registry_).status(),
              invalid("parameter file"));
}

}  // namespace
}  // namespace slipway
