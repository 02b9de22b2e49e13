#include <cstdint>
#include <string>
#include <vector>

#include "core/operators/movement.h"
#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

// Rows of x go where they are gathered from, those gathered twice are summed; the axis comes first meanwhile.
void GatherGradient(GradientNode& n) {
  const auto axis = DecodeGather(n.view());
  if (!axis.ok()) return n.Lack(axis.status().message());
  const Shape x = n.view().input_shape(0);
  const int places = n.view().input_type(1).rank();
  const int rank = n.rank(n.dy());
  // dy is [before the axis, places, behind it].
  std::vector<int64_t> perm;
  for (int d = 0; d < places; ++d) perm.push_back(*axis + d);
  for (int d = 0; d < rank; ++d) {
    if (d < *axis || d >= *axis + places) perm.push_back(d);
  }
  std::vector<int64_t> back(x.size());
  Shape first = {x[*axis]};
  back[*axis] = 0;
  for (size_t d = 0, next = 1; d < x.size(); ++d) {
    if (static_cast<int64_t>(d) == *axis) continue;
    first.push_back(x[d]);
    back[d] = static_cast<int64_t>(next++);
  }
  const ValueId indices = n.Op("Unsqueeze", {n.x(1), n.Ints({-1})});
  const ValueId sums = n.Op("ScatterND", {n.Filled(first, 0), indices, n.TransposeBy(n.dy(), perm)},
                            {{"reduction", std::string("add")}});
  n.Give(0, n.TransposeBy(sums, back));
}

ValueId ScatteredBack(GradientNode& n, ValueId places, ValueId gradient, int64_t axis) {
  return n.Op("ScatterElements", {n.Filled(n.view().input_shape(0), 0), places, gradient},
              {{"axis", axis}, {"reduction", std::string("add")}});
}

void GatherElementsGradient(GradientNode& n) {
  n.Give(0, ScatteredBack(n, n.x(1), n.dy(), n.view().Int("axis")));
}

void TopKGradient(GradientNode& n) {
  n.Give(0, ScatteredBack(n, n.y(1), n.dy(), n.view().Int("axis")));
}

void GatherNDGradient(GradientNode& n) {
  if (n.view().Int("batch_dims") != 0) return n.Lack("\"batch_dims\" other than 0");
  n.Give(0, n.Op("ScatterND", {n.Filled(n.view().input_shape(0), 0), n.x(1), n.dy()},
                 {{"reduction", std::string("add")}}));
}

// What was overwritten has no gradient; indices that meet make that ambiguous, as ONNX has it.
void ScatterElementsGradient(GradientNode& n) {
  const std::string& reduction = n.view().String("reduction");
  const int64_t axis = n.view().Int("axis");
  if (reduction != "none" && reduction != "add") return n.Lack("\"reduction\" = " + reduction);
  if (n.wants(2)) n.Give(2, n.Op("GatherElements", {n.dy(), n.x(1)}, {{"axis", axis}}));
  if (!n.wants(0)) return;
  if (reduction == "add") return n.Give(0, n.dy());
  const ValueId none = n.Filled(n.view().input_shape(2), 0);
  n.Give(0, n.Op("ScatterElements", {n.dy(), n.x(1), none}, {{"axis", axis}}));
}

void ScatterNDGradient(GradientNode& n) {
  const std::string& reduction = n.view().String("reduction");
  if (reduction != "none" && reduction != "add") return n.Lack("\"reduction\" = " + reduction);
  if (n.wants(2)) n.Give(2, n.Op("GatherND", {n.dy(), n.x(1)}));
  if (!n.wants(0)) return;
  if (reduction == "add") return n.Give(0, n.dy());
  n.Give(0, n.Op("ScatterND", {n.dy(), n.x(1), n.Filled(n.view().input_shape(2), 0)}));
}

constexpr GradientRow kRows[] = {
    {"Gather", GatherGradient},       {"GatherElements", GatherElementsGradient},
    {"GatherND", GatherNDGradient},   {"ScatterElements", ScatterElementsGradient},
    {"ScatterND", ScatterNDGradient}, {"TopK", TopKGradient},
};

}  // namespace

absl::Status RegisterIndexingGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
