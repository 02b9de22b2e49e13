// Measures the kernels of ResNet-50's convolutions against the multiply-add peak of this machine's core.
//
//   bazel run //tests/bench:conv_bench [-- TARGET]
//
// One line a layer: milliseconds (the least of several runs), GFLOP/s, percent of the peak, which is
// measured in turn with the layer, so that both see the same clock and neighbours. The peak is that of
// the machine's widest vectors, whatever the target.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/linker.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/builder.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/operators/register_all.h"
#include "core/target/target.h"
#include "tests/bench/fma_peak.h"
#include "tests/codegen/program_memory.h"

namespace slipway {
namespace {

struct Layer {
  int in_channels, size, out_channels, kernel, stride;
  int count;  // In the model.
};

constexpr Layer kResNet50[] = {
    {3, 224, 64, 7, 2, 1},     {64, 56, 64, 1, 1, 1},    {64, 56, 64, 3, 1, 3},
    {64, 56, 256, 1, 1, 4},    {256, 56, 64, 1, 1, 2},   {256, 56, 128, 1, 2, 1},
    {128, 28, 128, 3, 1, 4},   {128, 28, 512, 1, 1, 4},  {256, 56, 512, 1, 2, 1},
    {512, 28, 128, 1, 1, 3},   {512, 28, 256, 1, 2, 1},  {256, 14, 256, 3, 1, 6},
    {256, 14, 1024, 1, 1, 6},  {512, 28, 1024, 1, 2, 1}, {1024, 14, 256, 1, 1, 5},
    {1024, 14, 512, 1, 2, 1},  {512, 7, 512, 3, 1, 3},   {512, 7, 2048, 1, 1, 3},
    {1024, 14, 2048, 1, 2, 1}, {2048, 7, 512, 1, 1, 2},
};

int OutputSize(const Layer& l) { return (l.size - (l.kernel % 2)) / l.stride + 1; }

double Flops(const Layer& l) {
  const double out = OutputSize(l);
  return 2.0 * l.in_channels * l.out_channels * l.kernel * l.kernel * out * out;
}

// Convolution, bias, residual Add and Relu, as in the model.
absl::StatusOr<Graph> GroupOf(const Layer& l, int64_t block, const OperatorRegistry& registry) {
  GraphBuilder b("layer", registry);
  const int64_t pad = l.kernel / 2;
  const bool stem = l.in_channels < block;
  const ValueId x =
      stem ? b.Input("x", DataType::kFloat32, {1, l.in_channels, l.size, l.size})
           : b.Input("x", DataType::kFloat32, {1, l.in_channels / block, l.size, l.size, block});
  const ValueId w =
      stem ? b.Input("w", DataType::kFloat32,
                     {l.out_channels / block, l.in_channels, l.kernel, l.kernel, block})
           : b.Input(
                 "w", DataType::kFloat32,
                 {l.out_channels / block, l.in_channels / block, l.kernel, l.kernel, block, block});
  const ValueId bias = b.Input("bias", DataType::kFloat32, {l.out_channels});
  const ValueId conv =
      b.Add("slipway.ConvNCHWc", {x, w, bias},
            {{"strides", Ints({l.stride, l.stride})}, {"pads", Ints({pad, pad, pad, pad})}});
  b.Output(b.Add("Relu", {conv}));
  return std::move(b).Build();
}

// The arguments of a kernel, in memory of their own.
class Arguments {
 public:
  explicit Arguments(const Graph& graph) {
    for (const auto* ids : {&graph.inputs, &graph.outputs}) {
      for (const ValueId id : *ids) Add(graph.value(id).type->tensor());
    }
    for (slipway_buffer& buffer : buffers_) args_.push_back(&buffer);
  }
  void** data() { return args_.data(); }

