#include "tests/bench/kernel_runs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_compiler.h"

namespace slipway::bench {
namespace {

int32_t Loop(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
             uint8_t* closure) {
  for (int32_t i = 0; i < extent; ++i) {
    if (const int32_t result = task(context, min + i, closure)) return result;
  }
  return 0;
}

struct ScratchBlock {
  void* memory;
  uint64_t size;
  bool is_free;
};
std::vector<ScratchBlock>& ScratchBlocks() {
  static auto& blocks = *new std::vector<ScratchBlock>;
  return blocks;
}
void* Allocate(slipway_context*, uint64_t bytes) {
  const uint64_t size = (bytes + 4095) / 4096 * 4096;
  for (ScratchBlock& block : ScratchBlocks()) {
    if (!block.is_free || block.size != size) continue;
    block.is_free = false;
    return block.memory;
  }
  ScratchBlocks().push_back({std::aligned_alloc(4096, size), size, false});
  return ScratchBlocks().back().memory;
}
void Release(slipway_context*, void* memory) {
  for (ScratchBlock& block : ScratchBlocks()) block.is_free |= block.memory == memory;
}
void Error(slipway_context*, const char* message) { std::fprintf(stderr, "%s\n", message); }

}  // namespace

// In memory of their own.
class KernelRuns::Arguments {
 public:
  explicit Arguments(const Graph& graph) {
    for (const auto* ids : {&graph.inputs, &graph.outputs}) {
      for (const ValueId id : *ids) Add(graph.value(id).type->tensor());
    }
    for (slipway_buffer& buffer : buffers_) args_.push_back(&buffer);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (const slipway_buffer& buffer : buffers_) std::free(buffer.host);
  }
  void** data() { return args_.data(); }

 private:
  void Add(const TensorType& type) {
    const int64_t bytes = (type.byte_size() + 63) / 64 * 64;
    auto* host = static_cast<float*>(std::aligned_alloc(64, bytes));
    std::fill_n(host, bytes / 4, 0.25f);
    slipway_buffer buffer = {};
    buffer.host = reinterpret_cast<uint8_t*>(host);
    buffer.type = {SLIPWAY_TYPE_FLOAT, 32, 1};
    buffers_.push_back(buffer);  // Shapes are compiled in: kernels read nothing else.
  }
  std::vector<slipway_buffer> buffers_;
  void* context_ = nullptr;
  std::vector<void*> args_ = {&context_};
};

absl::StatusOr<KernelRuns> KernelRuns::Create(const std::vector<Graph>& graphs,
                                              const DeviceTarget& target,
                                              const OperatorRegistry& registry,
                                              const Lowerings& lowerings, const Clock& clock) {
  KernelCompiler compiler(registry, lowerings, clock, nullptr, {});
  std::vector<KernelRequest> requests;
  for (const Graph& graph : graphs) requests.push_back({graph.name, &graph});
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels,
                           compiler.Compile(requests, target));
  std::vector<LinkedKernel> linked;
  for (const CompiledKernel& kernel : kernels) linked.push_back({kernel.symbol, &kernel.object, 4});
  SLIPWAY_ASSIGN_OR_RETURN(const std::string code, LinkProgram(target, linked, {}));
  KernelRuns runs;
  runs.program_ = std::make_shared<const LoadedProgram>(code);
  // Scratch memory of the program's own imports would be guarded pages: too slow to measure with.
  static constexpr slipway_imports kImports = {Loop, Allocate, Release, Error};
  const slipway_kernel_table* table = runs.program_->query() == nullptr
                                          ? nullptr
                                          : runs.program_->query()(SLIPWAY_ABI_VERSION, &kImports);
  if (table == nullptr) return absl::InternalError(runs.program_->error());
  for (size_t i = 0; i < graphs.size(); ++i) {
    runs.kernels_.push_back({table->kernels[i].function, std::make_shared<Arguments>(graphs[i])});
  }
  return runs;
}

absl::Duration KernelRuns::Run(size_t index, const Clock& clock) const {
  const Kernel& kernel = kernels_[index];
  const absl::Duration start = clock.Monotonic();
  kernel.function(kernel.arguments->data());
  return clock.Monotonic() - start;
}

}  // namespace slipway::bench
