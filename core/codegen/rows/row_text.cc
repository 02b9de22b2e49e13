#include "core/codegen/rows/row_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/rows/row_tensor_text.h"
#include "core/codegen/tensor_cores/element_text.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

constexpr int kWarp = 32;
constexpr float kLog2OfE = 1.44269504F;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// What is told of a part.
constexpr int kMomentsBytes = 2 * kElementBytes;
constexpr int64_t kAlignment = 64;  // Of all memory that programs lay out.

// What an entry does.
enum class Launch {
  kWhole,    // Everything, of whole rows.
  kMoments,  // The first of two: it tells of parts of rows.
  kApply,    // The second one.
};

// Of a row, or of a part: its largest number and the sum of powers of e relative to that, or its mean, where numbers are centered, and the sum of squares of what is then there.
struct Moments {
  std::string first;
  std::string second;
};

class Template {
 public:
  Template(const NormalizedRows& rows, size_t inputs, const RowDivision& division, Launch launch,
           const std::string& entry)
      : rows_(rows),
        inputs_(inputs),
        warps_(division.warps),
        parts_(division.parts),
        part_size_(RowPartSize(rows.size, division.parts)),
        launch_(launch),
        text_{entry, w_} {}

  // Adds the entry and its launch.
  void AddTo(DeviceKernel& kernel) {
    // Two numbers are combined at most.
    if (warps_ > 1 && launch_ != Launch::kApply) {
      w_.Share(kSharedName, 2 * warps_ * rows_of_warp() * kElementBytes);
    }
    const std::string end = w_.NewLabel();
    FindPlace(end);
    const std::vector<int> vectors = VectorParameters();
    if (rows_.size % kVector == 0 && !vectors.empty()) {
      const std::string elements = w_.NewLabel();
      w_.DoIf("!" + text_.AreAligned(vectors), "bra", {elements});
      WriteBody(kVector);
      w_.Do("bra", {end});
      w_.Place(elements);
    }
    WriteBody(rows_.size % kVector == 0 && vectors.empty() ? kVector : 1);
    w_.Place(end);
    const DeviceArgument scratch{DeviceArgument::Kind::kScratch, 0};
    DeviceKernel made = text_.Kernel(inputs_, groups(), instances());
    EntryLaunch& launch = made.launches[0];
    if (launch_ == Launch::kMoments) launch.writes = {scratch};
    if (launch_ == Launch::kApply) {
      launch.reads.push_back(scratch);
      made.text = w_.Entry(launch.entry, inputs_ + 2, instances());
    }
    kernel.text += made.text;
    kernel.launches.push_back(std::move(launch));
  }

 private:
  int rows_of_group() const { return warps_ == 1 ? kRowWarps : 1; }
  bool is_turned() const { return rows_.turned.has_value(); }
  bool result_is_turned() const { return is_turned() && rows_.turned->result_is_turned; }
  // How far neighbours of a row are apart in x.
  int64_t step() const { return is_turned() ? rows_.turned->plane : 1; }
  // How many rows a warp has a part of, each in all of its lanes but for the lowest bits of their numbers.
  int rows_of_warp() const { return is_turned() ? kTurnedRows : 1; }
  int lanes_of_row() const { return kWarp / rows_of_warp(); }
  int64_t tiles() const { return Parts(rows_.turned->plane, kTurnedRows); }
  int64_t groups() const {
    if (is_turned()) return rows_.rows / rows_.turned->plane * tiles();
    return parts_ == 1 ? Parts(rows_.rows, rows_of_group()) : rows_.rows * parts_;
  }
  int instances() const { return kWarp * std::max(warps_, kRowWarps); }
  int scratch() const { return static_cast<int>(inputs_); }
  int result() const { return static_cast<int>(inputs_) + (launch_ == Launch::kApply ? 1 : 0); }
  int bytes_of_result() const { return static_cast<int>(ByteSize(rows_.dtype)); }
  bool is_softmax() const { return rows_.kind == NormalizedRows::Kind::kSoftmax; }
  int64_t last_part_size() const { return rows_.size - (parts_ - 1) * part_size_; }
  bool parts_are_even() const { return last_part_size() == part_size_; }

