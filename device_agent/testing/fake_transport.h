// FakeTransport: a server as an agent's loop sees it, without a network.
#ifndef SLIPWAY_DEVICE_AGENT_TESTING_FAKE_TRANSPORT_H_
#define SLIPWAY_DEVICE_AGENT_TESTING_FAKE_TRANSPORT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "device_agent/agent_transport.h"

namespace slipway {

// Thread-safe. Parks like a server: a Sync returns when something else is wanted than was applied,
// when it is cancelled, or when the test ends it.
class FakeTransport final : public AgentTransport {
 public:
  // There are no clients.
  class NoAttachCall final : public AttachCall {
   public:
    absl::Status Wait() override { return absl::UnavailableError("no client comes"); }
    void Cancel() override {}
  };

  void Want(const std::vector<v1::RunAssignment>& attempts) {
    absl::MutexLock lock(&mutex_);
    desired_.clear_attempts();
    for (const v1::RunAssignment& attempt : attempts) *desired_.add_attempts() = attempt;
    desired_.set_version(absl::StrCat(++version_));
  }
  void SetReturnWithin(absl::Duration time) {
    absl::MutexLock lock(&mutex_);
    desired_.set_return_within_ns(absl::ToInt64Nanoseconds(time));
    desired_.set_version(absl::StrCat(++version_));
  }
  // Offers something from now on; an empty id: nothing.
  void Offer(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    desired_.clear_offer();
    if (!id.empty()) desired_.mutable_offer()->set_id(id);
    desired_.set_version(absl::StrCat(++version_));
  }
  void SetSilence(absl::Duration silence) {
    absl::MutexLock lock(&mutex_);
    desired_.set_silence_ns(absl::ToInt64Nanoseconds(silence));
    desired_.set_version(absl::StrCat(++version_));
  }
  // Every Sync from now on ends so; OK: as usual.
  void FailSync(absl::Status status) {
    absl::MutexLock lock(&mutex_);
    failure_ = std::move(status);
  }

  std::unique_ptr<AttachCall> Attach(const v1::SessionLease&, SessionEntrance*) override {
    return std::make_unique<NoAttachCall>();
  }

  // Waits until the newest report fits; returns it.
  template <typename F>
  v1::AgentState WaitFor(F fits) {
    const auto is_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return report_.has_value() && fits(*report_);
    };
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_there));
    return *report_;
  }
  std::vector<absl::Duration> pauses() const {
    absl::MutexLock lock(&mutex_);
    return pauses_;
  }
  std::vector<absl::Duration> away() const {
    absl::MutexLock lock(&mutex_);
    return away_;
  }
  // Waits until the loop has paused so often.
  void WaitForPauses(size_t count) {
    const auto are_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return pauses_.size() >= count;
    };
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&are_there));
  }

  std::unique_ptr<SyncCall> NewSync(bool) override { return std::make_unique<Call>(*this); }
  // Take no time.
  void StayAway(absl::Duration time, std::stop_token) override {
    absl::MutexLock lock(&mutex_);
    away_.push_back(time);
  }
  void Pause(absl::Duration pause, std::stop_token) override {
    absl::MutexLock lock(&mutex_);
    pauses_.push_back(pause);
  }
  absl::StatusOr<v1::SignedStatement> Vouch(const v1::VouchRequest&, const RetryPolicy&) override {
    return absl::UnimplementedError("an agent's loop loads no programs");
  }
  absl::Status FetchBlob(const Digest&, BlobStore&, const RetryPolicy&) override {
    return absl::UnimplementedError("an agent's loop moves no blobs");
  }
  absl::Status SendBlob(const Digest&, BlobStore&, const RetryPolicy&) override {
    return absl::UnimplementedError("an agent's loop moves no blobs");
  }

 private:
  class Call final : public SyncCall {
   public:
    explicit Call(FakeTransport& transport) : transport_(transport) {}
    absl::StatusOr<v1::DesiredAgentState> Run(const v1::AgentState& state,
                                              absl::Duration) override {
      FakeTransport& t = transport_;
      absl::MutexLock lock(&t.mutex_);
      t.report_ = state;
      const auto is_over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(t.mutex_) {
        return is_cancelled_ || !t.failure_.ok() || state.park_ns() == 0 ||
               t.desired_.version() != state.applied_version();
      };
      t.mutex_.Await(absl::Condition(&is_over));
      if (is_cancelled_) return absl::CancelledError("cancelled");
      if (!t.failure_.ok()) return t.failure_;
      return t.desired_;
    }
    void Cancel() override {
      absl::MutexLock lock(&transport_.mutex_);
      is_cancelled_ = true;
    }

   private:
    FakeTransport& transport_;
    bool is_cancelled_ = false;
  };

  mutable absl::Mutex mutex_;
  v1::DesiredAgentState desired_ ABSL_GUARDED_BY(mutex_);
  int version_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::AgentState> report_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Duration> pauses_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Duration> away_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_TESTING_FAKE_TRANSPORT_H_
