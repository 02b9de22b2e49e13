#include "core/codegen/schedules/candidates.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"

namespace slipway {
namespace {

// How a number is moved, to the next that fits.
enum class Change { kNone, kUp, kDown, kDouble, kHalve, kFlip };

struct Step {
  const char* parameter = nullptr;
  Change change = Change::kNone;
};

// One or two numbers, since a tile that is wider by one has to be lower by the other.
struct Move {
  const char* kind;  // Of stages.
  Step steps[2];
};

// For each kind the likeliest first: the tile, whose accumulators decide how much is read for a product; what stays in registers; how much
// is done before the next stage; tasks. A kind may be scheduled for several kinds of machines: moves of numbers that a schedule lacks are left out.
constexpr Move kMoves[] = {
    {"convolution", {{"width", Change::kDown}}},
    {"convolution", {{"width", Change::kUp}}},
    {"convolution", {{"width", Change::kHalve}, {"blocks", Change::kUp}}},
    {"convolution", {{"width", Change::kDouble}, {"blocks", Change::kDown}}},
    {"convolution", {{"blocks", Change::kDown}}},
    {"convolution", {{"blocks", Change::kUp}}},
    {"convolution", {{"keeps-weights", Change::kFlip}}},
    {"convolution", {{"strips", Change::kDown}}},
    {"convolution", {{"strips", Change::kUp}}},
    {"convolution", {{"width", Change::kDouble}}},
    {"convolution", {{"width", Change::kHalve}}},
    {"convolution", {{"height", Change::kUp}}},
    {"convolution", {{"height", Change::kDown}}},
    {"convolution", {{"registers", Change::kFlip}}},
    {"depthwise-convolution", {{"width", Change::kUp}}},
    {"depthwise-convolution", {{"width", Change::kDown}}},
    {"depthwise-convolution", {{"width", Change::kDouble}}},
    {"depthwise-convolution", {{"width", Change::kHalve}}},
    {"depthwise-convolution", {{"strips", Change::kDown}}},
    {"depthwise-convolution", {{"strips", Change::kUp}}},
    {"depthwise-convolution", {{"strips", Change::kHalve}}},
    {"depthwise-convolution", {{"strips", Change::kDouble}}},
    {"plain-convolution", {{"width", Change::kDown}}},
    {"plain-convolution", {{"width", Change::kUp}}},
    {"plain-convolution", {{"width", Change::kHalve}, {"blocks", Change::kUp}}},
    {"plain-convolution", {{"width", Change::kDouble}, {"blocks", Change::kDown}}},
    {"plain-convolution", {{"blocks", Change::kDown}}},
    {"plain-convolution", {{"blocks", Change::kUp}}},
    {"plain-convolution", {{"strips", Change::kDown}}},
    {"plain-convolution", {{"strips", Change::kUp}}},
    {"plain-convolution", {{"threads", Change::kDouble}}},
    {"plain-convolution", {{"threads", Change::kHalve}}},
    {"winograd-convolution", {{"chunk", Change::kUp}}},
    {"winograd-convolution", {{"chunk", Change::kDown}}},
    {"winograd-convolution", {{"band-rows", Change::kUp}}},
    {"winograd-convolution", {{"band-rows", Change::kDown}}},
    {"winograd-convolution", {{"width", Change::kDown}}},
    {"winograd-convolution", {{"width", Change::kUp}}},
    {"winograd-convolution", {{"width", Change::kHalve}, {"blocks", Change::kUp}}},
    {"winograd-convolution", {{"width", Change::kDouble}, {"blocks", Change::kDown}}},
    {"winograd-convolution", {{"band-rows", Change::kDouble}}},
    {"winograd-convolution", {{"band-rows", Change::kHalve}}},
    {"winograd-convolution", {{"parallel-bands", Change::kFlip}}},
    {"product", {{"rows", Change::kDown}}},
    {"product", {{"rows", Change::kUp}}},
    {"product", {{"rows", Change::kHalve}, {"panels", Change::kUp}}},
    {"product", {{"rows", Change::kDouble}, {"panels", Change::kDown}}},
    {"product", {{"panels", Change::kDown}}},
    {"product", {{"panels", Change::kUp}}},
    {"product", {{"copied", Change::kFlip}}},
    {"product", {{"strips", Change::kUp}}},
    {"product", {{"strips", Change::kDown}}},
    {"product", {{"parallel", Change::kFlip}}},
    {"product", {{"registers", Change::kFlip}}},
    {"product", {{"threads", Change::kDouble}}},
    {"product", {{"threads", Change::kHalve}}},
    {"strassen-product", {{"chunk", Change::kUp}}},
    {"strassen-product", {{"chunk", Change::kDown}}},
    {"strassen-product", {{"band", Change::kDouble}}},
    {"strassen-product", {{"band", Change::kHalve}}},
    {"strassen-product", {{"rows", Change::kDown}}},
    {"strassen-product", {{"rows", Change::kUp}}},
    {"strassen-product", {{"rows", Change::kHalve}, {"panels", Change::kUp}}},
    {"strassen-product", {{"rows", Change::kDouble}, {"panels", Change::kDown}}},
    {"strassen-product", {{"images", Change::kUp}}},
    {"strassen-product", {{"images", Change::kDown}}},
    {"strassen-product", {{"parallel-bands", Change::kFlip}}},
    {"expression", {{"lanes", Change::kDouble}}},
    {"expression", {{"lanes", Change::kHalve}}},
    {"expression", {{"tasks", Change::kHalve}}},
    {"expression", {{"tasks", Change::kDouble}}},
    {"expression", {{"threads", Change::kDouble}}},
    {"expression", {{"threads", Change::kHalve}}},
    {"updates", {{"threads", Change::kDouble}}},
    {"updates", {{"threads", Change::kHalve}}},
    {"reduction", {{"threads", Change::kDouble}}},
    {"reduction", {{"threads", Change::kHalve}}},
    {"rows", {{"threads", Change::kDouble}}},
    {"rows", {{"threads", Change::kHalve}}},
    {"join", {{"threads", Change::kDouble}}},
    {"join", {{"threads", Change::kHalve}}},
};

// The nearest that fits, from `value` on up or down.
std::optional<int> NextFitting(const Parameter& parameter, int value, int direction) {
  for (; value >= parameter.min && value <= parameter.max; value += direction) {
    if (Fits(parameter, value)) return value;
  }
  return std::nullopt;
}

// Another one than it is, or none.
std::optional<int> Changed(const Parameter& parameter, Change change) {
  const int value = *parameter.value;
  switch (change) {
    case Change::kUp:
      return NextFitting(parameter, value + 1, 1);
    case Change::kDown:
      return NextFitting(parameter, value - 1, -1);
    case Change::kDouble:
      if (value > parameter.max / 2) return std::nullopt;
      return NextFitting(parameter, std::max(2 * value, value + 1), 1);
    case Change::kHalve:
      return NextFitting(parameter, std::min(value / 2, value - 1), -1);
    case Change::kFlip:
      if (!Fits(parameter, 1 - value)) return std::nullopt;
      return 1 - value;
    case Change::kNone:
      break;
  }
  return std::nullopt;
}

Change ChangeOf(const Move& move, absl::string_view parameter) {
  for (const Step& step : move.steps) {
    if (step.parameter != nullptr && parameter == step.parameter) return step.change;
  }
  return Change::kNone;
}

// Whether the schedule has all that it moves.
bool HasSteps(const Move& move, const Parameters& parameters) {
  return std::all_of(std::begin(move.steps), std::end(move.steps), [&](const Step& step) {
    return step.parameter == nullptr ||
           std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& each) {
             return absl::string_view(each.name) == step.parameter;
           });
  });
}

