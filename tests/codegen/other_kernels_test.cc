// Reductions, softmax, normalizations and movements against the reference.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;

using Build = std::function<void(GraphBuilder&)>;

// One node `op` over inputs of these shapes.
Build OneNode(std::string op, std::vector<Shape> shapes, Attributes attributes = {}) {
  return [=](GraphBuilder& b) {
    std::vector<ValueId> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(b.Input(absl::StrCat("x", inputs.size()), kFloat, shape));
    }
    b.Output(b.Add(op, inputs, attributes));
  };
}

Build Reduced(std::string op, Shape shape, std::vector<int64_t> axes, Attributes attributes = {}) {
  return [=](GraphBuilder& b) {
    const int64_t count = static_cast<int64_t>(axes.size());
    const ValueId over = b.Constant("axes", Tensor::Of<int64_t>({count}, axes));
    b.Output(b.Add(op, {b.Input("x", kFloat, shape), over}, attributes));
  };
}

constexpr int64_t kExtents[] = {1, 2, 7, 17};

TEST(ReductionKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const int64_t n : {1, 2, 17, 65}) {
      for (const auto& axes : std::vector<std::vector<int64_t>>{{0}, {2}, {1, 2}, {0, 2}, {}}) {
        const Attributes attributes = {{"keepdims", static_cast<int64_t>(axes.size() % 2)}};
        suite.Add(absl::StrCat("mean", n, "axes", axes.size()),
                  Reduced("ReduceMean", {3, 5, n}, axes, attributes));
      }
      suite.Add(absl::StrCat("max", n), Reduced("ReduceMax", {3, 5, n}, {2}));
      suite.Add(absl::StrCat("global", n), OneNode("GlobalAveragePool", {{2, 3, n, 7}}));
      suite.Add(absl::StrCat("blocked_mean", n), Reduced("ReduceMean", {1, 3, n, n, 8}, {2, 3}));
      for (const int64_t axis : {1, 2}) {
        suite.Add(absl::StrCat("softmax", n, "axis", axis),
                  OneNode("Softmax", {{4, 3, n}}, {{"axis", axis}}));
        suite.Add(absl::StrCat("arg_max", n, "axis", axis),
                  OneNode("ArgMax", {{4, 3, n}}, {{"axis", axis}}));
      }
      suite.Add(absl::StrCat("softmax_vector", n), OneNode("Softmax", {{n}}));
    }
    suite.Add("global_max", OneNode("GlobalMaxPool", {{2, 3, 9, 7}}));
    suite.Add("many_rows", OneNode("Softmax", {{4420, 2}}));
    suite.Add("long_row", OneNode("Softmax", {{1, 1000}}));
    suite.Add("unit_dimensions", OneNode("Softmax", {{1, 1000, 1, 1}}, {{"axis", int64_t{1}}}));
    suite.Add("mean_of_square", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {9, 70});
      const ValueId axes = b.Constant("axes", Tensor::Of<int64_t>({1}, {1}));
      b.Output(b.Add("Sqrt", {b.Add("ReduceMean", {b.Add("Mul", {x, x}), axes})}));
    });
    suite.Add("sum_of_integers", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", DataType::kInt64, {5, 9});
      const ValueId axes = b.Constant("axes", Tensor::Of<int64_t>({1}, {1}));
      b.Output(b.Add("ReduceSum", {x, axes}));
    });
  });
}

