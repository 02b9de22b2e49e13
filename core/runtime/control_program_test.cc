// Programs with branches, loops and several functions.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/program_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Extent = ProgramBuilder::Extent;

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kI64 = DataType::kInt64;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;

class ControlTest : public ::testing::Test {
 protected:
  void Load(const ProgramContextOptions& options = {}) {
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, builder_.Build());
    ASSERT_OK_AND_ASSIGN(program_, LoadProgram(artifact));
    ASSERT_OK_AND_ASSIGN(context_, program_->NewContext(options));
  }
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& inputs, size_t outputs,
                                          const CallOptions& options = {}) {
    std::vector<Tensor> results(outputs);
    const absl::Status status = context_->Run(inputs, absl::MakeSpan(results), options);
    if (!status.ok()) return status;
    return results;
  }

  uint32_t External(DataType dtype, const ProgramBuilder::Extents& extents) {
    return builder_.AddValue(kExternal, dtype, extents);
  }
  uint32_t Dynamic(DataType dtype, const ProgramBuilder::Extents& extents) {
    return builder_.AddValue(kDynamic, dtype, extents);
  }
  static void AddKernel(v1::Function& function, SmallKernel kernel, const std::vector<uint32_t>& in,
                        uint32_t out) {
    ProgramBuilder::AddKernel(function, kernel, in, {out});
  }

  ProgramBuilder builder_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<ProgramContext> context_;
};

Tensor F32(float value) { return Tensor::Scalar<float>(value); }
Tensor I64(int64_t value) { return Tensor::Scalar<int64_t>(value); }

TEST_F(ControlTest, BranchesGiveValuesTheirShapes) {
  builder_ = Branches().builder;
  Load();
  const Tensor x3 = Tensor::Of<float>({3}, {1, 2, 3});
  ASSERT_OK_AND_ASSIGN(std::vector<Tensor> out, Run({Tensor::Scalar<bool>(true), x3}, 1));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(4, 8, 12));
  ASSERT_OK_AND_ASSIGN(out, Run({Tensor::Scalar<bool>(false), x3}, 1));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(2, 4, 6, 14));
  EXPECT_THAT(Run({Tensor::Scalar<bool>(false), Tensor::Zeros(kF32, {4})}, 1),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr("step 0 'choose'"), HasSubstr("'m' is 0 to 4, not 5"))));
  EXPECT_OK(Run({Tensor::Scalar<bool>(true), x3}, 1).status());
}

// A carried value that grows with every turn.
TEST_F(ControlTest, CarriedValuesChangeTheirShape) {
  const uint32_t k = builder_.AddSymbol("k", 0, 50);
  const uint32_t next = builder_.Operation(v1::Expression::Operation::ADD, k, builder_.Number(1));
  const uint32_t turn = External(kI64, {});
  const uint32_t list = External(kF32, {Extent::Of(k)});
  const uint32_t longer = Dynamic(kF32, {Extent::Of(next)});
  v1::Function& body = builder_.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "list", list);
  ProgramBuilder::AddOutput(body, "longer", longer);
  AddKernel(body, SmallKernel::kAppend, {list, turn}, longer);

  const uint32_t n = builder_.AddSymbol("n", 0, 100);
  const uint32_t length = builder_.AddSymbol("length", 0, 20);
  const uint32_t turns = External(kI64, {});
  const uint32_t start = External(kF32, {Extent::Of(n)});
  const uint32_t result = Dynamic(kF32, {Extent::Of(length)});
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "turns", turns);
  ProgramBuilder::AddInput(main, "start", start);
  ProgramBuilder::AddOutput(main, "result", result);
  v1::Step& step = *main.add_steps();
  step.set_name("grow");
  v1::Step::Loop& loop = *step.mutable_loop();
  loop.set_max_turns(turns);
  loop.add_initial(start);
  loop.add_results(result);
  Load();
  const Tensor two = Tensor::Of<float>({2}, {-1, -2});
  for (int repeat = 0; repeat < 3; ++repeat) {
    ASSERT_OK_AND_ASSIGN(std::vector<Tensor> out, Run({I64(4), two}, 1));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(-1, -2, 0, 1, 2, 3));
  }
  for (const int64_t none : {0, -5}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({I64(none), two}, 1));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(-1, -2));
  }
  EXPECT_THAT(Run({I64(19), two}, 1),
              StatusIs(Code::kInvalidArgument, AllOf(HasSubstr("step 0 'grow'"),
                                                     HasSubstr("'length' is 0 to 20, not 21"))));
  EXPECT_THAT(Run({I64(60), two}, 1),
              StatusIs(Code::kInvalidArgument, AllOf(HasSubstr("turn 49 of function 'body'"),
                                                     HasSubstr("symbol 'k' is 0 to 50, not 51"))));
  EXPECT_OK(Run({I64(4), two}, 1).status());
}

