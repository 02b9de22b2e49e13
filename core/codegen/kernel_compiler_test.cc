#include "core/codegen/kernel_compiler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/group.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/schedules/kernel_schedule.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class MemoryKernelCache final : public KernelCache {
 public:
  std::optional<std::string> Get(const Digest& key) override {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return std::nullopt;
    return found->second;
  }
  absl::Status Put(const Digest& key, absl::string_view object) override {
    objects_[key] = std::string(object);
    return absl::OkStatus();
  }

 private:
  std::map<Digest, std::string> objects_;
};

class KernelCompilerTest : public ::testing::Test {
 protected:
  KernelCompilerTest() : registry_(StandardOperators()) {
    EXPECT_OK(RegisterAllLowerings(lowerings_));
    // A group of Identity does as its lowering says; see Misbehave.
  }

  Graph Elementwise(const char* op, const Shape& shape, const char* input = "x") {
    GraphBuilder b("group", registry_);
    b.Output(b.Add(op, {b.Input(input, DataType::kFloat32, shape)}));
    return std::move(b).Build().value();
  }
  Graph Conv(int64_t channels) {
    GraphBuilder b("group", registry_);
    const ValueId x = b.Input("x", DataType::kFloat32, {1, channels, 8, 8});
    const ValueId w = b.Input("w", DataType::kFloat32, {4, channels, 3, 3});
    b.Output(b.Add("Relu", {b.Add("Conv", {x, w}, {{"pads", Ints({1, 1, 1, 1})}})}));
    return std::move(b).Build().value();
  }
  absl::StatusOr<std::vector<CompiledKernel>> Compile(const std::vector<Graph>& graphs,
                                                      KernelCompiler& compiler,
                                                      const char* target = "x86-64-v3-linux",
                                                      const ScheduleRecords& records = {}) {
    std::vector<KernelRequest> requests;
    for (const Graph& graph : graphs) requests.push_back({"layer1", &graph});
    return compiler.Compile(requests, ParseTarget(target)->host(), records);
  }
  // The error of a kernel whose generation runs `lowering`.
  absl::Status Misbehave(Lowering lowering, KernelCompiler::Options options = {}) {
    Lowerings lowerings;
    EXPECT_OK(lowerings.Add("Identity", std::move(lowering)));
    KernelCompiler compiler(registry_, lowerings, clock_, nullptr, options);
    return Compile({Elementwise("Identity", {4})}, compiler).status();
  }

  const OperatorRegistry registry_;
  Lowerings lowerings_;
  SystemClock clock_;
};

TEST_F(KernelCompilerTest, BytesDependOnTheKeyAlone) {
  const std::vector<Graph> graphs = {Conv(3), Elementwise("Sigmoid", {3, 5}), Conv(8),
                                     Elementwise("Tanh", {70})};
  std::vector<Graph> reversed(graphs.rbegin(), graphs.rend());
  for (const char* target : {"x86-64-v3-linux", "x86-64-v4-linux", "arm-64-linux"}) {
    KernelCompiler alone(registry_, lowerings_, clock_, nullptr, {.max_processes = 1});
    KernelCompiler together(registry_, lowerings_, clock_, nullptr, {.max_processes = 2});
    ASSERT_OK_AND_ASSIGN(const auto first, Compile(graphs, alone, target));
    ASSERT_OK_AND_ASSIGN(const auto second, Compile(reversed, together, target));
    for (size_t i = 0; i < graphs.size(); ++i) {
      EXPECT_EQ(first[i].key, second[graphs.size() - 1 - i].key);
      EXPECT_TRUE(first[i].object == second[graphs.size() - 1 - i].object) << i;
    }
  }
}

TEST_F(KernelCompilerTest, EqualLayersAreOneKernel) {
  MemoryKernelCache cache;
  KernelCompiler compiler(registry_, lowerings_, clock_, &cache, {});
  // Names do not count, nor does the shape of an elementwise group of as many elements.
  ASSERT_OK_AND_ASSIGN(const auto kernels,
                       Compile({Elementwise("Relu", {4, 6}), Elementwise("Relu", {24}, "other"),
                                Elementwise("Relu", {25})},
                               compiler));
  EXPECT_EQ(kernels[0].symbol, kernels[1].symbol);
  EXPECT_NE(kernels[0].symbol, kernels[2].symbol);
  EXPECT_EQ(compiler.counters().compiled, 2);
  EXPECT_EQ(compiler.counters().shared, 1);
  EXPECT_EQ(compiler.counters().cached, 0);

  KernelCompiler next(registry_, lowerings_, clock_, &cache, {});
  ASSERT_OK_AND_ASSIGN(const auto again, Compile({Elementwise("Relu", {24})}, next));
  EXPECT_EQ(next.counters().compiled, 0);
  EXPECT_EQ(next.counters().cached, 1);
  EXPECT_EQ(again[0].object, kernels[0].object);
  // Another target is another kernel.
  ASSERT_OK(Compile({Elementwise("Relu", {24})}, next, "x86-64-linux").status());
  EXPECT_EQ(next.counters().compiled, 1);
}

