#include "core/codegen/tensor_cores/attention_loader.h"

#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/operators/attention.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

// What both ways have in common: registers for a tile, and how many keys there are from its first one on.
class Loader : public AttentionLoader {
 public:
  Loader(KernelText& text, const AttentionTile& tile, const AttentionFactor& factor)
      : text_(text), tile_(tile), factor_(factor), w_(text.w) {}

  void GoOn() override {
    w_.Do("add.s64", {address_, address_, Number(tile_.keys * stride(kPosition) * kElementBytes)});
    if (!is_whole()) w_.Do("sub.s32", {left_, left_, Number(tile_.keys)});
  }

 protected:
  int64_t stride(BlockAxis axis) const { return factor_.tensor.strides[axis]; }
  // Whether no tile goes beyond the last key.
  bool is_whole() const { return factor_.keys % tile_.keys == 0; }

  // For an instance whose first key and item these are.
  void Begin(int values, const std::string& batch, const std::string& head, const std::string& key,
             const std::string& item) {
    values_ = w_.Registers(Kind::kFloat, values);
    std::string element = w_.Word("mov.u32", {Number(factor_.tensor.first)});
    element = w_.Word("mad.lo.u32", {batch, Number(stride(kBatch)), element});
    element = w_.Word("mad.lo.u32", {head, Number(stride(kHead)), element});
    element = w_.Word("mad.lo.u32", {key, Number(stride(kPosition)), element});
    element = w_.Word("mad.lo.u32", {item, Number(stride(kItem)), element});
    address_ = text_.Address(factor_.parameter, element);
    if (!is_whole()) left_ = w_.Word("sub.s32", {Number(factor_.keys), key});
  }

  void Clear() {
    if (is_whole()) return;
    for (const std::string& value : values_) w_.Do("mov.f32", {value, FloatLiteral(0)});
  }
  // A predicate: whether there is a key, so many from the instance's first; empty where there always is.
  std::string IsThere(int64_t key) {
    if (is_whole()) return "";
    return w_.Make(Kind::kPredicate, "setp.gt.s32", {left_, Number(key)});
  }
  void LoadElement(size_t value, int64_t key, int64_t item, const std::string& is_there) {
    const int64_t element = key * stride(kPosition) + item * stride(kItem);
    const Registers operands = {values_[value], At(address_, element * kElementBytes)};
    if (is_there.empty()) return w_.Do("ld.global.nc.f32", operands);
    w_.DoIf(is_there, "ld.global.nc.f32", operands);
  }
  Registers Values(size_t first, size_t count) const {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  KernelText& text_;
  const AttentionTile tile_;
  const AttentionFactor factor_;
  PtxWriter& w_;
  Registers values_;
  std::string address_, left_, store_;
};

// As rows of keys, in vectors of 4 items where these are neighbours at such addresses and no key is missing, else element by element.
class RowLoader final : public Loader {
 public:
  RowLoader(KernelText& text, const AttentionTile& tile, const AttentionFactor& factor)
      : Loader(text, tile, factor) {
    layout = {.depth_is_inner = !factor.keys_are_depth,
              .is_padded = true,
              .rows = tile.keys,
              .row_bytes = static_cast<int>(factor.size) * text.form.bytes};
  }

  void Start(const std::string& instance, const std::string& batch,
             const std::string& head) override {
    const std::string row = w_.Word("div.u32", {instance, Number(lanes())});
    const std::string vector = w_.Word("rem.u32", {instance, Number(lanes())});
    const std::string item = w_.Word("mul.lo.u32", {vector, Number(kVector)});
    Begin(rows() * parts() * kVector, batch, head, row, item);
    const std::string byte = w_.Word("mul.lo.u32", {item, Number(text_.form.bytes)});
    store_ = layout.Address(row, byte, w_);
    if (!has_vectors()) return;
    // A tensor may begin at any element of another one.
    const std::string low =
        w_.Make(Kind::kAddress, "and.b64", {address_, Number(kVectorBytes - 1)});
    is_aligned_ = w_.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
    // What the tile has beyond the last key, whoever asks.
    if (!is_whole()) tile_left_ = w_.Word("mov.u32", {Number(factor_.keys)});
  }

  void GoOn() override {
    Loader::GoOn();
    if (!tile_left_.empty()) w_.Do("sub.s32", {tile_left_, tile_left_, Number(tile_.keys)});
  }

  void Load() override {
    if (!has_vectors()) return LoadElements();
    const std::string elements = w_.NewLabel();
    const std::string done = w_.NewLabel();
    std::string is_fast = is_aligned_;
    if (!is_whole()) {
      is_fast = w_.Make(Kind::kPredicate, "setp.ge.and.s32",
                        {tile_left_, Number(tile_.keys), is_aligned_});
    }
    w_.DoIf("!" + is_fast, "bra", {elements});
    ForEachVector([&](size_t value, int64_t key, int64_t item) {
      w_.Do("ld.global.nc.v4.f32",
            {InBraces(Values(value, kVector)),
             At(address_, (key * stride(kPosition) + item) * kElementBytes)});
    });
    w_.Do("bra", {done});
    w_.Place(elements);
    LoadElements();
    w_.Place(done);
  }

