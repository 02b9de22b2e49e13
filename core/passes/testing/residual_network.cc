#include "core/passes/testing/residual_network.h"

#include <utility>
#include <vector>

#include "core/graph/builder.h"

namespace slipway::testing {
namespace {

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const OperatorRegistry& registry) : b_("residual", registry) {}

  absl::StatusOr<Graph> Build(const ResidualNetworkOptions& options) {
    ValueId x = b_.Input("x", DataType::kFloat32, {2, 3, options.image, options.image});
    x = b_.Add("Relu", {Convolution(x, 3, options.channels, 3, 1)});
    int64_t from = options.channels;
    for (int stage = 0; stage < 3; ++stage) {
      const int64_t to = options.channels << stage;
      for (int block = 0; block < options.blocks_a_stage; ++block) {
        const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        const ValueId inner = b_.Add("Relu", {Convolution(x, from, to, 3, stride)});
        const ValueId outer = Convolution(inner, to, to, 3, 1);
        const ValueId straight = from == to ? x : Convolution(x, from, to, 1, stride);
        x = b_.Add("Relu", {b_.Add("Add", {outer, straight})});
        from = to;
      }
    }
    const ValueId features = b_.Add("Flatten", {b_.Add("GlobalAveragePool", {x})});
    const ValueId scores = b_.Add("Gemm", {features, Weights({from, 10})});
    const ValueId classes = b_.Constant("classes", Tensor::Of<int64_t>({2}, {3, 7}));
    b_.Output(b_.AddNamed("loss", "SoftmaxCrossEntropyLoss", {scores, classes}));
    return std::move(b_).Build();
  }

 private:
  ValueId Weights(const std::vector<int64_t>& shape) {
    return b_.Input("w", DataType::kFloat32, shape);
  }
  ValueId Convolution(ValueId x, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
    const int64_t pad = kernel / 2;
    const ValueId sum =
        b_.Add("Conv", {x, Weights({to, from, kernel, kernel})},
               {{"pads", Ints({pad, pad, pad, pad})}, {"strides", Ints({stride, stride})}});
    const ValueId zeros = b_.Constant("m", Tensor::Zeros(DataType::kFloat32, {to}));
    return b_.AddMany("BatchNormalization", {sum, Weights({to}), Weights({to}), zeros, zeros}, 3,
                      {{"training_mode", int64_t{1}}})[0];
  }

  GraphBuilder b_;
};

}  // namespace

absl::StatusOr<Graph> ResidualNetwork(const OperatorRegistry& registry,
                                      const ResidualNetworkOptions& options) {
  return NetworkBuilder(registry).Build(options);
}

}  // namespace slipway::testing