 private:
  void Add(const TensorType& type) {
    const int64_t bytes = (type.byte_size() + 63) / 64 * 64;
    auto* host = static_cast<float*>(std::aligned_alloc(64, bytes));
    std::fill_n(host, bytes / 4, 0.25f);  // Never freed: a bench ends soon.
    slipway_buffer buffer = {};
    buffer.host = reinterpret_cast<uint8_t*>(host);
    buffer.type = {SLIPWAY_TYPE_FLOAT, 32, 1};
    buffers_.push_back(buffer);  // Shapes are compiled in: kernels read nothing else.
  }
  std::vector<slipway_buffer> buffers_;
  void* context_ = nullptr;
  std::vector<void*> args_ = {&context_};
};

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int32_t Loop(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
             uint8_t* closure) {
  for (int32_t i = 0; i < extent; ++i) {
    if (const int32_t result = task(context, min + i, closure)) return result;
  }
  return 0;
}

// One block is kept: what the runtime's arena of scratch memory comes to in a loop of one kernel.
void* Allocate(slipway_context*, uint64_t bytes) {
  static void* block = nullptr;
  static uint64_t size = 0;
  if (bytes > size) {
    std::free(block);
    size = (bytes + 4095) / 4096 * 4096;
    block = std::aligned_alloc(64, size);
  }
  return block;
}
void Release(slipway_context*, void*) {}
void Error(slipway_context*, const char* message) { std::fprintf(stderr, "%s\n", message); }

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

int Main(const char* target_name) {
  const DeviceTarget target =
      target_name == nullptr ? HostTarget().host() : OrDie(ParseTarget(target_name)).host();
  const int64_t block = target.level >= 4 ? 16 : target.level == 3 ? 8 : 4;
  const OperatorRegistry registry = StandardOperators();
  Lowerings lowerings;
  if (!RegisterAllLowerings(lowerings).ok()) return 1;
  const SystemClock clock;
  KernelCompiler compiler(registry, lowerings, clock, nullptr, {});

  std::vector<Graph> graphs;
  std::vector<KernelRequest> requests;
  for (const Layer& layer : kResNet50) graphs.push_back(OrDie(GroupOf(layer, block, registry)));
  for (const Graph& graph : graphs) requests.push_back({"layer", &graph});
  const double begin = Seconds();
  const std::vector<CompiledKernel> kernels = OrDie(compiler.Compile(requests, target));
  std::vector<LinkedKernel> linked;
  for (const CompiledKernel& kernel : kernels) linked.push_back({kernel.symbol, &kernel.object, 4});
  const LoadedProgram program(OrDie(LinkProgram(target, linked, {})));
  std::printf("target %s, %zu kernels compiled and linked in %.2f s\n", target.ToString().c_str(),
              kernels.size(), Seconds() - begin);
  // Scratch memory of the program's own imports would be guarded pages: too slow to measure with.
  const slipway_imports imports = {Loop, Allocate, Release, Error};
  const slipway_kernel_table* table =
      program.query() == nullptr ? nullptr : program.query()(SLIPWAY_ABI_VERSION, &imports);
  if (table == nullptr) {
    std::fprintf(stderr, "%s\n", program.error().c_str());
    return 1;
  }

  double total_seconds = 0, total_flops = 0, total_peak_seconds = 0;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const Layer& layer = kResNet50[i];
    Arguments arguments(graphs[i]);
    double least = 1e9, peak = 0;
    for (int round = 0; round < 12; ++round) {
      peak = std::max(peak, bench::MeasureFmaPeak(clock, absl::Milliseconds(1)));
      for (int run = 0; run < 3; ++run) {
        const double start = Seconds();
        table->kernels[i].function(arguments.data());
        least = std::min(least, Seconds() - start);
      }
    }
    const double gflops = Flops(layer) / least / 1e9;
    std::printf("%4d -> %4d  %3d x %-3d  kernel %d stride %d   %8.3f ms  %6.1f GFLOP/s  %3.0f %%\n",
                layer.in_channels, layer.out_channels, layer.size, layer.size, layer.kernel,
                layer.stride, least * 1e3, gflops, 100 * gflops * 1e9 / peak);
    total_seconds += layer.count * least;
    total_flops += layer.count * Flops(layer);
    total_peak_seconds += layer.count * Flops(layer) / peak;
  }
  std::printf("all layers as often as in ResNet-50: %.2f ms, %.1f GFLOP/s, %.0f %% of the peak\n",
              total_seconds * 1e3, total_flops / total_seconds / 1e9,
              100 * total_peak_seconds / total_seconds);
  return 0;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) { return slipway::Main(argc > 1 ? argv[1] : nullptr); }
