#include "core/passes/split_batch_pass.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/graph/operator_registry.h"
#include "core/passes/image_inputs.h"

namespace slipway {
namespace {

// What a step costs beside its work, as bytes moved in that time.
constexpr int64_t kBytesOfStep = 32 << 10;

// Nodes by number, the last one included.
struct Range {
  size_t first = 0;
  size_t last = 0;
  int64_t images = 0;
};

// What is known of a node.
struct Step {
  int64_t images = 0;              // 0 where it does not keep them apart.
  std::vector<bool> is_of_images;  // By input.
  std::optional<int> count;        // See CountOfImages.
  int64_t gain = 0;                // Bytes an image.
};

class Splitting {
 public:
  Splitting(Graph graph, const OperatorRegistry& registry, int64_t cache_bytes)
      : graph_(std::move(graph)),
        registry_(registry),
        cache_bytes_(cache_bytes),
        names_(graph_),
        producers_(Producers(graph_)) {}

  absl::StatusOr<Graph> Run() &&;

 private:
  absl::Status Look();
  int64_t BytesOf(ValueId id) const {
    return id == kNoValue ? 0 : graph_.values[id].type->byte_size();
  }
  int64_t GainOf(const Node& node, const Step& step) const;
  // The ranges within [first, last] that gain the most, none of which touch.
  void Choose(size_t first, size_t last);

  void Take(const Range& range, const std::vector<Node>& old);
  void TakeImage(const Range& range, const std::vector<Node>& old, int64_t image);
  // Of the value's type, but for one image.
  ValueId AddImage(ValueId id, int64_t image);
  ValueId CountOne(ValueId count);

  Graph graph_;
  const OperatorRegistry& registry_;
  const int64_t cache_bytes_;
  UniqueNames names_;
  const std::vector<NodeId> producers_;
  std::vector<Step> steps_;
  std::vector<Range> ranges_;  // In order.
  // Of the range that is taken: values of all images, as those of each.
  absl::flat_hash_map<ValueId, std::vector<ValueId>> images_;
  absl::flat_hash_map<ValueId, ValueId> counts_;
};

int64_t Splitting::GainOf(const Node& node, const Step& step) const {
  // What broadcasts becomes part of what it reads.
  if (IsElementwise(registry_.Find(node.op)->pattern)) return 0;
  if (LiesInPlace(registry_.MovementOf(node.op))) return 0;
  int64_t moved = 0, weights = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    (step.is_of_images[i] ? moved : weights) += BytesOf(node.inputs[i]);
  }
  for (const ValueId id : node.outputs) moved += BytesOf(id);
  const int64_t of_image = moved / step.images;
  int64_t gain = -kBytesOfStep;
  if (moved + weights > cache_bytes_) gain += of_image;
  if (of_image + weights > cache_bytes_) gain -= weights;
  return gain;
}

absl::Status Splitting::Look() {
  steps_.resize(graph_.nodes.size());
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    Step& step = steps_[n];
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, registry_));
    std::optional<std::vector<bool>> inputs = ImageInputs(graph_, view);
    if (!inputs.has_value()) continue;
    bool is_whole = true;  // Of what it reads of all images, nothing is made of single ones.
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NodeId maker = node.inputs[i] == kNoValue ? kNoNode : producers_[node.inputs[i]];
      if (!(*inputs)[i] && maker != kNoNode && steps_[maker].images > 0) is_whole = false;
    }
    if (!is_whole) continue;
    step = {graph_.values[node.outputs[0]].type->shape()[0], *std::move(inputs),
            CountOfImages(view)};
    step.gain = GainOf(node, step);
  }
  return absl::OkStatus();
}

void Splitting::Choose(size_t first, size_t last) {
  Range best;
  int64_t most = 0, sum = 0;
  size_t begin = first;
  for (size_t n = first; n <= last; ++n) {
    if (sum <= 0) {
      sum = 0;
      begin = n;
    }
    sum += steps_[n].gain;
    if (sum > most) {
      most = sum;
      best = {begin, n, steps_[n].images};
    }
  }
  if (most <= cache_bytes_) return;
  // What costs nothing there and reads what was made last becomes part of it.
  while (best.last < last && steps_[best.last + 1].gain == 0) ++best.last;
  if (best.first > first) Choose(first, best.first - 1);
  ranges_.push_back(best);
  if (best.last < last) Choose(best.last + 1, last);
}

