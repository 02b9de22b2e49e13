#include "device_agent/session/window_pieces.h"

#include <string.h>

namespace slipway {

WindowPieces::WindowPieces(std::shared_ptr<RunnerWindow> window, std::function<void()> on_return)
    : window_(std::move(window)), on_return_(std::move(on_return)) {
  for (int piece = kWindowPieces; piece-- > 0;) free_.push_back(piece);
}

std::optional<int> WindowPieces::Lend() {
  absl::MutexLock lock(&mutex_);
  if (free_.empty()) return std::nullopt;
  const int piece = free_.back();
  free_.pop_back();
  return piece;
}

void WindowPieces::Return(int piece) {
  {
    absl::MutexLock lock(&mutex_);
    free_.push_back(piece);
  }
  on_return_();
}

void WindowPieces::Fill(int piece, const absl::Cord& data) {
  char* to = window_->data() + OffsetOf(piece);
  for (const absl::string_view chunk : data.Chunks()) {
    memcpy(to, chunk.data(), chunk.size());
    to += chunk.size();
  }
}

absl::Cord WindowPieces::Take(int piece, int64_t size) {
  if (size == 0) {
    Return(piece);
    return absl::Cord();
  }
  return absl::MakeCordFromExternal(
      absl::string_view(window_->data() + OffsetOf(piece), static_cast<size_t>(size)),
      [self = shared_from_this(), piece] { self->Return(piece); });
}

}  // namespace slipway
