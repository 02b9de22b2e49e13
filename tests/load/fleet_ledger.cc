#include "tests/load/fleet_ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway::testing {
namespace {

constexpr size_t kComplaints = 20;

bool IsTerminal(v1::Job::State state) {
  return state == v1::Job::SUCCEEDED || state == v1::Job::FAILED || state == v1::Job::CANCELLED;
}

void AddNew(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

bool IsSame(const FleetEnd& a, const FleetEnd& b) {
  return a.state == b.state && a.revision == b.revision && a.mark == b.mark;
}

}  // namespace

void FleetLedger::Asked(int64_t request, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  requests_[request].asked = now;
}

void FleetLedger::Accepted(int64_t request, const std::string& job, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  Request& asked = requests_[request];
  if (asked.jobs.empty()) {
    asked.accepted = now;
    ++accepted_;
  }
  AddNew(asked.jobs, job);
  jobs_[job].request = request;
}

void FleetLedger::Ended(const std::string& job, const FleetEnd& end, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  Job& known = jobs_[job];
  if (!known.ended.has_value()) {
    known.ended = now;
    ++ended_;
  }
  const auto is_same = [&end](const FleetEnd& other) { return IsSame(end, other); };
  if (std::none_of(known.ends.begin(), known.ends.end(), is_same)) known.ends.push_back(end);
}

void FleetLedger::Given(const std::string& job, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  Job& known = jobs_[job];
  if (!known.given.has_value()) known.given = now;
}

void FleetLedger::Worked(const std::string& job, int64_t mark) {
  absl::MutexLock lock(&mutex_);
  jobs_[job].marks.push_back(mark);
}

void FleetLedger::Listed(int64_t request, const std::string& job, v1::Job::State state,
                         int64_t revision) {
  absl::MutexLock lock(&mutex_);
  AddNew(requests_[request].listed, job);
  jobs_[job].listed = FleetEnd{.state = state, .revision = revision};
}

int64_t FleetLedger::accepted() const {
  absl::MutexLock lock(&mutex_);
  return accepted_;
}

int64_t FleetLedger::ended() const {
  absl::MutexLock lock(&mutex_);
  return ended_;
}

std::string FleetLedger::Loss(const Job& job) {
  if (!job.listed.has_value()) return "the server does not know it any more";
  if (job.ends.empty()) return "its client was never told of its end";
  const FleetEnd& end = job.ends.front();
  if (end.state != v1::Job::SUCCEEDED) {
    return absl::StrCat("it ended as ", v1::Job::State_Name(end.state));
  }
  if (std::find(job.marks.begin(), job.marks.end(), end.mark) == job.marks.end()) {
    return "its result is that of none of its attempts";
  }
  return "";
}

std::string FleetLedger::Doubling(const Job& job) {
  if (job.ends.size() > 1) return "it ended more than once";
  if (job.ends.empty() || !job.listed.has_value()) return "";
  if (!IsTerminal(job.listed->state)) return "it ended, and goes on";
  if (job.listed->revision != job.ends.front().revision) return "it changed after its end";
  return "";
}

FleetVerdict FleetLedger::Judge() const {
  absl::MutexLock lock(&mutex_);
  FleetVerdict verdict;
  const auto complain = [&verdict](absl::string_view what, int64_t request, absl::string_view job,
                                   absl::string_view why) {
    if (verdict.complaints.size() >= kComplaints) return;
    verdict.complaints.push_back(
        absl::StrCat(what, ": request ", request, ", job ", job, ": ", why));
  };
  for (const auto& [number, request] : requests_) {
    ++verdict.asked;
    std::vector<std::string> all = request.jobs;
    for (const std::string& job : request.listed) AddNew(all, job);
    if (all.size() > 1) {
      ++verdict.doubled;
      complain("doubled", number, absl::StrJoin(all, " and "), "the request made both");
    }
    // Who was not answered knows of no job; that it was made all the same is no loss.
    if (request.jobs.empty()) continue;
    ++verdict.accepted;
    const Job& job = jobs_.at(request.jobs.front());
    if (job.marks.size() > 1) ++verdict.worked_again;
    if (job.ends.empty() && job.listed.has_value() && !IsTerminal(job.listed->state)) {
      ++verdict.unfinished;
      continue;
    }
    const std::string doubling = Doubling(job);
    if (!doubling.empty() && all.size() == 1) {
      ++verdict.doubled;
      complain("doubled", number, request.jobs.front(), doubling);
    }
    const std::string loss = Loss(job);
    if (loss.empty()) {
      ++verdict.finished;
    } else {
      ++verdict.lost;
      complain("lost", number, request.jobs.front(), loss);
    }
  }
  return verdict;
}

FleetTimes FleetLedger::Times() const {
  absl::MutexLock lock(&mutex_);
  FleetTimes times;
  for (const auto& [number, request] : requests_) {
    if (request.jobs.empty()) continue;
    times.accept.push_back(request.accepted - request.asked);
    const Job& job = jobs_.at(request.jobs.front());
    if (job.given.has_value()) times.give.push_back(*job.given - request.asked);
    if (job.ended.has_value()) times.finish.push_back(*job.ended - request.asked);
  }
  for (auto* sorted : {&times.accept, &times.give, &times.finish}) {
    std::sort(sorted->begin(), sorted->end());
  }
  return times;
}

}  // namespace slipway::testing