  void FindPlace(const std::string& end) {
    instance_ = w_.Word("mov.u32", {"%tid.x"});
    group_ = w_.Word("mov.u32", {"%ctaid.x"});
    row_ = group_;
    warp_ = w_.Word("shr.u32", {instance_, "5"});
    place_ = instance_;
    if (is_turned()) return FindTurnedPlace();
    if (parts_ > 1) {
      row_ = w_.Word("div.u32", {group_, Number(parts_)});
      part_ = w_.Word("rem.u32", {group_, Number(parts_)});
      begin_ = w_.Word("mul.lo.u32", {part_, Number(part_size_)});
      is_last_ = w_.Make(Kind::kPredicate, "setp.eq.u32", {part_, Number(parts_ - 1)});
    } else if (warps_ == 1) {
      row_ = w_.Word("mad.lo.u32", {row_, Number(kRowWarps), warp_});
      place_ = w_.Word("and.b32", {instance_, "31"});
      if (rows_.rows % kRowWarps != 0) {
        w_.DoIf(w_.Make(Kind::kPredicate, "setp.ge.u32", {row_, Number(rows_.rows)}), "bra", {end});
      }
    }
    first_ = w_.Word("mul.lo.u32", {row_, Number(rows_.size)});
  }

  // A row that there is not is the last one of the plane, which is not written again.
  void FindTurnedPlace() {
    const int64_t plane = rows_.turned->plane;
    const std::string lane = w_.Word("and.b32", {instance_, "31"});
    const std::string image = w_.Word("div.u32", {group_, Number(tiles())});
    const std::string tile = w_.Word("rem.u32", {group_, Number(tiles())});
    const std::string of_tile = w_.Word("and.b32", {lane, Number(kTurnedRows - 1)});
    std::string at = w_.Word("mad.lo.u32", {tile, Number(kTurnedRows), of_tile});
    if (plane % kTurnedRows != 0) {
      has_row_ = w_.Make(Kind::kPredicate, "setp.lt.u32", {at, Number(plane)});
      at = w_.Word("min.u32", {at, Number(plane - 1)});
    }
    of_warp_ = of_tile;
    row_ = w_.Word("mad.lo.u32", {image, Number(plane), at});
    place_ = w_.Word("mad.lo.u32", {warp_, Number(lanes_of_row()),
                                    w_.Word("div.u32", {lane, Number(kTurnedRows)})});
    first_ = w_.Word("mad.lo.u32", {image, Number(rows_.size * plane), at});
  }

  // What moves by vectors.
  std::vector<int> VectorParameters() const {
    std::vector<int> parameters;
    if (!is_turned()) parameters.push_back(rows_.x);
    if (launch_ == Launch::kMoments) return parameters;
    if (!result_is_turned()) parameters.push_back(result());
    for (const RowTensor& tensor : rows_.tensors) {
      if (RowTensorReader::HasVectors(tensor, rows_.size, kVector)) {
        parameters.push_back(tensor.input);
      }
    }
    return parameters;
  }

  // A part of a row: neighbours, which are there where the predicate holds; empty where they always are.
  struct Piece {
    Registers values;
    std::string is_there;
    int64_t begin = 0;  // From the instance's first one on.
  };

  // Predicates of pieces; `item` is the instance's first place in the part.
  std::string IsThere(int64_t begin, int64_t apart, const std::string& item) {
    if (!parts_are_even()) {
      const std::string size =
          w_.Word("selp.b32", {Number(last_part_size()), Number(part_size_), is_last_});
      return w_.Make(Kind::kPredicate, "setp.lt.u32",
                     {w_.Word("add.u32", {item, Number(begin)}), size});
    }
    if (begin + apart <= part_size_) return has_row_;
    const std::string left = Number(part_size_ - begin);
    if (!has_row_.empty()) {
      return w_.Make(Kind::kPredicate, "setp.lt.and.u32", {item, left, has_row_});
    }
    return w_.Make(Kind::kPredicate, "setp.lt.u32", {item, left});
  }

  Registers LoadPiece(const std::string& from, const Piece& piece, int width) {
    const float otherwise = is_softmax() ? -kInfinity : 0;
    const auto load = [&](int64_t place, int count) {
      return LoadNeighbours(w_, DataType::kFloat32, from, place * step() * kElementBytes, count,
                            piece.is_there, otherwise);
    };
    if (!is_turned()) return load(piece.begin, width);
    Registers values;
    for (int i = 0; i < width; ++i) values.push_back(load(piece.begin + i, 1)[0]);
    return values;
  }

