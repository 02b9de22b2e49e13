// WindowPieces: the pieces of a runner's window, lent to one request each.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_WINDOW_PIECES_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_WINDOW_PIECES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {

// Thread-safe. Keeps the window while a piece of it is lent.
class WindowPieces : public std::enable_shared_from_this<WindowPieces> {
 public:
  // `on_return` is called on any thread when a piece came back.
  WindowPieces(std::shared_ptr<RunnerWindow> window, std::function<void()> on_return);

  // The number of a piece that nobody has; none when all are lent. The one that was used last comes first, so that a
  // session which needs few touches few.
  std::optional<int> Lend();
  void Return(int piece);

  static int64_t OffsetOf(int piece) { return piece * kWindowPieceBytes; }
  // Copies into a piece. REQUIRES: data.size() <= kWindowPieceBytes.
  void Fill(int piece, const absl::Cord& data);
  // The first bytes of a piece, where they lie; it is returned when the last copy of the cord is gone.
  absl::Cord Take(int piece, int64_t size);

 private:
  const std::shared_ptr<RunnerWindow> window_;
  const std::function<void()> on_return_;
  absl::Mutex mutex_;
  std::vector<int> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_WINDOW_PIECES_H_
