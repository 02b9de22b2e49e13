// RunnerWindow: memory that an agent shares with its runner, for bytes that are too many for a socket, and for what
// must be readable after the runner's death.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_WINDOW_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_WINDOW_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/files.h"
#include "core/runtime/call_options.h"

namespace slipway {

// Pieces of data, each of which one request may use at a time.
inline constexpr int64_t kWindowPieceBytes = 1 << 20;
inline constexpr int kWindowPieces = 16;

// What a runner says of itself while it works, and what it is told meanwhile. A program that goes astray may have
// written anything here.
struct RunnerStatus {
  // Cancelling of requests whose ids have the same remainder. The agent sets `id`, then `flag`; the runner clears
  // `flag` when it begins a request, then compares `id`: whichever comes first, the cancelling is seen.
  struct Cancelling {
    std::atomic<uint64_t> id{0};
    std::atomic<bool> flag{false};  // A call ends before its next step.
  };
  static constexpr uint64_t kCancellings = 64;

  void Cancel(uint64_t id);
  Cancelling& CancellingOf(uint64_t id) { return cancellings[id % kCancellings]; }

  // Where the call under way stands (ProgramContextOptions::position), and the handle of its program; 0: none.
  std::atomic<uint32_t> position{kNoStep};
  std::atomic<uint64_t> program{0};
  std::array<Cancelling, kCancellings> cancellings;
  // Of an attached device, whose programs do not see this memory: why there is no runner on it any more, as absl::StatusCode; 0: it was not
  // lost.
  std::atomic<int32_t> lost{0};
};

// A mapping of the memory; that of the process which made it and that of the one it was given to are the same bytes.
class RunnerWindow {
 public:
  // New memory, which takes room once it is used. RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<RunnerWindow>> Create();
  // Of a descriptor from another process. INVALID_ARGUMENT when it is not of this size.
  static absl::StatusOr<std::unique_ptr<RunnerWindow>> Map(int fd);
  ~RunnerWindow();
  RunnerWindow(const RunnerWindow&) = delete;
  RunnerWindow& operator=(const RunnerWindow&) = delete;

  int fd() const { return fd_.get(); }
  RunnerStatus& status() const;
  // Of all pieces together.
  char* data() const;
  static constexpr int64_t kDataBytes = kWindowPieceBytes * kWindowPieces;

 private:
  RunnerWindow(UniqueFd fd, char* memory) : fd_(std::move(fd)), memory_(memory) {}
  static absl::StatusOr<std::unique_ptr<RunnerWindow>> MapMemory(UniqueFd fd);

  const UniqueFd fd_;
  char* const memory_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_WINDOW_H_
