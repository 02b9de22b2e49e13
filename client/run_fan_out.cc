#include "client/run_fan_out.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace slipway {
namespace {

using Steps = std::vector<FanOutStep>;
// What has happened, for the thread that has the fan-out.
using Event = std::function<Steps(FanOut& fan_out)>;

class Runner {
 public:
  Runner(Client& client, const FanOutWork& work, absl::Duration look_every)
      : client_(client), work_(work), look_every_(look_every) {
    threads_.emplace_back([this] { Look(); });
  }

  ~Runner() { Join(); }

  void Do(const Steps& steps) {
    for (const FanOutStep& step : steps) {
      threads_.emplace_back([this, step] { Do(step); });
    }
  }

  // Waits until there are some. Nothing any more once it was interrupted.
  std::vector<Event> Take() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Runner::HasNews));
    return std::exchange(events_, {});
  }

  bool is_interrupted() {
    absl::MutexLock lock(&mutex_);
    return is_interrupted_;
  }

  // Waits for all threads; what they have told meanwhile can still be taken.
  std::vector<Event> Join() {
    {
      absl::MutexLock lock(&mutex_);
      ends_ = true;
    }
    for (std::thread& thread : std::exchange(threads_, {})) thread.join();
    absl::MutexLock lock(&mutex_);
    return std::exchange(events_, {});
  }

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !events_.empty() || is_interrupted_;
  }

  void Tell(Event event) {
    absl::MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }

  // Whether a call ended because the client was interrupted.
  bool Interrupted(const absl::Status& status) {
    if (!absl::IsCancelled(status)) return false;
    absl::MutexLock lock(&mutex_);
    is_interrupted_ = true;
    return true;
  }

  void Do(const FanOutStep& step) {
    switch (step.kind) {
      case FanOutStep::Kind::kCompile:
        return Compile(step.target);
      case FanOutStep::Kind::kSubmit:
        return Measure(step.device, step.artifact);
      case FanOutStep::Kind::kCancel:
        // It ends by its deadline otherwise.
        client_.CancelJob(step.job_id).IgnoreError();
    }
  }

  void Compile(const std::string& target) {
    const absl::StatusOr<Digest> artifact = work_.compile(target);
    if (Interrupted(artifact.status())) return;
    Tell([target, artifact](FanOut& fan_out) { return fan_out.Compiled(target, artifact); });
  }

  void Measure(const std::string& device, const Digest& artifact) {
    const absl::StatusOr<std::string> job_id = work_.submit(device, artifact);
    if (Interrupted(job_id.status())) return;
    Tell([device, job_id](FanOut& fan_out) { return fan_out.Submitted(device, job_id); });
    if (!job_id.ok()) return;
    const auto tell = [this, device](const absl::StatusOr<Job>& job) {
      Tell([device, job](FanOut& fan_out) { return fan_out.Told(device, job); });
    };
    const absl::StatusOr<Job> job = client_.Wait(*job_id, [&tell](const Job& now) {
      if (!now.ended()) tell(now);
    });
    if (!Interrupted(job.status())) tell(job);
  }

  void Look() {
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        if (mutex_.AwaitWithTimeout(absl::Condition(&ends_), look_every_)) return;
      }
      const absl::StatusOr<DeviceList> list = client_.FindDevices({.available = true});
      if (Interrupted(list.status())) return;
      // A server that does not answer says nothing of its devices.
      if (!list.ok()) continue;
      Tell([list](FanOut& fan_out) { return fan_out.Looked(list->devices); });
    }
  }

  Client& client_;
  const FanOutWork& work_;
  const absl::Duration look_every_;
  absl::Mutex mutex_;
  std::vector<Event> events_ ABSL_GUARDED_BY(mutex_);
  bool is_interrupted_ ABSL_GUARDED_BY(mutex_) = false;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

absl::Status CancelAll(Client& client, const std::vector<std::string>& jobs) {
  std::vector<std::string> left;
  for (const std::string& job : jobs) {
    if (!client.CancelJob(job).ok()) left.push_back(job);
  }
  std::string text =
      absl::StrCat("interrupted; ", jobs.size() - left.size(),
                   jobs.size() - left.size() == 1 ? " job is" : " jobs are", " cancelled");
  for (const std::string& job : left) {
    absl::StrAppend(&text, "; job \"", job, "\" may still run, cancel it later");
  }
  return absl::CancelledError(text);
}

}  // namespace

absl::Status RunFanOut(Client& client, FanOut& fan_out, const FanOutWork& work,
                       const std::function<void(const FanOut&)>& observer,
                       absl::Duration look_every) {
  Runner runner(client, work, look_every);
  runner.Do(fan_out.Start());
  observer(fan_out);
  while (!fan_out.ended() && !runner.is_interrupted()) {
    for (const Event& event : runner.Take()) {
      runner.Do(event(fan_out));
      observer(fan_out);
    }
  }
  if (!runner.is_interrupted()) return absl::OkStatus();
  // What was being accepted has its id now.
  std::vector<std::string> jobs;
  for (const Event& event : runner.Join()) {
    for (const FanOutStep& step : event(fan_out)) {
      if (step.kind == FanOutStep::Kind::kCancel) jobs.push_back(step.job_id);
    }
  }
  for (const std::string& job : fan_out.OpenJobs()) jobs.push_back(job);
  return CancelAll(client, jobs);
}

}  // namespace slipway
