// What core/operators/README.md says of the accuracy of functions ("Numbers"), over all exponents: the reference and compiled
// programs against the long double of the C library.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/compiler/compiler.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using Real = long double;

struct Function {
  const char* op;
  Real (*exact)(Real);
  double f64;  // Most of the reference's error, in ULP of f64. In f32 it is half an ULP and a hair.
  double
      lowered_relative;  // Of compiled programs in f32, 0 where they call the reference's kernel.
  double lowered_absolute;
};

Real Logistic(Real x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
Real Softplus(Real x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Real Elu(Real x) { return x < 0 ? std::expm1(x) : x; }
Real Reciprocal(Real x) { return 1 / x; }
Real Softsign(Real x) { return x / (1 + std::fabs(x)); }

constexpr double kClose = 1e-6;

constexpr Function kFunctions[] = {
    {"Acos", std::acos, 2, 0, 0},
    {"Acosh", std::acosh, 2, 0, 0},
    {"Asin", std::asin, 2, 0, 0},
    {"Asinh", std::asinh, 2, 0, 0},
    {"Atan", std::atan, 1, 0, 0},
    {"Atanh", std::atanh, 2, 0, 0},
    {"Cos", std::cos, 1, 0, kClose},
    {"Cosh", std::cosh, 2, 0, 0},
    {"Elu", Elu, 1, kClose, 0},
    {"Erf", std::erf, 2, kClose, 0},
    {"Exp", std::exp, 1, kClose, 0},
    {"Log", std::log, 1, kClose, 0},
    {"Reciprocal", Reciprocal, 0.5, kClose, 0},
    {"Sigmoid", Logistic, 3, kClose, 0},
    {"Sin", std::sin, 1, 0, kClose},
    {"Sinh", std::sinh, 3, 0, 0},
    {"Softplus", Softplus, 2, kClose, 0},
    {"Softsign", Softsign, 1.5, kClose, 0},
    {"Sqrt", std::sqrt, 0.5, kClose, 0},
    {"Tan", std::tan, 3, 0, 0},
    {"Tanh", std::tanh, 3, 0, kClose},
};

// Numbers of all exponents and both signs, denormals, infinities and NaN among them; and some where functions bend.
template <typename T, typename Bits>
std::vector<T> Sweep() {
  constexpr int kCount = 1 << 14;
  std::vector<T> numbers;
  for (int i = 0; i < kCount; ++i) {
    const Bits bits = static_cast<Bits>(i) * (~Bits{0} / kCount) + static_cast<Bits>(i * 7919);
    T number;
    std::memcpy(&number, &bits, sizeof(number));
    numbers.push_back(number);
    numbers.push_back(static_cast<T>((i - kCount / 2) * 0.0037));
  }
  return numbers;
}

template <typename T>
Real UlpOf(Real exact) {
  const T nearest = std::fabs(static_cast<T>(exact));
  if (nearest < std::numeric_limits<T>::min()) return std::numeric_limits<T>::denorm_min();
  return std::ldexp(Real{std::numeric_limits<T>::epsilon()}, std::ilogb(nearest));
}

// How far `value` lies from `exact`, more than `allowed`: where the two cannot be compared, or differ. None: 0.
template <typename T>
Real Excess(T value, Real exact, Real allowed) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(value) || std::isnan(nearest))
    return std::isnan(value) == std::isnan(nearest) ? 0 : 1;
  if (value == nearest) return 0;
  if (std::isinf(value) || std::isinf(nearest)) {
    // What is larger than all numbers of T, or nearly.
    const Real largest = std::numeric_limits<T>::max();
    return std::fabs(std::isinf(value) ? exact : Real{value}) * (1 + 8 * kClose) >= largest ? 0 : 1;
  }
  const Real excess = std::fabs(value - exact) - allowed;
  return excess > 0 ? excess : 0;
}

