// Arena: the memory that static buffers are ranges of.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_ARENA_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace slipway {

// Zero at first, page-aligned, in large pages where the system has them.
class Arena {
 public:
  // RESOURCE_EXHAUSTED when the memory cannot be had.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(int64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint8_t* data() { return data_; }

 private:
  Arena(uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}
  uint8_t* const data_;
  const size_t bytes_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_ARENA_H_
