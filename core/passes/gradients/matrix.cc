#include <numeric>
#include <utility>
#include <vector>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

ValueId LastTwoExchanged(GradientNode& n, ValueId v) {
  if (!n.status().ok()) return v;
  std::vector<int64_t> perm(n.rank(v));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return n.TransposeBy(v, perm);
}

void MatMulGradient(GradientNode& n) {
  Shape a = n.view().input_shape(0);
  Shape b = n.view().input_shape(1);
  Shape product = n.shape(n.y());
  // A vector is a matrix of one row, or of one column.
  if (b.size() == 1) {
    b.push_back(1);
    product.push_back(1);
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    product.insert(product.end() - 1, 1);
  }
  const ValueId dy = n.ReshapeTo(n.dy(), product);
  const ValueId left = n.ReshapeTo(n.x(0), a);
  const ValueId right = n.ReshapeTo(n.x(1), b);
  const auto give = [&n](int input, ValueId gradient) {
    // Batches that were broadcast are summed before a vector loses its dimension.
    const Shape to = n.view().input_shape(input);
    if (to.size() == 1) {
      std::vector<int64_t> batches;
      for (int d = 0; n.status().ok() && d + 2 < n.rank(gradient); ++d) batches.push_back(d);
      gradient = n.ReshapeTo(n.Reduce("ReduceSum", gradient, batches, false), to);
    }
    n.Give(input, gradient);
  };
  if (n.wants(0)) give(0, n.Op("MatMul", {dy, LastTwoExchanged(n, right)}));
  if (n.wants(1)) give(1, n.Op("MatMul", {LastTwoExchanged(n, left), dy}));
}

void GemmGradient(GradientNode& n) {
  const int64_t ta = n.view().Int("transA") != 0;
  const int64_t tb = n.view().Int("transB") != 0;
  const float alpha = n.view().Float("alpha");
  const auto product = [&n, alpha](ValueId a, int64_t at, ValueId b, int64_t bt) {
    return n.Op("Gemm", {a, b}, {{"alpha", alpha}, {"transA", at}, {"transB", bt}});
  };
  const ValueId dy = n.dy();
  if (n.wants(0)) n.Give(0, ta ? product(n.x(1), tb, dy, 1) : product(dy, 0, n.x(1), 1 - tb));
  if (n.wants(1)) n.Give(1, tb ? product(dy, 1, n.x(0), ta) : product(n.x(0), 1 - ta, dy, 0));
  if (n.wants(2)) n.Give(2, n.Times(dy, n.view().Float("beta")));
}

constexpr GradientRow kRows[] = {{"Gemm", GemmGradient}, {"MatMul", MatMulGradient}};

}  // namespace

absl::Status RegisterMatrixGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