TEST(NormalizationKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const int64_t n : kExtents) {
      suite.Add(absl::StrCat("lrn", n),
                OneNode("LRN", {{1, 6, n, n}}, {{"size", int64_t{5}}, {"alpha", 0.5f}}));
    }
    for (const int64_t n : {2, 3, 7, 17, 130}) {
      for (const int64_t axis : {1, 2, -1}) {
        const Shape shape = {2, 3, 5, n};
        const Shape weights(shape.begin() + (axis < 0 ? 3 : axis), shape.end());
        const Attributes attributes = {{"axis", axis}, {"epsilon", 0.01f}};
        suite.Add(absl::StrCat("layer", n, "axis", axis),
                  OneNode("LayerNormalization", {shape, weights, weights}, attributes));
        suite.Add(absl::StrCat("root", n, "axis", axis),
                  OneNode("RMSNormalization", {shape, {n}}, attributes));
      }
      suite.Add(absl::StrCat("instance", n),
                OneNode("InstanceNormalization", {{2, 3, 5, n}, {3}, {3}}, {{"epsilon", 0.01f}}));
      suite.Add(absl::StrCat("group", n),
                OneNode("GroupNormalization", {{2, 12, 3, n}, {12}, {12}},
                        {{"num_groups", int64_t{3}}, {"epsilon", 0.01f}}));
      suite.Add(absl::StrCat("groups_of_one", n),
                OneNode("GroupNormalization", {{2, 3, n}, {3}, {3}},
                        {{"num_groups", int64_t{3}}, {"epsilon", 0.01f}}));
    }
    suite.Add("without_bias", OneNode("LayerNormalization", {{70, 768}, {768}}));
    suite.Add("with_tail", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {2, 8, 9, 33});
      const ValueId scale = b.Input("scale", kFloat, {8});
      const ValueId y =
          b.Add("GroupNormalization", {x, scale, scale}, {{"num_groups", int64_t{2}}});
      b.Output(b.Add("Mul", {y, b.Add("Sigmoid", {y})}));
    });
    suite.Add("large_group", OneNode("GroupNormalization", {{1, 32, 40, 50}, {32}, {32}},
                                     {{"num_groups", int64_t{8}}}));
    suite.Add("lrn_beta", OneNode("LRN", {{2, 6, 3, 9}}, {{"size", int64_t{4}}, {"beta", 0.6f}}));
    for (const Shape& shape : std::vector<Shape>{{2, 3, 5, 7}, {2, 1, 5}, {4, 1}}) {
      suite.Add(absl::StrCat("batch_normalization", shape[1], "rank", shape.size()),
                [=](GraphBuilder& b) {
                  std::vector<ValueId> inputs = {b.Input("x", kFloat, shape)};
                  for (const char* name : {"scale", "bias", "mean"})
                    inputs.push_back(b.Input(name, kFloat, {shape[1]}));
                  const ValueId v = b.Input("v", kFloat, {shape[1]});
                  inputs.push_back(b.Add("Abs", {v}));
                  b.Output(b.Add("BatchNormalization", inputs, {{"epsilon", 0.1f}}));
                });
    }
  });
}

TEST(MovementKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const int64_t n : {1, 2, 17}) {
      suite.Add(absl::StrCat("pack", n),
                OneNode("slipway.Pack", {{1, 16, n, n}}, {{"block", int64_t{8}}}));
      suite.Add(absl::StrCat("pack_filled", n),
                OneNode("slipway.Pack", {{1, 11, n, n}}, {{"block", int64_t{4}}}));
      suite.Add(absl::StrCat("unpack", n), OneNode("slipway.Unpack", {{1, 2, n, n, 8}}));
      suite.Add(absl::StrCat("transpose", n),
                OneNode("Transpose", {{2, 3, n, 5}}, {{"perm", Ints({0, 2, 3, 1})}}));
      suite.Add(absl::StrCat("concat_inner", n),
                OneNode("Concat", {{2, n}, {2, 3}, {2, 17}}, {{"axis", int64_t{1}}}));
      suite.Add(absl::StrCat("concat_outer", n),
                OneNode("Concat", {{2, n, 9}, {2, 3, 9}}, {{"axis", int64_t{1}}}));
      suite.Add(absl::StrCat("concat_relu", n), [=](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {1, n, 7});
        const ValueId y = b.Input("y", kFloat, {1, 2, 7});
        b.Output(b.Add("Relu", {b.Add("Concat", {x, b.Add("Neg", {y})}, {{"axis", int64_t{1}}})}));
      });
      suite.Add(absl::StrCat("depth_to_space", n),
                OneNode("DepthToSpace", {{1, 18, n, n}}, {{"blocksize", int64_t{3}}}));
      suite.Add(
          absl::StrCat("depth_to_space_crd", n),
          OneNode("DepthToSpace", {{1, 8, n, n}}, {{"blocksize", int64_t{2}}, {"mode", "CRD"}}));
      suite.Add(absl::StrCat("space_to_depth", n),
                OneNode("SpaceToDepth", {{1, 3, 2 * n, 2 * n}}, {{"blocksize", int64_t{2}}}));
      suite.Add(absl::StrCat("shuffle", n), [=](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {1, 12, n, n});
        const ValueId in = b.Constant("in", Tensor::Of<int64_t>({5}, {1, 3, 4, n, n}));
        const ValueId out = b.Constant("out", Tensor::Of<int64_t>({4}, {1, 12, n, n}));
        const ValueId t =
            b.Add("Transpose", {b.Add("Reshape", {x, in})}, {{"perm", Ints({0, 2, 1, 3, 4})}});
        b.Output(b.Add("Reshape", {t, out}));
      });
      suite.Add(absl::StrCat("slice", n), [=](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {3, 2 * n, 9});
        const ValueId starts = b.Constant("starts", Tensor::Of<int64_t>({2}, {0, -1}));
        const ValueId ends = b.Constant("ends", Tensor::Of<int64_t>({2}, {n, -10}));
        const ValueId axes = b.Constant("axes", Tensor::Of<int64_t>({2}, {1, 2}));
        const ValueId steps = b.Constant("steps", Tensor::Of<int64_t>({2}, {1, -2}));
        b.Output(b.Add("Slice", {x, starts, ends, axes, steps}));
      });
      suite.Add(absl::StrCat("split", n), [=](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {3, 3 * n});
        const ValueId parts = b.Constant("parts", Tensor::Of<int64_t>({2}, {n, 2 * n}));
        for (const ValueId y : b.AddMany("Split", {x, parts}, 2, {{"axis", int64_t{1}}}))
          b.Output(y);
      });
      for (const char* mode : {"constant", "reflect", "edge"}) {
        if (n == 1) continue;
        suite.Add(absl::StrCat("pad_", mode, n), [=](GraphBuilder& b) {
          const ValueId x = b.Input("x", kFloat, {2, n});
          const ValueId pads = b.Constant("pads", Tensor::Of<int64_t>({4}, {0, 1, 1, 1}));
          b.Output(b.Add("Pad", {x, pads}, {{"mode", mode}}));
        });
      }
    }
    suite.Add("gather", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {3, 8, 5});
      const ValueId indices = b.Input("indices", DataType::kInt64, {2, 3});
      b.Output(b.Add("Gather", {x, indices}, {{"axis", int64_t{1}}}));
    });
    suite.Add("expand", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {3, 1, 5});
      const ValueId shape = b.Constant("shape", Tensor::Of<int64_t>({4}, {2, 1, 4, 5}));
      b.Output(b.Add("Expand", {x, shape}));
    });
  });
}

