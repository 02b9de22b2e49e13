#include "core/artifact/step_order.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr uint32_t kMaxQueue = 15;

absl::Status CheckPlace(const v1::Manifest& manifest, int index, const v1::Step& step,
                        const ReaderLimits& limits) {
  if (step.device() >= static_cast<uint32_t>(manifest.devices_size())) {
    return absl::InvalidArgumentError(absl::StrCat("device ", step.device(), " does not exist"));
  }
  if (step.queue() > kMaxQueue) {
    return absl::InvalidArgumentError(
        absl::StrCat("queue ", step.queue(), " does not exist; the last one is ", kMaxQueue));
  }
  if (IsControlStep(step) && (step.device() != 0 || step.queue() != 0)) {
    return absl::InvalidArgumentError("runs on the host alone, device 0, queue 0");
  }
  if (step.after_size() > limits.after_per_step) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "waits for ", step.after_size(), " steps, more than the limit of ", limits.after_per_step));
  }
  for (int i = 0; i < step.after_size(); ++i) {
    if (step.after(i) >= static_cast<uint32_t>(index)) {
      return absl::InvalidArgumentError(
          absl::StrCat("waits for step ", step.after(i), ", which does not come before it"));
    }
    if (i > 0 && step.after(i) <= step.after(i - 1)) {
      return absl::InvalidArgumentError("the steps it waits for are not ascending");
    }
  }
  return absl::OkStatus();
}

void Merge(const uint32_t* from, size_t size, std::vector<uint32_t>& clock) {
  if (clock.size() < size) clock.resize(size);
  for (size_t i = 0; i < size; ++i) clock[i] = std::max(clock[i], from[i]);
}

}  // namespace

bool IsControlStep(const v1::Step& step) {
  return step.has_bind_symbols() || step.has_branch() || step.has_loop();
}

absl::StatusOr<StepOrder> StepOrder::Of(const v1::Manifest& manifest, const v1::Function& function,
                                        const ReaderLimits& limits) {
  StepOrder order;
  order.places_.reserve(static_cast<size_t>(function.steps_size()));
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> lanes;
  // By lane: how many steps of each lane ended before its next one begins.
  std::vector<std::vector<uint32_t>> clocks;
  for (int i = 0; i < function.steps_size(); ++i) {
    const v1::Step& step = function.steps(i);
    const auto context = [&] {
      return absl::StrCat("step ", i, " '", absl::Utf8SafeCEscape(step.name()), "'");
    };
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckPlace(manifest, i, step, limits), context());
    const auto [lane, is_new] =
        lanes.try_emplace({step.device(), step.queue()}, static_cast<uint32_t>(lanes.size()));
    if (is_new) clocks.emplace_back();
    if (lanes.size() > static_cast<size_t>(limits.queues)) {
      return absl::ResourceExhaustedError(
          absl::StrCat(context(), ": more queues in use than the limit of ", limits.queues));
    }
    order.Add(i, step, lane->second, clocks);
  }
  order.lanes_ = lanes.size();
  return order;
}

void StepOrder::Add(int index, const v1::Step& step, uint32_t lane,
                    std::vector<std::vector<uint32_t>>& lane_clocks) {
  std::vector<uint32_t>& clock = lane_clocks[lane];
  if (clock.size() <= lane) clock.resize(lane + 1);
  for (const uint32_t before : step.after()) {
    const Place& place = places_[before];
    Merge(&clocks_[place.clock], place.clock_size, clock);
    clock[place.lane] = std::max(clock[place.lane], place.position + 1);
  }
  const int last_barrier = index == 0 ? -1 : places_.back().barrier;
  places_.push_back({lane, clock[lane], IsControlStep(step) ? index : last_barrier, clocks_.size(),
                     static_cast<uint32_t>(clock.size())});
  clocks_.insert(clocks_.end(), clock.begin(), clock.end());
  ++clock[lane];
}

bool StepOrder::IsBefore(int earlier, int later) const {
  const Place& first = places_[static_cast<size_t>(earlier)];
  const Place& second = places_[static_cast<size_t>(later)];
  if (earlier <= second.barrier) return true;
  return first.lane < second.clock_size && clocks_[second.clock + first.lane] > first.position;
}

}  // namespace slipway
