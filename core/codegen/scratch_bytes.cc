#include "core/codegen/scratch_bytes.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/check.h"

namespace slipway {
namespace {

using Halide::Internal::Allocate;
using Halide::Internal::Call;
using Halide::Internal::LoweredFunc;
using Halide::Internal::Variable;

constexpr int64_t kBlock = 64;
// What Halide keeps on the stack at most, of what may be on either (its CodeGen_Posix).
constexpr int64_t kMaxStackBytes = 16 << 10;

// What Halide makes of a parallel loop: a call of this with the name of another function, which is a task of it.
constexpr char kParallelFor[] = "halide_do_par_for";
constexpr char kFunctionPrefix[] = "::";

// Of the functions of a module, by name.
using BytesOf = std::map<std::string, int64_t>;

class Allocations final : public Halide::Internal::IRVisitor {
 public:
  // `tasks` is of the functions that this one may call.
  explicit Allocations(const BytesOf& tasks) : tasks_(tasks) {}

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

  void visit(const Call* call) override {
    if (call->name == kParallelFor) CountTask(*call);
    IRVisitor::visit(call);
  }

  void CountTask(const Call& call) {
    const auto* task = call.args.empty() ? nullptr : call.args[0].as<Variable>();
    const std::string prefix = kFunctionPrefix;
    SLIPWAY_CHECK(task != nullptr && task->name.compare(0, prefix.size(), prefix) == 0,
                  "a parallel loop names no function");
    const auto found = tasks_.find(task->name.substr(prefix.size()));
    SLIPWAY_CHECK(found != tasks_.end(), "a parallel loop's function is not before its caller");
    if (found->second < 0) is_known_ = false;
    most_ = std::max(most_, alive_ + found->second);
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

  const BytesOf& tasks_;
  int64_t alive_ = 0;
  int64_t most_ = 0;
  bool is_known_ = true;
};

}  // namespace

KernelScratch ScratchBytes(const Halide::Module& module) {
  BytesOf tasks;
  KernelScratch scratch = {0, 0};
  const auto larger = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::max(a, b); };
  for (const LoweredFunc& function : module.functions()) {
    Allocations allocations(tasks);
    function.body.accept(&allocations);
    const int64_t most = allocations.most();
    if (function.linkage == Halide::LinkageType::ExternalPlusMetadata) {
      scratch.call = larger(scratch.call, most);
    } else {
      tasks[function.name] = most;
      scratch.task = larger(scratch.task, most);
    }
  }
  return scratch;
}

}  // namespace slipway
