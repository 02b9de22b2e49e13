#include "core/passes/recognize_gelu_pass.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

constexpr int kDegree = 3;
// Of 1, x, x^2, x^3.
using Coefficients = std::array<double, kDegree + 1>;

constexpr double kRootOfTwo = 1.4142135623730951;
constexpr Coefficients kInErf = {0, 1 / kRootOfTwo, 0, 0};
constexpr double kInTanhSlope = 0.7978845608028654;  // sqrt(2 / pi)
constexpr Coefficients kInTanh = {0, kInTanhSlope, 0, kInTanhSlope * 0.044715};

// A few roundings of f32.
bool IsNear(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

// Nodes of one formula: no more are looked at.
constexpr int kMostNodes = 32;

class Formula {
 public:
  // `last` is not emitted yet.
  Formula(GraphRewriter& rewriter, const Node& last) : rewriter_(rewriter), last_(last) {}

  // What the last node makes GELU of, and whether f is Tanh.
  struct Gelu {
    ValueId x;
    bool is_tanh;
  };
  std::optional<Gelu> Find();

 private:
  // One number of f32.
  std::optional<double> Number(ValueId value) const;
  // Null where it is an input or a constant.
  const Node* Maker(ValueId value) const {
    return value == last_.outputs[0] ? &last_ : rewriter_.Producer(value);
  }
  // Null where the maker is another operator.
  const Node* Maker(ValueId value, absl::string_view op) const {
    const Node* maker = Maker(value);
    return maker != nullptr && maker->op == op ? maker : nullptr;
  }
  // a + b * f of a node f.
  struct Sum {
    ValueId value;
    double a, b;
    const Node* f;
  };
  std::optional<Sum> SumIn(ValueId value);
  // The sums among the factors of `value`.
  void FindSums(ValueId value, std::vector<Sum>& sums);
  // A number and a value whose product `value` is.
  std::optional<std::pair<double, ValueId>> Scaled(ValueId value);
  // c, where `value` is c * x * sum; the counts are of how often each was found.
  std::optional<double> Factor(ValueId value, ValueId x, ValueId sum, int& of_x, int& of_sum);
  // `value` as a polynomial of x.
  std::optional<Coefficients> PolynomialOf(ValueId value, ValueId x);
  // What `value` is computed from by arithmetic.
  void FindOperands(ValueId value, std::vector<ValueId>& operands);

  GraphRewriter& rewriter_;
  const Node& last_;
  int looked_at_ = 0;
};

std::optional<double> Formula::Number(ValueId value) const {
  const Tensor* constant = rewriter_.constant(value);
  if (constant == nullptr || constant->dtype() != DataType::kFloat32 ||
      constant->num_elements() != 1) {
    return std::nullopt;
  }
  return constant->values<float>()[0];
}

std::optional<std::pair<double, ValueId>> Formula::Scaled(ValueId value) {
  if (const Node* product = Maker(value, "Mul")) {
    for (const int i : {0, 1}) {
      const std::optional<double> number = Number(product->inputs[i]);
      if (number.has_value()) return std::pair(*number, product->inputs[1 - i]);
    }
    return std::nullopt;
  }
  if (const Node* quotient = Maker(value, "Div")) {
    const std::optional<double> number = Number(quotient->inputs[1]);
    if (number.has_value()) return std::pair(1 / *number, quotient->inputs[0]);
  }
  return std::nullopt;
}

std::optional<Formula::Sum> Formula::SumIn(ValueId value) {
  const Node* sum = Maker(value, "Add");
  if (sum == nullptr) return std::nullopt;
  const std::array<ValueId, 2> terms = {sum->inputs[0], sum->inputs[1]};
  for (const int i : {0, 1}) {
    const std::optional<double> number = Number(terms[i]);
    if (!number.has_value()) continue;
    const auto [factor, f] = Scaled(terms[1 - i]).value_or(std::pair(1.0, terms[1 - i]));
    const Node* maker = Maker(f);
    if (maker == nullptr || (maker->op != "Erf" && maker->op != "Tanh")) continue;
    return Sum{value, *number, factor, maker};
  }
  return std::nullopt;
}

void Formula::FindSums(ValueId value, std::vector<Sum>& sums) {
  if (++looked_at_ > kMostNodes) return;
  if (const std::optional<Sum> sum = SumIn(value)) {
    sums.push_back(*sum);
  } else if (const Node* product = Maker(value, "Mul")) {
    const std::array<ValueId, 2> factors = {product->inputs[0], product->inputs[1]};
    for (const ValueId factor : factors) FindSums(factor, sums);
  } else if (const std::optional<std::pair<double, ValueId>> scaled = Scaled(value)) {
    FindSums(scaled->second, sums);
  }
}

std::optional<double> Formula::Factor(ValueId value, ValueId x, ValueId sum, int& of_x,
                                      int& of_sum) {
  if (++looked_at_ > kMostNodes) return std::nullopt;
  if (value == x) return ++of_x, 1;
  if (value == sum) return ++of_sum, 1;
  if (const std::optional<std::pair<double, ValueId>> scaled = Scaled(value)) {
    const std::optional<double> rest = Factor(scaled->second, x, sum, of_x, of_sum);
    return rest.has_value() ? std::optional(*rest * scaled->first) : std::nullopt;
  }
  const Node* product = Maker(value, "Mul");
  if (product == nullptr) return std::nullopt;
  const std::array<ValueId, 2> factors = {product->inputs[0], product->inputs[1]};
  const std::optional<double> a = Factor(factors[0], x, sum, of_x, of_sum);
  const std::optional<double> b = Factor(factors[1], x, sum, of_x, of_sum);
  return a.has_value() && b.has_value() ? std::optional(*a * *b) : std::nullopt;
}

// Nothing where the degree is too high.
std::optional<Coefficients> Product(const Coefficients& a, const Coefficients& b) {
  Coefficients product = {};
  for (int i = 0; i <= kDegree; ++i) {
    for (int j = 0; j <= kDegree; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j > kDegree) return std::nullopt;
      product[i + j] += a[i] * b[j];
    }
  }
  return product;
}

