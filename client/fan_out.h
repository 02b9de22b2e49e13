// FanOut: one model or artifact, measured on many devices at once. What is to be done next, decided from what has happened, without clock,
// thread or network; client/run_fan_out.h does it.
//
// Each distinct target is compiled for once, each device gets one benchmark, pinned to it. A device that is lost, drained or put in quarantine before
// its benchmark has begun, or that its attempts were lost on, ends its own row and no other. With a spread, another device that was
// named takes its place; without one all were meant, and none stands in for another.
#ifndef SLIPWAY_CLIENT_FAN_OUT_H_
#define SLIPWAY_CLIENT_FAN_OUT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/types.h"
#include "core/base/digest.h"

namespace slipway {

// What became of one device.
struct FanOutRow {
  std::string device;
  std::string target;    // What is compiled for.
  std::string job_id;    // Empty before it was accepted.
  JobProgress progress;  // Of the benchmark.
  JobState state = JobState::kQueued;
  std::optional<BenchmarkResult> result;
  absl::Status error;            // Not OK once it has failed.
  bool is_lost = false;          // For want of the device.
  std::string replaced_by = {};  // The device that took its place.

  bool ended() const { return result.has_value() || !error.ok(); }
};

// What is to be done; the fields that its kind names are set.
struct FanOutStep {
  enum class Kind {
    kCompile,  // For `target`; then FanOut::Compiled.
    kSubmit,   // `artifact` to `device`; then FanOut::Submitted, and Ended when the job has.
    kCancel,   // `job_id`, of which nothing is to be told any more.
  };
  Kind kind = Kind::kCompile;
  std::string target;
  std::string device;
  Digest artifact;
  std::string job_id;
};

// A value; not thread-safe.
class FanOut {
 public:
  struct Options {
    // How many devices to measure on; 0: all.
    int spread = 0;
    // What to compile for; empty: for each device's own target.
    std::string target;
    // What was compiled already, for `target`: nothing is compiled.
    std::optional<Digest> artifact;
  };

  // `devices` in any order: of a spread those come first that can run it and are idle.
  FanOut(std::vector<Device> devices, Options options);

  // What to do first.
  std::vector<FanOutStep> Start();

  // Each of these returns what to do next. What comes too late changes nothing.
  std::vector<FanOutStep> Compiled(const std::string& target, absl::StatusOr<Digest> artifact);
  std::vector<FanOutStep> Submitted(const std::string& device, absl::StatusOr<std::string> job_id);
  // The job of a device has changed, or ended. An error: nothing can be learnt of it any more.
  std::vector<FanOutStep> Told(const std::string& device, const absl::StatusOr<Job>& job);
  // The devices that are available; called again and again, at least some seconds apart. One that was missing twice in a row is given up, unless it is at
  // work.
  std::vector<FanOutStep> Looked(absl::Span<const Device> available);

  bool ended() const;
  // One for each device that took part, in the order in which they began to.
  const std::vector<FanOutRow>& rows() const { return rows_; }
  // Jobs that have not ended.
  std::vector<std::string> OpenJobs() const;

 private:
  struct Program {
    bool is_asked_for = false;
    std::optional<absl::StatusOr<Digest>> artifact;
  };

  // Lets the next device take part, if there is one.
  std::vector<FanOutStep> Begin();
  std::vector<FanOutStep> Fail(FanOutRow& row, absl::Status error, bool is_lost);
  FanOutRow* Find(const std::string& device);

  const Options options_;
  std::vector<Device> spare_;  // The next one last.
  std::vector<FanOutRow> rows_;
  std::map<std::string, Program> programs_;  // By target.
  std::map<std::string, int> missing_;       // How often in a row, by device.
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_FAN_OUT_H_
