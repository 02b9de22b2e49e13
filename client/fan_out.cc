#include "client/fan_out.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/target/target.h"

namespace slipway {
namespace {

constexpr int kMissingToGiveUp = 2;

using Steps = std::vector<FanOutStep>;

void Append(Steps more, Steps& steps) {
  steps.insert(steps.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

// Whether what was compiled for `target` runs on the device.
absl::Status CheckRuns(const std::string& target, const Device& device) {
  const absl::StatusOr<Target> program = ParseTarget(target);
  if (!program.ok()) return program.status();
  const absl::StatusOr<Target> own = ParseTarget(device.target);
  if (!own.ok()) return own.status();
  return CheckRunsOn(*program, *own);
}

// Whose fault the end of a job is.
bool IsForWantOfTheDevice(const Job& job) {
  return absl::IsAborted(job.error) || (job.attempts == 0 && absl::IsDeadlineExceeded(job.error));
}

bool IsAtWork(const FanOutRow& row) {
  return row.state == JobState::kAssigned || row.state == JobState::kRunning;
}

}  // namespace

FanOut::FanOut(std::vector<Device> devices, Options options)
    : options_(std::move(options)), spare_(std::move(devices)) {
  // Of all, the one that is last goes first.
  std::sort(spare_.begin(), spare_.end(),
            [](const Device& a, const Device& b) { return a.id > b.id; });
  if (options_.spread == 0) return;
  std::stable_partition(spare_.begin(), spare_.end(),
                        [](const Device& device) { return device.state != DeviceState::kIdle; });
  if (options_.target.empty()) return;
  std::stable_partition(spare_.begin(), spare_.end(), [this](const Device& device) {
    return !CheckRuns(options_.target, device).ok();
  });
}

Steps FanOut::Start() {
  const size_t wanted =
      options_.spread == 0 ? spare_.size() : std::min<size_t>(spare_.size(), options_.spread);
  Steps steps;
  for (size_t i = 0; i < wanted; ++i) Append(Begin(), steps);
  return steps;
}

Steps FanOut::Begin() {
  if (spare_.empty()) return {};
  const Device device = std::move(spare_.back());
  spare_.pop_back();
  FanOutRow& row = rows_.emplace_back();
  row.device = device.id;
  row.target = options_.target.empty() ? device.target : options_.target;
  if (const absl::Status status = CheckRuns(row.target, device); !status.ok()) {
    return Fail(row, status, /*is_lost=*/false);
  }
  if (options_.artifact.has_value()) {
    return {
        {.kind = FanOutStep::Kind::kSubmit, .device = row.device, .artifact = *options_.artifact}};
  }
  Program& program = programs_[row.target];
  if (!program.is_asked_for) {
    program.is_asked_for = true;
    return {{.kind = FanOutStep::Kind::kCompile, .target = row.target}};
  }
  if (!program.artifact.has_value()) return {};
  if (!program.artifact->ok()) return Fail(row, program.artifact->status(), /*is_lost=*/false);
  return {
      {.kind = FanOutStep::Kind::kSubmit, .device = row.device, .artifact = **program.artifact}};
}

Steps FanOut::Compiled(const std::string& target, absl::StatusOr<Digest> artifact) {
  programs_[target].artifact = artifact;
  Steps steps;
  // Those that begin meanwhile find the artifact themselves.
  const size_t waiting = rows_.size();
  for (size_t i = 0; i < waiting; ++i) {
    FanOutRow& row = rows_[i];
    if (row.target != target || row.ended() || !row.job_id.empty()) continue;
    if (artifact.ok()) {
      steps.push_back(
          {.kind = FanOutStep::Kind::kSubmit, .device = row.device, .artifact = *artifact});
    } else {
      Append(Fail(row, artifact.status(), /*is_lost=*/false), steps);
    }
  }
  return steps;
}

Steps FanOut::Submitted(const std::string& device, absl::StatusOr<std::string> job_id) {
  FanOutRow& row = *Find(device);
  if (!job_id.ok()) {
    return row.ended() ? Steps() : Fail(row, job_id.status(), absl::IsNotFound(job_id.status()));
  }
  row.job_id = *job_id;
  if (!row.ended()) return {};
  // Given up while it was accepted.
  return {{.kind = FanOutStep::Kind::kCancel, .job_id = row.job_id}};
}

Steps FanOut::Told(const std::string& device, const absl::StatusOr<Job>& job) {
  FanOutRow& row = *Find(device);
  if (row.ended()) return {};
  if (!job.ok()) return Fail(row, job.status(), /*is_lost=*/false);
  row.state = job->state;
  row.progress = job->progress;
  switch (job->state) {
    case JobState::kSucceeded:
      row.result = job->benchmark;
      if (row.result.has_value()) return {};
      return Fail(row, absl::InternalError("the benchmark came without a result"), false);
    case JobState::kFailed:
      return Fail(row, job->error, IsForWantOfTheDevice(*job));
    case JobState::kCancelled:
      return Fail(row, absl::CancelledError("the benchmark was cancelled"), /*is_lost=*/false);
    default:
      return {};
  }
}

Steps FanOut::Looked(absl::Span<const Device> available) {
  Steps steps;
  const size_t looked_at = rows_.size();
  for (size_t i = 0; i < looked_at; ++i) {
    if (rows_[i].ended()) continue;
    const std::string device = rows_[i].device;
    const bool is_there =
        absl::c_any_of(available, [&device](const Device& other) { return other.id == device; });
    if (is_there || IsAtWork(rows_[i])) {
      missing_.erase(device);
      continue;
    }
    if (++missing_[device] < kMissingToGiveUp) continue;
    if (!rows_[i].job_id.empty()) {
      steps.push_back({.kind = FanOutStep::Kind::kCancel, .job_id = rows_[i].job_id});
    }
    Append(Fail(rows_[i],
                absl::UnavailableError("the device is lost, or not given work any more; "
                                       "\"slipway devices\" tells"),
                /*is_lost=*/true),
           steps);
  }
  return steps;
}

Steps FanOut::Fail(FanOutRow& row, absl::Status error, bool is_lost) {
  row.error = std::move(error);
  row.is_lost = is_lost;
  if (!is_lost || options_.spread == 0 || spare_.empty()) return {};
  row.replaced_by = spare_.back().id;
  return Begin();
}

bool FanOut::ended() const {
  return absl::c_all_of(rows_, [](const FanOutRow& row) { return row.ended(); });
}

std::vector<std::string> FanOut::OpenJobs() const {
  std::vector<std::string> jobs;
  for (const FanOutRow& row : rows_) {
    if (!row.ended() && !row.job_id.empty()) jobs.push_back(row.job_id);
  }
  return jobs;
}

FanOutRow* FanOut::Find(const std::string& device) {
  const auto row =
      absl::c_find_if(rows_, [&device](const FanOutRow& row) { return row.device == device; });
  return row == rows_.end() ? nullptr : &*row;
}

}  // namespace slipway
