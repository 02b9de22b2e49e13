// What kernels take in two programs whose steps were timed in turns, and whether that is less in the second one.
#ifndef SLIPWAY_CLIENT_TUNING_KERNEL_TIMES_H_
#define SLIPWAY_CLIENT_TUNING_KERNEL_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/comparison.h"
#include "client/types.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

// Which kernel does a step, by the step's name.
class KernelOfStep {
 public:
  explicit KernelOfStep(const std::vector<KernelCandidates>& kernels);

  // Its name; null for what is none's, and for steps of one name that several kernels do. One of several launches, "NAME, 2 of 3", is
  // the kernel's of NAME.
  const std::string* Find(const std::string& step) const;

 private:
  std::map<std::string, std::string> kernel_of_;  // "" where several do.
};

// Of a kernel, in A and in B, nanoseconds of all its steps: the least of all blocks.
struct KernelTimes {
  double a_ns = 0;
  double b_ns = 0;
  // How far apart, as a share, the least of a half of the blocks and that of the other half are, of A or of B: what differs although nothing
  // was changed.
  double noise = 0;
  bool is_less_in_each_round = false;  // B's least than A's.
};

// Less by more than `least_gain`, as a share, and by more than the noise, and so in each round.
bool IsBetter(const KernelTimes& times, double least_gain);

class TimesInTurns {
 public:
  // A round: the steps of a call for each of `order`, with both sides in it.
  void AddRound(absl::Span<const Side> order, const std::vector<std::vector<StepTime>>& blocks,
                const KernelOfStep& kernel_of);

  // Zeros for a kernel that no step was timed of. REQUIRES: a round.
  KernelTimes Of(const std::string& kernel) const;
  // All steps of a call, each as short as it ever was.
  double WholeNs(Side side) const;

 private:
  struct Blocks {
    std::vector<double> ns;     // Of each block.
    std::vector<size_t> round;  // Which it was in.
  };
  struct Sides {
    Blocks a, b;
  };
  std::map<std::string, Sides> kernels_;
  std::vector<double> steps_a_, steps_b_;  // By the step's number, its least.
  size_t rounds_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TUNING_KERNEL_TIMES_H_
