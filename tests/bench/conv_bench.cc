// Measures the kernels of ResNet-50's, VGG-19's and DenseNet-121's convolutions against the multiply-add peak of this machine's core.
//
//   bazel run //tests/bench:conv_bench [-- TARGET [TEXT [f32|bf16|int8]]]
//
// TEXT takes those layers whose line has it, "  7 x 7 " or "kernel 1 stride 1"; without it, all. Of smaller numbers than f32
// those of many channels alone are measured.
//
// One line a layer: milliseconds (the least of several runs), GFLOP/s, percent of the peak, which is
// measured in turn with the layer, so that both see the same clock and neighbours. The peak is that of
// the machine's widest vectors or tiles for such numbers, whatever the target. Behind it, in f32, what the layer takes by Winograd's tiles of 2, 4 and 6
// outputs, where it can be made of them: milliseconds, and how many times faster that is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/codegen/lower/register_all.h"
#include "core/codegen/tile_shapes.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/machine_description.h"
#include "core/target/target.h"
#include "tests/bench/kernel_runs.h"

namespace slipway {
namespace {

struct Layer {
  int in_channels, size, out_channels, kernel, stride;
  int resnet_count;        // In ResNet-50.
  int vgg_count = 0;       // In VGG-19.
  int densenet_count = 0;  // In DenseNet-121, of those that grow.
};

constexpr Layer kLayers[] = {
    {3, 224, 64, 7, 2, 1},         {64, 56, 64, 1, 1, 1},         {64, 56, 64, 3, 1, 3},
    {64, 56, 256, 1, 1, 4},        {256, 56, 64, 1, 1, 2},        {256, 56, 128, 1, 1, 1},
    {128, 56, 128, 3, 2, 1},       {128, 28, 128, 3, 1, 3},       {128, 28, 512, 1, 1, 4},
    {256, 56, 512, 1, 2, 1},       {512, 28, 128, 1, 1, 3},       {512, 28, 256, 1, 1, 1},
    {256, 28, 256, 3, 2, 1},       {256, 14, 256, 3, 1, 5},       {256, 14, 1024, 1, 1, 6},
    {512, 28, 1024, 1, 2, 1},      {1024, 14, 256, 1, 1, 5},      {1024, 14, 512, 1, 1, 1},
    {512, 14, 512, 3, 2, 1},       {512, 7, 512, 3, 1, 2},        {512, 7, 2048, 1, 1, 3},
    {1024, 14, 2048, 1, 2, 1},     {2048, 7, 512, 1, 1, 2},       {3, 224, 64, 3, 1, 0, 1},
    {64, 224, 64, 3, 1, 0, 1},     {64, 112, 128, 3, 1, 0, 1},    {128, 112, 128, 3, 1, 0, 1},
    {128, 56, 256, 3, 1, 0, 1},    {256, 56, 256, 3, 1, 0, 3},    {256, 28, 512, 3, 1, 0, 1},
    {512, 28, 512, 3, 1, 0, 3},    {512, 14, 512, 3, 1, 0, 4},    {128, 56, 32, 3, 1, 0, 0, 6},
    {128, 28, 32, 3, 1, 0, 0, 12}, {128, 14, 32, 3, 1, 0, 0, 24}, {128, 7, 32, 3, 1, 0, 0, 16},
};

// How a layer is computed: 0 directly, else by Winograd's tiles of so many outputs.
constexpr int kForms[] = {0, 2, 4, 6};

int OutputSize(const Layer& l) { return (l.size - (l.kernel % 2)) / l.stride + 1; }

double Flops(const Layer& l) {
  const double out = OutputSize(l);
  return 2.0 * l.in_channels * l.out_channels * l.kernel * l.kernel * out * out;
}

// The numbers that are multiplied, and how they lie.
struct Numbers {
  const char* name;  // As MeasureArithmetic has it.
  DataType data;
  DataType weights;
  DataType sums;
  int64_t terms;
};

constexpr Numbers kNumbers[] = {
    {"f32", DataType::kFloat32, DataType::kFloat32, DataType::kFloat32, 1},
    {"bf16", DataType::kBfloat16, DataType::kBfloat16, DataType::kFloat32, 2},
    {"int8", DataType::kUint8, DataType::kInt8, DataType::kInt32, 4},
};

// Channels of a block, as the compiler has them.
int64_t BlockFor(const DeviceTarget& target, const Numbers& numbers) {
  const MachineDescription machine = DescribeMachine(target);
  const int64_t of_row = kTileRowBytes / ByteSize(numbers.data);
  if (numbers.terms == 2 && machine.has_bf16_tiles) return of_row;
  if (numbers.terms == 4 && machine.has_int8_tiles) return of_row;
  return machine.vector_bytes / 4;
}

bool HasForm(const Layer& l, int64_t block, const Numbers& numbers, int form) {
  const bool is_stem = l.in_channels < block;
  if (numbers.terms > 1) return form == 0 && !is_stem && l.out_channels % block == 0;
  return form == 0 || (l.kernel == 3 && l.stride == 1 && !is_stem);
}

// Convolution, bias and Relu, as in the model.
absl::StatusOr<Graph> GroupOf(const Layer& l, int64_t block, const Numbers& numbers, int form,
                              const OperatorRegistry& registry) {
  GraphBuilder b("layer", registry);
  const int64_t pad = l.kernel / 2;
  const bool stem = l.in_channels < block;
  const ValueId x =
      stem ? b.Input("x", DataType::kFloat32, {1, l.in_channels, l.size, l.size})
           : b.Input("x", numbers.data, {1, l.in_channels / block, l.size, l.size, block});
  const int64_t in_blocks = l.in_channels / block;
  const int64_t out_blocks = l.out_channels / block;
  Shape weights = {out_blocks, in_blocks, l.kernel, l.kernel, block, block};
  if (stem) weights = {out_blocks, l.in_channels, l.kernel, l.kernel, block};
  if (form != 0) weights = {form + 2, form + 2, out_blocks, in_blocks, block, block};
  const int64_t terms = numbers.terms;
  if (terms > 1) {
    weights = {out_blocks, in_blocks, l.kernel, l.kernel, block / terms, block, terms};
  }
  const ValueId w = b.Input("w", numbers.weights, weights);
  const ValueId bias = b.Input("bias", numbers.sums, {l.out_channels});
  Attributes attributes = {{"pads", Ints({pad, pad, pad, pad})}};
  if (form == 0) attributes.Set("strides", Ints({l.stride, l.stride}));
  const ValueId conv = b.Add(form == 0 ? "slipway.ConvNCHWc" : "slipway.WinogradConvNCHWc",
                             {x, w, bias}, attributes);
  b.Output(b.Add("Relu", {conv}));
  return std::move(b).Build();
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

// A kernel of a layer.
struct Form {
  int outputs;  // Of a tile; 0: direct.
  size_t kernel;
  double least = 1e9;
};

// The forms take turns. Returns the peak.
double Measure(const bench::KernelRuns& runs, const SystemClock& clock, const char* numbers,
               std::vector<Form>& forms) {
  double peak = 0;
  for (int round = 0; round < 12; ++round) {
    peak = std::max(peak, MeasureArithmetic(numbers, 1, clock, absl::Milliseconds(1)));
    for (Form& form : forms) {
      for (int run = 0; run < 3; ++run) {
        form.least = std::min(form.least, absl::ToDoubleSeconds(runs.Run(form.kernel, clock)));
      }
    }
  }
  return peak;
}

struct Total {
  double direct = 0, best = 0, flops = 0, at_peak = 0;
  void Add(int count, const Layer& layer, double direct_seconds, double best_seconds, double peak) {
    direct += count * direct_seconds;
    best += count * best_seconds;
    flops += count * Flops(layer);
    at_peak += count * Flops(layer) / peak;
  }
  void Print(const char* model) const {
    if (flops == 0) return;
    std::printf(
        "all layers as often as in %s: %.2f ms, %.1f GFLOP/s, %.0f %% of the peak; by the best "
        "form "
        "of each %.2f ms, %.2f times as fast\n",
        model, direct * 1e3, flops / direct / 1e9, 100 * at_peak / direct, best * 1e3,
        direct / best);
  }
};

std::string Describe(const Layer& l) {
  return absl::StrFormat("%4d -> %4d  %3d x %-3d  kernel %d stride %d", l.in_channels,
                         l.out_channels, l.size, l.size, l.kernel, l.stride);
}

std::vector<Layer> LayersWith(absl::string_view text) {
  std::vector<Layer> layers;
  for (const Layer& layer : kLayers) {
    if (absl::StrContains(Describe(layer), text)) layers.push_back(layer);
  }
  return layers;
}

int Main(const char* target_name, absl::string_view text, absl::string_view precision) {
  const auto* const numbers = absl::c_find_if(
      kNumbers, [precision](const Numbers& each) { return each.name == precision; });
  if (numbers == std::end(kNumbers)) {
    std::fprintf(stderr, "no precision %s; there are f32, bf16 and int8\n",
                 std::string(precision).c_str());
    return 2;
  }
  std::vector<Layer> layers = LayersWith(text);
  const DeviceTarget target =
      target_name == nullptr ? HostTarget().host() : OrDie(ParseTarget(target_name)).host();
  const int64_t block = BlockFor(target, *numbers);
  std::erase_if(layers, [&](const Layer& l) { return !HasForm(l, block, *numbers, 0); });
  const OperatorRegistry registry = StandardOperators();
  Lowerings lowerings;
  if (!RegisterAllLowerings(lowerings).ok()) return 1;
  const SystemClock clock;

  std::vector<Graph> graphs;
  for (const Layer& layer : layers) {
    for (const int form : kForms) {
      if (!HasForm(layer, block, *numbers, form)) continue;
      graphs.push_back(OrDie(GroupOf(layer, block, *numbers, form, registry)));
    }
  }
  const absl::Duration begin = clock.Monotonic();
  const auto runs = OrDie(bench::KernelRuns::Create(graphs, target, registry, lowerings, clock));
  std::printf("target %s, %zu kernels compiled and linked in %.2f s\n", target.ToString().c_str(),
              graphs.size(), absl::ToDoubleSeconds(clock.Monotonic() - begin));

  Total resnet, vgg, densenet;
  size_t next = 0;
  for (const Layer& layer : layers) {
    std::vector<Form> forms;
    for (const int form : kForms) {
      if (HasForm(layer, block, *numbers, form)) forms.push_back({form, next++});
    }
    const double peak = Measure(runs, clock, numbers->name, forms);
    const double direct = forms[0].least;
    const double gflops = Flops(layer) / direct / 1e9;
    std::printf("%s   %8.3f ms  %6.1f GFLOP/s  %3.0f %%", Describe(layer).c_str(), direct * 1e3,
                gflops, 100 * gflops * 1e9 / peak);
    double best = direct;
    for (const Form& form : forms) {
      if (form.outputs == 0) continue;
      std::printf("   %d: %7.3f ms %5.2f", form.outputs, form.least * 1e3, direct / form.least);
      best = std::min(best, form.least);
    }
    std::printf("\n");
    resnet.Add(layer.resnet_count, layer, direct, best, peak);
    vgg.Add(layer.vgg_count, layer, direct, best, peak);
    densenet.Add(layer.densenet_count, layer, direct, best, peak);
  }
  resnet.Print("ResNet-50");
  vgg.Print("VGG-19");
  densenet.Print("DenseNet-121");
  return 0;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  return slipway::Main(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : "",
                       argc > 3 ? argv[3] : "f32");
}
