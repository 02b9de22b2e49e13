#include "server/scheduler/scheduler.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

int64_t HeldBy(const HeldByOwner& held, const std::string& owner) {
  const auto it = held.find(owner);
  return it == held.end() ? 0 : it->second;
}

std::string CompilerPlace(absl::string_view family, absl::string_view fingerprint) {
  return absl::StrCat("compiler/", family, " ", fingerprint);
}

std::string DevicePlace(absl::string_view device) { return absl::StrCat("device/", device); }

// Of a need in one of the places of a supply: whether it fits, of devices without looking at selectors again.
bool CanBeDone(const Need& need, const Supply& supply) {
  const auto* wanted = std::get_if<DeviceNeed>(&need);
  if (wanted == nullptr) return Fits(need, supply);
  return CheckCanRun(wanted->program, std::get<DeviceSupply>(supply).offer).ok();
}

}  // namespace

bool Fits(const Need& need, const Supply& supply) {
  if (const auto* wanted = std::get_if<DeviceNeed>(&need)) {
    const auto* device = std::get_if<DeviceSupply>(&supply);
    return device != nullptr && Fits(*wanted, *device);
  }
  const auto* targets = std::get_if<TargetFingerprints>(&supply);
  if (targets == nullptr) return false;
  const CompilerNeed& wanted = std::get<CompilerNeed>(need);
  const auto target = targets->find(wanted.family);
  return target != targets->end() && target->second == wanted.fingerprint;
}

std::string WaitingJobs::PlaceOf(const Need& need) {
  if (const auto* wanted = std::get_if<DeviceNeed>(&need)) return DevicePlace(wanted->device);
  const CompilerNeed& wanted = std::get<CompilerNeed>(need);
  return CompilerPlace(wanted.family, wanted.fingerprint);
}

std::string WaitingJobs::NameOf(const Need& need) {
  const auto* wanted = std::get_if<DeviceNeed>(&need);
  if (wanted == nullptr) return "";
  const ProgramNeeds& program = wanted->program;
  return absl::StrCat(program.is_session ? "session " : "", program.target.ToString(), " ",
                      program.abi, " ", program.format, program.is_compiled_here ? " compiled" : "",
                      " ", program.benchmark);
}

std::vector<std::string> WaitingJobs::PlacesOf(const Supply& supply) const {
  if (const auto* device = std::get_if<DeviceSupply>(&supply)) {
    std::vector<std::string> places = {DevicePlace(device->device), DevicePlace("")};
    for (const absl::string_view text : selectors_.Matching(device->device, device->attributes)) {
      places.push_back(DevicePlace(text));
    }
    return places;
  }
  std::vector<std::string> places;
  for (const auto& [family, fingerprint] : std::get<TargetFingerprints>(supply)) {
    places.push_back(CompilerPlace(family, fingerprint));
  }
  return places;
}

void WaitingJobs::Put(WaitingJob job) {
  Erase(job.id);
  later_.insert({job.not_before, job.id});
  const std::string id = job.id;
  jobs_.emplace(id, Entry{.job = std::move(job)});
}

void WaitingJobs::Erase(absl::string_view id) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  const WaitingJob& job = it->second.job;
  if (it->second.takes_part) {
    Leave(job);
  } else {
    later_.erase({job.not_before, job.id});
  }
  jobs_.erase(it);
}

void WaitingJobs::Enter(const WaitingJob& job) {
  const std::string place = PlaceOf(job.need);
  const std::string name = NameOf(job.need);
  entered_.insert({place, name});
  Lines& lines = places_[place];
  const auto* wanted = std::get_if<DeviceNeed>(&job.need);
  if (lines.empty() && wanted != nullptr && wanted->selector.has_value()) {
    selectors_.Use(wanted->device, *wanted->selector);
  }
  Line& line = lines.try_emplace(name).first->second;
  if (line.by_priority.empty()) line.need = job.need;
  OwnersJobs& jobs = line.by_priority[job.priority][job.owner];
  jobs.ids.insert(job.id);
  jobs.by_longest.insert({job.longest, job.id});
}

void WaitingJobs::Leave(const WaitingJob& job) {
  const auto place = places_.find(PlaceOf(job.need));
  const auto line = place->second.find(NameOf(job.need));
  const auto owners = line->second.by_priority.find(job.priority);
  const auto jobs = owners->second.find(job.owner);
  jobs->second.ids.erase(job.id);
  jobs->second.by_longest.erase({job.longest, job.id});
  if (!jobs->second.ids.empty()) return;
  owners->second.erase(jobs);
  if (!owners->second.empty()) return;
  line->second.by_priority.erase(owners);
  if (!line->second.by_priority.empty()) return;
  place->second.erase(line);
  if (!place->second.empty()) return;
  places_.erase(place);
  const auto* wanted = std::get_if<DeviceNeed>(&job.need);
  if (wanted != nullptr && wanted->selector.has_value()) selectors_.Leave(wanted->device);
}

void WaitingJobs::Release(absl::Time now) {
  const auto is_due = [now](absl::Time time) {
    // Nobody waits for so long: the wall clock was set back.
    return time <= now || time > now + kLongestBackoff;
  };
  while (!later_.empty() && is_due(later_.begin()->first)) {
    Entry& entry = jobs_.find(later_.begin()->second)->second;
    later_.erase(later_.begin());
    entry.takes_part = true;
    Enter(entry.job);
  }
}

const WaitingJobs::Line* WaitingJobs::FindLine(const std::string& place,
                                               const std::string& name) const {
  const auto lines = places_.find(place);
  if (lines == places_.end()) return nullptr;
  const auto line = lines->second.find(name);
  return line == lines->second.end() ? nullptr : &line->second;
}

