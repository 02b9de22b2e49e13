#include "core/codegen/tensor_cores/attention_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/attention_loader.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/online_softmax.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/codegen/tensor_cores/score_mask.h"
#include "core/codegen/tensor_cores/score_rows.h"
#include "core/operators/attention.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;
using Registers = std::vector<std::string>;

constexpr float kLog2OfE = 1.44269504F;

class Template {
 public:
  Template(const FusedAttention& attention, const std::vector<int>& operands, size_t inputs,
           const NumberForm& form, const AttentionTile& tile, const std::string& entry)
      : attention_(attention),
        operands_(operands),
        inputs_(inputs),
        tile_(tile),
        text_{{entry, w_}, form},
        keys_(MakeAttentionLoader(text_, tile,
                                  {.tensor = attention.k,
                                   .parameter = operands[kKeys],
                                   .keys = attention.keys,
                                   .size = attention.size})),
        values_(MakeAttentionLoader(text_, tile,
                                    {.tensor = attention.v,
                                     .parameter = operands[kValues],
                                     .keys = attention.keys,
                                     .size = attention.value_size,
                                     .keys_are_depth = true})) {
    values_->layout.offset = keys_->layout.bytes();
  }

  DeviceKernel Write() {
    w_.Share(kSharedName, keys_->layout.bytes() + values_->layout.bytes());
    FindPlace();
    LoadQueries();
    keys_->Start(instance_, batch_, key_head_);
    values_->Start(instance_, batch_, key_head_);
    key_fragments_ = keys_->layout.FragmentAddress(lane_, "0", /*is_left=*/false, form(), w_);
    value_fragments_ = values_->layout.FragmentAddress(lane_, "0", /*is_left=*/false, form(), w_);
    if (has_mask()) {
      mask_.emplace(text_, attention_, operands_[kMixed], tile_.keys);
      mask_->Start({batch_, head_, query_, pair_}, rows());
    }
    WriteLoop();
    WriteResult();
    return text_.Kernel(inputs_, query_tiles() * attention_.heads * attention_.batch,
                        tile_.instances());
  }

 private:
  const NumberForm& form() const { return text_.form; }
  bool has_mask() const { return attention_.mask.has_value(); }
  bool is_causal() const { return attention_.past_keys.has_value(); }
  // Keys that no query of a tile sees are not read.
  bool leaves_out() const { return is_causal() && !attention_.behind.has_value(); }
  int64_t query_tiles() const { return Parts(attention_.queries, tile_.queries); }
  // Of an instance.
  int rows() const { return tile_.warp_queries() / (kMmaRows / ScoreRows::kPair); }
  int pairs() const { return tile_.warp_queries() / kMmaRows; }
  // Whether no tile goes beyond the last key; or one does, of which no query sees anything.
  bool is_whole() const { return attention_.keys % tile_.keys == 0; }
  bool hides_what_is_no_key() const {
    return !is_whole() &&
           !(leaves_out() && attention_.queries + *attention_.past_keys <= attention_.keys);
  }

  // Groups that read the same keys follow each other; of causal ones those first that see the most, as the last groups of a launch find few others beside
  // them.
  void FindPlace() {
    instance_ = w_.Word("mov.u32", {"%tid.x"});
    const std::string group = w_.Word("mov.u32", {"%ctaid.x"});
    std::string query_tile = w_.Word("rem.u32", {group, Number(query_tiles())});
    if (leaves_out()) query_tile = w_.Word("sub.u32", {Number(query_tiles() - 1), query_tile});
    const std::string rest = w_.Word("div.u32", {group, Number(query_tiles())});
    head_ = w_.Word("rem.u32", {rest, Number(attention_.heads)});
    batch_ = w_.Word("div.u32", {rest, Number(attention_.heads)});
    key_head_ = w_.Word("div.u32", {head_, Number(attention_.heads / attention_.key_heads)});
    lane_ = w_.Word("and.b32", {instance_, "31"});
    const std::string warp = w_.Word("shr.u32", {instance_, "5"});
    group_query_ = w_.Word("mul.lo.u32", {query_tile, Number(tile_.queries)});
    warp_query_ = w_.Word("mad.lo.u32", {warp, Number(tile_.warp_queries()), group_query_});
    query_ = w_.Word("add.u32", {warp_query_, w_.Word("shr.u32", {lane_, "2"})});
    quarter_ = w_.Word("and.b32", {lane_, "3"});
    pair_ = w_.Word("mul.lo.u32", {quarter_, Number(ScoreRows::kPair)});
    for (int row = 0; row < rows(); ++row) {
      const int64_t before = std::max<int64_t>(attention_.queries - FirstOfRow(row), 0);
      has_query_.push_back(w_.Make(Kind::kPredicate, "setp.lt.u32", {query_, Number(before)}));
    }
  }

