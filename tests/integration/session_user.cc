// A user of a session, as a process that may be killed or stopped: opens one, has a program count its calls, closes it.
//
//   session_user --server ADDRESS --purpose TEXT --calls N [--straight]
//
// Prints every error it gets, as "error TIME WAITED CODE MESSAGE" (nanoseconds; what it waited for the answer, without
// the time in which it did not run itself), and "closed" at the end. Ends with 1 when a call was lost or done twice.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/session.h"
#include "core/base/clock.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/runtime/test_programs/test_programs.h"

namespace slipway::testing {
namespace {

constexpr size_t kUnderWay = 4;
constexpr absl::Duration kPause = absl::Milliseconds(20);

// Measures what one waits for others: a thread that should run every few milliseconds tells when this process does not.
class Stopwatch {
 public:
  Stopwatch() {
    thread_ = std::thread([this] {
      absl::Duration before = clock_.Monotonic();
      while (!ends_) {
        absl::SleepFor(kTick);
        const absl::Duration now = clock_.Monotonic();
        if (now - before > 5 * kTick) absent_ns_ += absl::ToInt64Nanoseconds(now - before);
        before = now;
      }
    });
  }
  ~Stopwatch() {
    ends_ = true;
    thread_.join();
  }
  void Begin() { begin_ns_ = Present(); }
  absl::Duration waited() const { return absl::Nanoseconds(Present() - begin_ns_); }

 private:
  static constexpr absl::Duration kTick = absl::Milliseconds(20);
  int64_t Present() const { return absl::ToInt64Nanoseconds(clock_.Monotonic()) - absent_ns_; }

  const SystemClock clock_;
  std::atomic<int64_t> absent_ns_ = 0;
  std::atomic<int64_t> begin_ns_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

struct Options {
  std::string server;
  std::string purpose;
  int64_t calls = 10;
  absl::Duration idle = absl::Seconds(4);
  bool straight = false;
};

class User {
 public:
  explicit User(Options options) : options_(std::move(options)) {}

  // OK also when the session was lost, which was printed. INTERNAL for a wrong count.
  absl::Status Work() {
    watch_.Begin();
    absl::StatusOr<Session> session =
        Session::Open({.address = options_.server,
                       .purpose = options_.purpose,
                       .idle = options_.idle,
                       .patience = std::min(options_.idle, absl::Milliseconds(3500)),
                       // It hears of the server.
                       .may_go_straight = options_.straight,
                       .on_waiting = [this](int64_t, const std::string&) { watch_.Begin(); }});
    if (!session.ok()) return Print(session.status());
    while (options_.calls > 0) {
      absl::Status status = CountWith(*session);
      if (status.ok()) break;
      if (absl::IsInternal(status)) return status;
      SLIPWAY_RETURN_IF_ERROR(Print(status));
      // A runner that is gone leaves the session.
      watch_.Begin();
      status = session->Facts().status();
      if (!status.ok()) return Print(status);
    }
    watch_.Begin();
    const absl::Status closed = session->Close();
    if (!closed.ok()) return Print(closed);
    std::printf("closed\n");
    return absl::OkStatus();
  }

 private:
  // OK: an error is no failure of this program.
  absl::Status Print(const absl::Status& error) const {
    std::printf("error %lld %lld %d %s\n", static_cast<long long>(absl::ToUnixNanos(absl::Now())),
                static_cast<long long>(absl::ToInt64Nanoseconds(watch_.waited())),
                static_cast<int>(error.code()),
                absl::StrReplaceAll(error.message(), {{"\n", " "}}).c_str());
    std::fflush(stdout);
    return absl::OkStatus();
  }

  // Calls until there were enough or one fails. The count lies in the runner.
  absl::Status CountWith(Session& session) {
    watch_.Begin();
    SLIPWAY_ASSIGN_OR_RETURN(const RemoteProgram count,
                             session.Load(TestProgram(TestKernel::kCount)));
    watch_.Begin();
    SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor x, session.Zeros({DataType::kFloat32, {2, 8}}));
    float expected = 0;
    while (options_.calls > 0) {
      std::vector<StartedCall> calls;
      for (size_t i = 0; i < kUnderWay; ++i) calls.push_back(count.CallAsync({&x}));
      for (StartedCall& call : calls) {
        watch_.Begin();
        SLIPWAY_RETURN_IF_ERROR(call.done.Get().status());
        watch_.Begin();
        SLIPWAY_ASSIGN_OR_RETURN(const Tensor y, call.outputs[0].Get());
        if (y.values<float>()[0] != ++expected) {
          return absl::InternalError(absl::StrCat("call ", expected,
                                                  " since the program was loaded says that ",
                                                  y.values<float>()[0], " have been made"));
        }
        --options_.calls;
      }
      absl::SleepFor(kPause);
    }
    return absl::OkStatus();
  }

  Options options_;
  Stopwatch watch_;
};

int Main(int argc, char** argv) {
  Options options;
  FlagSet flags("session_user [flags]", "Uses a session.");
  flags.Add("server", &options.server, "ADDRESS", "Server to open it with.");
  flags.Add("purpose", &options.purpose, "TEXT", "What it is for.");
  flags.Add("calls", &options.calls, 0, 1 << 20, "N", "Calls it makes.");
  flags.Add("idle", &options.idle, "TIME", "The lease's.");
  flags.Add("straight", &options.straight, "Go past the server when the agent can be reached.");
  absl::Status status = flags.Parse(argc, argv).status();
  if (status.ok()) status = User(options).Work();
  if (status.ok()) return 0;
  std::fprintf(stderr, "session_user: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) { return slipway::testing::Main(argc, argv); }
