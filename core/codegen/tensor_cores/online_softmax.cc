#include "core/codegen/tensor_cores/online_softmax.h"

#include <limits>

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

}  // namespace

OnlineSoftmax::OnlineSoftmax(int rows, bool is_natural, PtxWriter& w)
    : is_natural_(is_natural), w_(w) {
  for (int row = 0; row < rows; ++row) {
    largest_.push_back(w.Float("mov.f32", {FloatLiteral(kMinusInfinity)}));
    sums_.push_back(w.Float("mov.f32", {FloatLiteral(0)}));
  }
}

std::string OnlineSoftmax::Power(const std::string& score, const std::string& largest) {
  constexpr float kLog2OfE = 1.44269504F;
  std::string power = w_.Float("sub.f32", {score, largest});
  if (is_natural_) power = w_.Float("mul.f32", {power, FloatLiteral(kLog2OfE)});
  return w_.Float("ex2.approx.f32", {power});
}

void OnlineSoftmax::Combine(const std::string& value, const char* combine) {
  for (const char* lane : {"1", "2"}) {
    const std::string other = w_.Float("shfl.sync.bfly.b32", {value, lane, "31", "-1"});
    w_.Do(combine, {value, value, other});
  }
}

void OnlineSoftmax::Take(const ScoreRows& scores, const ScoreRows& mixed) {
  for (int row = 0; row < scores.rows(); ++row) {
    const std::string& largest = largest_[static_cast<size_t>(row)];
    const std::string& sum = sums_[static_cast<size_t>(row)];
    const std::string before = w_.Float("mov.f32", {largest});
    for (int block = 0; block < scores.blocks(); ++block) {
      for (int i = 0; i < ScoreRows::kPair; ++i) {
        w_.Do("max.f32", {largest, largest, scores.at(row, block, i)});
      }
    }
    Combine(largest, "max.f32");
    // Nothing less nothing is no number, where there is nothing yet.
    const std::string is_nothing =
        w_.Make(Kind::kPredicate, "setp.eq.f32", {largest, FloatLiteral(kMinusInfinity)});
    const std::string base = w_.Float("selp.f32", {FloatLiteral(0), largest, is_nothing});
    const std::string less = Power(before, base);
    w_.Do("mul.f32", {sum, sum, less});
    for (int block = 0; block < mixed.blocks(); ++block) {
      for (int i = 0; i < ScoreRows::kPair; ++i) {
        const std::string& value = mixed.at(row, block, i);
        w_.Do("mul.f32", {value, value, less});
      }
    }
    for (int block = 0; block < scores.blocks(); ++block) {
      for (int i = 0; i < ScoreRows::kPair; ++i) {
        const std::string& score = scores.at(row, block, i);
        w_.Do("mov.f32", {score, Power(score, base)});
        w_.Do("add.f32", {sum, sum, score});
      }
    }
  }
}

const std::vector<std::string>& OnlineSoftmax::Finish() {
  for (const std::string& sum : sums_) Combine(sum, "add.f32");
  return sums_;
}

}  // namespace slipway