TEST(ElementwiseKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const int64_t n : {1, 2, 7, 17, 40000}) {
      suite.Add(absl::StrCat("relu", n), OneNode("Relu", {{n}}));
    }
    for (const char* op :
         {"Abs",         "Celu",           "Cos",      "Elu",       "Erf",      "Exp",      "Gelu",
          "HardSigmoid", "HardSwish",      "Identity", "LeakyRelu", "Mish",     "Neg",      "Selu",
          "Shrink",      "Sigmoid",        "Sign",     "Sin",       "Softplus", "Softsign", "Swish",
          "Tanh",        "ThresholdedRelu"}) {
      suite.Add(op, OneNode(op, {{3, 7}}), {}, {2e-6, 2e-6});
    }
    for (const char* op : {"Ceil", "Floor", "Reciprocal", "Round"}) {
      suite.Add(op, OneNode(op, {{3, 40}}), {}, {2e-6, 2e-6});
    }
    suite.Add("gelu_by_tanh", OneNode("Gelu", {{3, 40}}, {{"approximate", "tanh"}}), {},
              {2e-6, 2e-6});
    suite.Add("halves", OneNode("Round", {{8}}),
              {Tensor::Of<float>({8}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49f, 3e9f})});
    for (const char* op : {"PRelu", "SwiGLU"}) {
      suite.Add(op, OneNode(op, {{3, 21}, {3, 21}}), {}, {2e-6, 2e-6});
    }
    suite.Add("slope_a_channel", OneNode("PRelu", {{2, 3, 5}, {3, 1}}));
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Sum"}) {
      suite.Add(op, OneNode(op, {{3, 1, 7}, {2, 7}}));
      suite.Add(absl::StrCat(op, "_scalar"), OneNode(op, {{3, 7}, {}}));
    }
    suite.Add("positive", [](GraphBuilder& b) {
      const ValueId x = b.Add("Abs", {b.Input("x", kFloat, {3, 70})});
      b.Output(b.Add("Log", {x}));
      b.Output(b.Add("Sqrt", {x}));
      b.Output(b.Add("Pow", {x, b.Input("y", kFloat, {70})}));
    });
    for (const float exponent : {2.0f, 0.5f, 3.0f, -1.0f}) {
      suite.Add(absl::StrCat("pow", exponent), [=](GraphBuilder& b) {
        const ValueId x = b.Add("Abs", {b.Input("x", kFloat, {30})});
        b.Output(b.Add("Pow", {x, b.Constant("e", Tensor::Scalar<float>(exponent))}));
      });
    }
    for (const DataType to : {DataType::kInt64, DataType::kInt32, DataType::kBool}) {
      suite.Add(absl::StrCat("cast_to_", Name(to)),
                OneNode("Cast", {{3, 9}}, {{"to", static_cast<int64_t>(to)}}));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor far = Tensor::Of<float>(
        {18}, {nan, 1e30f, -1e30f, 3e9f, -3e9f, 300, -300, -0.5f, 2147483648.0f, -2147483648.0f,
               255, 256, 127, 128, -128, -129, 9.2233720e18f, 1.9f});
    for (const DataType to : {DataType::kInt64, DataType::kInt32, DataType::kInt8, DataType::kUint8,
                              DataType::kUint64, DataType::kBool}) {
      suite.Add(absl::StrCat("cast_far_to_", Name(to)),
                OneNode("Cast", {{18}}, {{"to", static_cast<int64_t>(to)}}), {far});
    }
    suite.Add("cast_from_integers", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", DataType::kInt64, {19});
      b.Output(b.Add("Cast", {x}, {{"to", static_cast<int64_t>(kFloat)}}));
    });
    suite.Add("integers", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", DataType::kInt64, {19});
      const ValueId y = b.Constant("y", Tensor::Scalar<int64_t>(3));
      b.Output(b.Add("Div", {b.Add("Sub", {x, b.Add("Mul", {x, y})}), y}));
    });
    suite.Add("truncating_division", [](GraphBuilder& b) {
      const ValueId x = b.Constant("x", Tensor::Of<int32_t>({4}, {-7, 7, -8, 9}));
      const ValueId y = b.Input("y", DataType::kInt32, {3, 1});
      const ValueId one = b.Constant("one", Tensor::Scalar<int32_t>(1));
      b.Output(b.Add("Div", {x, b.Add("Add", {y, one})}));
      b.Output(b.Add("Div", {x, b.Add("Neg", {b.Add("Add", {y, one})})}));
    });
    for (const DataType dtype : {DataType::kInt8, DataType::kInt16, DataType::kInt32,
                                 DataType::kInt64, DataType::kUint8}) {
      for (const int64_t divisor : {7, -3, 10, 1, -1, 64, 127}) {
        if (divisor < 0 && dtype == DataType::kUint8) continue;
        suite.Add(absl::StrCat("division_of_", Name(dtype), "_by_", divisor), [=](GraphBuilder& b) {
          const auto integers = [&](std::vector<int64_t> values) {
            const ValueId wide =
                b.Constant("n", Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
            return b.Add("Cast", {wide}, {{"to", static_cast<int64_t>(dtype)}});
          };
          const ValueId x = b.Add("Add", {b.Input("x", dtype, {24, 1}),
                                          integers({-128, -127, -64, -21, -7, -1, 0, 1, 3, 127})});
          b.Output(b.Add("Div", {x, integers({divisor})}));
        });
      }
    }
    suite.Add("pow_of_integers", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {9});
      b.Output(b.Add("Pow", {x, b.Input("y", DataType::kInt64, {9})}));
    });
    suite.Add("long_chain", [](GraphBuilder& b) {
      ValueId x = b.Input("x", kFloat, {40});
      for (int i = 0; i < 40; ++i) x = b.Add("Add", {x, b.Add("Sigmoid", {x})});
      b.Output(x);
    });
    suite.Add("passed_through", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {40});
      b.Output(x);
      b.Output(b.Add("Relu", {x}));
      b.Output(x);
    });
  });
}