std::optional<Coefficients> Formula::PolynomialOf(ValueId value, ValueId x) {
  if (++looked_at_ > kMostNodes) return std::nullopt;
  if (value == x) return Coefficients{0, 1, 0, 0};
  if (const std::optional<double> number = Number(value)) return Coefficients{*number, 0, 0, 0};
  const Node* maker = Maker(value);
  if (maker == nullptr || maker->inputs.size() != 2) return std::nullopt;
  const std::string op = maker->op;
  const std::array<ValueId, 2> inputs = {maker->inputs[0], maker->inputs[1]};
  std::optional<Coefficients> a = PolynomialOf(inputs[0], x);
  if (!a.has_value()) return std::nullopt;
  if (op == "Pow" || op == "Div") {
    const std::optional<double> number = Number(inputs[1]);
    if (!number.has_value()) return std::nullopt;
    if (op == "Div") return Product(*a, {1 / *number, 0, 0, 0});
    if (*number == 2) return Product(*a, *a);
    const std::optional<Coefficients> square = Product(*a, *a);
    if (*number == 3 && square.has_value()) return Product(*square, *a);
    return std::nullopt;
  }
  const std::optional<Coefficients> b = PolynomialOf(inputs[1], x);
  if (!b.has_value()) return std::nullopt;
  if (op == "Mul") return Product(*a, *b);
  if (op != "Add") return std::nullopt;
  for (int i = 0; i <= kDegree; ++i) (*a)[i] += (*b)[i];
  return a;
}

void Formula::FindOperands(ValueId value, std::vector<ValueId>& operands) {
  if (++looked_at_ > kMostNodes || Number(value).has_value()) return;
  operands.push_back(value);
  const Node* maker = Maker(value);
  if (maker == nullptr ||
      (maker->op != "Mul" && maker->op != "Add" && maker->op != "Div" && maker->op != "Pow")) {
    return;
  }
  const std::array<ValueId, 2> inputs = {maker->inputs[0], maker->inputs[1]};
  for (const ValueId input : inputs) FindOperands(input, operands);
}

bool AreNear(const Coefficients& a, const Coefficients& b) {
  for (int i = 0; i <= kDegree; ++i) {
    if (!IsNear(a[i], b[i])) return false;
  }
  return true;
}

std::optional<Formula::Gelu> Formula::Find() {
  const ValueId value = last_.outputs[0];
  std::vector<Sum> sums;
  FindSums(value, sums);
  for (const Sum& sum : sums) {
    const bool is_tanh = sum.f->op == "Tanh";
    const ValueId t = sum.f->inputs[0];
    std::vector<ValueId> operands;
    looked_at_ = 0;
    FindOperands(t, operands);
    for (const ValueId x : operands) {
      int of_x = 0, of_sum = 0;
      looked_at_ = 0;
      const std::optional<double> factor = Factor(value, x, sum.value, of_x, of_sum);
      if (!factor.has_value() || of_x != 1 || of_sum != 1) continue;
      if (!IsNear(*factor * sum.a, 0.5) || !IsNear(*factor * sum.b, 0.5)) continue;
      looked_at_ = 0;
      const std::optional<Coefficients> inner = PolynomialOf(t, x);
      if (inner.has_value() && AreNear(*inner, is_tanh ? kInTanh : kInErf)) return Gelu{x, is_tanh};
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Graph> RecognizeGelu(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    std::optional<Formula::Gelu> gelu;
    if (node.op == "Mul" || node.op == "Div") gelu = Formula(rewriter, node).Find();
    if (!gelu.has_value() || !SameExtents(rewriter.type(gelu->x).dimensions(),
                                          rewriter.type(node.outputs[0]).dimensions())) {
      rewriter.Keep(std::move(node));
      continue;
    }
    Attributes attributes;
    if (gelu->is_tanh) attributes.Set("approximate", std::string("tanh"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, rewriter.Add("Gelu", {gelu->x}, std::move(attributes),
                                                           DisplayName(rewriter.graph(), node)));
    rewriter.Replace(node, y);
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
