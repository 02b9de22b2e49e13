// Measures kernels of matrix products against the multiply-add peak of this machine's core and what it reads from
// memory, one thread.
//
//   bazel run //tests/bench:product_bench [-- [--json] [--bf16] [--target NAME] [--only TEXT]]
//
// With --bf16 packed products are of bf16, against the peak of those.
//
// One line a product: microseconds (the least of several runs), GFLOP/s, percent of the peak, and percent of the rate at
// which as many bytes are read as its operands and result have; the larger of the two is how close the product is to what
// the machine can do. Peaks are measured in turn with the product, so that both see the same clock and neighbours, and the
// one of multiply-adds is that of the machine's widest vectors, whatever the target.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/memory_reading.h"
#include "core/target/target.h"
#include "tests/bench/kernel_runs.h"

namespace slipway::bench {
namespace {

// How the right operand comes.
enum class Right {
  kPacked,      // Constant, in panels.
  kVariable,    // As [batch, depth, columns].
  kTransposed,  // As [columns, depth], by Gemm.
};
// What the kernel does to each element before it is written, besides adding a bias.
enum class Tail { kNone, kRelu, kGelu, kResidual };

struct Product {
  const char* what;
  int64_t batch, rows, depth, columns;
  Right right = Right::kPacked;
  Tail tail = Tail::kNone;
};

constexpr Product kProducts[] = {
    {"BERT, query of 128", 1, 128, 768, 768},
    {"BERT, output of 128", 1, 128, 768, 768, Right::kPacked, Tail::kResidual},
    {"BERT, intermediate of 128", 1, 128, 768, 3072, Right::kPacked, Tail::kGelu},
    {"BERT, down of 128", 1, 128, 3072, 768},
    {"BERT, query of 384", 1, 384, 768, 768},
    {"BERT, intermediate of 384", 1, 384, 768, 3072, Right::kPacked, Tail::kGelu},
    {"BERT, down of 384", 1, 384, 3072, 768},
    {"BERT, scores of 128", 12, 128, 64, 128, Right::kVariable},
    {"BERT, values of 128", 12, 128, 128, 64, Right::kVariable},
    {"BERT, scores of 384", 12, 384, 64, 384, Right::kVariable},
    {"BERT, values of 384", 12, 384, 384, 64, Right::kVariable},
    {"BERT, words", 1, 128, 768, 30522},
    {"GPT-2, attention of 128", 1, 128, 768, 2304},
    {"GPT-2, attention of 1", 1, 1, 768, 2304},
    {"GPT-2, down of 1", 1, 1, 3072, 768},
    {"GPT-2, scores of 1", 12, 1, 64, 128, Right::kVariable},
    {"GPT-2, words of 1", 1, 1, 768, 50257},
    {"ViT, attention of 197", 1, 197, 768, 2304},
    {"ViT, scores of 197", 12, 197, 64, 197, Right::kVariable},
    {"ViT, values of 197", 12, 197, 197, 64, Right::kVariable},
    {"ConvNeXt, up at 56", 1, 3136, 96, 384, Right::kPacked, Tail::kGelu},
    {"ConvNeXt, down at 7", 1, 49, 3072, 768},
    {"LSTM, step of 256", 1, 1, 256, 1024},
    {"LSTM, step of 16 x 256", 1, 16, 256, 1024},
    {"2 rows", 1, 2, 768, 3072},
    {"3 rows", 1, 3, 768, 3072},
    {"4 rows", 1, 4, 768, 3072},
    {"7 rows", 1, 7, 768, 3072},
    {"8 rows", 1, 8, 768, 3072},
    {"16 rows", 1, 16, 768, 3072},
    {"classes, 1000", 1, 1, 2048, 1000},
    {"classes, 32 x 1000", 1, 32, 2048, 1000},
    {"classes, 32 x 91", 1, 32, 256, 91},
    {"classes, 10", 1, 1, 1024, 10},
    {"perceptron, 64 x 1024", 1, 64, 1024, 1024, Right::kPacked, Tail::kRelu},
    {"no block, 131 x 517 x 259", 1, 131, 517, 259},
    {"variable, 131 x 517 x 259", 1, 131, 517, 259, Right::kVariable},
    {"variable, 512 x 512 x 512", 1, 512, 512, 512, Right::kVariable},
    {"variable, 1024 x 1024 x 1024", 1, 1024, 1024, 1024, Right::kVariable},
    {"transposed, 512 x 512 x 512", 1, 512, 512, 512, Right::kTransposed},
    {"transposed, 1 x 512 x 512", 1, 1, 512, 512, Right::kTransposed},
    {"matrix times column", 1, 1024, 1024, 1, Right::kVariable},
};

double Flops(const Product& p) {
  return 2.0 * static_cast<double>(p.batch * p.rows) * static_cast<double>(p.depth * p.columns);
}

int64_t Bytes(const Product& p) {
  return 4 * p.batch * (p.rows * p.depth + p.depth * p.columns + p.rows * p.columns);
}

ValueId Scalar(GraphBuilder& b, const char* name, float value) {
  return b.Constant(name, Tensor::Of<float>({}, {value}));
}

ValueId WithTail(const Product& p, GraphBuilder& b, ValueId product) {
  switch (p.tail) {
    case Tail::kNone:
      return product;
    case Tail::kRelu:
      return b.Add("Relu", {product});
    case Tail::kResidual:
      return b.Add("Add", {product, b.Input("residual", DataType::kFloat32, {p.rows, p.columns})});
    case Tail::kGelu: {
      // As exporters spell it.
      const ValueId scaled = b.Add("Div", {product, Scalar(b, "root", std::sqrt(2.0f))});
      const ValueId shifted = b.Add("Add", {b.Add("Erf", {scaled}), Scalar(b, "one", 1)});
      return b.Add("Mul", {b.Add("Mul", {product, shifted}), Scalar(b, "half", 0.5f)});
    }
  }
  return product;
}

absl::StatusOr<Graph> GroupOf(const Product& p, int64_t panel, bool is_bf16,
                              const OperatorRegistry& registry) {
  GraphBuilder b(p.what, registry);
  if (is_bf16) {
    const DataType brain = DataType::kBfloat16;
    const ValueId x = b.Input("x", brain, {p.rows, p.depth});
    const ValueId w = b.Input("w", brain, {(p.columns + panel - 1) / panel, p.depth / 2, panel, 2});
    const ValueId bias = b.Input("bias", DataType::kFloat32, {p.columns});
    const ValueId product = b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", p.columns}});
    b.Output(WithTail(p, b, product));
    return std::move(b).Build();
  }
  if (p.right == Right::kVariable) {
    const ValueId x = b.Input("x", DataType::kFloat32, {p.batch, p.rows, p.depth});
    const ValueId w = b.Input("w", DataType::kFloat32, {p.batch, p.depth, p.columns});
    b.Output(WithTail(p, b, b.Add("MatMul", {x, w})));
    return std::move(b).Build();
  }
  const ValueId x = b.Input("x", DataType::kFloat32, {p.rows, p.depth});
  const Shape shape = p.right == Right::kTransposed
                          ? Shape{p.columns, p.depth}
                          : Shape{(p.columns + panel - 1) / panel, p.depth, panel};
  const ValueId w = b.Input("w", DataType::kFloat32, shape);
  const ValueId bias = b.Input("bias", DataType::kFloat32, {p.columns});
  const ValueId product = p.right == Right::kTransposed
                              ? b.Add("Gemm", {x, w, bias}, {{"transB", int64_t{1}}})
                              : b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", p.columns}});
  b.Output(WithTail(p, b, product));
  return std::move(b).Build();
}

struct Figures {
  absl::Duration least = absl::InfiniteDuration();
  absl::Duration reading = absl::InfiniteDuration();
  double peak = 0;  // Operations a second.
};

Figures Measure(const Product& p, size_t index, const std::string& type, const KernelRuns& runs,
                const Clock& clock) {
  Figures figures;
  for (int round = 0; round < 12; ++round) {
    figures.peak = std::max(figures.peak, MeasureArithmetic(type, 1, clock, absl::Milliseconds(1)));
    figures.reading =
        std::min(figures.reading, MeasureReading(Bytes(p), 1, clock, absl::ZeroDuration()));
    absl::Duration spent;
    for (int run = 0; run < 50 && spent < absl::Milliseconds(5); ++run) {
      const absl::Duration time = runs.Run(index, clock);
      figures.least = std::min(figures.least, time);
      spent += time;
    }
  }
  return figures;
}

struct Options {
  bool json = false;
  bool bf16 = false;
  std::string target;
  std::string only;
};

void Report(const Product& p, const Figures& figures, bool is_json, JsonWriter& json) {
  const double seconds = absl::ToDoubleSeconds(figures.least);
  const double rate = Flops(p) / seconds;
  const double of_reading = absl::ToDoubleSeconds(figures.reading) / seconds;
  if (!is_json) {
    std::printf("%-30s %3d x [%4d, %4d] x [%4d, %5d] %9.1f us %6.1f GFLOP/s %4.0f %% %4.0f %%\n",
                p.what, static_cast<int>(p.batch), static_cast<int>(p.rows),
                static_cast<int>(p.depth), static_cast<int>(p.depth), static_cast<int>(p.columns),
                seconds * 1e6, rate / 1e9, 100 * rate / figures.peak, 100 * of_reading);
    std::fflush(stdout);
    return;
  }
  json.BeginObject();
  json.Text("product", p.what);
  json.Integer("batch", p.batch);
  json.Integer("rows", p.rows);
  json.Integer("depth", p.depth);
  json.Integer("columns", p.columns);
  json.Real("seconds", seconds);
  json.Real("operations_per_second", rate);
  json.Real("share_of_peak", rate / figures.peak);
  json.Real("share_of_reading", of_reading);
  json.EndObject();
}

absl::Status Run(const Options& options) {
  DeviceTarget target = HostTarget().host();
  if (!options.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const Target parsed, ParseTarget(options.target));
    target = parsed.host();
  }
  const OperatorRegistry registry = StandardOperators();
  Lowerings lowerings;
  SLIPWAY_RETURN_IF_ERROR(RegisterAllLowerings(lowerings));
  const SystemClock clock;
  // As the pipeline for CPUs packs.
  const int64_t panel = target.level >= 3 ? 16 : 8;
  std::vector<Product> products;
  std::vector<Graph> graphs;
  for (const Product& p : kProducts) {
    if (!absl::StrContains(p.what, options.only)) continue;
    if (options.bf16 && (p.right != Right::kPacked || p.depth % 2 != 0)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(Graph graph, GroupOf(p, panel, options.bf16, registry));
    products.push_back(p);
    graphs.push_back(std::move(graph));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const KernelRuns runs,
                           KernelRuns::Create(graphs, target, registry, lowerings, clock));
  const std::string type = options.bf16 ? "bf16" : "f32";
  if (!absl::c_linear_search(MeasuredTypes(), type)) {
    return absl::UnimplementedError("this machine has no instructions for products of bf16");
  }
  JsonWriter json;
  json.BeginObject();
  json.Text("target", target.ToString());
  json.BeginArray("products");
  if (!options.json) std::printf("target %s\n", target.ToString().c_str());
  for (size_t i = 0; i < products.size(); ++i) {
    Report(products[i], Measure(products[i], i, type, runs, clock), options.json, json);
  }
  json.EndArray();
  json.EndObject();
  if (options.json) std::fputs(json.Take().c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  Options options;
  FlagSet flags("product_bench [flags]", "Measures kernels of matrix products.");
  flags.Add("json", &options.json, "Print JSON.");
  flags.Add("bf16", &options.bf16, "Multiply bf16.");
  flags.Add("target", &options.target, "NAME", "Compile for this target instead of this machine.");
  flags.Add("only", &options.only, "TEXT", "Only products whose names contain it.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (!arguments.empty()) return absl::InvalidArgumentError("takes no arguments; see --help");
  return Run(options);
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "product_bench: %s\n", status.ToString().c_str());
  return 1;
}
