#include "core/codegen/tensor_cores/result_text.h"

#include <cstdint>
#include <map>
#include <utility>

#include "core/codegen/tensor_cores/element_text.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

// A lane has two neighbours in each of rows g and g + 8, of each mma.
constexpr int kPair = 2;

class ResultWriter {
 public:
  ResultWriter(KernelFrame& frame, int result, const Registers& sums)
      : frame_(frame), product_(frame.product), w_(frame.w), sums_(sums) {
    result_.input = result;
    result_.columns = 1;
    if (product_.batch > 1) result_.batch = {{product_.batch}, {product_.m * product_.n}};
    if (product_.m > 1) result_.rows = {{product_.m}, {product_.n}};
  }

  void Write() {
    const std::string of_row = w_.Word("shr.u32", {frame_.lane, "2"});
    const std::string of_column =
        w_.Word("mul.lo.u32", {w_.Word("and.b32", {frame_.lane, "3"}), Number(kPair)});
    std::string row =
        w_.Word("add.u32", {w_.Word("add.u32", {frame_.first_row, frame_.warp_row}), of_row});
    column_ = w_.Word("add.u32",
                      {w_.Word("add.u32", {frame_.first_column, frame_.warp_column}), of_column});
    columns_left_ = w_.Word("sub.s32", {Number(product_.n), column_});
    FindAlignment();
    LoadWhatRowsShare();
    for (int down = 0; down < frame_.tile.warp_rows(); down += kMmaRows / 2) {
      if (down > 0) row = w_.Word("add.u32", {row, Number(kMmaRows / 2)});
      WriteRow(down, row);
    }
  }

 private:
  struct Pair {
    std::string
        as_one;  // A predicate: both are there, and move at once. Empty where they never do.
    std::vector<std::string> by_itself;  // The same of each, by itself.
  };

  static bool IsTheSameInAllRows(const ProductTensor& tensor) {
    return tensor.rows.extents.empty();
  }
  static bool IsTheSameInAllColumns(const ProductTensor& tensor) { return tensor.columns == 0; }

  // Pairs are whole where rows begin at even elements, as far as is known here, and all tensors at such an address, as running finds out.
  void FindAlignment() {
    const auto is_even = [](const ProductTensor& tensor) {
      if (tensor.columns == 0) return true;
      bool is = tensor.columns == 1;
      for (const Indexing* index : {&tensor.rows, &tensor.batch}) {
        for (const int64_t stride : index->strides) is = is && stride % kPair == 0;
      }
      return is;
    };
    if (product_.n % kPair != 0 || !is_even(result_)) return;
    std::string all = frame_.Base(result_.input);
    for (const ProductTensor& tensor : product_.tensors) {
      if (!is_even(tensor)) return;
      if (IsTheSameInAllColumns(tensor)) continue;
      all = w_.Make(Kind::kAddress, "or.b64", {all, frame_.Base(tensor.input)});
    }
    const std::string low =
        w_.Make(Kind::kAddress, "and.b64", {all, Number(kPair * kElementBytes - 1)});
    is_aligned_ = w_.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
    is_not_aligned_ = w_.Make(Kind::kPredicate, "setp.ne.u64", {low, "0"});
  }

  // A predicate for each element of the pair, and one for both, where `has_row` holds; that may be empty.
  Pair IsThere(int right, const std::string& has_row) {
    Pair pair;
    const auto both = [&](int column, const std::string& other) {
      if (other.empty()) {
        return w_.Make(Kind::kPredicate, "setp.gt.s32", {columns_left_, Number(column)});
      }
      return w_.Make(Kind::kPredicate, "setp.gt.and.s32", {columns_left_, Number(column), other});
    };
    if (is_aligned_.empty()) {
      for (int i = 0; i < kPair; ++i) pair.by_itself.push_back(both(right + i, has_row));
      return pair;
    }
    // Their number is even: where the first one is, the second one is, too.
    const std::string is_there = both(right, has_row);
    pair.as_one = w_.Register(Kind::kPredicate);
    w_.Do("and.pred", {pair.as_one, is_there, is_aligned_});
    const std::string alone = w_.Register(Kind::kPredicate);
    w_.Do("and.pred", {alone, is_there, is_not_aligned_});
    pair.by_itself = {alone, alone};
    return pair;
  }

  Registers LoadPair(const ProductTensor& tensor, const std::string& address, int right,
                     const Pair& pair) {
    Registers elements;
    for (int i = 0; i < kPair; ++i) elements.push_back(w_.Float("mov.f32", {FloatLiteral(0)}));
    const int64_t offset = tensor.columns * right * kElementBytes;
    if (!pair.as_one.empty()) {
      w_.DoIf(pair.as_one, "ld.global.nc.v2.f32", {InBraces(elements), At(address, offset)});
    }
    for (int i = 0; i < kPair; ++i) {
      w_.DoIf(pair.by_itself[static_cast<size_t>(i)], "ld.global.nc.f32",
              {elements[static_cast<size_t>(i)],
               At(address, offset + tensor.columns * i * kElementBytes)});
    }
    return elements;
  }

  // Of a tensor that is the same in all rows: once for all of them.
  void LoadWhatRowsShare() {
    for (size_t t = 0; t < product_.tensors.size(); ++t) {
      const ProductTensor& tensor = product_.tensors[t];
      if (!IsTheSameInAllRows(tensor)) continue;
      const std::string address = Address(tensor, "0");
      if (IsTheSameInAllColumns(tensor)) {
        of_columns_[t] = {w_.Float("ld.global.nc.f32", {At(address)})};
        continue;
      }
      for (int right = 0; right < frame_.tile.warp_columns(); right += kMmaColumns) {
        const Registers pair = LoadPair(tensor, address, right, IsThere(right, ""));
        of_columns_[t].insert(of_columns_[t].end(), pair.begin(), pair.end());
      }
    }
  }