std::vector<Need> WaitingJobs::TakeEntered() {
  std::vector<Need> needs;
  for (const auto& [place, name] : std::exchange(entered_, {})) {
    if (const Line* line = FindLine(place, name)) needs.push_back(line->need);
  }
  return needs;
}

bool WaitingJobs::IsWanted(const Need& need) const {
  return FindLine(PlaceOf(need), NameOf(need)) != nullptr;
}

absl::optional<absl::Time> WaitingJobs::NextRelease() const {
  if (later_.empty()) return absl::nullopt;
  return later_.begin()->first;
}

absl::optional<absl::string_view> WaitingJobs::NextOf(const std::string& owner,
                                                      const OwnersJobs& jobs,
                                                      const Opening& opening) const {
  const std::string& first = *jobs.ids.begin();
  if (opening.is_free()) return first;
  if (!opening.Admits(owner)) return absl::nullopt;
  if (opening.Admits(owner, jobs_.find(first)->second.job.longest)) return first;
  const auto& [longest, shortest] = *jobs.by_longest.begin();
  if (opening.Admits(owner, longest)) return shortest;
  return absl::nullopt;
}

absl::optional<std::string> WaitingJobs::Pick(const Supply& supply, const HeldByOwner& held,
                                              const Opening& opening) const {
  if (opening.is_closed) return absl::nullopt;
  // The smallest is next: the negated priority, what its owner holds, its id.
  using Rank = std::tuple<int64_t, int64_t, absl::string_view>;
  absl::optional<Rank> best;
  for (const std::string& name : PlacesOf(supply)) {
    const auto place = places_.find(name);
    if (place == places_.end()) continue;
    for (const auto& [line_name, line] : place->second) {
      const auto is_too_low = [&](int32_t priority) {
        return best.has_value() && -int64_t{priority} > std::get<0>(*best);
      };
      if (is_too_low(line.by_priority.begin()->first)) continue;
      if (!CanBeDone(line.need, supply)) continue;
      // Below the highest priority it looks only where nobody who has it may have the supply.
      bool is_found = false;
      for (const auto& [priority, owners] : line.by_priority) {
        if (is_found || is_too_low(priority)) break;
        for (const auto& [owner, jobs] : owners) {
          const absl::optional<absl::string_view> next = NextOf(owner, jobs, opening);
          if (!next.has_value()) continue;
          is_found = true;
          const Rank rank(-int64_t{priority}, HeldBy(held, owner), *next);
          if (!best.has_value() || rank < *best) best = rank;
        }
      }
    }
  }
  if (!best.has_value()) return absl::nullopt;
  return std::string(std::get<2>(*best));
}

int64_t WaitingJobs::PositionOf(absl::string_view id, const HeldByOwner& held) const {
  const auto it = jobs_.find(id);
  if (it == jobs_.end() || !it->second.takes_part) return 0;
  const WaitingJob& job = it->second.job;
  const Line& line = places_.at(PlaceOf(job.need)).at(NameOf(job.need));
  int64_t before = 0;
  HeldByOwner by_then = held;
  auto higher = line.by_priority.begin();
  for (; higher->first > job.priority; ++higher) {
    for (const auto& [owner, jobs] : higher->second) {
      const auto count = static_cast<int64_t>(jobs.ids.size());
      before += count;
      by_then[owner] += count;
    }
  }
  // An owner's nth job goes when he holds n more: before it go those of others who hold less then, and of those who
  // hold as much the ones with smaller ids.
  const Owners& equals = higher->second;
  const Ids& own = equals.at(job.owner).ids;
  const int64_t turn = HeldBy(by_then, job.owner) + std::distance(own.begin(), own.find(job.id));
  for (const auto& [owner, jobs] : equals) {
    const Ids& ids = jobs.ids;
    const int64_t count = static_cast<int64_t>(ids.size());
    const int64_t nth = turn - HeldBy(by_then, owner);
    before += std::clamp<int64_t>(nth, 0, count);
    if (nth >= 0 && nth < count && *std::next(ids.begin(), nth) < job.id) ++before;
  }
  return before + 1;
}

std::vector<WaitingJobs::LineOrder> WaitingJobs::Order(const HeldByOwner& held) const {
  std::vector<LineOrder> lines;
  for (const auto& [place_name, place] : places_) {
    for (const auto& [line_name, line] : place) {
      LineOrder& order = lines.emplace_back(LineOrder{.need = line.need, .ids = {}});
      HeldByOwner by_then = held;
      for (const auto& [priority, owners] : line.by_priority) {
        // What an owner holds when it is the job's turn, and its id.
        std::vector<std::pair<int64_t, absl::string_view>> turns;
        for (const auto& [owner, jobs] : owners) {
          int64_t& holds = by_then[owner];
          for (const std::string& id : jobs.ids) turns.emplace_back(holds++, id);
        }
        std::sort(turns.begin(), turns.end());
        for (const auto& [turn, id] : turns) order.ids.push_back(id);
      }
    }
  }
  return lines;
}

std::string WaitingJobs::NameOfNeed(const Need& need) {
  return absl::StrCat(PlaceOf(need), "\n", NameOf(need));
}

std::vector<absl::string_view> WaitingJobs::Later() const {
  std::vector<absl::string_view> ids;
  for (const auto& [time, id] : later_) ids.push_back(id);
  return ids;
}

const WaitingJob* WaitingJobs::Find(absl::string_view id) const {
  const auto it = jobs_.find(id);
  return it == jobs_.end() ? nullptr : &it->second.job;
}

}  // namespace slipway::server
