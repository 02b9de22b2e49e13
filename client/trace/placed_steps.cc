#include "client/trace/placed_steps.h"

#include <algorithm>
#include <map>

namespace slipway {
namespace {

class Placer {
 public:
  Placer(absl::Span<const StepTime> profile, const ArtifactSummary& program) : profile_(profile) {
    // The functions in the manifest's order, the entry among them, have all steps in the order of the profile.
    size_t other = 0;
    for (size_t f = 0; f <= program.functions.size(); ++f) {
      const bool is_entry = f == program.entry || other == program.functions.size();
      const auto& steps = is_entry ? program.steps : program.functions[other++].steps;
      functions_.push_back({&steps, count_});
      count_ += steps.size();
      for (const ArtifactSummary::Step& step : steps) {
        for (const size_t run : step.runs) ++runs_[run];
      }
    }
  }

  // How many steps there are.
  size_t count() const { return count_; }

  // Returns when it ends.
  absl::Duration Place(size_t function, absl::Duration at, int depth,
                       std::vector<PlacedStep>& placed) const {
    const Function& here = functions_[function];
    for (size_t s = 0; s < here.steps->size(); ++s) {
      const ArtifactSummary::Step& step = (*here.steps)[s];
      placed.push_back({here.first + s, &step, at, depth});
      absl::Duration inner = at;
      for (const size_t run : step.runs) {
        if (run < functions_.size() && run != function && runs_.at(run) == 1) {
          inner = Place(run, inner, depth + 1, placed);
        }
      }
      at += absl::Nanoseconds(profile_[here.first + s].duration_ns);
    }
    return at;
  }

 private:
  struct Function {
    const std::vector<ArtifactSummary::Step>* steps;
    size_t first;  // Of its steps, in the profile.
  };

  const absl::Span<const StepTime> profile_;
  std::vector<Function> functions_;
  std::map<size_t, int> runs_;  // By function: how many places run it.
  size_t count_ = 0;
};

}  // namespace

std::vector<PlacedStep> PlaceSteps(absl::Span<const StepTime> profile,
                                   const ArtifactSummary& program) {
  const Placer placer(profile, program);
  std::vector<PlacedStep> placed;
  if (placer.count() != profile.size()) return placed;
  placer.Place(std::min(program.entry, program.functions.size()), absl::ZeroDuration(), 0, placed);
  return placed;
}

}  // namespace slipway
