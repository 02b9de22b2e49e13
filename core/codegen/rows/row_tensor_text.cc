#include "core/codegen/rows/row_tensor_text.h"

#include "absl/algorithm/container.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

bool LiesTogether(const RowTensor& tensor, int64_t row_size) {
  return tensor.places.extents == std::vector<int64_t>{row_size} &&
         tensor.places.strides == std::vector<int64_t>{1};
}

// So many neighbours have one element.
bool Repeats(const RowTensor& tensor, int count) {
  return tensor.places.strides.back() == 0 && tensor.places.extents.back() % count == 0;
}

void DoWhere(PtxWriter& w, const std::string& predicate, const char* instruction,
             const Registers& operands) {
  if (predicate.empty()) {
    w.Do(instruction, operands);
  } else {
    w.DoIf(predicate, instruction, operands);
  }
}

// Of i8 and u8: four are a word, the first one its lowest byte.
Registers LoadBytes(PtxWriter& w, bool is_signed, const std::string& address, int64_t offset,
                    int count, const std::string& predicate) {
  const std::string word = w.Word("mov.b32", {"0"});
  const char* const one = is_signed ? "ld.global.nc.s8" : "ld.global.nc.u8";
  DoWhere(w, predicate, count > 1 ? "ld.global.nc.b32" : one, {word, At(address, offset)});
  Registers values;
  for (int i = 0; i < count; ++i) {
    const std::string byte =
        count == 1 ? word : w.Word(is_signed ? "bfe.s32" : "bfe.u32", {word, Number(8 * i), "8"});
    values.push_back(w.Float(is_signed ? "cvt.rn.f32.s32" : "cvt.rn.f32.u32", {byte}));
  }
  return values;
}

}  // namespace

Registers LoadNeighbours(PtxWriter& w, DataType dtype, const std::string& address, int64_t offset,
                         int count, const std::string& predicate, float otherwise) {
  if (dtype != DataType::kFloat32) {
    return LoadBytes(w, dtype == DataType::kInt8, address, offset, count, predicate);
  }
  Registers values;
  for (int i = 0; i < count; ++i) {
    values.push_back(w.Register(Kind::kFloat));
    if (!predicate.empty()) w.Do("mov.f32", {values.back(), FloatLiteral(otherwise)});
  }
  DoWhere(w, predicate, count > 1 ? "ld.global.nc.v4.f32" : "ld.global.nc.f32",
          {count > 1 ? InBraces(values) : values[0], At(address, offset)});
  return values;
}

void StoreNeighbours(PtxWriter& w, DataType dtype, const Registers& values,
                     const std::string& address, int64_t offset, const std::string& predicate) {
  const std::string to = At(address, offset);
  const bool are_several = values.size() > 1;
  if (dtype == DataType::kFloat32) {
    return DoWhere(w, predicate, are_several ? "st.global.v4.f32" : "st.global.f32",
                   {to, are_several ? InBraces(values) : values[0]});
  }
  std::string word = w.Word("cvt.rni.s32.f32", {values[0]});
  if (!are_several) return DoWhere(w, predicate, "st.global.u8", {to, word});
  word = w.Word("and.b32", {word, "255"});
  for (size_t i = 1; i < values.size(); ++i) {
    const std::string next = w.Word("cvt.rni.s32.f32", {values[i]});
    word = w.Word("bfi.b32", {next, word, Number(8 * static_cast<int64_t>(i)), "8"});
  }
  DoWhere(w, predicate, "st.global.b32", {to, word});
}

int RowTensorReader::bytes() const { return static_cast<int>(ByteSize(tensor_.dtype)); }

RowTensorReader::RowTensorReader(EntryText& text, const RowTensor& tensor, int64_t row_size,
                                 const std::string& row, const std::string& place)
    : text_(text), tensor_(tensor), row_size_(row_size), place_(place) {
  of_row_ = "0";
  if (!tensor.rows.extents.empty()) {
    of_row_ = text.Plus(text.w.Word("mov.u32", {"0"}), tensor.rows, row);
  }
  if (tensor.places.extents.empty()) {
    only_ = LoadNeighbours(text.w, tensor.dtype, text.Address(tensor.input, of_row_, bytes()), 0, 1,
                           "", 0)[0];
  } else if (LiesTogether(tensor, row_size)) {
    const std::string element = of_row_ == "0" ? place : text.w.Word("add.u32", {of_row_, place});
    first_ = text.Address(tensor.input, element, bytes());
  }
}

bool RowTensorReader::HasVectors(const RowTensor& tensor, int64_t row_size, int count) {
  if (tensor.places.extents.empty()) return false;
  const auto is_whole = [count](int64_t number) { return number % count == 0; };
  const std::vector<int64_t>& strides = tensor.places.strides;
  const bool lies_so =
      LiesTogether(tensor, row_size) ||
      (strides.back() == 1 && is_whole(tensor.places.extents.back()) &&
       absl::c_all_of(absl::MakeConstSpan(strides).first(strides.size() - 1), is_whole));
  return lies_so && absl::c_all_of(tensor.rows.strides, is_whole);
}

Registers RowTensorReader::Load(int64_t begin, int count, bool aligned,
                                const std::string& predicate) {
  if (!only_.empty()) return Registers(static_cast<size_t>(count), only_);
  const bool is_vector = aligned && count > 1 && HasVectors(tensor_, row_size_, count);
  Registers values;
  if (!first_.empty()) {
    for (int i = 0; i < (is_vector ? 1 : count); ++i) {
      const Registers loaded = LoadNeighbours(text_.w, tensor_.dtype, first_, (begin + i) * bytes(),
                                              is_vector ? count : 1, predicate, 0);
      values.insert(values.end(), loaded.begin(), loaded.end());
    }
    return values;
  }
  const bool repeats = Repeats(tensor_, count);
  for (int i = 0; i < (is_vector || repeats ? 1 : count); ++i) {
    const std::string place = text_.w.Word("add.u32", {place_, Number(begin + i)});
    const std::string element =
        text_.Plus(text_.w.Word("mov.u32", {of_row_}), tensor_.places, place);
    const Registers loaded =
        LoadNeighbours(text_.w, tensor_.dtype, text_.Address(tensor_.input, element, bytes()), 0,
                       is_vector ? count : 1, predicate, 0);
    values.insert(values.end(), loaded.begin(), loaded.end());
  }
  if (repeats) values.resize(static_cast<size_t>(count), values[0]);
  return values;
}

}  // namespace slipway