  // Where the instance's row 0 has the item of this register.
  std::string AddressOf(const AttentionTensor& tensor, int parameter, const std::string& item) {
    std::string element = w_.Word("mov.u32", {Number(tensor.first)});
    element = w_.Word("mad.lo.u32", {batch_, Number(tensor.strides[kBatch]), element});
    element = w_.Word("mad.lo.u32", {head_, Number(tensor.strides[kHead]), element});
    element = w_.Word("mad.lo.u32", {query_, Number(tensor.strides[kPosition]), element});
    element = w_.Word("mad.lo.u32", {item, Number(tensor.strides[kItem]), element});
    return text_.Address(parameter, element);
  }

  // Fragments of the left factor, straight from the device's memory, scaled and rounded: each is read once. Without a mask scores are logarithms to the base 2.
  void LoadQueries() {
    const int numbers = kElementBytes / form().bytes;  // Of a word.
    const int half = kMmaDepthBytes / 2 / form().bytes;
    const std::string item = w_.Word("mul.lo.u32", {quarter_, Number(numbers)});
    const std::string address = AddressOf(attention_.q, operands_[kQueries], item);
    const std::string scale =
        FloatLiteral(has_mask() ? attention_.scale : attention_.scale * kLog2OfE);
    queries_.resize(static_cast<size_t>(pairs()));
    for (int pair = 0; pair < pairs(); ++pair) {
      for (int step = 0; step < depth_steps(); ++step) {
        Registers words;
        for (int word = 0; word < 4; ++word) {
          const int row = 2 * pair + word % 2;
          Registers values;
          for (int i = 0; i < numbers; ++i) {
            const int64_t element =
                FirstOfRow(row) * attention_.q.strides[kPosition] +
                (2 * step * half + word / 2 * half + i) * attention_.q.strides[kItem];
            const std::string value = w_.Float("mov.f32", {FloatLiteral(0)});
            w_.DoIf(has_query_[static_cast<size_t>(row)], "ld.global.nc.f32",
                    {value, At(address, element * kElementBytes)});
            values.push_back(w_.Float("mul.f32", {value, scale}));
          }
          words.push_back(text_.Rounded(values)[0]);
        }
        queries_[static_cast<size_t>(pair)].push_back(InBraces(words));
      }
    }
  }
  int depth_steps() const {
    return static_cast<int>(attention_.size) * form().bytes / kMmaDepthBytes;
  }

  void MultiplyByKeys(const ScoreRows& scores) {
    const SharedLayout& layout = keys_->layout;
    const std::string zero = w_.Float("mov.f32", {FloatLiteral(0)});
    for (int step = 0; step < depth_steps(); ++step) {
      const int64_t depth = layout.DepthBytes(step * kMmaDepthBytes, form());
      for (int block = 0; block < scores.blocks(); block += 2) {
        const Registers right = layout.Fragment(
            key_fragments_, layout.AcrossBytes(block * kMmaColumns, form()) + depth, w_);
        for (int pair = 0; pair < pairs(); ++pair) {
          for (int i = 0; i < 2; ++i) {
            const std::string sums = InBraces(scores.Sums(pair, block + i));
            w_.Do(form().multiply,
                  {sums, queries_[static_cast<size_t>(pair)][static_cast<size_t>(step)],
                   InBraces(
                       {right[static_cast<size_t>(2 * i)], right[static_cast<size_t>(2 * i + 1)]}),
                   step == 0 ? InBraces({zero, zero, zero, zero}) : sums});
          }
        }
      }
    }
  }