  void StorePiece(const Registers& values, const Piece& piece, const std::string& to) {
    const auto store = [&](int64_t offset, const Registers& some) {
      StoreNeighbours(w_, rows_.dtype, some, to, offset * bytes_of_result(), piece.is_there);
    };
    if (!result_is_turned()) return store(piece.begin, values);
    for (size_t i = 0; i < values.size(); ++i) {
      store((piece.begin + static_cast<int64_t>(i)) * step(), {values[i]});
    }
  }

  void WriteBody(int width) {
    const int64_t apart = int64_t{lanes_of_row()} * warps_ * width;
    const std::string item = w_.Word("mul.lo.u32", {place_, Number(width)});
    const std::string place = parts_ > 1 ? w_.Word("add.u32", {begin_, item}) : item;
    const std::string element = is_turned() ? w_.Word("mad.lo.u32", {place, Number(step()), first_})
                                            : w_.Word("add.u32", {first_, place});
    const std::string made = is_turned() && !result_is_turned()
                                 ? w_.Word("mad.lo.u32", {row_, Number(rows_.size), place})
                                 : element;
    const std::string from = text_.Address(rows_.x, element);
    std::vector<Piece> pieces;
    for (int64_t begin = 0; begin < part_size_; begin += apart) {
      Piece piece{.values = {}, .is_there = IsThere(begin, apart, item), .begin = begin};
      piece.values = LoadPiece(from, piece, width);
      pieces.push_back(std::move(piece));
    }
    Moments moments;
    if (launch_ == Launch::kApply) {
      moments = ReadMoments();
      if (is_softmax()) {
        TakePowers(pieces, moments.first);
      } else if (rows_.kind == NormalizedRows::Kind::kCentered) {
        Center(pieces, moments.first);
      }
    } else {
      moments = is_softmax() ? MomentsOfPowers(pieces) : MomentsOfDeviations(pieces);
    }
    if (launch_ == Launch::kMoments) {
      WriteMoments(moments);
    } else {
      WriteResult(pieces, FactorOf(moments), place,
                  text_.Address(result(), made, bytes_of_result()), width);
    }
  }

  void WriteResult(const std::vector<Piece>& pieces, const std::string& factor,
                   const std::string& place, const std::string& to, int width) {
    std::vector<RowTensorReader> readers;
    for (const RowTensor& tensor : rows_.tensors) {
      readers.emplace_back(text_, tensor, rows_.size, row_, place);
    }
    for (const Piece& piece : pieces) {
      std::vector<Registers> tensors(static_cast<size_t>(width));
      for (RowTensorReader& reader : readers) {
        const Registers elements =
            reader.Load(piece.begin, width, /*aligned=*/width > 1, piece.is_there);
        for (size_t i = 0; i < tensors.size(); ++i) tensors[i].push_back(elements[i]);
      }
      Registers made;
      for (size_t i = 0; i < tensors.size(); ++i) {
        w_.Do("mul.f32", {piece.values[i], piece.values[i], factor});
        made.push_back(WriteSteps(rows_.steps, rows_.result, piece.values[i], tensors[i], w_));
      }
      StorePiece(made, piece, to);
    }
  }

