#include "core/codegen/tensor_cores/score_mask.h"

#include "core/operators/attention.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

}  // namespace

void ScoreMask::Start(const MaskPlace& place, int rows) {
  PtxWriter& w = text_.w;
  const auto& strides = mask().tensor.strides;
  std::string element = w.Word("mul.lo.u32", {place.batch, Number(strides[kBatch])});
  element = w.Word("mad.lo.u32", {place.head, Number(strides[kHead]), element});
  element = w.Word("mad.lo.u32", {place.first_key, Number(strides[kItem]), element});
  const int64_t query_stride = strides[kPosition];
  for (int row = 0; row < (query_stride == 0 ? 1 : rows); ++row) {
    // A query that there is not has the last one's.
    std::string query = w.Word("add.u32", {place.first_query, Number(FirstOfRow(row))});
    query = w.Word("min.u32", {query, Number(attention_.queries - 1)});
    addresses_.push_back(text_.Address(
        parameter_, w.Word("mad.lo.u32", {query, Number(query_stride), element}), bytes()));
  }
}

void ScoreMask::GoOn() {
  const int64_t step = tile_keys_ * mask().tensor.strides[kItem] * bytes();
  for (const std::string& address : addresses_) {
    text_.w.Do("add.s64", {address, address, Number(step)});
  }
}

std::string ScoreMask::Load(const std::string& address, int64_t offset,
                            const std::string& is_there) {
  PtxWriter& w = text_.w;
  const char* const load = mask().is_condition ? "ld.global.nc.u8" : "ld.global.nc.f32";
  const Kind kind = mask().is_condition ? Kind::kWord : Kind::kFloat;
  if (is_there.empty()) return w.Make(kind, load, {At(address, offset)});
  const std::string element = w.Make(kind, "mov.b32", {"0"});
  w.DoIf(is_there, load, {element, At(address, offset)});
  return element;
}

void ScoreMask::ApplyTo(const std::string& score, const std::string& element) {
  PtxWriter& w = text_.w;
  if (!mask().is_condition) return w.Do("add.f32", {score, score, element});
  const std::string holds = w.Make(Kind::kPredicate, "setp.ne.u32", {element, "0"});
  w.Do("selp.f32", {score, score, FloatLiteral(attention_.filling), holds});
}

void ScoreMask::Apply(const ScoreRows& scores, const std::string& keys_left) {
  const int64_t step = mask().tensor.strides[kItem] * bytes();
  for (int block = 0; block < scores.blocks(); ++block) {
    for (int i = 0; i < ScoreRows::kPair; ++i) {
      const int64_t key = int64_t{block} * kMmaColumns + i;
      std::string is_there;
      if (!keys_left.empty()) {
        is_there = text_.w.Make(Kind::kPredicate, "setp.gt.s32", {keys_left, Number(key)});
      }
      std::string element;
      for (int row = 0; row < scores.rows(); ++row) {
        if (static_cast<size_t>(row) < addresses_.size()) {
          element = Load(addresses_[static_cast<size_t>(row)], key * step, is_there);
        }
        ApplyTo(scores.at(row, block, i), element);
      }
    }
  }
}

}  // namespace slipway
