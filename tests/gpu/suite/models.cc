#include "tests/gpu/suite/models.h"

#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace slipway::testing {
namespace {

// Writes the text of a graph, node by node; what is made is named by the number of its line.
class Writer {
 public:
  std::string Input(Shape shape) {
    inputs_.push_back({std::move(shape), 0, 1, seeds_++});
    return Declare(inputs_.back());
  }
  std::string Weight(Shape shape, double mean, double deviation) {
    const SeededNormal seeded = {std::move(shape), mean, deviation, seeds_++};
    std::string name = Declare(seeded);
    weights_[name.substr(1)] = seeded;
    return name;
  }
  std::string Integers(const std::vector<int64_t>& values) {
    const std::string name = absl::StrCat("%k", names_++);
    absl::StrAppend(&body_, "  const ", name, ": i64[", values.size(), "] = {",
                    absl::StrJoin(values, ", "), "}\n");
    return name;
  }
  std::string Node(absl::string_view op, const std::vector<std::string>& inputs,
                   absl::string_view attributes = "") {
    std::string name = absl::StrCat("%v", names_++);
    absl::StrAppend(&body_, "  ", name, " = ", op, "(", absl::StrJoin(inputs, ", "), ")",
                    attributes.empty() ? "" : absl::StrCat(" {", attributes, "}"), "\n");
    return name;
  }
  std::string Reshape(const std::string& x, const std::vector<int64_t>& shape) {
    return Node("Reshape", {x, Integers(shape)});
  }

  absl::StatusOr<MeasuredModel> Finish(const std::string& output, const PassTester& tester) const {
    MeasuredModel model;
    SLIPWAY_ASSIGN_OR_RETURN(
        model.graph, tester.Parse(absl::StrCat("graph \"g\" (", absl::StrJoin(declared_, ", "),
                                               ") -> (", output, ") {\n", body_, "}")));
    std::vector<ValueId> inputs;
    for (const ValueId id : model.graph.inputs) {
      Value& value = model.graph.values[static_cast<size_t>(id)];
      const auto weight = weights_.find(value.name);
      if (weight == weights_.end()) {
        inputs.push_back(id);
      } else {
        value.constant = MakeSeeded(weight->second);
      }
    }
    model.graph.inputs = std::move(inputs);
    model.inputs = inputs_;
    model.constants = weights_;
    return model;
  }

 private:
  std::string Declare(const SeededNormal& seeded) {
    std::string name = absl::StrCat("%x", names_++);
    declared_.push_back(absl::StrCat(name, ": f32[", absl::StrJoin(seeded.shape, ", "), "]"));
    return name;
  }

  std::vector<std::string> declared_;
  std::vector<SeededNormal> inputs_;
  std::map<std::string, SeededNormal> weights_;
  std::string body_;
  int names_ = 0;
  uint64_t seeds_ = 1;
};

// He et al., "Deep Residual Learning for Image Recognition", 2016, with its normalizations folded into weights. Branches are small, so that
// numbers keep their size through the blocks.
std::string ConvText(int64_t kernel, int64_t stride, int64_t pad) {
  return absl::StrCat("kernel_shape = [", kernel, ", ", kernel, "], strides = [", stride, ", ",
                      stride, "], pads = [", absl::StrJoin(std::vector<int64_t>(4, pad), ", "),
                      "]");
}

std::string Conv(Writer& writer, const std::string& x, int64_t from, int64_t to, int64_t kernel,
                 int64_t stride, double gain = 1) {
  const double fan_in = static_cast<double>(from * kernel * kernel);
  return writer.Node("Conv",
                     {x, writer.Weight({to, from, kernel, kernel}, 0, gain * std::sqrt(2 / fan_in)),
                      writer.Weight({to}, 0, 0.05)},
                     ConvText(kernel, stride, kernel / 2));
}

std::string ResNet50(Writer& writer, int64_t batch) {
  std::string x = writer.Input({batch, 3, 224, 224});
  x = writer.Node("Relu", {Conv(writer, x, 3, 64, 7, 2)});
  x = writer.Node("MaxPool", {x}, ConvText(3, 2, 1));
  int64_t channels = 64;
  const int kBlocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      std::string branch = writer.Node("Relu", {Conv(writer, x, channels, width, 1, 1)});
      branch = writer.Node("Relu", {Conv(writer, branch, width, width, 3, stride)});
      branch = Conv(writer, branch, width, 4 * width, 1, 1, 0.2);
      if (block == 0) x = Conv(writer, x, channels, 4 * width, 1, stride, 0.7);
      x = writer.Node("Relu", {writer.Node("Add", {branch, x})});
      channels = 4 * width;
    }
  }
  x = writer.Node("Flatten", {writer.Node("GlobalAveragePool", {x})});
  return writer.Node("Add", {writer.Node("MatMul", {x, writer.Weight({channels, 1000}, 0, 0.02)}),
                             writer.Weight({1000}, 0, 0.05)});
}

constexpr int64_t kHidden = 768;
constexpr int64_t kHeads = 12;

std::string Linear(Writer& writer, const std::string& x, int64_t from, int64_t to) {
  const std::string product = writer.Node(
      "MatMul", {x, writer.Weight({from, to}, 0, 1 / std::sqrt(static_cast<double>(from)))});
  return writer.Node("Add", {product, writer.Weight({to}, 0, 0.05)});
}

std::string Norm(Writer& writer, const std::string& x) {
  return writer.Node("LayerNormalization",
                     {x, writer.Weight({kHidden}, 1, 0.1), writer.Weight({kHidden}, 0, 0.1)});
}