ValueId Splitting::AddImage(ValueId id, int64_t image) {
  const ValueType& whole = *graph_.values[id].type;
  Dimensions extents = whole.dimensions();
  extents[0] = Dimension(1);
  graph_.values.push_back({names_.Make(absl::StrCat(graph_.values[id].name, "_image", image)),
                           ValueType(whole.dtype(), extents), std::nullopt});
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId Splitting::CountOne(ValueId count) {
  const auto [known, is_new] = counts_.try_emplace(count, kNoValue);
  if (!is_new) return known->second;
  const Value& value = graph_.values[count];
  const auto whole = value.constant->values<int64_t>();
  std::vector<int64_t> one(whole.begin(), whole.end());
  one[0] = 1;
  graph_.values.push_back({names_.Make(absl::StrCat(value.name, "_image")), value.type,
                           Tensor::Of<int64_t>(value.constant->type().shape, one)});
  known->second = static_cast<ValueId>(graph_.values.size() - 1);
  return known->second;
}

void Splitting::TakeImage(const Range& range, const std::vector<Node>& old, int64_t image) {
  for (size_t n = range.first; n <= range.last; ++n) {
    Node node = old[n];
    node.name = absl::StrCat(DisplayName(graph_, node), "_image", image);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (steps_[n].is_of_images[i]) {
        node.inputs[i] = images_.at(node.inputs[i])[static_cast<size_t>(image)];
      } else if (steps_[n].count == static_cast<int>(i)) {
        node.inputs[i] = CountOne(node.inputs[i]);
      }
    }
    for (ValueId& id : node.outputs) {
      const ValueId whole = id;
      id = AddImage(whole, image);
      images_[whole].push_back(id);
    }
    graph_.nodes.push_back(std::move(node));
  }
}

void Splitting::Take(const Range& range, const std::vector<Node>& old) {
  images_.clear();
  for (size_t n = range.first; n <= range.last; ++n) {
    for (size_t i = 0; i < old[n].inputs.size(); ++i) {
      const ValueId id = old[n].inputs[i];
      if (!steps_[n].is_of_images[i] || images_.contains(id)) continue;
      const NodeId maker = producers_[id];
      if (maker != kNoNode && static_cast<size_t>(maker) >= range.first) continue;
      Node split{absl::StrCat(graph_.values[id].name, "_images"), "Split", {id}, {}, {}};
      split.attributes.Set("axis", int64_t{0});
      split.attributes.Set("num_outputs", range.images);
      for (int64_t image = 0; image < range.images; ++image) {
        split.outputs.push_back(AddImage(id, image));
      }
      images_[id] = split.outputs;
      graph_.nodes.push_back(std::move(split));
    }
  }
  for (int64_t image = 0; image < range.images; ++image) TakeImage(range, old, image);

  std::vector<bool> is_read = OutputFlags(graph_);
  for (size_t n = range.last + 1; n < old.size(); ++n) {
    for (const ValueId id : old[n].inputs) {
      if (id != kNoValue) is_read[id] = true;
    }
  }
  for (size_t n = range.first; n <= range.last; ++n) {
    for (const ValueId id : old[n].outputs) {
      if (!is_read[id]) continue;
      Node concat{
          absl::StrCat(graph_.values[id].name, "_joined"), "Concat", images_.at(id), {id}, {}};
      concat.attributes.Set("axis", int64_t{0});
      graph_.nodes.push_back(std::move(concat));
    }
  }
}

absl::StatusOr<Graph> Splitting::Run() && {
  SLIPWAY_RETURN_IF_ERROR(Look());
  for (size_t n = 0; n < steps_.size(); ++n) {
    if (steps_[n].images == 0) continue;
    const size_t first = n;
    while (n + 1 < steps_.size() && steps_[n + 1].images == steps_[first].images) ++n;
    Choose(first, n);
  }
  if (ranges_.empty()) return std::move(graph_);
  const std::vector<Node> old = std::exchange(graph_.nodes, {});
  auto range = ranges_.begin();
  for (size_t n = 0; n < old.size(); ++n) {
    if (range == ranges_.end() || n != range->first) {
      graph_.nodes.push_back(old[n]);
      continue;
    }
    Take(*range, old);
    n = range->last;
    ++range;
  }
  DropUnusedValues(graph_);
  return std::move(graph_);
}

}  // namespace

absl::StatusOr<Graph> SplitBatch(Graph graph, const PassContext& context, int64_t cache_bytes) {
  return Splitting(std::move(graph), context.registry, cache_bytes).Run();
}

}  // namespace slipway
