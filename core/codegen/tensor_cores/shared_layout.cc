#include "core/codegen/tensor_cores/shared_layout.h"

namespace slipway {

std::string SharedLayout::Address(const std::string& row, std::string byte, PtxWriter& w) const {
  if (!is_padded) {
    // Of 8 rows of 64 bytes two lie side by side at all banks.
    const bool is_short = pitch() < kColumnBytes;
    const std::string bits = w.Word("and.b32", {row, is_short ? "6" : "7"});
    byte = w.Word("xor.b32", {byte, w.Word("shl.b32", {bits, is_short ? "3" : "4"})});
  }
  const std::string begin = w.Word("mov.u32", {memory});
  const std::string at_row = w.Word("mad.lo.u32", {row, Number(pitch()), begin});
  const std::string at = w.Word("add.u32", {at_row, byte});
  return offset == 0 ? at : w.Word("add.u32", {at, Number(offset)});
}

// Lanes 0 to 7 have the addresses of the first matrix of 8 rows of 16 bytes, and so on. In a left factor the second one is 8 places across the depth further, the
// third one 16 bytes of the depth; in a right one the other way round.
std::string SharedLayout::FragmentAddress(const std::string& lane, const std::string& across,
                                          bool is_left, const NumberForm& form,
                                          PtxWriter& w) const {
  const std::string eighth = w.Word("and.b32", {lane, "7"});
  const std::string matrix = w.Word("shr.u32", {lane, "3"});
  const std::string even = w.Word("and.b32", {matrix, "1"});
  const std::string high = w.Word("shr.u32", {matrix, "1"});
  const std::string& of_depth = is_left ? high : even;
  const std::string first = w.Word("mad.lo.u32", {is_left ? even : high, "8", across});
  if (depth_is_inner) {
    const std::string byte = w.Word("mul.lo.u32", {of_depth, Number(kVectorBytes)});
    return Address(w.Word("add.u32", {first, eighth}), byte, w);
  }
  const std::string byte = w.Word("mul.lo.u32", {first, Number(form.bytes)});
  const int numbers = kVectorBytes / form.bytes;
  return Address(w.Word("mad.lo.u32", {of_depth, Number(numbers), eighth}), byte, w);
}

std::vector<std::string> SharedLayout::Fragment(const std::string& at, int64_t from,
                                                PtxWriter& w) const {
  std::vector<std::string> fragment = w.Registers(PtxWriter::Kind::kWord, 4);
  w.Do(absl::StrCat("ldmatrix.sync.aligned.m8n8.x4.", depth_is_inner ? "" : "trans.", "shared.b16"),
       {InBraces(fragment), At(at, from)});
  return fragment;
}

}  // namespace slipway
