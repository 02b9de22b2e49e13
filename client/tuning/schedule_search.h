// Which schedules are tried next, of all kernels of a program at a time, and which stand so far. Purely: measuring is another's.
#ifndef SLIPWAY_CLIENT_TUNING_SCHEDULE_SEARCH_H_
#define SLIPWAY_CLIENT_TUNING_SCHEDULE_SEARCH_H_

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/schedules/kernel_schedule.h"

namespace slipway {

// Schedules, as ToString writes them, by the kernel's name.
using KernelSchedules = std::map<std::string, std::string>;

// A descent for each kernel on its own: what lies near its schedule is tried one after the other, the likeliest first; the first that
// is better takes its place, and what lies near that one is tried next. Nothing is tried twice. Kernels do not know of each other, so that
// one program has the next candidate of every kernel that has one, and its steps' times tell of all of them. Not thread-safe.
class ScheduleSearch {
 public:
  // Begins with the schedules that the kernels have.
  explicit ScheduleSearch(const std::vector<KernelCandidates>& kernels);

  // The next candidate of each kernel that has one. Empty: nothing is left to try.
  KernelSchedules Next() const;

  // Its candidate of Next was not better, or cannot be measured. REQUIRES: it has one.
  void Drop(const std::string& kernel);
  // It was better, and has these near it. REQUIRES: as for Drop.
  void Take(const std::string& kernel, const std::vector<std::string>& candidates);

 private:
  struct Searched {
    std::deque<std::string> next;
    std::set<std::string> known;  // That were tried, or are next.
  };
  static void Add(const std::vector<std::string>& candidates, Searched& kernel);

  std::map<std::string, Searched> kernels_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TUNING_SCHEDULE_SEARCH_H_
