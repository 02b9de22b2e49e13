#include "core/codegen/scratch_bytes.h"

#include <algorithm>

namespace slipway {
namespace {

using Halide::Internal::Allocate;

constexpr int64_t kBlock = 64;
// What Halide keeps on the stack at most, of what may be on either (its CodeGen_Posix).
constexpr int64_t kMaxStackBytes = 16 << 10;

class Allocations final : public Halide::Internal::IRVisitor {
 public:
  int64_t most() const { return is_known_ ? most_ : -1; }

 private:
  using IRVisitor::visit;

  void visit(const Allocate* allocate) override {
    const int64_t bytes = HeapBytes(*allocate);
    alive_ += bytes;
    most_ = std::max(most_, alive_);
    IRVisitor::visit(allocate);
    alive_ -= bytes;
  }

  int64_t HeapBytes(const Allocate& allocate) {
    if (allocate.memory_type == Halide::MemoryType::Stack ||
        allocate.memory_type == Halide::MemoryType::Register) {
      return 0;
    }
    const int64_t elements = allocate.constant_allocation_size();
    if (elements <= 0) {
      is_known_ = false;
      return 0;
    }
    const int64_t bytes = elements * allocate.type.bytes();
    if (allocate.memory_type != Halide::MemoryType::Heap && bytes <= kMaxStackBytes) return 0;
    // Halide reads whole vectors at the end of what it allocates.
    return (bytes + kBlock - 1) / kBlock * kBlock + 2 * kBlock;
  }

  int64_t alive_ = 0;
  int64_t most_ = 0;
  bool is_known_ = true;
};

}  // namespace

int64_t ScratchBytes(const Halide::Module& module) {
  Allocations allocations;
  for (const Halide::Internal::LoweredFunc& function : module.functions()) {
    function.body.accept(&allocations);
  }
  return allocations.most();
}

}  // namespace slipway
