// Attention, a block of queries at a time: their scores stay in the cache.
#include "core/kernels/attention.h"
#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/panels.h"
#include "core/kernels/parallel.h"
#include "core/kernels/vectors.h"

namespace slipway::kernels {
namespace {

constexpr int kPanelVectors = 2;
constexpr int64_t kPanel = kPanelVectors * kLanes;
constexpr int64_t kTile = kMostRows<kPanelVectors>;
constexpr int64_t kMostTiles = 4;  // Of a block: each panel is read once for all of them.
// Of a block, that they stay in the second cache beside the values.
constexpr int64_t kMostScores = 1 << 15;
// Tasks that are worth it where there are few heads, each with enough queries for keys and values to be laid out anew.
constexpr int64_t kWantedTasks = 16;
constexpr int64_t kLeastQueriesOfTask = 64;

alignas(64) constexpr float kZeros[kPanel] = {};

int64_t Panels(int64_t count) { return (count + kPanel - 1) / kPanel; }
int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }

// Vectors of a head, one a position, in an operand of any order of dimensions.
struct Head {
  float* data;
  int64_t position_stride;
  int64_t item_stride;

  float* At(int64_t position) const { return data + position * position_stride; }
};

// The dimensions of an operand, by its number among q, k, v and y.
class Heads {
 public:
  Heads(const Operand& operand, const Call& call, int number)
      : data_(operand.data<float>()), first_(number < 3 ? call.Integer(18 + number) : 0) {
    int64_t stride = 1;
    for (int d = 3; d >= 0; --d) {
      const int64_t axis = call.Integer(2 + 4 * number + d);
      strides_[axis] = stride;
      extents_[axis] = operand.extent(d);
      stride *= operand.extent(d);
    }
  }

  int64_t batches() const { return extents_[0]; }
  int64_t positions() const { return extents_[2]; }
  int64_t size() const { return extents_[3]; }
  Head Of(int64_t batch, int64_t head) const {
    return {data_ + batch * strides_[0] + (first_ + head) * strides_[1], strides_[2], strides_[3]};
  }

 private:
  float* const data_;
  const int64_t first_;
  int64_t strides_[4];  // Of batch, head, position, item.
  int64_t extents_[4];
};

// The mask's elements for a query.
class Mask {
 public:
  explicit Mask(const Call& call)
      : mask_(call.input(3)), filling_(static_cast<float>(call.Real(24))) {
    int64_t stride = 1;
    for (int d = 3; mask_.present() && d >= 0; --d) {
      strides_[d] = mask_.extent(d) == 1 ? 0 : stride;
      stride *= mask_.extent(d);
    }
  }

  // What it makes of the scores of a query.
  void Apply(int64_t batch, int64_t head, int64_t query, int64_t keys, float* scores) const {
    if (!mask_.present()) return;
    const int64_t place = batch * strides_[0] + head * strides_[1] + query * strides_[2];
    const int64_t step = strides_[3];
    if (mask_.type() == Type::kBool) {
      const bool* const seen = mask_.data<const bool>() + place;
      for (int64_t j = 0; j < keys; ++j) scores[j] = seen[j * step] ? scores[j] : filling_;
      return;
    }
    const float* const added = mask_.data<const float>() + place;
    if (step == 1) {
      for (int64_t j = 0; j < keys; ++j) scores[j] += added[j];
    } else {
      for (int64_t j = 0; j < keys; ++j) scores[j] += added[0];
    }
  }

 private:
  const Operand mask_;
  const float filling_;
  int64_t strides_[4] = {};
};

using Quad = float __attribute__((vector_size(16)));

Quad LoadQuad(const float* from) {
  Quad x;
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}

// Four items of four positions, `to` being those of the first item.
void Turn(const float* const from[4], float* to) {
  const Quad a = LoadQuad(from[0]), b = LoadQuad(from[1]);
  const Quad c = LoadQuad(from[2]), d = LoadQuad(from[3]);
  const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad ab_behind = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd_behind = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Quad turned[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5),
                          __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                          __builtin_shufflevector(ab_behind, cd_behind, 0, 1, 4, 5),
                          __builtin_shufflevector(ab_behind, cd_behind, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) __builtin_memcpy(to + i * kPanel, &turned[i], sizeof(Quad));
}

// Panels of positions, item by item; zeros behind the last position.
void LayKeysOut(const Head& keys, int64_t positions, int64_t size, float* to) {
  for (int64_t first = 0; first < positions; first += kPanel, to += size * kPanel) {
    const int64_t count = Least(kPanel, positions - first);
    int64_t lane = 0;
    for (; keys.item_stride == 1 && lane + 4 <= count; lane += 4) {
      const float* from[4];
      for (int i = 0; i < 4; ++i) from[i] = keys.At(first + lane + i);
      int64_t item = 0;
      for (; item + 4 <= size; item += 4) {
        Turn(from, to + item * kPanel + lane);
        for (const float*& x : from) x += 4;
      }
      for (; item < size; ++item) {
        for (int i = 0; i < 4; ++i) to[item * kPanel + lane + i] = *from[i]++;
      }
    }
    for (int64_t item = 0; item < size; ++item) {
      float* const row = to + item * kPanel;
      for (int64_t i = lane; i < count; ++i) row[i] = keys.At(first + i)[item * keys.item_stride];
      for (int64_t i = count; i < kPanel; ++i) row[i] = 0;
    }
  }
}

// Panels of items, position by position; zeros behind the last item.
void LayValuesOut(const Head& values, int64_t positions, int64_t size, float* to) {
  for (int64_t first = 0; first < size; first += kPanel) {
    const int64_t count = Least(kPanel, size - first);
    for (int64_t j = 0; j < positions; ++j, to += kPanel) {
      const float* const from = values.At(j) + first * values.item_stride;
      if (count == kPanel && values.item_stride == 1) {
        for (int v = 0; v < kPanelVectors; ++v) {
          StoreVector(LoadVector(from + v * kLanes), to + v * kLanes);
        }
        continue;
      }
      for (int64_t i = 0; i < count; ++i) to[i] = from[i * values.item_stride];
      for (int64_t i = count; i < kPanel; ++i) to[i] = 0;
    }
  }
}

// combine(...) of a vector's elements, pair by pair.
template <typename Combine>
float Together(Vector x, Combine combine) {
  float all[kLanes];
  StoreVector(x, all);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) all[i] = combine(all[i], all[i + half]);
  }
  return all[0];
}