class WhileTest : public ControlTest {
 protected:
  void SetUp() override { builder_ = While().builder; }
};

TEST_F(WhileTest, TheBodyDecidesWhetherToGoOn) {
  Load();
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_OK_AND_ASSIGN(std::vector<Tensor> out, Run({F32(0), F32(10), F32(3)}, 2));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(12));
    EXPECT_THAT(out[1].values<float>(), ElementsAre(3, 6, 9, 12));
    ASSERT_OK_AND_ASSIGN(out, Run({F32(5), F32(5), F32(1)}, 2));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(5));
    EXPECT_EQ(out[1].type(), (TensorType{kF32, {0}}));
    // More turns than memory was taken for at first.
    ASSERT_OK_AND_ASSIGN(out, Run({F32(0), F32(1000), F32(1)}, 2));
    ASSERT_EQ(out[1].type(), (TensorType{kF32, {1000}}));
    for (size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(out[1].values<float>()[i], static_cast<float>(i + 1));
    }
  }
}

TEST_F(WhileTest, ALoopWithoutEndIsEnded) {
  ProgramContextOptions options;
  options.loop_turns = 100;
  Load(options);
  EXPECT_THAT(
      Run({F32(0), F32(10), F32(0)}, 2),
      StatusIs(Code::kResourceExhausted,
               "step 1 'while': loops made more than 100 turns in this call; if they would end, "
               "allow more with --loop-turns"));
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({F32(0), F32(100), F32(1)}, 2));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(100));
}

TEST_F(WhileTest, AllocatesNothingWhenSizesRepeat) {
  ProgramContextOptions options;
  // What one call needs, and less than two.
  options.dynamic_bytes = 4096;
  Load(options);
  for (int i = 0; i < 100; ++i) ASSERT_OK(Run({F32(0), F32(100), F32(1)}, 2).status());
}

TEST_F(ControlTest, ScansAndCollectsAKnownNumberOfSlices) {
  builder_ = Scan().builder;
  Load();
  ASSERT_OK_AND_ASSIGN(std::vector<Tensor> out,
                       Run({Tensor::Of<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}, 2));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(12, 15, 18));
  EXPECT_THAT(out[1].values<float>(), ElementsAre(11, 12, 13, 14, 15, 16, 17, 18, 19));
  ASSERT_OK_AND_ASSIGN(out, Run({Tensor::Zeros(kF32, {0, 3})}, 2));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(0, 0, 0));
  EXPECT_EQ(out[1].type(), (TensorType{kF32, {0, 3}}));
}

TEST_F(ControlTest, CarriedValuesMayChangePlaces) {
  const uint32_t turn = External(kI64, {});
  const uint32_t a = External(kF32, {});
  const uint32_t b = External(kF32, {});
  v1::Function& body = builder_.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "a", a);
  ProgramBuilder::AddInput(body, "b", b);
  ProgramBuilder::AddOutput(body, "b first", b);
  ProgramBuilder::AddOutput(body, "then a", a);
  const uint32_t turns = External(kI64, {});
  const uint32_t x = External(kF32, {});
  const uint32_t y = External(kF32, {});
  const uint32_t p = External(kF32, {});
  const uint32_t q = External(kF32, {});
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "turns", turns);
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddInput(main, "y", y);
  ProgramBuilder::AddOutput(main, "p", p);
  ProgramBuilder::AddOutput(main, "q", q);
  v1::Step::Loop& loop = *main.add_steps()->mutable_loop();
  loop.set_max_turns(turns);
  for (const uint32_t value : {x, y}) loop.add_initial(value);
  for (const uint32_t value : {p, q}) loop.add_results(value);
  Load();
  for (const int64_t count : {0, 1, 2, 3, 4}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({I64(count), F32(1), F32(2)}, 2));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(count % 2 == 0 ? 1 : 2));
    EXPECT_THAT(out[1].values<float>(), ElementsAre(count % 2 == 0 ? 2 : 1));
  }
  // Inputs may be the same memory, outputs may not.
  const Tensor five = F32(5);
  const Tensor six = F32(6);
  std::vector<Tensor> outputs = {six, six};
  EXPECT_THAT(
      context_->Run({I64(1), five, five}, absl::MakeSpan(outputs)),
      StatusIs(Code::kInvalidArgument, HasSubstr("output 'q' shares memory with output 'p'")));
  outputs[1] = Tensor();
  ASSERT_OK(context_->Run({I64(1), five, five}, absl::MakeSpan(outputs)));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(5));
}

