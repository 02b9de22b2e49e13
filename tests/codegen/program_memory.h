// Memory for kernels under test: a page that must not be touched follows closely, and the bytes around
// are watched.
#ifndef SLIPWAY_TESTS_CODEGEN_PROGRAM_MEMORY_H_
#define SLIPWAY_TESTS_CODEGEN_PROGRAM_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {

// A block of bytes, 64-byte aligned. Reading or writing more than 63 bytes behind it faults; what is
// written before it or in the bytes just behind it is seen by Intact.
class GuardedMemory {
 public:
  explicit GuardedMemory(int64_t bytes);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  bool Intact() const;

 private:
  uint8_t* map_ = nullptr;
  int64_t map_bytes_ = 0;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
};

// The imports of kernel_abi.h: loops run on the caller's thread, last index first; scratch memory is
// guarded. The contexts they take are TestContexts.
const slipway_imports& TestImports();

struct TestContext {
  std::string error;
  int64_t allocations = 0;
  int64_t live_allocations = 0;
  bool scratch_intact = true;
};

// A program's code, loaded.
class LoadedProgram {
 public:
  // Null table on failure; `error` then says why.
  explicit LoadedProgram(const std::string& code);
  ~LoadedProgram();
  const slipway_kernel_table* table() const { return table_; }
  // Null when the code has none.
  slipway_query_function query() const { return query_; }
  const std::string& error() const { return error_; }
  // Where its instructions are; empty on failure.
  absl::Span<const uint8_t> code() const;

 private:
  int fd_ = -1;
  void* handle_ = nullptr;
  slipway_query_function query_ = nullptr;
  const slipway_kernel_table* table_ = nullptr;
  std::string error_;
};

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CODEGEN_PROGRAM_MEMORY_H_
