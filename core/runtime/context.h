// slipway_context: what kernels get from the runtime during a call, and the imports through which
// they get it.
#ifndef SLIPWAY_CORE_RUNTIME_CONTEXT_H_
#define SLIPWAY_CORE_RUNTIME_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/scratch.h"
#include "core/runtime/step_timing.h"
#include "core/runtime/thread_pool.h"

// The type that kernel_abi.h leaves open. Thread-safe but for ClearError, error_text
// and SetRecording.
struct slipway_context {
 public:
  slipway_context(slipway::ThreadPool& threads, slipway::Scratch& scratch)
      : threads_(threads), scratch_(scratch) {}

  slipway::ThreadPool& threads() { return threads_; }
  slipway::Scratch& scratch() { return scratch_; }

  // Null where nobody wants to know what threads do. Not to be changed during a call.
  void SetRecording(const slipway::ThreadRecording* recording) { recording_ = recording; }
  const slipway::ThreadRecording* recording() const { return recording_; }

  // Keeps the first message since ClearError, cut to what fits.
  void SetError(const char* message);
  void ClearError() { has_error_.store(false, std::memory_order_relaxed); }
  // Empty if there is none. Valid until ClearError.
  absl::string_view error_text() const;

 private:
  static constexpr size_t kMaxErrorBytes = 1024;
  slipway::ThreadPool& threads_;
  slipway::Scratch& scratch_;
  const slipway::ThreadRecording* recording_ = nullptr;
  std::atomic<bool> has_error_{false};
  std::array<char, kMaxErrorBytes> error_ = {};
};

namespace slipway {

// The imports every piece of code gets; valid for the life of the process.
const slipway_imports& KernelImports();

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_CONTEXT_H_
