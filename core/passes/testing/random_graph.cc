#include "core/passes/testing/random_graph.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/builder.h"

namespace slipway::testing {
namespace {

class Generator {
 public:
  Generator(const OperatorRegistry& registry, uint64_t seed)
      : random_(seed), builder_(absl::StrCat("random_", seed), registry) {}

  absl::StatusOr<Graph> Run() {
    static constexpr int64_t kInputChannels[] = {1, 3, 4, 8, 16, 20};
    maps_.push_back(
        builder_.Input("image", DataType::kFloat32,
                       {1 + Below(2), kInputChannels[Below(6)], 5 + Below(6), 5 + Below(6)}));
    const int64_t steps = 2 + Below(9);
    for (int64_t i = 0; i < steps; ++i) Step();
    const int64_t outputs = 1 + Below(2);
    ValueId last = kNoValue;
    for (int64_t i = 0; i < outputs; ++i) {
      const ValueId output = Finish(Pick());
      if (output != last) builder_.Output(output);
      last = output;
    }
    return std::move(builder_).Build();
  }

 private:
  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % limit); }
  bool Chance(int64_t percent) { return Below(100) < percent; }

  Tensor Numbers(const Shape& shape, float low, float high) {
    Tensor tensor = Tensor::Zeros(DataType::kFloat32, shape);
    for (float& value : tensor.mutable_values<float>()) {
      value = low + (high - low) * static_cast<float>(random_() >> 40) / (1 << 24);
    }
    return tensor;
  }
  ValueId Weights(const Shape& shape, float low, float high) {
    return builder_.Constant(absl::StrCat("w", ++constants_), Numbers(shape, low, high));
  }
  ValueId Integers(std::vector<int64_t> values) {
    return builder_.Constant(absl::StrCat("i", ++constants_),
                             Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
  }

  // Late values more often than early ones.
  ValueId Pick() {
    const int64_t count = static_cast<int64_t>(maps_.size());
    return maps_[count - 1 - std::min(Below(count), Below(count))];
  }
  Shape ShapeOf(ValueId id) {
    const ValueType* type = builder_.type(id);
    return type == nullptr ? Shape{1, 1, 1, 1} : type->shape();
  }

  void Step() {
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
        return Push(Convolution(Pick()));
      case 3:
        return Push(Depthwise(Pick()));
      case 4:
        return Push(Normalization(Pick()));
      case 5:
        return Push(Unary(Pick()));
      case 6:
        return Push(WithConstant(Pick()));
      case 7:
        return Push(Residual(Pick()));
      case 8:
        return Push(ChannelConcat(Pick()));
      case 9:
        return Push(Pooling(Pick()));
      case 10:
        return Push(Shuffle(Pick()));
      default:
        return Push(Gate(Pick()));
    }
  }
  void Push(ValueId id) { maps_.push_back(id); }

  int64_t SomeChannels() {
    static constexpr int64_t kChannels[] = {4, 6, 8, 12, 16, 24, 32, 5};
    return kChannels[Below(8)];
  }

