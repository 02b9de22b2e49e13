#include "server/workers/local_workers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// What has not ended by itself after this is killed.
constexpr absl::Duration kKillAfter = absl::Seconds(5);

// Waits no longer than this process's own log would.
void WriteToStderr(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

LocalWorkers::LocalWorkers(Options options, TimerQueue* timers, Ended ended)
    : options_(std::move(options)), timers_(*timers), ended_(std::move(ended)) {
  {
    absl::MutexLock lock(&mu_);
    slots_.resize(options_.count);
  }
  for (int i = 0; i < options_.count; ++i) keepers_.emplace_back([this, i] { Keep(i); });
}

LocalWorkers::~LocalWorkers() {
  TimerQueue::Id timer;
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
    timer = std::exchange(idle_timer_, 0);
    EndIdle();
  }
  if (timer != 0) timers_.CancelAndWait(timer);
  timer = timers_.After(kKillAfter, [this] {
    absl::MutexLock lock(&mu_);
    for (Slot& slot : slots_) {
      if (slot.process != nullptr) slot.process->Kill();
    }
  });
  for (std::thread& keeper : keepers_) keeper.join();
  timers_.CancelAndWait(timer);
}

void LocalWorkers::SetDemand(int compilations) {
  absl::MutexLock lock(&mu_);
  const bool was_idle = demand_ == 0;
  demand_ = compilations;
  if (demand_ > 0 && idle_timer_ != 0) {
    timers_.Cancel(std::exchange(idle_timer_, 0));
  } else if (demand_ == 0 && !was_idle && !ends_) {
    idle_timer_ = timers_.After(options_.idle, [this] {
      absl::MutexLock timer_lock(&mu_);
      idle_timer_ = 0;
      if (demand_ == 0) EndIdle();
    });
  }
}

void LocalWorkers::EndIdle() {
  for (Slot& slot : slots_) {
    if (slot.process == nullptr) continue;
    slot.told_to_end = true;
    slot.process->Terminate();
  }
}

void LocalWorkers::Keep(int index) {
  const std::string id = LocalWorkerId(index);
  const auto wanted = [this, index]()
                          ABSL_SHARED_LOCKS_REQUIRED(mu_) { return ends_ || demand_ > index; };
  const auto ends = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return ends_; };
  absl::Duration backoff = options_.first_backoff;
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(&wanted));
      if (ends_) return;
    }
    SubprocessOptions process_options;
    process_options.argv = options_.command;
    process_options.argv.push_back("--worker-id");
    process_options.argv.push_back(id);
    process_options.stderr_stream = ChildStream::Tail();
    process_options.follow_parent = true;
    absl::StatusOr<std::unique_ptr<Subprocess>> started = Subprocess::Start(process_options);
    std::string why;
    std::string last_words;
    bool counted = true;
    if (started.ok()) {
      std::shared_ptr<Subprocess> process = *std::move(started);
      Log(LogLevel::kInfo, "worker started", {{"worker", id}, {"pid", process->pid()}});
      process->FollowOutput(WriteToStderr);
      {
        absl::MutexLock lock(&mu_);
        slots_[index] = Slot{process, false};
        // What ends those that are idle may have come before this one was there.
        if (ends_ || (demand_ == 0 && idle_timer_ == 0)) EndIdle();
      }
      const absl::StatusOr<ExitStatus> end = process->Wait();
      why = absl::StrCat("worker '", id, "' ended with ",
                         end.ok() ? end->ToString() : end.status().ToString());
      last_words = process->OutputTail();
      absl::MutexLock lock(&mu_);
      counted = !slots_[index].told_to_end;
      slots_[index] = Slot{};
    } else {
      why = absl::StrCat("worker '", id, "' did not start: ", started.status().message());
    }
    Log(counted ? LogLevel::kError : LogLevel::kInfo, "worker ended",
        {{"worker", id}, {"why", why}});
    ended_(id, why, last_words, counted);
    if (!counted) {
      backoff = options_.first_backoff;
      continue;
    }
    absl::MutexLock lock(&mu_);
    if (mu_.AwaitWithTimeout(absl::Condition(&ends), backoff)) return;
    backoff = std::min(backoff * 2, options_.longest_backoff);
  }
}

}  // namespace slipway::server