  // Keys beyond the last one have probability 0.
  void HideWhatIsNoKey(const ScoreRows& scores) {
    if (!hides_what_is_no_key()) return;
    const std::string all = w_.NewLabel();
    const std::string is_all =
        w_.Make(Kind::kPredicate, "setp.ge.s32", {left_, Number(tile_.keys)});
    w_.DoIf(is_all, "bra", {all});
    for (int block = 0; block < scores.blocks(); ++block) {
      for (int i = 0; i < ScoreRows::kPair; ++i) {
        const std::string is_key =
            w_.Make(Kind::kPredicate, "setp.gt.s32", {pair_left_, Number(block * kMmaColumns + i)});
        for (int row = 0; row < scores.rows(); ++row) {
          const std::string& score = scores.at(row, block, i);
          w_.Do("selp.f32",
                {score, score, FloatLiteral(-std::numeric_limits<float>::infinity()), is_key});
        }
      }
    }
    w_.Place(all);
  }

  // Probabilities as a left factor: of 16 bits, the numbers of two blocks of keys are one fragment as they are; of 32 bits those of one are, once its even keys stand
  // before the odd ones (attention_loader.h).
  Registers Probabilities(const ScoreRows& scores, int pair, int step) {
    const int a = 2 * pair, b = 2 * pair + 1;
    if (!form().is_narrow()) {
      return {Rounded(scores.at(a, step, 0)), Rounded(scores.at(b, step, 0)),
              Rounded(scores.at(a, step, 1)), Rounded(scores.at(b, step, 1))};
    }
    Registers words;
    for (const int block : {2 * step, 2 * step + 1}) {
      for (const int row : {a, b}) {
        words.push_back(text_.Rounded({scores.at(row, block, 0), scores.at(row, block, 1)})[0]);
      }
    }
    return words;
  }

  // To the nearest tf32, of two to the larger: cvt.rna.tf32.f32 is twice as many instructions. What is no number may become one, and its row's sum tells.
  std::string Rounded(const std::string& probability) {
    const std::string bits = w_.Word("mov.b32", {probability});
    return w_.Word("and.b32", {w_.Word("add.u32", {bits, Number(1 << 12)}), Number(-(1 << 13))});
  }

  void MixValues(const ScoreRows& scores, const ScoreRows& mixed) {
    const SharedLayout& layout = values_->layout;
    const int steps = tile_.keys * form().bytes / kMmaDepthBytes;
    for (int step = 0; step < steps; ++step) {
      const int64_t depth = layout.DepthBytes(step * kMmaDepthBytes, form());
      Registers left;
      for (int pair = 0; pair < pairs(); ++pair) {
        left.push_back(InBraces(Probabilities(scores, pair, step)));
      }
      for (int block = 0; block < mixed.blocks(); block += 2) {
        const Registers right = layout.Fragment(
            value_fragments_, layout.AcrossBytes(block * kMmaColumns, form()) + depth, w_);
        for (int pair = 0; pair < pairs(); ++pair) {
          for (int i = 0; i < 2; ++i) {
            const std::string sums = InBraces(mixed.Sums(pair, block + i));
            w_.Do(form().multiply, {sums, left[static_cast<size_t>(pair)],
                                    InBraces({right[static_cast<size_t>(2 * i)],
                                              right[static_cast<size_t>(2 * i + 1)]}),
                                    sums});
          }
        }
      }
    }
  }

  // How many keys the group sees.
  std::string SeenKeys() {
    if (!leaves_out()) return w_.Word("mov.u32", {Number(attention_.keys)});
    std::string end = w_.Word("add.s32", {group_query_, Number(tile_.queries)});
    end = w_.Word("min.s32", {end, Number(attention_.queries)});
    end = w_.Word("add.s32", {end, Number(*attention_.past_keys)});
    return w_.Word("min.s32", {end, Number(attention_.keys)});
  }