  void WriteRow(int down, const std::string& row) {
    const std::string rows_left = w_.Word("sub.s32", {Number(product_.m), row});
    const std::string has_row = w_.Make(Kind::kPredicate, "setp.gt.s32", {rows_left, "0"});
    Registers addresses(product_.tensors.size());
    Registers of_row(product_.tensors.size());
    for (size_t t = 0; t < product_.tensors.size(); ++t) {
      const ProductTensor& tensor = product_.tensors[t];
      if (IsTheSameInAllRows(tensor)) continue;
      addresses[t] = Address(tensor, row);
      if (!IsTheSameInAllColumns(tensor)) continue;
      of_row[t] = w_.Float("mov.f32", {FloatLiteral(0)});
      w_.DoIf(has_row, "ld.global.nc.f32", {of_row[t], At(addresses[t])});
    }
    const std::string to = Address(result_, row);
    // Of each mma: first its upper, then its lower row.
    size_t sum = static_cast<size_t>(
        down / kMmaRows * frame_.tile.warp_columns() / kMmaColumns * 4 + down % kMmaRows / 8 * 2);
    for (int right = 0; right < frame_.tile.warp_columns(); right += kMmaColumns, sum += 4) {
      const Pair pair = IsThere(right, has_row);
      std::vector<Registers> tensors(kPair);
      for (size_t t = 0; t < product_.tensors.size(); ++t) {
        const Registers elements = ElementsOf(t, addresses[t], of_row[t], right, pair);
        for (size_t i = 0; i < kPair; ++i) tensors[i].push_back(elements[i]);
      }
      Registers values;
      for (size_t i = 0; i < kPair; ++i) {
        values.push_back(
            WriteSteps(product_.steps, product_.result, sums_[sum + i], tensors[i], w_));
      }
      const int64_t offset = int64_t{right} * kElementBytes;
      if (!pair.as_one.empty()) {
        w_.DoIf(pair.as_one, "st.global.v2.f32", {At(to, offset), InBraces(values)});
      }
      for (size_t i = 0; i < kPair; ++i) {
        w_.DoIf(pair.by_itself[i], "st.global.f32",
                {At(to, offset + static_cast<int64_t>(i) * kElementBytes), values[i]});
      }
    }
  }

  Registers ElementsOf(size_t t, const std::string& address, const std::string& of_row, int right,
                       const Pair& pair) {
    const ProductTensor& tensor = product_.tensors[t];
    if (!of_row.empty()) return {of_row, of_row};
    if (!IsTheSameInAllRows(tensor)) return LoadPair(tensor, address, right, pair);
    const Registers& all = of_columns_[t];
    if (IsTheSameInAllColumns(tensor)) return {all[0], all[0]};
    const auto first = static_cast<size_t>(right / kMmaColumns * kPair);
    return {all[first], all[first + 1]};
  }

  std::string Address(const ProductTensor& tensor, const std::string& row) {
    std::string element = w_.Word("mul.lo.u32", {column_, Number(tensor.columns)});
    element = frame_.Plus(element, tensor.rows, row);
    element = frame_.Plus(element, tensor.batch, frame_.batch);
    return frame_.Address(tensor.input, element);
  }

  KernelFrame& frame_;
  const MatrixProduct& product_;
  PtxWriter& w_;
  const Registers& sums_;
  ProductTensor result_;
  std::string column_, columns_left_;
  std::string is_aligned_, is_not_aligned_;  // Predicates; empty where pairs never are.
  std::map<size_t, Registers>
      of_columns_;  // By tensor: its elements at the instance's columns, or its only one.
};

}  // namespace

void WriteSummation(KernelFrame& frame, int inputs, int parts, int instances) {
  const MatrixProduct& product = frame.product;
  PtxWriter& w = frame.w;
  const int64_t elements = product.batch * product.m * product.n;
  const std::string group = w.Word("mov.u32", {"%ctaid.x"});
  const std::string instance = w.Word("mov.u32", {"%tid.x"});
  const std::string element = w.Word("mad.lo.u32", {group, Number(instances), instance});
  const std::string is_beyond =
      w.Make(Kind::kPredicate, "setp.ge.u32", {element, Number(elements)});
  const std::string end = w.NewLabel();
  w.DoIf(is_beyond, "bra", {end});
  const std::string column = w.Word("rem.u32", {element, Number(product.n)});
  const std::string rows = w.Word("div.u32", {element, Number(product.n)});
  const std::string row = w.Word("rem.u32", {rows, Number(product.m)});
  frame.batch = w.Word("div.u32", {rows, Number(product.m)});
  const std::string of_parts = frame.Address(inputs, element);
  std::string sum;
  for (int part = 0; part < parts; ++part) {
    const std::string one =
        w.Float("ld.global.nc.f32", {At(of_parts, part * elements * kElementBytes)});
    sum = part == 0 ? one : w.Float("add.f32", {sum, one});
  }
  Registers tensors;
  for (const ProductTensor& tensor : product.tensors) {
    std::string at = w.Word("mul.lo.u32", {column, Number(tensor.columns)});
    at = frame.Plus(at, tensor.rows, row);
    at = frame.Plus(at, tensor.batch, frame.batch);
    tensors.push_back(w.Float("ld.global.nc.f32", {At(frame.Address(tensor.input, at))}));
  }
  const std::string value = WriteSteps(product.steps, product.result, sum, tensors, w);
  w.Do("st.global.f32", {At(frame.Address(inputs + 1, element)), value});
  w.Place(end);
}

void WriteResult(KernelFrame& frame, int result, const Registers& sums) {
  ResultWriter(frame, result, sums).Write();
}

}  // namespace slipway
