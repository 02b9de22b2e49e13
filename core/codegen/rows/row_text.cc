#include "core/codegen/rows/row_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/ptx_writer.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

constexpr int kWarp = 32;
constexpr float kLog2OfE = 1.44269504F;

class Template {
 public:
  Template(const NormalizedRows& rows, size_t inputs, int warps, const std::string& entry)
      : rows_(rows), inputs_(inputs), warps_(warps), text_{entry, w_} {}

  DeviceKernel Write() {
    // Softmax and LayerNormalization combine twice.
    if (warps_ > 1) w_.Share(kSharedName, 2 * warps_ * kElementBytes);
    const std::string end = w_.NewLabel();
    FindPlace(end);
    if (rows_.size % kVector == 0) {
      const std::string elements = w_.NewLabel();
      w_.DoIf("!" + IsAligned(), "bra", {elements});
      WriteBody(kVector);
      w_.Do("bra", {end});
      w_.Place(elements);
    }
    WriteBody(1);
    w_.Place(end);
    return text_.Kernel(inputs_, Parts(rows_.rows, rows_of_group()), instances());
  }

 private:
  int rows_of_group() const { return warps_ == 1 ? kRowWarps : 1; }
  int instances() const { return kWarp * std::max(warps_, kRowWarps); }
  int result() const { return static_cast<int>(inputs_); }

  void FindPlace(const std::string& end) {
    const std::string instance = w_.Word("mov.u32", {"%tid.x"});
    std::string row = w_.Word("mov.u32", {"%ctaid.x"});
    warp_ = w_.Word("shr.u32", {instance, "5"});
    place_ = instance;
    if (warps_ == 1) {
      row = w_.Word("mad.lo.u32", {row, Number(kRowWarps), warp_});
      place_ = w_.Word("and.b32", {instance, "31"});
      if (rows_.rows % kRowWarps != 0) {
        w_.DoIf(w_.Make(Kind::kPredicate, "setp.ge.u32", {row, Number(rows_.rows)}), "bra", {end});
      }
    }
    first_ = w_.Word("mul.lo.u32", {row, Number(rows_.size)});
  }

  std::string IsAligned() {
    std::vector<int> parameters = {rows_.x, result()};
    for (const std::optional<int>& weights : {rows_.scale, rows_.bias}) {
      if (weights.has_value()) parameters.push_back(*weights);
    }
    return text_.AreAligned(parameters);
  }

  // A part of a row: neighbours, which are there where the predicate holds; empty where they always are.
  struct Piece {
    Registers values;
    std::string is_there;
    int64_t offset = 0;  // In bytes, from the instance's first.
  };

  static std::string Instruction(const char* name, int width) {
    return absl::StrCat(name, width > 1 ? ".v4.f32" : ".f32");
  }
  static std::string Operand(const Registers& values) {
    return values.size() > 1 ? InBraces(values) : values[0];
  }
  Registers Load(const std::string& address, const Piece& piece, int width, float otherwise) {
    Registers values;
    for (int i = 0; i < width; ++i) {
      values.push_back(w_.Register(Kind::kFloat));
      if (!piece.is_there.empty()) w_.Do("mov.f32", {values.back(), FloatLiteral(otherwise)});
    }
    const Registers operands = {Operand(values), At(address, piece.offset)};
    const std::string load = Instruction("ld.global.nc", width);
    if (piece.is_there.empty()) {
      w_.Do(load, operands);
    } else {
      w_.DoIf(piece.is_there, load, operands);
    }
    return values;
  }

  void WriteBody(int width) {
    const bool is_softmax = rows_.kind == NormalizedRows::Kind::kSoftmax;
    const int64_t apart = int64_t{kWarp} * warps_ * width;
    const std::string item = w_.Word("mul.lo.u32", {place_, Number(width)});
    const std::string element = w_.Word("add.u32", {first_, item});
    const std::string from = text_.Address(rows_.x, element);
    std::vector<Piece> pieces;
    for (int64_t begin = 0; begin < rows_.size; begin += apart) {
      Piece piece{.values = {}, .is_there = "", .offset = begin * kElementBytes};
      if (begin + apart > rows_.size) {
        piece.is_there =
            w_.Make(Kind::kPredicate, "setp.lt.u32", {item, Number(rows_.size - begin)});
      }
      piece.values =
          Load(from, piece, width, is_softmax ? -std::numeric_limits<float>::infinity() : 0);
      pieces.push_back(std::move(piece));
    }
    std::string factor = is_softmax ? TakePowers(pieces) : TakeDeviations(pieces);
    const std::string scale = rows_.scale.has_value() ? text_.Address(*rows_.scale, item) : "";
    const std::string bias = rows_.bias.has_value() ? text_.Address(*rows_.bias, item) : "";
    const std::string to = text_.Address(result(), element);
    for (const Piece& piece : pieces) {
      Registers scales, biases;
      if (!scale.empty()) scales = Load(scale, piece, width, 0);
      if (!bias.empty()) biases = Load(bias, piece, width, 0);
      for (size_t i = 0; i < piece.values.size(); ++i) {
        const std::string& value = piece.values[i];
        w_.Do("mul.f32", {value, value, factor});
        if (!scale.empty()) w_.Do("mul.f32", {value, value, scales[i]});
        if (!bias.empty()) w_.Do("add.f32", {value, value, biases[i]});
      }
      const Registers operands = {At(to, piece.offset), Operand(piece.values)};
      const std::string store = Instruction("st.global", width);
      if (piece.is_there.empty()) {
        w_.Do(store, operands);
      } else {
        w_.DoIf(piece.is_there, store, operands);
      }
    }
  }

