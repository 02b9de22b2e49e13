#include "server/web/live_lists.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/web/transcode.h"

namespace slipway::web {
namespace {

// A stream on which nothing happens says so, lest proxies between take it for a dead one.
constexpr absl::Duration kHeartbeat = absl::Seconds(15);
// Of jobs those that a first page shows.
constexpr int kShownJobs = 50;
constexpr int kShownQueue = 100;

constexpr std::pair<Topic, absl::string_view> kTopics[] = {
    {Topic::kDevices, "devices"},
    {Topic::kQueue, "queue"},
    {Topic::kStatus, "status"},
    {Topic::kJobs, "jobs"},
    {Topic::kEverybodysJobs, "everybodys-jobs"},
};

absl::string_view NameOf(Topic topic) {
  for (const auto& [known, name] : kTopics) {
    if (known == topic) return name;
  }
  return "";
}

// What lists show of a job; all of one may have megabytes.
constexpr char kJobFields[] =
    "jobs.id,jobs.owner,jobs.revision,jobs.state,jobs.subject,jobs.assignee,jobs.progress,"
    "jobs.createTimeNs,jobs.startTimeNs,jobs.endTimeNs,jobs.tags,jobs.error.message,"
    "jobs.compilation.target,jobs.compilation.model.displayName,jobs.run.device,"
    "jobs.benchmark.run.device,jobs.session.purpose,jobs.session.device";

absl::StatusOr<Snapshot> ReadDevices(Upstream& upstream) {
  slipway::v1::ListDevicesResponse list;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.FleetService.ListDevices",
                                        slipway::v1::ListDevicesRequest(), list));
  Snapshot snapshot;
  for (slipway::v1::Device& device : *list.mutable_devices()) {
    device.clear_last_seen_ns();
    device.mutable_description()->clear_confinement();
    device.mutable_description()->clear_peaks();
    device.clear_health();
    SLIPWAY_ASSIGN_OR_RETURN(snapshot[device.description().id()], WriteJson(device));
  }
  return snapshot;
}

absl::StatusOr<Snapshot> ReadQueue(Upstream& upstream) {
  slipway::v1::ListQueueRequest request;
  request.set_limit(kShownQueue);
  slipway::v1::ListQueueResponse list;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.QueueService.ListQueue", request, list));
  // It is one value: who waits where changes with each that goes.
  Snapshot snapshot;
  SLIPWAY_ASSIGN_OR_RETURN(snapshot["queue"], WriteJson(list));
  return snapshot;
}

absl::StatusOr<Snapshot> ReadStatus(Upstream& upstream) {
  slipway::v1::ServerStatus status;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.ServerService.GetServerStatus",
                                        slipway::v1::GetServerStatusRequest(), status));
  Snapshot snapshot;
  SLIPWAY_ASSIGN_OR_RETURN(snapshot["status"], WriteJson(status));
  return snapshot;
}

absl::StatusOr<Snapshot> ReadJobs(Upstream& upstream, bool of_everybody) {
  slipway::v1::ListJobsRequest request;
  request.set_of_everybody(of_everybody);
  request.set_page_size(kShownJobs);
  slipway::v1::ListJobsResponse list;
  SLIPWAY_RETURN_IF_ERROR(upstream.Call("slipway.v1.JobService.ListJobs", request, list));
  Snapshot snapshot;
  for (const slipway::v1::Job& job : list.jobs()) {
    slipway::v1::ListJobsResponse one;
    *one.add_jobs() = job;
    SLIPWAY_ASSIGN_OR_RETURN(const std::string json, WriteJson(one, kJobFields));
    // {"jobs":[...]}
    const size_t begin = json.find('[') + 1;
    snapshot[job.id()] = json.substr(begin, json.rfind(']') - begin);
  }
  return snapshot;
}

}  // namespace

absl::StatusOr<std::set<Topic>> ParseTopics(absl::string_view text) {
  std::set<Topic> topics;
  for (const absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const auto* found = std::find_if(std::begin(kTopics), std::end(kTopics),
                                     [name](const auto& row) { return row.second == name; });
    if (found == std::end(kTopics)) {
      return absl::InvalidArgumentError(absl::StrCat("there is no topic \"", name, "\""));
    }
    topics.insert(found->first);
  }
  if (topics.empty()) return absl::InvalidArgumentError("no topics: which lists are followed?");
  return topics;
}