  void Store() override {
    ForEachVector([&](size_t value, int64_t key, int64_t item) {
      text_.StoreShared(store_, key * layout.pitch() + item * text_.form.bytes,
                        text_.Rounded(Values(value, kVector)));
    });
  }

 private:
  // Neighbouring instances that have one row: as many vectors of it as lie at all banks, or fewer that all rows have.
  int lanes() const {
    const int64_t vectors = factor_.size / kVector;
    return vectors % 16 == 0 ? 16 : vectors % 8 == 0 ? 8 : 4;
  }
  int parts() const { return static_cast<int>(factor_.size) / kVector / lanes(); }
  int rows_apart() const { return tile_.instances() / lanes(); }
  int rows() const { return tile_.keys / rows_apart(); }
  bool has_vectors() const {
    return stride(kItem) == 1 &&
           absl::c_all_of(std::array{stride(kBatch), stride(kHead), stride(kPosition)},
                          [](int64_t stride) { return stride % kVector == 0; });
  }

  // Calls visit(its first register, key and item from the instance's first).
  template <typename Visit>
  void ForEachVector(const Visit& visit) {
    size_t value = 0;
    for (int row = 0; row < rows(); ++row) {
      for (int part = 0; part < parts(); ++part, value += kVector) {
        visit(value, int64_t{row} * rows_apart(), int64_t{part} * lanes() * kVector);
      }
    }
  }

  void LoadElements() {
    Clear();
    int64_t last = -1;
    std::string is_there;
    ForEachVector([&](size_t value, int64_t key, int64_t item) {
      if (key != last) is_there = IsThere(key);
      last = key;
      for (int i = 0; i < kVector; ++i) {
        LoadElement(value + static_cast<size_t>(i), key, item + i, is_there);
      }
    });
  }

  std::string is_aligned_;  // A predicate.
  std::string tile_left_;   // Keys from the tile's first one on.
};

// Turned, as rows of items: an instance has one of 16 neighbouring items and 4 keys of one parity, which become neighbours.
class TurningLoader final : public Loader {
 public:
  TurningLoader(KernelText& text, const AttentionTile& tile, const AttentionFactor& factor)
      : Loader(text, tile, factor) {
    layout = {.is_padded = true,
              .rows = static_cast<int>(factor.size),
              .row_bytes = tile.keys * text.form.bytes};
  }

  void Start(const std::string& instance, const std::string& batch,
             const std::string& head) override {
    const std::string item = w_.Word("rem.u32", {instance, Number(kItems)});
    const std::string piece = w_.Word("div.u32", {instance, Number(kItems)});
    const std::string parity = w_.Word("and.b32", {piece, "1"});
    const std::string eight = w_.Word("shr.u32", {piece, "1"});
    const std::string key = w_.Word("mad.lo.u32", {eight, "8", parity});
    Begin(items() * pieces() * kVector, batch, head, key, item);
    const std::string byte = w_.Word("mul.lo.u32", {piece, Number(kVectorBytes)});
    store_ = layout.Address(item, byte, w_);
  }

  void Load() override {
    Clear();
    for (int piece = 0; piece < pieces(); ++piece) {
      for (int i = 0; i < kVector; ++i) {
        const int64_t key = int64_t{piece} * pieces_apart() * kVector + 2 * i;
        const std::string is_there = IsThere(key);
        for (int item = 0; item < items(); ++item) {
          LoadElement(First(item, piece) + static_cast<size_t>(i), key, int64_t{item} * kItems,
                      is_there);
        }
      }
    }
  }

  void Store() override {
    for (int item = 0; item < items(); ++item) {
      for (int piece = 0; piece < pieces(); ++piece) {
        text_.StoreShared(store_,
                          int64_t{item} * kItems * layout.pitch() +
                              int64_t{piece} * pieces_apart() * kVectorBytes,
                          text_.Rounded(Values(First(item, piece), kVector)));
      }
    }
  }

 private:
  static constexpr int kItems = 16;

  int items() const { return static_cast<int>(factor_.size) / kItems; }
  int pieces_apart() const { return tile_.instances() / kItems; }
  int pieces() const { return tile_.keys / kVector / pieces_apart(); }
  size_t First(int item, int piece) const {
    return static_cast<size_t>((item * pieces() + piece) * kVector);
  }
};

}  // namespace

std::unique_ptr<AttentionLoader> MakeAttentionLoader(KernelText& text, const AttentionTile& tile,
                                                     const AttentionFactor& factor) {
  if (factor.keys_are_depth && !text.form.is_narrow()) {
    return std::make_unique<TurningLoader>(text, tile, factor);
  }
  return std::make_unique<RowLoader>(text, tile, factor);
}

}  // namespace slipway