class AccuracyTest : public ::testing::Test {
 protected:
  static Graph AllOf(const char* dtype, size_t count) {
    std::string outputs, nodes;
    for (const Function& function : kFunctions) {
      absl::StrAppend(&outputs, outputs.empty() ? "" : ", ", "%", function.op);
      absl::StrAppend(&nodes, "  %", function.op, " = ", function.op, "(%x)\n");
    }
    return *ParseGraph(absl::StrCat("graph \"g\" (%x: ", dtype, "[", count, "]) -> (", outputs,
                                    ") {\n", nodes, "}"));
  }

  // excess(function, x, value) is 0 where a value is close enough.
  template <typename T, typename ExcessOf>
  static void Check(const std::vector<T>& x, const std::vector<Tensor>& outputs, ExcessOf excess) {
    ASSERT_EQ(outputs.size(), std::size(kFunctions));
    for (size_t f = 0; f < outputs.size(); ++f) {
      const Function& function = kFunctions[f];
      int wrong = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const Real exact = function.exact(x[i]);
        const T value = outputs[f].values<T>()[i];
        if (excess(function, x[i], value) == 0) continue;
        if (++wrong > 3) continue;
        ADD_FAILURE() << function.op << "(" << absl::StrCat(x[i]) << ") is " << absl::StrCat(value)
                      << ", exactly " << static_cast<double>(exact) << ": "
                      << static_cast<double>(std::fabs(value - exact) / UlpOf<T>(exact)) << " ULP";
      }
      EXPECT_EQ(wrong, 0) << function.op << ", of " << x.size();
    }
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
};

TEST_F(AccuracyTest, ReferenceInF32) {
  const std::vector<float> x = Sweep<float, uint32_t>();
  const int64_t count = static_cast<int64_t>(x.size());
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> outputs,
      reference_.Evaluate(AllOf("f32", x.size()), {Tensor::Of<float>({count}, x)}));
  Check(x, outputs, [](const Function& function, float at, float value) {
    const Real exact = function.exact(at);
    return Excess(value, exact, Real{0.500001} * UlpOf<float>(exact));
  });
}

TEST_F(AccuracyTest, ReferenceInF64) {
  const std::vector<double> x = Sweep<double, uint64_t>();
  const int64_t count = static_cast<int64_t>(x.size());
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> outputs,
      reference_.Evaluate(AllOf("f64", x.size()), {Tensor::Of<double>({count}, x)}));
  Check(x, outputs, [](const Function& function, double at, double value) {
    const Real exact = function.exact(at);
    return Excess(value, exact, (Real{function.f64} + Real{0.01}) * UlpOf<double>(exact));
  });
}

TEST_F(AccuracyTest, CompiledInF32) {
  const std::vector<float> x = Sweep<float, uint32_t>();
  const int64_t count = static_cast<int64_t>(x.size());
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                       CompileGraph(AllOf("f32", x.size()), HostTarget(), {}, environment));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, LoadProgram(model.artifact));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  std::vector<Tensor> outputs(std::size(kFunctions));
  ASSERT_OK(context->Run({Tensor::Of<float>({count}, x)}, absl::MakeSpan(outputs)));
  Check(x, outputs, [](const Function& function, float at, float value) {
    const Real least = std::numeric_limits<float>::min();
    const bool lowered = function.lowered_relative > 0;
    const auto excess = [&](Real exact) {
      return Excess(value, exact,
                    std::max({Real{0.500001} * UlpOf<float>(exact), lowered ? least : 0,
                              std::fabs(exact) * function.lowered_relative,
                              Real{function.lowered_absolute}}));
    };
    if (!lowered || std::fabs(at) >= least) return excess(function.exact(at));
    // A denormal may count for 0 or the smallest normal number.
    return std::min({excess(function.exact(at)), excess(function.exact(std::copysign(0.0L, at))),
                     excess(function.exact(std::copysign(least, Real{at})))});
  });
}

}  // namespace
}  // namespace slipway