absl::StatusOr<Snapshot> ReadTopic(Topic topic, Upstream& upstream) {
  switch (topic) {
    case Topic::kDevices:
      return ReadDevices(upstream);
    case Topic::kQueue:
      return ReadQueue(upstream);
    case Topic::kStatus:
      return ReadStatus(upstream);
    case Topic::kJobs:
      return ReadJobs(upstream, false);
    case Topic::kEverybodysJobs:
      break;
  }
  return ReadJobs(upstream, true);
}

LiveLists::LiveLists(const Options& options, std::function<void(const SignedIn&)> forget)
    : options_(options), forget_(std::move(forget)), thread_([this] { Run(); }) {}

LiveLists::~LiveLists() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

absl::Status LiveLists::CheckPlace(const SignedIn& signed_in) {
  absl::MutexLock lock(&mutex_);
  const auto of_one = std::count_if(
      viewers_.begin(), viewers_.end(),
      [&signed_in](const auto& viewer) { return viewer->signed_in->key == signed_in.key; });
  if (viewers_.size() < options_.most_streams &&
      static_cast<size_t>(of_one) < options_.most_streams_of_one) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError("too many pages are open: close some");
}

void LiveLists::Add(std::shared_ptr<const SignedIn> signed_in, std::set<Topic> topics,
                    std::shared_ptr<HttpStream> stream) {
  // How soon a browser comes again when the connection broke.
  stream->Send("retry: 1000\n\n");
  absl::MutexLock lock(&mutex_);
  viewers_.push_back(std::make_shared<Viewer>(
      Viewer{std::move(signed_in), std::move(topics), std::move(stream), {}}));
  has_new_ = true;
}

void LiveLists::Serve(const std::vector<std::shared_ptr<Viewer>>& viewers) {
  const SignedIn& signed_in = *viewers.front()->signed_in;
  std::map<Topic, Snapshot> now;
  absl::Status status;
  for (const auto& viewer : viewers) {
    for (const Topic topic : viewer->topics) {
      if (!status.ok() || now.count(topic) > 0) continue;
      absl::StatusOr<Snapshot> read = ReadTopic(topic, *signed_in.upstream);
      status = read.status();
      if (read.ok()) now[topic] = *std::move(read);
    }
  }
  for (const auto& viewer : viewers) {
    if (absl::IsUnauthenticated(status)) {
      viewer->stream->End();
      continue;
    }
    if (viewer->is_away != !status.ok()) {
      viewer->is_away = !status.ok();
      viewer->stream->Send(EventText(viewer->is_away ? "away" : "here", "{}"));
    }
    for (const Topic topic : viewer->topics) {
      const auto found = now.find(topic);
      if (found == now.end()) continue;
      const SnapshotChange change = ChangeBetween(viewer->sent[topic], found->second);
      if (!change.any()) continue;
      if (viewer->is_ready) viewer->stream->Send(EventText(NameOf(topic), ChangeJson(change)));
      viewer->sent[topic] = found->second;
    }
    if (status.ok() && !viewer->is_ready) {
      viewer->is_ready = true;
      viewer->stream->Send(EventText("ready", "{}"));
    }
  }
  if (absl::IsUnauthenticated(status)) forget_(signed_in);
}

void LiveLists::Run() {
  absl::Time heartbeat = absl::Now() + kHeartbeat;
  absl::MutexLock lock(&mutex_);
  while (!stop_) {
    const auto wake = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stop_ || has_new_; };
    mutex_.AwaitWithTimeout(absl::Condition(&wake), options_.every);
    if (stop_) break;
    has_new_ = false;
    viewers_.erase(std::remove_if(viewers_.begin(), viewers_.end(),
                                  [](const auto& viewer) { return viewer->stream->is_gone(); }),
                   viewers_.end());
    std::map<std::string, std::vector<std::shared_ptr<Viewer>>> by_token;
    for (const auto& viewer : viewers_) by_token[viewer->signed_in->key].push_back(viewer);
    mutex_.Unlock();
    const bool is_due = absl::Now() >= heartbeat;
    if (is_due) heartbeat = absl::Now() + kHeartbeat;
    for (const auto& [key, viewers] : by_token) {
      if (is_due) {
        for (const auto& viewer : viewers) viewer->stream->Send(": still here\n\n");
      }
      Serve(viewers);
    }
    mutex_.Lock();
  }
}

}  // namespace slipway::web