Build OfTypes(std::string op, DataType dtype, std::vector<Shape> shapes) {
  return [=](GraphBuilder& b) {
    std::vector<ValueId> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(b.Input(absl::StrCat("x", inputs.size()), dtype, shape));
    }
    b.Output(b.Add(op, inputs));
  };
}

TEST(LogicKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
      for (const DataType dtype : {kFloat, DataType::kInt64, DataType::kInt32, DataType::kUint8}) {
        suite.Add(absl::StrCat(op, Name(dtype)), OfTypes(op, dtype, {{3, 1, 70}, {2, 70}}));
      }
      suite.Add(absl::StrCat(op, "_scalar"), OfTypes(op, DataType::kInt64, {{3, 7}, {}}));
    }
    for (const char* op : {"And", "Or", "Xor", "Equal"}) {
      suite.Add(absl::StrCat(op, "_of_truth"), [op](GraphBuilder& b) {
        const ValueId x = b.Input("x", DataType::kInt64, {3, 1, 70});
        const ValueId y = b.Input("y", DataType::kInt64, {2, 70});
        const ValueId three = b.Constant("three", Tensor::Scalar<int64_t>(3));
        b.Output(b.Add(op, {b.Add("Less", {x, three}), b.Add("Greater", {y, three})}));
      });
    }
    for (const int64_t n : {1, 9, 70}) {
      suite.Add(absl::StrCat("mask", n), [n](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {2, 3, n});
        const ValueId y = b.Input("y", kFloat, {n});
        const ValueId low = b.Constant("low", Tensor::Scalar<float>(-1e9f));
        b.Output(b.Add("Where", {b.Add("Not", {b.Add("Less", {x, y})}), x, low}));
      });
    }
    suite.Add("where_of_integers", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", DataType::kInt64, {3, 1, 7});
      const ValueId y = b.Input("y", DataType::kInt64, {2, 1});
      b.Output(b.Add("Where", {b.Add("Less", {x, y}), x, y}));
    });
    suite.Add("bool_in_and_out", [](GraphBuilder& b) {
      b.Output(b.Add("Not", {b.Input("x", DataType::kBool, {65})}));
    });
  });
}

