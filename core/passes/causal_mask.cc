#include "core/passes/causal_mask.h"

#include <algorithm>
#include <limits>

namespace slipway {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// What exporters write for f16, -10000 and -65504, and what is lower. A probability relative to one e^104 times as large is 0 in f32: scores of a row would have to be 4,896 apart to make
// another difference.
constexpr float kLow = -1e4F;
constexpr float kSurelySeen = kLow / 2;

// `added(i)` is what element i adds to a score, or puts in its place where it is not 0.
template <typename Added>
std::optional<CausalMask> Find(const Shape& shape, const Added& added) {
  if (shape.size() < 2) return std::nullopt;
  const int64_t queries = shape[shape.size() - 2];
  const int64_t keys = shape.back();
  const int64_t elements = NumElements(shape);
  if (elements == 0) return std::nullopt;
  int64_t past = -queries;
  for (int64_t row = 0; row * keys < elements; ++row) {
    int64_t seen = keys;
    while (seen > 0 && added(row * keys + seen - 1) <= kLow) --seen;
    if (seen > 0) past = std::max(past, seen - 1 - row % queries);
  }
  if (past >= keys - 1) return std::nullopt;
  CausalMask mask{.past_keys = past, .is_all = true, .is_infinite = true};
  for (int64_t row = 0; row * keys < elements; ++row) {
    const int64_t behind = std::clamp<int64_t>(row % queries + past + 1, 0, keys);
    bool sees = false;
    for (int64_t j = 0; j < behind; ++j) {
      const float number = added(row * keys + j);
      sees = sees || number >= kSurelySeen;
      mask.is_all = mask.is_all && number == 0;
    }
    bool is_infinite = true;
    for (int64_t j = behind; j < keys; ++j) {
      is_infinite = is_infinite && added(row * keys + j) == kMinusInfinity;
    }
    // Who sees nothing, by numbers that are just low, sees all a little.
    if (!sees && !is_infinite) return std::nullopt;
    mask.is_infinite = mask.is_infinite && is_infinite;
  }
  return mask;
}

}  // namespace

std::optional<CausalMask> FindCausalMask(const Tensor& added) {
  if (added.dtype() != DataType::kFloat32) return std::nullopt;
  const auto numbers = added.values<float>();
  return Find(added.shape(), [&](int64_t i) { return numbers[static_cast<size_t>(i)]; });
}

std::optional<CausalMask> FindCausalMask(const Tensor& conditions, bool shows, float filling) {
  if (conditions.dtype() != DataType::kBool) return std::nullopt;
  const auto bytes = conditions.bytes();
  return Find(conditions.shape(), [&](int64_t i) {
    return (bytes[static_cast<size_t>(i)] != 0) == shows ? 0.0F : filling;
  });
}

}  // namespace slipway
