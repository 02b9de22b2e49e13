#include "client/tuning/schedule_search.h"

#include "core/base/check.h"

namespace slipway {

ScheduleSearch::ScheduleSearch(const std::vector<KernelCandidates>& kernels) {
  for (const KernelCandidates& kernel : kernels) {
    Searched& searched = kernels_[kernel.kernel];
    searched = {.next = {}, .known = {kernel.schedule}};
    Add(kernel.candidates, searched);
  }
}

void ScheduleSearch::Add(const std::vector<std::string>& candidates, Searched& kernel) {
  for (const std::string& candidate : candidates) {
    if (kernel.known.insert(candidate).second) kernel.next.push_back(candidate);
  }
}

KernelSchedules ScheduleSearch::Next() const {
  KernelSchedules next;
  for (const auto& [name, kernel] : kernels_) {
    if (!kernel.next.empty()) next.emplace(name, kernel.next.front());
  }
  return next;
}

void ScheduleSearch::Drop(const std::string& kernel) {
  const auto found = kernels_.find(kernel);
  SLIPWAY_CHECK(found != kernels_.end() && !found->second.next.empty(), "it has a candidate");
  found->second.next.pop_front();
}

void ScheduleSearch::Take(const std::string& kernel, const std::vector<std::string>& candidates) {
  const auto found = kernels_.find(kernel);
  SLIPWAY_CHECK(found != kernels_.end() && !found->second.next.empty(), "it has a candidate");
  Searched& searched = found->second;
  // What lay near the one before, and was not tried, may come again.
  searched.next.pop_front();
  for (const std::string& left : searched.next) searched.known.erase(left);
  searched.next.clear();
  Add(candidates, searched);
}

}  // namespace slipway
