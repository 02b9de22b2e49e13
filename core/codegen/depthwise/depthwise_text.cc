#include "core/codegen/depthwise/depthwise_text.h"

#include <map>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/codegen/tensor_cores/element_text.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/ptx_writer.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

int64_t FloorToVector(int64_t column) {
  return (column >= 0 ? column : column - (kVector - 1)) / kVector * kVector;
}

class Template {
 public:
  Template(const MatrixProduct& product, size_t inputs, const DepthwiseTile& tile,
           const std::string& entry)
      : product_(product),
        window_(*product.window),
        inputs_(inputs),
        tile_(tile),
        text_{entry, w_} {
    result_.input = static_cast<int>(inputs);
    result_.columns = 1;
    if (product_.batch > 1) result_.batch = {{product_.batch}, {product_.n}};
  }

  DeviceKernel Write() {
    const std::string end = w_.NewLabel();
    FindPlace(end);
    LoadWeights();
    if (can_have_vectors()) {
      const std::string elements = w_.NewLabel();
      const std::string is_aligned = IsAligned();
      w_.DoIf("!" + is_aligned, "bra", {elements});
      WriteBody(/*by_vectors=*/true);
      w_.Do("bra", {end});
      w_.Place(elements);
    }
    WriteBody(/*by_vectors=*/false);
    w_.Place(end);
    return text_.Kernel(inputs_, Parts(instances(), kDepthwiseThreads), kDepthwiseThreads);
  }

 private:
  const SlidingWindow::Dimension& height() const { return window_.height; }
  const SlidingWindow::Dimension& width() const { return window_.width; }
  int64_t down() const { return Parts(height().output, tile_.rows); }
  int64_t across() const { return Parts(width().output, tile_.columns); }
  int64_t instances() const { return product_.batch * down() * across(); }
  // From the row of its first window's first element on.
  int64_t seen_rows() const {
    return (tile_.rows - 1) * height().stride + (height().kernel - 1) * height().dilation + 1;
  }

  // As far as is known here: a tile's columns begin at multiples of a vector in rows of whole ones.
  bool can_have_vectors() const {
    const auto is_whole = [](const ProductTensor& tensor) {
      if (tensor.columns == 0) return true;
      return tensor.columns == 1 && absl::c_all_of(tensor.batch.strides, [](int64_t stride) {
               return stride % kVector == 0;
             });
    };
    return tile_.columns == kVector && width().input % kVector == 0 &&
           width().output % kVector == 0 && absl::c_all_of(product_.tensors, is_whole);
  }

  void FindPlace(const std::string& end) {
    const std::string group = w_.Word("mov.u32", {"%ctaid.x"});
    const std::string instance =
        w_.Word("mad.lo.u32", {group, Number(kDepthwiseThreads), w_.Word("mov.u32", {"%tid.x"})});
    if (instances() % kDepthwiseThreads != 0) {
      w_.DoIf(w_.Make(Kind::kPredicate, "setp.ge.u32", {instance, Number(instances())}), "bra",
              {end});
    }
    const std::string across_index = w_.Word("rem.u32", {instance, Number(across())});
    const std::string rest = w_.Word("div.u32", {instance, Number(across())});
    const std::string down_index = w_.Word("rem.u32", {rest, Number(down())});
    batch_ = w_.Word("div.u32", {rest, Number(down())});
    column_ = w_.Word("mul.lo.u32", {across_index, Number(tile_.columns)});
    row_ = w_.Word("mul.lo.u32", {down_index, Number(tile_.rows)});
    // Of the planes that windows slide over; the column is where it would be without padding.
    seen_column_ = w_.Word("mul.lo.u32", {column_, Number(width().stride)});
    seen_row_ = w_.Word("mul.lo.u32", {row_, Number(height().stride)});
    if (height().pad != 0) seen_row_ = w_.Word("sub.s32", {seen_row_, Number(height().pad)});
    const std::string plane = text_.Address(
        product_.b.input, text_.Plus(w_.Word("mov.u32", {"0"}), product_.b.batch, batch_));
    const std::string within =
        w_.Word("mad.lo.s32", {seen_row_, Number(width().input), seen_column_});
    seen_ = w_.Make(Kind::kAddress, "mad.wide.s32", {within, Number(kElementBytes), plane});
    place_ = w_.Word("mad.lo.u32", {row_, Number(width().output), column_});
  }

