#include "client/cli/signal_interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace slipway::cli {
namespace {

// Shared with the thread that waits for signals, which never ends.
struct State {
  absl::Mutex mutex;
  std::function<void()> handler ABSL_GUARDED_BY(mutex);
};

class SignalInterrupts final : public Interrupts {
 public:
  SignalInterrupts() : state_(std::make_shared<State>()) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([state = state_, signals] {
      while (true) {
        int signal = 0;
        if (sigwait(&signals, &signal) != 0) continue;
        absl::MutexLock lock(&state->mutex);
        // As shells say it, since a verb's exit code may be its verdict. Children follow: their lifelines break with this
        // process.
        if (state->handler == nullptr) _exit(128 + signal);
        std::exchange(state->handler, nullptr)();
      }
    }).detach();
  }

  void SetHandler(std::function<void()> handler) override {
    absl::MutexLock lock(&state_->mutex);
    state_->handler = std::move(handler);
  }

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace

std::unique_ptr<Interrupts> MakeSignalInterrupts() { return std::make_unique<SignalInterrupts>(); }

}  // namespace slipway::cli