  // Powers of e, relative to the largest, in place of what is there.
  void TakePowers(const std::vector<Piece>& pieces, const std::string& largest) {
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("sub.f32", {value, value, largest});
      w_.Do("mul.f32", {value, value, FloatLiteral(kLog2OfE)});
      w_.Do("ex2.approx.f32", {value, value});
    });
  }

  Moments MomentsOfPowers(const std::vector<Piece>& pieces) {
    const std::string largest = w_.Float("mov.f32", {FloatLiteral(-kInfinity)});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("max.f32", {largest, largest, value});
    });
    Combine(largest, "max.f32", 0);
    std::string relative_to = largest;
    if (launch_ == Launch::kMoments) {
      // A part of minus infinities has no power beside others that have some; a row of them is no number, as its second launch finds.
      const std::string is_lowest =
          w_.Make(Kind::kPredicate, "setp.eq.f32", {largest, FloatLiteral(-kInfinity)});
      relative_to = w_.Float("selp.f32", {FloatLiteral(0), largest, is_lowest});
    }
    TakePowers(pieces, relative_to);
    const std::string sum = SumOf(pieces);
    Combine(sum, "add.f32", 1);
    return {largest, sum};
  }

  // Differences from the mean in place of what is there, and 0 in place of what is not.
  void Center(const std::vector<Piece>& pieces, const std::string& mean) {
    ForEach(pieces, [&](const Piece& piece, const std::string& value) {
      w_.Do("sub.f32", {value, value, mean});
      if (piece.is_there.empty()) return;
      w_.Do("selp.f32", {value, value, FloatLiteral(0), piece.is_there});
    });
  }

  Moments MomentsOfDeviations(const std::vector<Piece>& pieces) {
    Moments moments{FloatLiteral(0), ""};
    if (rows_.kind == NormalizedRows::Kind::kCentered) {
      const std::string mean = SumOf(pieces);
      Combine(mean, "add.f32", 0);
      w_.Do("mul.f32", {mean, mean,
                        OfPart(1 / static_cast<float>(last_part_size()),
                               1 / static_cast<float>(part_size_), is_last_)});
      Center(pieces, mean);
      moments.first = mean;
    }
    moments.second = w_.Float("mov.f32", {FloatLiteral(0)});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("fma.rn.f32", {moments.second, value, value, moments.second});
    });
    Combine(moments.second, "add.f32", 1);
    return moments;
  }

  // What each number is multiplied by.
  std::string FactorOf(const Moments& moments) {
    if (is_softmax()) return w_.Float("rcp.rn.f32", {moments.second});
    const std::string share = FloatLiteral(1 / static_cast<float>(rows_.size));
    const std::string variance =
        w_.Float("fma.rn.f32", {moments.second, share, FloatLiteral(rows_.epsilon)});
    return w_.Float("rcp.rn.f32", {w_.Float("sqrt.rn.f32", {variance})});
  }

  // One number where the predicate of being the last part holds, another one where not.
  std::string OfPart(float last, float other, const std::string& is_last) {
    if (parts_are_even()) return FloatLiteral(other);
    return w_.Float("selp.f32", {FloatLiteral(last), FloatLiteral(other), is_last});
  }

  void WriteMoments(const Moments& moments) {
    const std::string to = text_.Address(scratch(), group_, kMomentsBytes);
    w_.DoIf(w_.Make(Kind::kPredicate, "setp.eq.u32", {instance_, "0"}), "st.global.v2.f32",
            {At(to), InBraces({w_.Float("mov.f32", {moments.first}), moments.second})});
  }

  // Those of the row, in each warp for itself, a lane's parts after each other.
  Moments ReadMoments() {
    const std::string lane = w_.Word("and.b32", {instance_, "31"});
    const std::string begin = w_.Word("mul.lo.u32", {row_, Number(parts_)});
    const std::string from =
        text_.Address(scratch(), w_.Word("add.u32", {begin, lane}), kMomentsBytes);
    std::vector<Moments> parts;
    Registers counts;  // Of what they have: 0 of parts that there are not.
    for (int first = 0; first < parts_; first += kWarp) {
      const std::string is_there =
          w_.Make(Kind::kPredicate, "setp.lt.u32", {lane, Number(parts_ - first)});
      const std::string is_last =
          w_.Make(Kind::kPredicate, "setp.eq.u32", {lane, Number(parts_ - 1 - first)});
      const Moments part = {w_.Float("mov.f32", {FloatLiteral(is_softmax() ? -kInfinity : 0)}),
                            w_.Float("mov.f32", {FloatLiteral(0)})};
      w_.DoIf(is_there, "ld.global.nc.v2.f32",
              {InBraces({part.first, part.second}), At(from, int64_t{first} * kMomentsBytes)});
      counts.push_back(w_.Float("selp.f32", {OfPart(static_cast<float>(last_part_size()),
                                                    static_cast<float>(part_size_), is_last),
                                             FloatLiteral(0), is_there}));
      parts.push_back(part);
    }
    return is_softmax() ? CombinedPowers(parts) : CombinedDeviations(parts, counts);
  }

  Moments CombinedPowers(const std::vector<Moments>& parts) {
    Moments all{w_.Float("mov.f32", {FloatLiteral(-kInfinity)}),
                w_.Float("mov.f32", {FloatLiteral(0)})};
    for (const Moments& part : parts) w_.Do("max.f32", {all.first, all.first, part.first});
    CombineLanes(all.first, "max.f32");
    for (const Moments& part : parts) {
      const std::string below = w_.Float("sub.f32", {part.first, all.first});
      const std::string power =
          w_.Float("ex2.approx.f32", {w_.Float("mul.f32", {below, FloatLiteral(kLog2OfE)})});
      w_.Do("fma.rn.f32", {all.second, part.second, power, all.second});
    }
    CombineLanes(all.second, "add.f32");
    return all;
  }

  Moments CombinedDeviations(const std::vector<Moments>& parts, const Registers& counts) {
    Moments all{FloatLiteral(0), w_.Float("mov.f32", {FloatLiteral(0)})};
    const bool is_centered = rows_.kind == NormalizedRows::Kind::kCentered;
    if (is_centered) {
      all.first = w_.Float("mov.f32", {FloatLiteral(0)});
      for (size_t i = 0; i < parts.size(); ++i) {
        w_.Do("fma.rn.f32", {all.first, counts[i], parts[i].first, all.first});
      }
      CombineLanes(all.first, "add.f32");
      w_.Do("mul.f32", {all.first, all.first, FloatLiteral(1 / static_cast<float>(rows_.size))});
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      w_.Do("add.f32", {all.second, all.second, parts[i].second});
      if (!is_centered) continue;
      const std::string apart = w_.Float("sub.f32", {parts[i].first, all.first});
      const std::string square = w_.Float("mul.f32", {apart, apart});
      w_.Do("fma.rn.f32", {all.second, counts[i], square, all.second});
    }
    CombineLanes(all.second, "add.f32");
    return all;
  }

  template <typename Visit>
  static void ForEach(const std::vector<Piece>& pieces, const Visit& visit) {
    for (const Piece& piece : pieces) {
      for (const std::string& value : piece.values) visit(piece, value);
    }
  }

  std::string SumOf(const std::vector<Piece>& pieces) {
    const std::string sum = w_.Float("mov.f32", {FloatLiteral(0)});
    ForEach(pieces, [&](const Piece&, const std::string& value) {
      w_.Do("add.f32", {sum, sum, value});
    });
    return sum;
  }

  // Of all lanes of a warp that have the same row, in all of them.
  void CombineLanes(const std::string& value, const char* combine) {
    for (int lane = kWarp / 2; lane >= rows_of_warp(); lane /= 2) {
      const std::string other = w_.Float("shfl.sync.bfly.b32", {value, Number(lane), "31", "-1"});
      w_.Do(combine, {value, value, other});
    }
  }

  // Of all instances of a row, or of a part, in all of them. What warps have goes through shared memory, each time another part of it.
  void Combine(const std::string& value, const char* combine, int time) {
    CombineLanes(value, combine);
    if (warps_ == 1) return;
    std::string shared = w_.Word("mov.u32", {kSharedName});
    if (is_turned()) {
      shared = w_.Word("mad.lo.u32", {of_warp_, Number(kElementBytes), shared});
    }
    const int64_t bytes_of_warp = int64_t{rows_of_warp()} * kElementBytes;
    const std::string own = w_.Word("mad.lo.u32", {warp_, Number(bytes_of_warp), shared});
    const int64_t begin = time * warps_ * bytes_of_warp;
    const std::string lane = w_.Word("and.b32", {instance_, "31"});
    const std::string is_first =
        w_.Make(Kind::kPredicate, "setp.lt.u32", {lane, Number(rows_of_warp())});
    w_.DoIf(is_first, "st.shared.f32", {At(own, begin), value});
    w_.Do("bar.sync", {"0"});
    for (int warp = 0; warp < warps_; ++warp) {
      const std::string other =
          w_.Float("ld.shared.f32", {At(shared, begin + warp * bytes_of_warp)});
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
  const int64_t parts_;
  const int64_t part_size_;
  const Launch launch_;
  PtxWriter w_;
  EntryText text_;
  std::string instance_, group_;
  std::string row_;
  std::string warp_, place_;  // Of the group; of the instance among those of its row.
  std::string first_;         // Element of the row.
  // Where rows lie side by side: a predicate, empty where there is always one, and the row's number in the warp.
  std::string has_row_, of_warp_;
  // Where rows have parts: its number, its first place, and whether it is the row's last one.
  std::string part_, begin_, is_last_;
};

}  // namespace

DeviceKernel RowKernel(const NormalizedRows& rows, size_t inputs, const RowDivision& division,
                       const std::string& entry) {
  DeviceKernel kernel;
  if (division.parts == 1) {
    Template(rows, inputs, division, Launch::kWhole, entry).AddTo(kernel);
    return kernel;
  }
  const int64_t bytes = rows.rows * division.parts * kMomentsBytes;
  kernel.scratch_bytes = {Parts(bytes, kAlignment) * kAlignment};
  Template(rows, inputs, division, Launch::kMoments, entry).AddTo(kernel);
  Template(rows, inputs, division, Launch::kApply, absl::StrCat(entry, "_rows")).AddTo(kernel);
  return kernel;
}

}  // namespace slipway