TEST_F(ControlTest, ControlNests) {
  builder_ = NestedControl().builder;
  ProgramContextOptions options;
  options.loop_turns = 60;
  Load(options);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({I64(7)}, 1, {.profile = true}));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(49));
  // sum, other, inner (two steps), outer, main.
  std::vector<int64_t> durations;
  std::vector<int64_t> runs;
  for (const StepTiming& step : context_->step_timings()) {
    durations.push_back(step.duration_ns);
    runs.push_back(step.runs);
  }
  ASSERT_EQ(durations.size(), program_->steps().size());
  ASSERT_EQ(durations.size(), 6u);
  EXPECT_EQ(program_->steps()[5].name, "outer loop");
  EXPECT_GT(durations[0], 0);
  EXPECT_EQ(durations[1], 0);
  EXPECT_GE(durations[5], durations[4]);
  EXPECT_GE(durations[4], durations[2] + durations[3]);
  // 7 turns outside, each of 7 inside, which take one of the two branches.
  EXPECT_THAT(runs, ElementsAre(49, 0, 49, 49, 7, 1));
  // 8 + 64 turns.
  EXPECT_THAT(Run({I64(8)}, 1),
              StatusIs(Code::kResourceExhausted, HasSubstr("more than 60 turns")));
}

TEST_F(ControlTest, AFailureInABodyNamesFunctionTurnAndStep) {
  const uint32_t turn = External(kI64, {});
  const uint32_t last = External(kF32, {});
  const uint32_t next = Dynamic(kF32, {});
  v1::Function& body = builder_.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "last", last);
  ProgramBuilder::AddOutput(body, "next", next);
  AddKernel(body, SmallKernel::kFailAt3, {turn}, next);
  const uint32_t turns = External(kI64, {});
  const uint32_t zero = builder_.AddConstant(F32(-1));
  const uint32_t result = External(kF32, {});
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "turns", turns);
  ProgramBuilder::AddOutput(main, "result", result);
  v1::Step& step = *main.add_steps();
  step.set_name("loop");
  step.mutable_loop()->set_max_turns(turns);
  step.mutable_loop()->add_initial(zero);
  step.mutable_loop()->add_results(result);
  ProgramContextOptions options;
  // Enough for one call: what a failure leaves behind would show.
  options.dynamic_bytes = 4 * 256;
  Load(options);
  for (int repeat = 0; repeat < 10; ++repeat) {
    EXPECT_THAT(
        Run({I64(5)}, 1),
        StatusIs(Code::kInvalidArgument,
                 "step 0 'loop': turn 3 of function 'body': step 0 'kernel 7': three is too "
                 "many"));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({I64(3)}, 1));
    EXPECT_THAT(out[0].values<float>(), ElementsAre(2));
  }
}

TEST_F(ControlTest, SeveralFunctionsAreCalledByName) {
  builder_ = SeveralEntries().builder;
  Load();
  EXPECT_THAT(program_->entries(), ElementsAre("sum again", "sum"));
  ASSERT_OK_AND_ASSIGN(const int entry, program_->FindEntry("sum"));
  EXPECT_EQ(entry, 1);
  EXPECT_THAT(program_->FindEntry("product"),
              StatusIs(Code::kNotFound, HasSubstr("'sum again', 'sum'")));
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> out, Run({F32(1), F32(2)}, 1, {.entry = entry}));
  EXPECT_THAT(out[0].values<float>(), ElementsAre(3));
  EXPECT_THAT(Run({F32(1), F32(2)}, 1, {.entry = 2}), StatusIs(Code::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