// Makes the move. False, with some numbers changed, where it cannot be made.
bool Make(const Move& move, absl::FunctionRef<Parameters()> parameters, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Parameter parameter = parameters()[i];
    const Change change = ChangeOf(move, parameter.name);
    std::optional<int> value;
    if (change != Change::kNone) {
      value = Changed(parameter, change);
    } else {
      value = NextFitting(parameter, std::min(*parameter.value, parameter.max), -1);
      if (!value.has_value()) value = NextFitting(parameter, parameter.min, 1);
    }
    if (!value.has_value()) return false;
    *parameter.value = *value;
  }
  return true;
}

}  // namespace

std::vector<StageSchedule> CandidatesNear(const StageSchedule& chosen,
                                          absl::FunctionRef<Parameters()> parameters) {
  std::vector<StageSchedule> candidates;
  const Parameters all = parameters();
  const std::vector<std::pair<std::string, int>> numbers = NumbersOf(all);
  for (const Move& move : kMoves) {
    if (chosen.kind != move.kind || !HasSteps(move, all)) continue;
    const bool is_made = Make(move, parameters, all.size());
    StageSchedule moved{.kind = chosen.kind, .numbers = NumbersOf(parameters())};
    for (size_t i = 0; i < all.size(); ++i) *all[i].value = numbers[i].second;
    if (!is_made || moved == chosen) continue;
    if (std::find(candidates.begin(), candidates.end(), moved) != candidates.end()) continue;
    candidates.push_back(std::move(moved));
  }
  return candidates;
}

}  // namespace slipway