// Vaswani et al., "Attention Is All You Need", 2017.
std::string Attention(Writer& writer, const std::string& x, int64_t batch, int64_t length) {
  const auto heads = [&](const char* order) {
    const std::string made = Linear(writer, x, kHidden, kHidden);
    return writer.Node("Transpose",
                       {writer.Reshape(made, {batch, length, kHeads, kHidden / kHeads})}, order);
  };
  const std::string q = heads("perm = [0, 2, 1, 3]");
  const std::string k = heads("perm = [0, 2, 3, 1]");
  const std::string v = heads("perm = [0, 2, 1, 3]");
  const std::string scaled = writer.Node("Mul", {q, writer.Weight({1}, 0.125, 0)});
  const std::string shares =
      writer.Node("Softmax", {writer.Node("MatMul", {scaled, k})}, "axis = -1");
  const std::string mixed =
      writer.Node("Transpose", {writer.Node("MatMul", {shares, v})}, "perm = [0, 2, 1, 3]");
  return Linear(writer, writer.Reshape(mixed, {batch, length, kHidden}), kHidden, kHidden);
}

std::string FeedForward(Writer& writer, const std::string& x) {
  const std::string wide = writer.Node("Gelu", {Linear(writer, x, kHidden, 4 * kHidden)});
  return Linear(writer, wide, 4 * kHidden, kHidden);
}

// The encoder of Devlin et al., "BERT", 2019, from embeddings on; 128 words.
std::string BertBase(Writer& writer, int64_t batch) {
  std::string x = writer.Input({batch, 128, kHidden});
  for (int layer = 0; layer < 12; ++layer) {
    x = Norm(writer, writer.Node("Add", {x, Attention(writer, x, batch, 128)}));
    x = Norm(writer, writer.Node("Add", {x, FeedForward(writer, x)}));
  }
  return x;
}

// Dosovitskiy et al., "An Image Is Worth 16x16 Words", 2021.
std::string VitB16(Writer& writer, int64_t batch) {
  const std::string image = writer.Input({batch, 3, 224, 224});
  const std::string patches = writer.Node(
      "Conv",
      {image, writer.Weight({kHidden, 3, 16, 16}, 0, 0.036), writer.Weight({kHidden}, 0, 0.05)},
      ConvText(16, 16, 0));
  const std::string rows = writer.Node(
      "Transpose", {writer.Reshape(patches, {batch, kHidden, 196})}, "perm = [0, 2, 1]");
  std::string x = writer.Node(
      "Add", {writer.Node("Concat", {writer.Weight({batch, 1, kHidden}, 0, 1), rows}, "axis = 1"),
              writer.Weight({1, 197, kHidden}, 0, 0.2)});
  for (int layer = 0; layer < 12; ++layer) {
    x = writer.Node("Add", {x, Attention(writer, Norm(writer, x), batch, 197)});
    x = writer.Node("Add", {x, FeedForward(writer, Norm(writer, x))});
  }
  const std::string first = writer.Node(
      "Slice", {Norm(writer, x), writer.Integers({0}), writer.Integers({1}), writer.Integers({1})});
  return Linear(writer, writer.Reshape(first, {batch, kHidden}), kHidden, 1000);
}

// For tests: some of each, in a few milliseconds.
std::string Tiny(Writer& writer, int64_t batch) {
  std::string x = writer.Input({batch, 3, 6, 6});
  x = writer.Node("Relu", {Conv(writer, x, 3, 8, 3, 1)});
  x = writer.Node("Flatten", {writer.Node("GlobalAveragePool", {x})});
  return Linear(writer, x, 8, 2048);  // Weights of 64 KiB have a blob of their own.
}

std::string MatMul(Writer& writer, int64_t size) {
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  return writer.Node("MatMul", {writer.Input({size, size}), writer.Weight({size, size}, 0, scale)});
}

std::string Sum(Writer& writer, int64_t rows) {
  return writer.Node("Add", {writer.Input({rows, 4096}), writer.Input({rows, 4096})});
}

std::string Softmax(Writer& writer, int64_t rows) {
  return writer.Node("Softmax", {writer.Input({rows, 4096})}, "axis = -1");
}

std::string LayerNorm(Writer& writer, int64_t rows) {
  return writer.Node(
      "LayerNormalization",
      {writer.Input({rows, 4096}), writer.Weight({4096}, 1, 0.1), writer.Weight({4096}, 0, 0.1)});
}

struct Row {
  const char* name;
  std::string (*write)(Writer&, int64_t);
  int64_t size;
};

constexpr Row kRows[] = {
    {"tiny_2", Tiny, 2},
    {"add_8192x4096", Sum, 8192},
    {"softmax_8192x4096", Softmax, 8192},
    {"layer_norm_8192x4096", LayerNorm, 8192},
    {"matmul_1024", MatMul, 1024},
    {"matmul_4096", MatMul, 4096},
    {"resnet50_1", ResNet50, 1},
    {"resnet50_32", ResNet50, 32},
    {"bert_base_1", BertBase, 1},
    {"bert_base_32", BertBase, 32},
    {"vit_b16_1", VitB16, 1},
    {"vit_b16_32", VitB16, 32},
};

}  // namespace

std::vector<std::string> MeasuredModelNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

absl::StatusOr<MeasuredModel> MakeMeasuredModel(absl::string_view name, const PassTester& tester) {
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    Writer writer;
    const std::string output = row.write(writer, row.size);
    return writer.Finish(output, tester);
  }
  return absl::NotFoundError(absl::StrCat("no model \"", name, "\", there are ",
                                          absl::StrJoin(MeasuredModelNames(), ", ")));
}

}  // namespace slipway::testing