  void LoadWeights() {
    const std::string address = text_.Address(
        product_.a.input, text_.Plus(w_.Word("mov.u32", {"0"}), product_.a.batch, batch_));
    for (int64_t i = 0; i < product_.k; ++i) {
      weights_.push_back(w_.Float("ld.global.nc.f32", {At(address, i * kElementBytes)}));
    }
  }

  // A predicate: whether all tensors that are read and written by vectors begin at such addresses.
  std::string IsAligned() {
    std::vector<int> parameters = {product_.b.input, result_.input};
    for (const ProductTensor& tensor : product_.tensors) {
      if (tensor.columns != 0) parameters.push_back(tensor.input);
    }
    return text_.AreAligned(parameters);
  }

  // Columns that windows see, from seen_column_ on: the first of each piece, and how many it has.
  std::map<int64_t, int> Pieces(bool by_vectors) const {
    std::set<int64_t> columns;
    for (int64_t output = 0; output < tile_.columns; ++output) {
      for (int64_t i = 0; i < width().kernel; ++i) columns.insert(ColumnOf(output, i));
    }
    std::map<int64_t, int> needed;  // By vector.
    for (const int64_t column : columns) ++needed[FloorToVector(column)];
    std::map<int64_t, int> pieces;
    for (const int64_t column : columns) {
      const int64_t vector = FloorToVector(column);
      if (by_vectors && needed[vector] > 1) {
        pieces[vector] = kVector;
      } else {
        pieces[column] = 1;
      }
    }
    return pieces;
  }
  int64_t ColumnOf(int64_t output, int64_t of_window) const {
    return output * width().stride + of_window * width().dilation - width().pad;
  }

  void WriteBody(bool by_vectors) {
    Registers sums;
    for (int i = 0; i < tile_.rows * tile_.columns; ++i) {
      sums.push_back(w_.Float("mov.f32", {FloatLiteral(0)}));
    }
    const std::map<int64_t, int> pieces = Pieces(by_vectors);
    std::map<int64_t, std::string> columns;  // Of each piece.
    for (const auto& [first, count] : pieces) {
      columns[first] = w_.Word("add.s32", {seen_column_, Number(first)});
    }
    for (int64_t row = 0; row < seen_rows(); ++row) {
      if (!IsSeen(row)) continue;
      const std::string number = w_.Word("add.s32", {seen_row_, Number(row)});
      const std::string has_row =
          w_.Make(Kind::kPredicate, "setp.lt.u32", {number, Number(height().input)});
      std::map<int64_t, std::string> values;
      for (const auto& [first, count] : pieces) {
        // Below 0 is beyond, too.
        const std::string is_there = w_.Make(Kind::kPredicate, "setp.lt.and.u32",
                                             {columns[first], Number(width().input), has_row});
        Registers loaded;
        for (int i = 0; i < count; ++i) {
          loaded.push_back(w_.Float("mov.f32", {FloatLiteral(0)}));
          values[first + i] = loaded.back();
        }
        w_.DoIf(is_there, count > 1 ? "ld.global.nc.v4.f32" : "ld.global.nc.f32",
                {count > 1 ? InBraces(loaded) : loaded[0],
                 At(seen_, (row * width().input + first) * kElementBytes)});
      }
      Multiply(row, values, sums);
    }
    WriteResult(sums, by_vectors);
  }

  // Calls visit(row of the tile, row of the window) for those that meet in this row.
  template <typename Visit>
  void ForEachMeeting(int64_t row, const Visit& visit) const {
    for (int output = 0; output < tile_.rows; ++output) {
      const int64_t behind = row - output * height().stride;
      if (behind < 0 || behind % height().dilation != 0) continue;
      if (behind / height().dilation >= height().kernel) continue;
      visit(output, behind / height().dilation);
    }
  }
  bool IsSeen(int64_t row) const {
    bool is_seen = false;
    ForEachMeeting(row, [&](int, int64_t) { is_seen = true; });
    return is_seen;
  }

