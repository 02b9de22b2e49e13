// How many instructions kernels execute, held against what they executed when somebody last looked: what makes generated
// code slower by more work shows here, on any machine, however busy, where a clock shows noise.
//
// They are counted by the processor's trap flag (instruction_count.h). Counters of the processor (perf_event) would want
// a permission that containers lack, and a test that is skipped there cannot fail; a disassembly tells what there is,
// not how often it is executed; ptrace counts the same, slower.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/bench/kernel_runs.h"
#include "tests/codegen/instruction_count.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;

// Either way: a kernel that became better is recorded anew, or the next one to make it worse goes unseen.
constexpr double kTolerance = 0.03;

struct Case {
  const char* name;
  std::function<void(GraphBuilder&)> build;
  int64_t recorded;
};

// The sizes are small, since each instruction takes several microseconds, and let loops be loops.
std::vector<Case> Cases() {
  const Attributes padded = {{"pads", Ints({1, 1, 1, 1})}};
  return {
      {"direct_convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 1, 12, 12, 8});
         const ValueId w = b.Input("w", kFloat, {4, 1, 3, 3, 8, 8});
         const ValueId bias = b.Input("bias", kFloat, {32});
         b.Output(b.Add("Relu", {b.Add("slipway.ConvNCHWc", {x, w, bias}, padded)}));
       },
       86999},
      {"winograd_convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 1, 12, 12, 8});
         const ValueId w = b.Input("w", kFloat, {6, 6, 4, 1, 8, 8});
         const ValueId bias = b.Input("bias", kFloat, {32});
         b.Output(b.Add("Relu", {b.Add("slipway.WinogradConvNCHWc", {x, w, bias}, padded)}));
       },
       38704},
      {"product_of_halves",
       [](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {24, 48});
         const ValueId w = b.Input("w", kFloat, {3, 7, 24, 16});
         b.Output(b.Add("slipway.StrassenGemm", {x, w, b.Input("bias", kFloat, {96})}));
       },
       27497},
      {"packed_product",
       [](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {24, 48});
         const ValueId w = b.Input("w", kFloat, {6, 48, 16});
         const ValueId bias = b.Input("bias", kFloat, {96});
         b.Output(b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", int64_t{96}}}));
       },
       28414},
      {"depthwise_convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 2, 20, 20, 8});
         const ValueId w = b.Input("w", kFloat, {2, 3, 3, 8});
         const ValueId bias = b.Input("bias", kFloat, {16});
         Attributes attributes = padded;
         attributes.Set("group", int64_t{16});
         b.Output(b.Add("slipway.DepthwiseConvNCHWc", {x, w, bias}, attributes));
       },
       24772},
      {"softmax",
       [](GraphBuilder& b) {
         b.Output(b.Add("Softmax", {b.Input("x", kFloat, {16, 197})}));
       },
       15514},
      {"swish",
       [](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {16, 256});
         b.Output(b.Add("Mul", {x, b.Add("Sigmoid", {x})}));
       },
       15908},
  };
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  ADD_FAILURE() << value.status();
  std::abort();
}

TEST(KernelInstructionsTest, AreAsManyAsWereRecorded) {
  const Target target = OrDie(ParseTarget("x86-64-v3-linux"));
  if (const absl::Status runs = CheckRunsOn(target, HostTarget()); !runs.ok()) {
    GTEST_SKIP() << "this machine cannot run the kernels to count: " << runs;
  }
  const OperatorRegistry registry = StandardOperators();
  Lowerings lowerings;
  ASSERT_TRUE(RegisterAllLowerings(lowerings).ok());
  const std::vector<Case> cases = Cases();
  std::vector<Graph> graphs;
  for (const Case& one : cases) {
    GraphBuilder builder(one.name, registry);
    one.build(builder);
    graphs.push_back(OrDie(std::move(builder).Build()));
  }
  const SystemClock clock;
  const bench::KernelRuns runs =
      OrDie(bench::KernelRuns::Create(graphs, target.host(), registry, lowerings, clock));
  for (size_t i = 0; i < cases.size(); ++i) {
    runs.Run(i, clock);  // Its scratch memory is there from now on.
    const int64_t counted = CountInstructions(runs.code(), [&] { runs.Run(i, clock); });
    const auto recorded = static_cast<double>(cases[i].recorded);
    EXPECT_NEAR(static_cast<double>(counted), recorded, recorded * kTolerance)
        << "kernel \"" << cases[i].name << "\" executes " << counted << " instructions and not "
        << cases[i].recorded << ": if it shall, write the new number into this test";
  }
}

}  // namespace
}  // namespace slipway