TEST(QuantizedKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const auto scaled = [&](const char* op, DataType from, DataType to, Shape scales) {
      suite.Add(absl::StrCat(op, Name(from), Name(to), "scales", scales.size()),
                [=](GraphBuilder& b) {
                  const bool makes_real = to == kFloat;
                  const ValueId x = b.Input("x", from, {2, 3, 70});
                  const ValueId scale = b.Add("Abs", {b.Input("scale", kFloat, scales)});
                  const ValueId zero = b.Input("zero", makes_real ? from : to, scales);
                  b.Output(b.Add(op, {x, scale, zero}));
                });
    };
    for (const DataType dtype : {DataType::kInt8, DataType::kUint8, DataType::kInt16}) {
      for (const Shape& scales : {Shape{}, Shape{1}, Shape{3}}) {
        scaled("QuantizeLinear", kFloat, dtype, scales);
        scaled("DequantizeLinear", dtype, kFloat, scales);
      }
    }
    // What is stored as the zero point is 0, whatever constants it is made with.
    suite.Add("zero",
              [](GraphBuilder& b) {
                b.Output(b.Add("DequantizeLinear", {b.Input("x", DataType::kUint8, {17}),
                                                    b.Constant("s", Tensor::Scalar<float>(0.01f)),
                                                    b.Constant("z", Tensor::Scalar<uint8_t>(98))}));
              },
              {Tensor::Of<uint8_t>({17}, std::vector<uint8_t>(17, 98))}, {0, 0});
    // Halves, what saturates, and what is no number.
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    suite.Add("halves",
              [](GraphBuilder& b) {
                b.Output(b.Add("QuantizeLinear", {b.Input("x", kFloat, {12}),
                                                  b.Constant("s", Tensor::Scalar<float>(0.5f)),
                                                  b.Constant("z", Tensor::Scalar<int8_t>(3))}));
              },
              {Tensor::Of<float>({12}, {0.25f, 0.75f, 1.25f, -0.25f, -0.75f, 1e9f, -1e9f, nan, inf,
                                        -inf, 61.9f, -65.6f})});
    std::vector<float> steps;
    for (int i = 0; i < 4000; ++i) steps.push_back(static_cast<float>(i - 2000) * 0.0137f);
    suite.Add("quotients",
              [](GraphBuilder& b) {
                b.Output(b.Add("QuantizeLinear", {b.Input("x", kFloat, {4000}),
                                                  b.Constant("s", Tensor::Scalar<float>(0.0274f)),
                                                  b.Constant("z", Tensor::Scalar<int16_t>(0))}));
              },
              {Tensor::Of<float>({4000}, steps)});
    for (const int64_t n : {1, 7, 40}) {
      suite.Add(absl::StrCat("integers", n), [=](GraphBuilder& b) {
        const ValueId x = b.Input("x", DataType::kUint8, {2, 5, 33});
        const ValueId w = b.Input("w", DataType::kInt8, {33, n});
        const ValueId x_zero = b.Input("xz", DataType::kUint8, {});
        b.Output(b.Add("MatMulInteger", {x, w, x_zero, b.Input("wz", DataType::kInt8, {n})}));
      });
    }
    suite.Add("largest",
              [](GraphBuilder& b) {
                b.Output(b.Add("MatMulInteger", {b.Input("x", DataType::kUint8, {3, 64}),
                                                 b.Input("w", DataType::kInt8, {64, 20}),
                                                 b.Constant("xz", Tensor::Scalar<uint8_t>(255)),
                                                 b.Constant("wz", Tensor::Scalar<int8_t>(-128))}));
              },
              {Tensor::Of<uint8_t>({3, 64}, std::vector<uint8_t>(192, 0)),
               Tensor::Of<int8_t>({64, 20}, std::vector<int8_t>(1280, 127))});
  });
}