// e^(x - largest) in place of each score x, of which there are whole vectors. Returns their sum: NaN where one of them is, or
// none is above minus infinity.
float Exponentials(float* scores, int64_t count) {
  const auto larger = [](auto a, auto b) { return a > b ? a : b; };
  Vector most = Broadcast(-__builtin_inff());
  for (int64_t j = 0; j < count; j += kLanes) most = larger(LoadVector(scores + j), most);
  const Vector largest = Broadcast(Together(most, larger));
  Vector sum = {};
  for (int64_t j = 0; j < count; j += kLanes) {
    const Vector e = ExpOfNegative(LoadVector(scores + j) - largest);
    sum += e;
    StoreVector(e, scores + j);
  }
  return Together(sum, [](float a, float b) { return a + b; });
}

// What all heads have in common.
struct Sizes {
  int64_t queries, keys, size, value_size;
  float scale;
  bool nan_is_zero;
  int64_t past;  // Query i sees keys up to i + past.
  float behind;  // What scores of others are before the mask is added; or minus infinity, with it.

  bool reads_all() const { return behind > -__builtin_inff(); }

  int64_t room() const { return Panels(keys) * kPanel; }  // Of a query's scores.
  // Keys that queries before `end` see: one at least, of which they may see nothing.
  int64_t SeenBefore(int64_t end) const {
    return reads_all() ? keys : Least(keys, Most(end + past, 1));
  }
  int64_t block() const {
    const int64_t fit = kMostScores / Most(room(), 1) / kTile;
    return kTile * Least(kMostTiles, Most(fit, 1));
  }
};

// Memory of a task, in floats.
struct RoomSizes {
  explicit RoomSizes(const Sizes& sizes)
      : keys(sizes.room() * sizes.size),
        values(Panels(sizes.value_size) * kPanel * sizes.keys),
        queries(sizes.block() * sizes.size),
        scores(sizes.block() * sizes.room()) {}

  int64_t all() const { return keys + values + queries + scores; }

  const int64_t keys, values, queries, scores;
};
struct Room {
  Room(float* memory, const RoomSizes& sizes)
      : keys(memory),
        values(keys + sizes.keys),
        queries(values + sizes.values),
        scores(queries + sizes.queries) {}

  float *const keys, *const values, *const queries, *const scores;
};

class Block {
 public:
  Block(const Sizes& sizes, const Room& room) : sizes_(sizes), room_(room) {}

  // y of `count` queries from `first` on, sizes.block() at most.
  void Run(const Head& q, int64_t first, int64_t count, const Mask& mask, int64_t batch,
           int64_t head, const Head& y) const {
    const int64_t keys = sizes_.SeenBefore(first + count);
    const int64_t scores = Panels(keys) * kPanel;  // Of a query.
    Score(q, first, count, keys);
    float factors[kTile * kMostTiles];
    for (int64_t i = 0; i < count; ++i) {
      float* const row = room_.scores + i * sizes_.room();
      int64_t seen = Least(keys, Most(first + i + 1 + sizes_.past, 0));
      if (sizes_.reads_all()) {
        for (int64_t j = seen; j < keys; ++j) row[j] = sizes_.behind;
        seen = keys;
      }
      mask.Apply(batch, head, first + i, seen, row);
      for (int64_t j = seen; j < scores; ++j) row[j] = -__builtin_inff();
      const float sum = Exponentials(row, scores);
      factors[i] = 1 / sum;
      if (sum != sum && sizes_.nan_is_zero) {
        for (int64_t j = 0; j < scores; ++j) row[j] = 0;
        factors[i] = 1;
      }
    }
    for (int64_t p = 0; p < Panels(sizes_.value_size); ++p) {
      for (int64_t i = 0; i < count; i += kTile) {
        Mix(p, i, Least(kTile, count - i), keys, factors + i, y, first + i);
      }
    }
  }