  // Keys behind those that a query sees have probability 0, or a score that is said. Nothing is to be done where even the warp's first query sees all of the tile.
  void HideWhatIsBehind(const ScoreRows& scores) {
    if (!is_causal()) return;
    const float behind = attention_.behind.value_or(-std::numeric_limits<float>::infinity());
    const std::string all = w_.NewLabel();
    const std::string is_all =
        w_.Make(Kind::kPredicate, "setp.ge.s32", {warp_sight_, Number(tile_.keys - 1)});
    w_.DoIf(is_all, "bra", {all});
    // Rows are 8 apart, as blocks are: what one row sees of a block the next row sees of the next block.
    const int last_row = FirstOfRow(scores.rows() - 1) / kMmaColumns;
    for (int apart = -last_row; apart < scores.blocks(); ++apart) {
      for (int i = 0; i < ScoreRows::kPair; ++i) {
        const std::string is_seen =
            w_.Make(Kind::kPredicate, "setp.ge.s32", {sight_, Number(apart * kMmaColumns + i)});
        for (int row = 0; row < scores.rows(); ++row) {
          const int block = apart + FirstOfRow(row) / kMmaColumns;
          if (block < 0 || block >= scores.blocks()) continue;
          const std::string& score = scores.at(row, block, i);
          w_.Do("selp.f32", {score, score, FloatLiteral(behind), is_seen});
        }
      }
    }
    w_.Place(all);
  }

  // Keys come to shared memory while values are multiplied, and the other way round: behind the first barrier of the loop nobody reads the values of the tile
  // before, behind the second one nobody the keys.
  void WriteLoop() {
    const ScoreRows scores(tile_.warp_queries(), tile_.keys, w_);
    mixed_.emplace(tile_.warp_queries(), static_cast<int>(attention_.value_size), w_);
    for (const std::string& sum : mixed_->registers()) w_.Do("mov.f32", {sum, FloatLiteral(0)});
    softmax_.emplace(rows(), has_mask(), w_);
    const std::string again = w_.NewLabel();
    const std::string multiply = w_.NewLabel();
    const std::string scored = w_.NewLabel();
    const std::string mix = w_.NewLabel();
    const std::string mixed = w_.NewLabel();
    const std::string last = w_.NewLabel();
    left_ = SeenKeys();
    if (hides_what_is_no_key() || (has_mask() && !is_whole())) {
      pair_left_ = w_.Word("sub.s32", {Number(attention_.keys), pair_});
    }
    if (is_causal()) {
      warp_sight_ = w_.Word("add.s32", {warp_query_, Number(*attention_.past_keys)});
      sight_ = w_.Word("add.s32", {query_, Number(*attention_.past_keys)});
      sight_ = w_.Word("sub.s32", {sight_, pair_});
      if (leaves_out() && *attention_.past_keys < 0) {
        w_.DoIf(w_.Make(Kind::kPredicate, "setp.le.s32", {left_, "0"}), "bra", {last});
      }
    }
    keys_->Load();
    keys_->Store();
    values_->Load();
    w_.Place(again);
    w_.Do("bar.sync", {"0"});
    values_->Store();
    const std::string is_more =
        w_.Make(Kind::kPredicate, "setp.gt.s32", {left_, Number(tile_.keys)});
    w_.DoIf("!" + is_more, "bra", {multiply});
    keys_->GoOn();
    keys_->Load();
    w_.Place(multiply);
    // A tile that later warps of the group see.
    std::string is_blind;
    if (leaves_out()) {
      is_blind =
          w_.Make(Kind::kPredicate, "setp.lt.s32", {warp_sight_, Number(1 - tile_.warp_queries())});
      w_.DoIf(is_blind, "bra", {scored});
    }
    MultiplyByKeys(scores);
    if (!leaves_out()) HideWhatIsBehind(scores);
    if (mask_.has_value()) mask_->Apply(scores, pair_left_);
    HideWhatIsNoKey(scores);
    if (leaves_out()) HideWhatIsBehind(scores);
    softmax_->Take(scores, *mixed_);
    w_.Place(scored);
    if (mask_.has_value()) mask_->GoOn();
    w_.Do("bar.sync", {"0"});
    w_.DoIf("!" + is_more, "bra", {mix});
    keys_->Store();
    values_->GoOn();
    values_->Load();
    w_.Place(mix);
    if (leaves_out()) w_.DoIf(is_blind, "bra", {mixed});
    MixValues(scores, *mixed_);
    w_.Place(mixed);
    w_.DoIf("!" + is_more, "bra", {last});
    for (const std::string& count : {left_, pair_left_, warp_sight_, sight_}) {
      if (!count.empty()) w_.Do("sub.s32", {count, count, Number(tile_.keys)});
    }
    w_.Do("bra", {again});
    w_.Place(last);
  }