TEST(ResizeKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const auto resize = [&](const std::string& name, Shape in, Shape out, Attributes attributes) {
      suite.Add(absl::StrCat(name, out.back()), [=](GraphBuilder& b) {
        const int64_t rank = static_cast<int64_t>(out.size());
        const ValueId sizes =
            b.Constant("sizes", Tensor::Of<int64_t>({rank}, absl::MakeConstSpan(out)));
        const ValueId x = b.Input("x", kFloat, in);
        b.Output(b.Add("Resize", {x, kNoValue, kNoValue, sizes}, attributes));
      });
    };
    for (const char* mode : {"nearest", "linear"}) {
      for (const char* places : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                 "align_corners", "asymmetric"}) {
        const Attributes attributes = {{"mode", mode}, {"coordinate_transformation_mode", places}};
        const std::string name = absl::StrCat(mode, "_", places);
        resize(name, {1, 3, 5, 7}, {1, 3, 10, 14}, attributes);
        resize(name, {1, 2, 9, 40}, {1, 2, 4, 17}, attributes);
        resize(name, {2, 1, 1, 1}, {2, 1, 3, 9}, attributes);
      }
    }
    for (const char* rounding : {"round_prefer_ceil", "floor", "ceil"}) {
      resize(rounding, {1, 2, 6, 8}, {1, 2, 9, 20}, {{"nearest_mode", rounding}});
    }
    resize("rows", {4, 20}, {4, 33}, {{"mode", "linear"}});
    resize("columns", {1, 2, 4, 20}, {1, 2, 7, 20}, {{"mode", "linear"}});
    resize("large", {1, 8, 32, 32}, {1, 8, 64, 64}, {{"mode", "linear"}});
  });
}

TEST(EmptyKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    suite.Add("relu", OneNode("Relu", {{0, 3}}));
    suite.Add("add", OneNode("Add", {{0, 3}, {3}}));
    suite.Add("transpose", OneNode("Transpose", {{0, 3, 4}}));
    suite.Add("concat", OneNode("Concat", {{2, 0}, {2, 3}}, {{"axis", int64_t{1}}}));
    suite.Add("matmul", OneNode("MatMul", {{0, 5}, {5, 7}}));
    suite.Add("matmul_of_nothing", OneNode("MatMul", {{2, 0}, {0, 7}}));
    suite.Add("softmax", OneNode("Softmax", {{0, 5}}));
    suite.Add("mean", Reduced("ReduceMean", {0, 5}, {1}));
    suite.Add("mean_of_none", Reduced("ReduceMean", {0, 5}, {0}));
    suite.Add("conv", OneNode("Conv", {{0, 3, 7, 7}, {4, 3, 3, 3}}));
    suite.Add("pool", OneNode("MaxPool", {{0, 3, 7, 7}}, {{"kernel_shape", Ints({2, 2})}}));
    suite.Add("sum", [](GraphBuilder& b) {
      const ValueId axes = b.Constant("axes", Tensor::Of<int64_t>({1}, {0}));
      b.Output(b.Add("ReduceSum", {b.Input("x", kFloat, {0, 9}), axes}));
    });
    suite.Add("pad", [](GraphBuilder& b) {
      const ValueId pads = b.Constant("pads", Tensor::Of<int64_t>({4}, {0, 1, 0, 1}));
      b.Output(b.Add("Pad", {b.Input("x", kFloat, {3, 0}), pads}));
    });
    suite.Add("gather", [](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {3, 4});
      b.Output(b.Add("Gather", {x, b.Input("i", DataType::kInt64, {0})}));
    });
  });
}