TEST_F(KernelCompilerTest, ALoweringsRevisionIsPartOfTheKey) {
  MemoryKernelCache cache;
  const LowerFunction identity =
      [](LoweringContext& context) -> absl::StatusOr<std::vector<Halide::Func>> {
    return std::vector<Halide::Func>{context.inputs[0]};
  };
  const std::vector<Graph> graphs = {Elementwise("Identity", {4}), Elementwise("Relu", {4})};
  // Compiles with Identity's lowering at this revision; says how many kernels were not in the cache.
  const auto compiled = [&](const std::string& revision) -> int64_t {
    Lowerings lowerings;
    EXPECT_OK(lowerings.Add("Identity", Lowering(identity, revision)));
    EXPECT_OK(lowerings.Add("Relu", *lowerings_.Find("Relu")));
    KernelCompiler compiler(registry_, lowerings, clock_, &cache, {});
    EXPECT_OK(Compile(graphs, compiler));
    return compiler.counters().compiled;
  };
  EXPECT_EQ(compiled("example.com/identity 1"), 2);
  EXPECT_EQ(compiled("example.com/identity 1"), 0);
  EXPECT_EQ(compiled("example.com/identity 2"), 1);  // Relu's is the same.
}

TEST_F(KernelCompilerTest, ARecordTakesThePlaceOfTheModelsSchedule) {
  MemoryKernelCache cache;
  const std::vector<Graph> graphs = {Conv(3), Elementwise("Relu", {64})};
  KernelCompiler first(registry_, lowerings_, clock_, &cache, {});
  ASSERT_OK_AND_ASSIGN(const auto chosen, Compile(graphs, first));
  EXPECT_EQ(chosen[0].schedule, "plain-convolution width=1 blocks=4 strips=8");
  EXPECT_EQ(chosen[1].schedule, "expression lanes=8 tasks=1");
  EXPECT_EQ(first.counters().recorded, 0);

  // Of the first one, and of a kernel that is not there.
  ASSERT_OK_AND_ASSIGN(
      const ScheduleRecords records,
      ParseScheduleRecords(absl::StrCat(chosen[0].name, " plain-convolution blocks=2\n",
                                        "0000000000000000 rows\n")));
  KernelCompiler second(registry_, lowerings_, clock_, &cache, {});
  ASSERT_OK_AND_ASSIGN(const auto recorded, Compile(graphs, second, "x86-64-v3-linux", records));
  EXPECT_EQ(second.counters().recorded, 1);
  EXPECT_EQ(second.counters().compiled, 1);
  EXPECT_EQ(recorded[0].name, chosen[0].name);
  EXPECT_EQ(recorded[0].schedule, "plain-convolution width=1 blocks=2 strips=8");
  EXPECT_NE(recorded[0].key, chosen[0].key);
  EXPECT_NE(recorded[0].object, chosen[0].object);
  EXPECT_EQ(recorded[1].key, chosen[1].key);

  // From the cache they are the same; other records are other kernels.
  KernelCompiler third(registry_, lowerings_, clock_, &cache, {});
  ASSERT_OK_AND_ASSIGN(const auto again, Compile(graphs, third, "x86-64-v3-linux", records));
  EXPECT_EQ(third.counters().cached, 2);
  EXPECT_EQ(again[0].schedule, recorded[0].schedule);
  EXPECT_EQ(again[0].object, recorded[0].object);
}