 private:
  void Score(const Head& q, int64_t first, int64_t count, int64_t keys) const {
    for (int64_t i = 0; i < count; ++i) {
      const float* const from = q.At(first + i);
      float* const to = room_.queries + i * sizes_.size;
      if (q.item_stride == 1) {
        for (int64_t k = 0; k < sizes_.size; ++k) to[k] = from[k] * sizes_.scale;
      } else {
        for (int64_t k = 0; k < sizes_.size; ++k) to[k] = from[k * q.item_stride] * sizes_.scale;
      }
    }
    for (int64_t p = 0; p < Panels(keys); ++p) {
      for (int64_t i = 0; i < count; i += kTile) {
        const int64_t rows = Least(kTile, count - i);
        Product products[kTile];
        for (int64_t r = 0; r < rows; ++r) {
          products[r] = {room_.queries + (i + r) * sizes_.size, kZeros,
                         room_.scores + (i + r) * sizes_.room() + p * kPanel};
        }
        MultiplyRows<kPanelVectors, kPanel>(room_.keys + p * sizes_.size * kPanel, sizes_.size, 0,
                                            products, rows);
      }
    }
  }

  // Panel p of the values' items for some rows of the block, which are positions from `position` on and have so many probabilities.
  void Mix(int64_t p, int64_t row, int64_t rows, int64_t keys, const float* factors, const Head& y,
           int64_t position) const {
    alignas(64) float mixed[kTile * kPanel];
    Product products[kTile];
    for (int64_t r = 0; r < rows; ++r) {
      products[r] = {room_.scores + (row + r) * sizes_.room(), kZeros, mixed + r * kPanel};
    }
    MultiplyRows<kPanelVectors, kPanel>(room_.values + p * sizes_.keys * kPanel, keys, 0, products,
                                        rows);
    const int64_t count = Least(kPanel, sizes_.value_size - p * kPanel);
    for (int64_t r = 0; r < rows; ++r) {
      const float* const from = mixed + r * kPanel;
      float* const to = y.At(position + r) + p * kPanel * y.item_stride;
      if (count == kPanel && y.item_stride == 1) {
        for (int v = 0; v < kPanelVectors; ++v) {
          StoreVector(LoadVector(from + v * kLanes) * factors[r], to + v * kLanes);
        }
      } else {
        for (int64_t i = 0; i < count; ++i) to[i * y.item_stride] = from[i] * factors[r];
      }
    }
  }

  const Sizes& sizes_;
  const Room& room_;
};

int32_t BlockAttention(const Call& call) {
  const Heads q(call.input(0), call, 0);
  const Heads k(call.input(1), call, 1);
  const Heads v(call.input(2), call, 2);
  const Heads y(call.output(0), call, 3);
  const Mask mask(call);
  const int64_t heads = call.Integer(0);
  const int64_t key_heads = call.Integer(1);
  const int64_t shared = heads / key_heads;
  const Sizes sizes = {q.positions(),
                       k.positions(),
                       q.size(),
                       v.size(),
                       static_cast<float>(call.Real(23)),
                       call.Integer(21) != 0,
                       call.Integer(22),
                       static_cast<float>(call.Real(25))};

  const int64_t groups = q.batches() * key_heads;
  if (groups == 0 || sizes.queries == 0) return 0;
  const int64_t most_parts = Most(shared * sizes.queries / kLeastQueriesOfTask, 1);
  const int64_t parts =
      Least(Least((kWantedTasks + groups - 1) / groups, most_parts), sizes.queries);
  bool failed = false;
  ForEachInParallel(call, groups * parts, [&](const Call& own, int64_t task) {
    const int64_t group = task / parts;
    const int64_t batch = group / key_heads;
    const int64_t key_head = group % key_heads;
    const int64_t begin = task % parts * sizes.queries / parts;
    const int64_t end = (task % parts + 1) * sizes.queries / parts;
    Sizes seen = sizes;
    seen.keys = sizes.SeenBefore(end);
    const RoomSizes floats(seen);
    const Scratch<float> memory(own, floats.all());
    if (!memory) return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
    const Room room(memory.get(), floats);
    LayKeysOut(k.Of(batch, key_head), seen.keys, seen.size, room.keys);
    LayValuesOut(v.Of(batch, key_head), seen.keys, seen.value_size, room.values);
    for (int64_t head = key_head * shared; head < (key_head + 1) * shared; ++head) {
      for (int64_t first = begin; first < end; first += seen.block()) {
        Block(seen, room)
            .Run(q.Of(batch, head), first, Least(seen.block(), end - first), mask, batch, head,
                 y.Of(batch, head));
      }
    }
  });
  return failed ? call.Fail(kOutOfScratch) : 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_BlockAttention(void** arguments) { return BlockAttention(Call(arguments)); }