TEST(ElementwiseKernelsTest, PassNanAndInfinityOn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  for (int i = 0; i < 5; ++i) {
    values.insert(values.end(), {nan, inf, -inf, 0.0f, -0.0f, 1.0f, -1.0f, 100.0f, -100.0f, 1e-6f});
  }
  const Tensor x = Tensor::Of<float>({50}, values);
  KernelSuite::RunEverywhere([&](KernelSuite& suite) {
    for (const char* op :
         {"Abs",       "Ceil",     "Celu",   "Cos",         "Elu",        "Erf",
          "Exp",       "Floor",    "Gelu",   "HardSigmoid", "IsInf",      "IsNaN",
          "LeakyRelu", "Log",      "Mish",   "Neg",         "Reciprocal", "Relu",
          "Round",     "Selu",     "Shrink", "Sigmoid",     "Sign",       "Sin",
          "Softplus",  "Softsign", "Sqrt",   "Swish",       "Tanh",       "ThresholdedRelu"}) {
      suite.Add(op, OneNode(op, {{50}}), {x});
    }
    suite.Add("gelu_by_tanh", OneNode("Gelu", {{50}}, {{"approximate", "tanh"}}), {x});
    // However far the angle is.
    std::vector<float> angles;
    for (float angle = 1e-3f; angle < 1e38f; angle *= 1.37f)
      angles.insert(angles.end(), {angle, -angle});
    for (const float angle :
         {3.14159274f, 1.57079637f, 6.28318548f, 12582912.0f, 0.75f, 0.78539819f}) {
      angles.push_back(angle);
    }
    for (const char* op : {"Sin", "Cos"}) {
      const int64_t count = static_cast<int64_t>(angles.size());
      suite.Add(absl::StrCat(op, "_far"), OneNode(op, {{count}}),
                {Tensor::Of<float>({count}, angles)}, {1e-6, 1e-6});
    }
    // The whole range where the result changes.
    std::vector<float> steps;
    for (int i = -3000; i <= 3000; ++i) steps.push_back(static_cast<float>(i) * 4e-3f);
    for (const char* op : {"Erf", "Gelu", "Softplus", "Mish", "Elu", "Swish"}) {
      suite.Add(absl::StrCat(op, "_steps"), OneNode(op, {{6001}}),
                {Tensor::Of<float>({6001}, steps)}, {1e-6, 1e-6});
    }
    for (const char* op : {"Max", "Min", "Add", "Mul", "Equal", "Less", "LessOrEqual", "Greater",
                           "GreaterOrEqual"}) {
      std::vector<float> shifted(values.begin() + 3, values.end());
      shifted.insert(shifted.end(), values.begin(), values.begin() + 3);
      std::vector<float> mixed = shifted;
      for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = shifted[(i * 7) % 50];
      suite.Add(op, OneNode(op, {{50}, {50}}), {x, Tensor::Of<float>({50}, mixed)});
    }
    // Every one to the power of every one.
    std::vector<float> bases;
    std::vector<float> exponents;
    for (const float base : {nan, inf, -inf, 0.0f, -0.0f, 1.0f, -1.0f, 89.0f, -89.0f, 0.5f}) {
      for (const float exponent : {nan, inf, -inf, 0.0f, 1.0f, -1.0f, 3.0f, 2.5f, -0.5f, 1e30f}) {
        bases.push_back(base);
        exponents.push_back(exponent);
      }
    }
    suite.Add("Pow", OneNode("Pow", {{100}, {100}}),
              {Tensor::Of<float>({100}, bases), Tensor::Of<float>({100}, exponents)});
    // Rows without NaN, with one in front of, between and behind others, and with infinities.
    for (const int64_t axis : {0, 1}) {
      const Tensor rows =
          Tensor::Of<float>({5, 5}, {1,  2, 100, 4, 5, nan, 1,   2, 3, 100,  1, 100, nan,
                                     -1, 2, 5,   4, 3, 2,   nan, 1, 2, -inf, 4, 100});
      suite.Add(absl::StrCat("Softmax", axis), OneNode("Softmax", {{5, 5}}, {{"axis", axis}}),
                {rows});
    }
    // An infinity makes its row NaN too: where it is, infinity less infinity.
    std::vector<float> columns(48, 1.0f);
    columns[16] = inf;
    columns[35] = -inf;
    suite.Add("SoftmaxInfinity", OneNode("Softmax", {{3, 8, 2}}, {{"axis", int64_t{1}}}),
              {Tensor::Of<float>({3, 8, 2}, columns)});
    // Rows of one element, the mean or maximum of which is that.
    suite.Add("SoftmaxOfOne", OneNode("Softmax", {{50, 1}}), {*x.Reshaped({50, 1})});
    const Tensor weights = Tensor::Of<float>({1}, {2});
    suite.Add("LayerOfOne", OneNode("LayerNormalization", {{50, 1}, {1}}),
              {*x.Reshaped({50, 1}), weights});
    suite.Add("GroupOfOne",
              OneNode("GroupNormalization", {{10, 5, 1}, {5}, {5}}, {{"num_groups", int64_t{5}}}),
              {*x.Reshaped({10, 5, 1})});
    suite.Add("InstanceOfOne", OneNode("InstanceNormalization", {{10, 5, 1}, {5}, {5}}),
              {*x.Reshaped({10, 5, 1})});
    for (const float exponent : {0.0f, 0.5f, 1.0f, 2.0f, 3.0f, 2.5f, -1.0f}) {
      suite.Add(absl::StrCat("Pow", exponent),
                [=](GraphBuilder& b) {
                  const ValueId y = b.Constant("e", Tensor::Scalar<float>(exponent));
                  b.Output(b.Add("Pow", {b.Input("x", kFloat, {50}), y}));
                },
                {x});
    }
    suite.Add("Clip",
              [](GraphBuilder& b) {
                b.Output(b.Add("Clip", {b.Input("x", kFloat, {50}),
                                        b.Constant("low", Tensor::Scalar<float>(-2)),
                                        b.Constant("high", Tensor::Scalar<float>(3))}));
              },
              {x});
    suite.Add("MaxPool",
              OneNode("MaxPool", {{1, 1, 5, 10}},
                      {{"kernel_shape", Ints({2, 2})}, {"strides", Ints({1, 1})}}),
              {*x.Reshaped({1, 1, 5, 10})});
  });
}

