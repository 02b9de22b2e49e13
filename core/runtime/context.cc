#include "core/runtime/context.h"

#include <cstring>

void slipway_context::SetError(const char* message) {
  if (has_error_.exchange(true, std::memory_order_acq_rel)) return;
  const size_t length = strnlen(message, kMaxErrorBytes - 1);
  std::memcpy(error_.data(), message, length);
  error_[length] = '\0';
}

absl::string_view slipway_context::error_text() const {
  if (!has_error_.load(std::memory_order_acquire)) return "";
  return absl::string_view(error_.data());
}

namespace slipway {
namespace {

int32_t ParallelFor(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
                    uint8_t* closure) {
  return context->threads().ParallelFor(context, task, min, extent, closure, context->recording());
}

void* Allocate(slipway_context* context, uint64_t bytes) {
  return context->scratch().Allocate(bytes);
}

void Release(slipway_context* context, void* memory) { context->scratch().Release(memory); }

void SetError(slipway_context* context, const char* message) { context->SetError(message); }

constexpr slipway_imports kImports = {&ParallelFor, &Allocate, &Release, &SetError};

}  // namespace

const slipway_imports& KernelImports() { return kImports; }

}  // namespace slipway