  void Multiply(int64_t row, const std::map<int64_t, std::string>& values, const Registers& sums) {
    ForEachMeeting(row, [&](int output, int64_t of_window) {
      for (int64_t i = 0; i < width().kernel; ++i) {
        for (int column = 0; column < tile_.columns; ++column) {
          const std::string& sum = sums[static_cast<size_t>(output * tile_.columns + column)];
          const std::string& weight = weights_[static_cast<size_t>(of_window * width().kernel + i)];
          w_.Do("fma.rn.f32", {sum, values.at(ColumnOf(column, i)), weight, sum});
        }
      }
    });
  }

  // Where the tile's first element lies in a tensor over the result's planes.
  std::string AddressOf(const ProductTensor& tensor) {
    const std::string first = tensor.columns == 0 ? w_.Word("mov.u32", {"0"}) : place_;
    return text_.Address(tensor.input, text_.Plus(first, tensor.batch, batch_));
  }

  void WriteResult(const Registers& sums, bool by_vectors) {
    std::vector<std::string> addresses;
    std::map<size_t, std::string> shared;  // What is the same for the plane.
    for (size_t i = 0; i < product_.tensors.size(); ++i) {
      addresses.push_back(AddressOf(product_.tensors[i]));
      if (product_.tensors[i].columns == 0) {
        shared[i] = w_.Float("ld.global.nc.f32", {At(addresses[i])});
      }
    }
    const std::string address = AddressOf(result_);
    const int width_of_piece = by_vectors ? kVector : 1;
    for (int row = 0; row < tile_.rows; ++row) {
      const std::string number = w_.Word("add.u32", {row_, Number(row)});
      const std::string has_row =
          w_.Make(Kind::kPredicate, "setp.lt.u32", {number, Number(height().output)});
      for (int column = 0; column < tile_.columns; column += width_of_piece) {
        std::string is_there = has_row;
        if (!by_vectors) {
          is_there = w_.Make(
              Kind::kPredicate, "setp.lt.and.u32",
              {w_.Word("add.u32", {column_, Number(column)}), Number(width().output), has_row});
        }
        const int64_t offset = (row * width().output + column) * kElementBytes;
        std::vector<Registers> read;  // By tensor.
        for (size_t i = 0; i < product_.tensors.size(); ++i) {
          if (shared.count(i) > 0) {
            read.emplace_back(static_cast<size_t>(width_of_piece), shared[i]);
            continue;
          }
          read.emplace_back();
          for (int e = 0; e < width_of_piece; ++e) {
            read[i].push_back(w_.Float("mov.f32", {FloatLiteral(0)}));
          }
          w_.DoIf(is_there, by_vectors ? "ld.global.nc.v4.f32" : "ld.global.nc.f32",
                  {by_vectors ? InBraces(read[i]) : read[i][0],
                   At(addresses[i], offset * product_.tensors[i].columns)});
        }
        Registers values;
        for (int e = 0; e < width_of_piece; ++e) {
          Registers tensors;
          for (const Registers& of_tensor : read) {
            tensors.push_back(of_tensor[static_cast<size_t>(e)]);
          }
          values.push_back(WriteSteps(product_.steps, product_.result,
                                      sums[static_cast<size_t>(row * tile_.columns + column + e)],
                                      tensors, w_));
        }
        w_.DoIf(is_there, by_vectors ? "st.global.v4.f32" : "st.global.f32",
                {At(address, offset), by_vectors ? InBraces(values) : values[0]});
      }
    }
  }

  const MatrixProduct& product_;
  const SlidingWindow& window_;
  const size_t inputs_;
  const DepthwiseTile tile_;
  PtxWriter w_;
  EntryText text_;
  ProductTensor result_;

  std::string batch_;                   // A plane.
  std::string row_, column_, place_;    // The tile's first element, in the result's plane.
  std::string seen_row_, seen_column_;  // The same of what its windows see,
  std::string seen_;                    // and where that lies.
  Registers weights_;
};

}  // namespace

DeviceKernel DepthwiseKernel(const MatrixProduct& product, size_t inputs, const DepthwiseTile& tile,
                             const std::string& entry) {
  return Template(product, inputs, tile, entry).Write();
}

}  // namespace slipway