  // Pairs go at once where they lie at even elements, as far as is known here, and the result at such an address, as running finds out.
  void WriteResult() {
    const Registers& sums = softmax_->Finish();
    const auto& strides = attention_.y.strides;
    const std::string address = AddressOf(attention_.y, static_cast<int>(inputs_), pair_);
    const bool has_pairs = strides[kItem] == 1 && strides[kPosition] % 2 == 0 &&
                           strides[kHead] % 2 == 0 && strides[kBatch] % 2 == 0;
    std::string is_aligned, is_not_aligned;
    if (has_pairs) {
      const std::string low = w_.Make(Kind::kAddress, "and.b64",
                                      {address, Number(ScoreRows::kPair * kElementBytes - 1)});
      is_aligned = w_.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
      is_not_aligned = w_.Make(Kind::kPredicate, "setp.ne.u64", {low, "0"});
    }
    for (int row = 0; row < rows(); ++row) {
      const std::string& sum = sums[static_cast<size_t>(row)];
      const std::string share = w_.Float("rcp.rn.f32", {sum});
      std::string is_number;
      if (attention_.nan_is_zero) {
        is_number = w_.Make(Kind::kPredicate, "setp.gt.f32", {sum, FloatLiteral(0)});
      }
      const std::string& has_query = has_query_[static_cast<size_t>(row)];
      std::string as_one, alone = has_query;
      if (has_pairs) {
        as_one = w_.Register(Kind::kPredicate);
        w_.Do("and.pred", {as_one, has_query, is_aligned});
        alone = w_.Register(Kind::kPredicate);
        w_.Do("and.pred", {alone, has_query, is_not_aligned});
      }
      for (int block = 0; block < mixed_->blocks(); ++block) {
        Registers values;
        for (int i = 0; i < ScoreRows::kPair; ++i) {
          values.push_back(w_.Float("mul.f32", {mixed_->at(row, block, i), share}));
          if (is_number.empty()) continue;
          w_.Do("selp.f32", {values.back(), values.back(), FloatLiteral(0), is_number});
        }
        const int64_t element =
            FirstOfRow(row) * strides[kPosition] + int64_t{block} * kMmaColumns * strides[kItem];
        if (has_pairs) {
          w_.DoIf(as_one, "st.global.v2.f32",
                  {At(address, element * kElementBytes), InBraces(values)});
        }
        for (int i = 0; i < ScoreRows::kPair; ++i) {
          w_.DoIf(alone, "st.global.f32",
                  {At(address, (element + i * strides[kItem]) * kElementBytes),
                   values[static_cast<size_t>(i)]});
        }
      }
    }
  }

  const FusedAttention& attention_;
  const std::vector<int>& operands_;
  const size_t inputs_;
  const AttentionTile tile_;
  PtxWriter w_;
  KernelText text_;
  const std::unique_ptr<AttentionLoader> keys_;
  const std::unique_ptr<AttentionLoader> values_;
  std::optional<ScoreMask> mask_;
  std::optional<OnlineSoftmax> softmax_;
  std::optional<ScoreRows> mixed_;

  std::string instance_, lane_, quarter_, pair_;  // A lane of four, and its first column of 8.
  std::string batch_, head_, key_head_;
  std::string group_query_, warp_query_;  // The first of them.
  std::string query_;                     // Of the instance's row 0,
  Registers has_query_;                   // and by row whether there is one.
  std::vector<Registers> queries_;        // By 16 rows and 32 bytes of the depth.
  std::string key_fragments_, value_fragments_;
  std::string left_;       // Keys that the group sees, from the tile's first one on;
  std::string pair_left_;  // those that there are, from the instance's first one on.
  // Where not every query sees every key: the last one that the warp's first query sees, from the tile's first one on, and that the instance's row 0 sees, from the
  // instance's first one on.
  std::string warp_sight_, sight_;
};

}  // namespace

DeviceKernel AttentionKernel(const FusedAttention& attention, const std::vector<int>& operands,
                             size_t inputs, Precision precision, const AttentionTile& tile,
                             const std::string& entry) {
  return Template(attention, operands, inputs, *FindNumberForm(precision), tile, entry).Write();
}

}  // namespace slipway