TEST_F(KernelCompilerTest, ARecordThatDoesNotFitIsRefused) {
  KernelCompiler compiler(registry_, lowerings_, clock_, nullptr, {});
  const std::vector<Graph> graphs = {Conv(3)};
  ASSERT_OK_AND_ASSIGN(const auto chosen, Compile(graphs, compiler));
  const std::vector<std::pair<const char*, const char*>> wrongs = {
      {"plain-convolution blocks=3",
       "plain-convolution: parameter \"blocks\" is 3; it may be 1 to 4, a divisor of 4"},
      {"plain-convolution tile=3", "has no parameter \"tile\""},
      {"winograd-convolution",
       "stage 1 is \"winograd-convolution\", that of the kernel is "
       "\"plain-convolution\""},
      {"plain-convolution; rows", "it has 2 stages, the kernel 1"},
  };
  for (const auto& [schedule, why] : wrongs) {
    ASSERT_OK_AND_ASSIGN(
        const ScheduleRecords records,
        ParseScheduleRecords(absl::StrCat("# wrong\n", chosen[0].name, " ", schedule)));
    EXPECT_THAT(Compile(graphs, compiler, "x86-64-v3-linux", records),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("layer1"), HasSubstr("its schedule in line 2: "),
                               HasSubstr(why))));
  }
}

// What somebody has found out about a kernel is found again by its name, whatever makes it.
TEST_F(KernelCompilerTest, NamesAreOfWhatIsComputedAndWhere) {
  KernelCompiler compiler(registry_, lowerings_, clock_, nullptr, {});
  const std::vector<Graph> graphs = {Elementwise("Relu", {64}), Elementwise("Relu", {65})};
  ASSERT_OK_AND_ASSIGN(const auto kernels, Compile(graphs, compiler));
  ASSERT_OK_AND_ASSIGN(const auto others, Compile(graphs, compiler, "x86-64-linux"));
  EXPECT_EQ(kernels[0].name.size(), 16u);
  EXPECT_NE(kernels[0].name, kernels[1].name);
  EXPECT_NE(kernels[0].name, others[0].name);
  const Graph body = NormalizeGroup(graphs[0], registry_);
  const DeviceTarget target = ParseTarget("x86-64-v3-linux")->host();
  EXPECT_EQ(kernels[0].name, KernelName(body, target));
  EXPECT_NE(KernelKey(body, target, lowerings_, "a"), KernelKey(body, target, lowerings_, "b"));
}

TEST_F(KernelCompilerTest, RefusesWhatNoKernelCanDo) {
  KernelCompiler compiler(registry_, lowerings_, clock_, nullptr, {});
  Lowerings none;
  KernelCompiler lacking(registry_, none, clock_, nullptr, {});
  EXPECT_THAT(
      Compile({Elementwise("Relu", {4})}, lacking),
      StatusIs(absl::StatusCode::kUnimplemented, AllOf(HasSubstr("layer1"), HasSubstr("Relu"))));
  EXPECT_THAT(Compile({Elementwise("Relu", {1 << 20, 1 << 10})}, compiler),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("2^31")));
  EXPECT_THAT(Compile({Elementwise("Relu", {4})}, compiler, "arm-32-android"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("arm-32-android")));
}

TEST_F(KernelCompilerTest, RefusesExtentsWithoutNames) {
  KernelCompiler compiler(registry_, lowerings_, clock_, nullptr, {});
  Graph graph = Elementwise("Relu", {4});
  for (Value& value : graph.values) value.type = ValueType(DataType::kFloat32, {Dimension()});
  EXPECT_THAT(Compile({graph}, compiler),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("layer1"), HasSubstr("input 0 of f32[?]"))));
}

TEST_F(KernelCompilerTest, ACrashIsThatKernelsError) {
  EXPECT_THAT(
      Misbehave([](LoweringContext&) -> absl::StatusOr<std::vector<Halide::Func>> { abort(); }),
      StatusIs(absl::StatusCode::kInternal,
               AllOf(HasSubstr("layer1"), HasSubstr("Identity"), HasSubstr("signal"))));
}

TEST_F(KernelCompilerTest, AnEndlessLoopMeetsTheDeadline) {
  EXPECT_THAT(Misbehave(
                  [](LoweringContext&) -> absl::StatusOr<std::vector<Halide::Func>> {
                    while (true) pause();
                  },
                  {.deadline = absl::Milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("layer1")));
}

TEST_F(KernelCompilerTest, WhatHalideRefusesIsAnError) {
  EXPECT_THAT(Misbehave([](LoweringContext&) -> absl::StatusOr<std::vector<Halide::Func>> {
                Halide::Func undefined("undefined_function");
                return std::vector<Halide::Func>{undefined};
              }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("layer1")));
}

// Which operators have none, //tests/conformance:operator_lists_test says.
TEST_F(KernelCompilerTest, EveryLoweringIsOfAnOperator) {
  for (const std::string& name : lowerings_.Names()) {
    EXPECT_NE(registry_.Find(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace slipway