// Nothing is taken together that the graph has apart.
TEST(ElementwiseKernelsTest, RoundAfterEachOperation) {
  using Chain = std::function<ValueId(GraphBuilder&, ValueId x, ValueId y, ValueId k)>;
  const std::pair<const char*, Chain> chains[] = {
      {"itself_less_itself",
       [](auto& b, auto x, auto, auto) {
         return b.Add("Sub", {x, x});
       }},
      {"itself_by_itself",
       [](auto& b, auto x, auto, auto) {
         return b.Add("Div", {x, x});
       }},
      {"opposites",
       [](auto& b, auto x, auto, auto) {
         return b.Add("Add", {b.Add("Neg", {x}), x});
       }},
      {"nothing_of_it",
       [](auto& b, auto x, auto, auto) {
         return b.Add("Mul", {x, b.Constant("zero", Tensor::Scalar<float>(0))});
       }},
      {"sum_less_one",
       [](auto& b, auto x, auto y, auto) {
         return b.Add("Sub", {b.Add("Add", {x, y}), x});
       }},
      {"sum_less_constant",
       [](auto& b, auto x, auto, auto k) {
         return b.Add("Sub", {b.Add("Add", {x, k}), k});
       }},
      {"common_factor",
       [](auto& b, auto x, auto y, auto k) {
         return b.Add("Sub", {b.Add("Mul", {x, k}), b.Add("Mul", {y, k})});
       }},
      {"product_by_factor",
       [](auto& b, auto x, auto y, auto) {
         return b.Add("Div", {b.Add("Mul", {x, y}), y});
       }},
      {"quotient_of_quotient",
       [](auto& b, auto x, auto, auto k) {
         return b.Add("Div", {b.Add("Div", {x, k}), k});
       }},
      {"square_of_root",
       [](auto& b, auto x, auto, auto) {
         const ValueId root = b.Add("Sqrt", {x});
         return b.Add("Mul", {root, root});
       }},
      {"product_and_sum",
       [](auto& b, auto x, auto y, auto k) {
         return b.Add("Add", {b.Add("Mul", {x, k}), y});
       }},
  };
  KernelSuite::RunEverywhere([&](KernelSuite& suite) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    const Tensor x =
        Tensor::Of<float>({20}, {1.5f, inf,  -inf,  nan,     3e38f, 0, 1e-3f, 7, -2, 0.1f,
                                 1.1f, 1e9f, 1e-9f, 2.5e10f, 3,     4, 5,     6, 7,  nan});
    const Tensor y = Tensor::Of<float>({20}, {1e-9f, 1, 1,    1,  3e38f, nan, 1e9f, -1, 0,   0.3f,
                                              0.7f,  1, 1e9f, -3, 3,     4,   5,    6,  inf, nan});
    for (const auto& chain : chains) {
      suite.Add(chain.first,
                [&](GraphBuilder& b) {
                  const ValueId x = b.Input("x", kFloat, {20});
                  const ValueId y = b.Input("y", kFloat, {20});
                  b.Output(chain.second(b, x, y, b.Constant("k", Tensor::Scalar<float>(1.7e9f))));
                },
                {x, y}, {0, 0});
    }
  });
}

}  // namespace
}  // namespace slipway