  // Powers of e, relative to the largest, in place of what is there. Returns what each is multiplied by.
  std::string TakePowers(const std::vector<Piece>& pieces) {
    const std::string largest =
        w_.Float("mov.f32", {FloatLiteral(-std::numeric_limits<float>::infinity())});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("max.f32", {largest, largest, value});
    });
    Combine(largest, "max.f32", 0);
    const std::string sum = w_.Float("mov.f32", {FloatLiteral(0)});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("sub.f32", {value, value, largest});
      w_.Do("mul.f32", {value, value, FloatLiteral(kLog2OfE)});
      w_.Do("ex2.approx.f32", {value, value});
      w_.Do("add.f32", {sum, sum, value});
    });
    Combine(sum, "add.f32", 1);
    return w_.Float("rcp.rn.f32", {sum});
  }

  // Differences from the mean, where that is wanted, in place of what is there. Returns what each is multiplied by.
  std::string TakeDeviations(const std::vector<Piece>& pieces) {
    const std::string share = FloatLiteral(1 / static_cast<float>(rows_.size));
    if (rows_.kind == NormalizedRows::Kind::kCentered) {
      const std::string mean = w_.Float("mov.f32", {FloatLiteral(0)});
      ForEach(pieces, [&](const Piece&, const std::string& value) {
        w_.Do("add.f32", {mean, mean, value});
      });
      Combine(mean, "add.f32", 0);
      w_.Do("mul.f32", {mean, mean, share});
      ForEach(pieces, [&](const Piece& piece, const std::string& value) {
        w_.Do("sub.f32", {value, value, mean});
        if (piece.is_there.empty()) return;
        w_.Do("selp.f32", {value, value, FloatLiteral(0), piece.is_there});
      });
    }
    const std::string squares = w_.Float("mov.f32", {FloatLiteral(0)});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("fma.rn.f32", {squares, value, value, squares});
    });
    Combine(squares, "add.f32", 1);
    const std::string variance =
        w_.Float("fma.rn.f32", {squares, share, FloatLiteral(rows_.epsilon)});
    return w_.Float("rcp.rn.f32", {w_.Float("sqrt.rn.f32", {variance})});
  }

  template <typename Visit>
  static void ForEach(const std::vector<Piece>& pieces, const Visit& visit) {
    for (const Piece& piece : pieces) {
      for (const std::string& value : piece.values) visit(piece, value);
    }
  }

  // Of all instances of a row, in all of them. What warps have goes through shared memory, each time another part of it.
  void Combine(const std::string& value, const char* combine, int time) {
    for (int lane = kWarp / 2; lane > 0; lane /= 2) {
      const std::string other = w_.Float("shfl.sync.bfly.b32", {value, Number(lane), "31", "-1"});
      w_.Do(combine, {value, value, other});
    }
    if (warps_ == 1) return;
    const std::string shared = w_.Word("mov.u32", {kSharedName});
    const std::string own = w_.Word("mad.lo.u32", {warp_, Number(kElementBytes), shared});
    const int64_t begin = int64_t{time} * warps_ * kElementBytes;
    const std::string lane = w_.Word("and.b32", {place_, "31"});
    const std::string is_first = w_.Make(Kind::kPredicate, "setp.eq.u32", {lane, "0"});
    w_.DoIf(is_first, "st.shared.f32", {At(own, begin), value});
    w_.Do("bar.sync", {"0"});
    for (int warp = 0; warp < warps_; ++warp) {
      const std::string other =
          w_.Float("ld.shared.f32", {At(shared, begin + int64_t{warp} * kElementBytes)});
      if (warp == 0) {
        w_.Do("mov.f32", {value, other});
      } else {
        w_.Do(combine, {value, value, other});
      }
    }
  }

  const NormalizedRows& rows_;
  const size_t inputs_;
  const int warps_;
  PtxWriter w_;
  EntryText text_;
  std::string warp_, place_;  // Of the group; of the instance among those of its row.
  std::string first_;         // Element of the row.
};

}  // namespace

DeviceKernel RowKernel(const NormalizedRows& rows, size_t inputs, int warps,
                       const std::string& entry) {
  return Template(rows, inputs, warps, entry).Write();
}

}  // namespace slipway
