#include "core/codegen/tensor_cores/product_epilogue.h"

#include <cstddef>
#include <vector>

#include "core/codegen/tensor_cores/element_steps.h"

namespace slipway {
namespace {

using Operand = ElementStep::Operand;
using Kind = ElementStep::Kind;

bool AreSame(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.index == b.index && a.constant == b.constant;
}

bool AreSame(const ElementStep& a, const ElementStep& b) {
  if (a.kind != b.kind || a.operands.size() != b.operands.size()) return false;
  for (size_t i = 0; i < a.operands.size(); ++i) {
    if (!AreSame(a.operands[i], b.operands[i])) return false;
  }
  return true;
}

bool Is(const Indexing& indexing, int64_t extent, int64_t stride) {
  return indexing.extents == std::vector<int64_t>{extent} &&
         indexing.strides == std::vector<int64_t>{stride};
}

class Finder {
 public:
  explicit Finder(const MatrixProduct& product) : product_(product) {}

  std::optional<ProductEpilogue> Find() {
    size_t next = 0;
    for (; next < product_.steps.size() && TakeSum(product_.steps[next]); ++next) {
      value_ = {Operand::Kind::kStep, static_cast<int>(next), 0};
    }
    if (!AreSame(value_, product_.result) && !TakeActivation(next)) return std::nullopt;
    return found_;
  }

 private:
  bool TakeSum(const ElementStep& step) {
    if (step.kind != Kind::kAdd) return false;
    for (const size_t i : {0, 1}) {
      const Operand& other = step.operands[1 - i];
      if (!AreSame(step.operands[i], value_) || other.kind != Operand::Kind::kTensor) continue;
      return TakeTensor(product_.tensors[static_cast<size_t>(other.index)]);
    }
    return false;
  }

  bool TakeTensor(const ProductTensor& tensor) {
    const bool is_of_all = tensor.batch.extents.empty();
    const bool has_no_rows = tensor.rows.extents.empty();
    const bool is_of_columns =
        !product_.window.has_value() && is_of_all && has_no_rows && tensor.columns == 1;
    const bool is_of_rows = product_.window.has_value() ? IsOfChannels(tensor)
                                                        : is_of_all && tensor.columns == 0 &&
                                                              Is(tensor.rows, product_.m, 1);
    if (is_of_columns || is_of_rows) {
      if (found_.bias.has_value()) return false;
      found_.bias = tensor.input;
      found_.bias_is_of_rows = is_of_rows;
      return true;
    }
    const int64_t whole = product_.m * product_.n;
    const bool has_rows = product_.m == 1 ? has_no_rows : Is(tensor.rows, product_.m, product_.n);
    const bool has_batch =
        product_.batch == 1 ? is_of_all : Is(tensor.batch, product_.batch, whole);
    if (found_.added.has_value() || tensor.columns != 1 || !has_rows || !has_batch) return false;
    found_.added = tensor.input;
    return true;
  }

  // An element for each row of the left matrices, which are the channels of all groups.
  bool IsOfChannels(const ProductTensor& tensor) const {
    const Indexing& groups = product_.a.batch;
    if (tensor.batch.extents != groups.extents) return false;
    for (size_t i = 0; i < groups.strides.size(); ++i) {
      if (tensor.batch.strides[i] * product_.k != groups.strides[i]) return false;
    }
    const bool has_rows =
        product_.m == 1 ? tensor.rows.extents.empty() : Is(tensor.rows, product_.m, 1);
    return has_rows && tensor.columns == 0;
  }

  // All steps from number `begin` on.
  bool TakeActivation(size_t begin) {
    const std::vector<ElementStep>& steps = product_.steps;
    std::vector<ElementStep> wanted(steps.begin(),
                                    steps.begin() + static_cast<std::ptrdiff_t>(begin));
    ElementSteps writer(wanted);
    const auto is_made_by = [&](const Operand& last) {
      if (wanted.size() != steps.size() || !AreSame(last, product_.result)) return false;
      for (size_t i = begin; i < steps.size(); ++i) {
        if (!AreSame(wanted[i], steps[i])) return false;
      }
      return true;
    };
    if (is_made_by(writer.Relu(value_))) {
      found_.activation = ProductEpilogue::Activation::kRelu;
      return true;
    }
    wanted.resize(begin);
    if (is_made_by(writer.GeluTanh(value_))) {
      found_.activation = ProductEpilogue::Activation::kGeluTanh;
      return true;
    }
    return false;
  }

  const MatrixProduct& product_;
  ProductEpilogue found_;
  Operand value_;  // So far.
};

}  // namespace

std::optional<ProductEpilogue> FindProductEpilogue(const MatrixProduct& product) {
  return Finder(product).Find();
}

}  // namespace slipway