  ValueId Convolution(ValueId x) {
    const Shape shape = ShapeOf(x);
    int64_t group = 1;
    for (const int64_t candidate : {2, 4}) {
      if (shape[1] % candidate == 0 && Chance(20)) group = candidate;
    }
    int64_t out_channels = Chance(40) ? shape[1] : SomeChannels();
    if (out_channels % group != 0) group = 1;
    const int64_t kernel = 1 + 2 * Below(2);
    const int64_t dilation = kernel == 3 && Chance(15) ? 2 : 1;
    const int64_t pad = kernel / 2 * dilation;
    const int64_t stride = 1 + (Chance(20) ? 1 : 0);
    std::vector<ValueId> inputs = {
        x, Weights({out_channels, shape[1] / group, kernel, kernel}, -0.5f, 0.5f)};
    if (Chance(50)) inputs.push_back(Weights({out_channels}, -1, 1));
    Attributes attributes = {{"group", group}, {"strides", Ints({stride, stride})}};
    if (dilation == 1 && Chance(15)) {
      attributes.Set("auto_pad", Chance(50) ? "SAME_UPPER" : "SAME_LOWER");
    } else {
      attributes.Set("pads", Ints({pad, pad, pad, pad}));
      attributes.Set("dilations", Ints({dilation, dilation}));
    }
    ValueId y = builder_.Add("Conv", inputs, attributes);
    if (Chance(30)) y = Normalization(y);
    if (Chance(40)) y = Unary(y);
    return y;
  }
  ValueId Depthwise(ValueId x) {
    const Shape shape = ShapeOf(x);
    return builder_.Add("Conv", {x, Weights({shape[1], 1, 3, 3}, -0.5f, 0.5f)},
                        {{"group", shape[1]}, {"pads", Ints({1, 1, 1, 1})}});
  }
  ValueId Normalization(ValueId x) {
    const int64_t channels = ShapeOf(x)[1];
    return builder_.Add("BatchNormalization",
                        {x, Weights({channels}, 0.5f, 1.5f), Weights({channels}, -1, 1),
                         Weights({channels}, -1, 1), Weights({channels}, 0.5f, 2)});
  }
  ValueId Unary(ValueId x) {
    switch (Below(5)) {
      case 0:
        return builder_.Add("LeakyRelu", {x}, {{"alpha", 0.1f}});
      case 1:
        return builder_.Add("Sigmoid", {x});
      case 2:
        return builder_.Add("Clip", {x, Weights({}, -1, 0), Weights({}, 1, 6)});
      case 3:
        return builder_.Add("Dropout", {x});
      default:
        return builder_.Add("Relu", {x});
    }
  }
  ValueId WithConstant(ValueId x) {
    static constexpr const char* kOperators[] = {"Add", "Mul", "Sub", "Div"};
    const Shape shape = ShapeOf(x);
    const Shape shapes[] = {{shape[1], 1, 1},     {},    {1, shape[1], 1, 1},
                            {shape[2], shape[3]}, shape, {1, 1, shape[2], 1}};
    const ValueId c = Weights(shapes[Below(6)], 0.5f, 2);
    const char* op = kOperators[Below(4)];
    const bool first = Chance(25) && std::string(op) != "Div";
    return first ? builder_.Add(op, {c, x}) : builder_.Add(op, {x, c});
  }
  ValueId Residual(ValueId x) {
    for (const ValueId other : maps_) {
      if (other != x && ShapeOf(other) == ShapeOf(x)) {
        return Chance(50) ? builder_.Add("Add", {x, other}) : builder_.Add("Sum", {x, other, x});
      }
    }
    return builder_.Add("Add", {x, Unary(x)});
  }
  ValueId ChannelConcat(ValueId x) {
    const Shape shape = ShapeOf(x);
    if (shape[1] > 64) return Unary(x);
    std::vector<ValueId> inputs = {x};
    for (const ValueId other : maps_) {
      Shape theirs = ShapeOf(other);
      if (theirs[0] == shape[0] && theirs[2] == shape[2] && theirs[3] == shape[3] &&
          theirs[1] <= 64 && inputs.size() < 3) {
        inputs.push_back(other);
      }
    }
    if (Chance(20)) inputs.push_back(Weights({shape[0], 4, shape[2], shape[3]}, -1, 1));
    return builder_.Add("Concat", inputs, {{"axis", Chance(50) ? int64_t{1} : int64_t{-3}}});
  }
  ValueId Pooling(ValueId x) {
    const Shape shape = ShapeOf(x);
    if (shape[2] < 3 || shape[3] < 3) return Unary(x);
    Attributes attributes = {{"kernel_shape", Ints({3, 3})},
                             {"strides", Ints({1 + Below(2), 1 + Below(2)})},
                             {"ceil_mode", Below(2)}};
    if (Chance(50)) attributes.Set("pads", Ints({1, 1, 1, 1}));
    if (Chance(50)) return builder_.Add("MaxPool", {x}, attributes);
    attributes.Set("count_include_pad", Below(2));
    return builder_.Add("AveragePool", {x}, attributes);
  }
  ValueId Shuffle(ValueId x) {
    const Shape s = ShapeOf(x);
    if (s[1] % 4 != 0) return Unary(x);
    const ValueId split = builder_.Add("Reshape", {x, Integers({s[0], 4, s[1] / 4, s[2], s[3]})});
    const ValueId swapped = builder_.Add("Transpose", {split}, {{"perm", Ints({0, 2, 1, 3, 4})}});
    return builder_.Add("Reshape", {swapped, Integers({0, s[1], s[2], -1})});
  }
  // Squeeze and excite: every channel scaled by a number made from its mean.
  ValueId Gate(ValueId x) {
    const ValueId mean = builder_.Add("GlobalAveragePool", {x});
    const ValueId gate = builder_.Add("Sigmoid", {Chance(50) ? Convolution1x1(mean) : mean});
    return builder_.Add("Mul", {x, gate});
  }
  ValueId Convolution1x1(ValueId x) {
    const int64_t channels = ShapeOf(x)[1];
    return builder_.Add("Conv", {x, Weights({channels, channels, 1, 1}, -0.5f, 0.5f)});
  }

  ValueId Finish(ValueId x) {
    if (Chance(40)) return x;
    const Shape shape = ShapeOf(x);
    ValueId flat = kNoValue;
    int64_t features = shape[1];
    if (Chance(60)) {
      flat = builder_.Add("Flatten", {builder_.Add("GlobalAveragePool", {x})});
    } else {
      flat = builder_.Add("Reshape", {x, Integers({0, -1})});
      features = shape[1] * shape[2] * shape[3];
    }
    const int64_t classes = 3 + Below(20);
    ValueId y = kNoValue;
    switch (Below(3)) {
      case 0:
        y = builder_.Add(
            "Gemm", {flat, Weights({classes, features}, -0.2f, 0.2f), Weights({classes}, -1, 1)},
            {{"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}});
        break;
      case 1:
        y = builder_.Add("Add",
                         {builder_.Add("MatMul", {flat, Weights({features, classes}, -0.2f, 0.2f)}),
                          Weights({1, classes}, -1, 1)});
        break;
      default:
        y = builder_.Add("Gemm", {flat, Weights({features, classes}, -0.2f, 0.2f)});
        break;
    }
    return Chance(50) ? builder_.Add("Softmax", {y}, {{"axis", int64_t{-1}}}) : y;
  }

  std::mt19937_64 random_;
  GraphBuilder builder_;
  std::vector<ValueId> maps_;  // Tensors of rank 4.
  int constants_ = 0;
};

}  // namespace

absl::StatusOr<Graph> RandomGraph(const OperatorRegistry& registry, uint64_t seed) {
  return Generator(registry, seed).Run();
}

}  // namespace slipway::testing
