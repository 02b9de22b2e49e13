// Programs whose sizes are known only when they run: bound from inputs, computed, and found out by a step.
#include <malloc.h>

#include <algorithm>
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
using Operation = v1::Expression::Operation;
using Extent = ProgramBuilder::Extent;

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kI64 = DataType::kInt64;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;

absl::StatusOr<std::unique_ptr<Program>> LoadBuilt(ProgramBuilder& builder) {
  const absl::StatusOr<Artifact> artifact = builder.Build();
  if (!artifact.ok()) return artifact.status();
  return LoadProgram(*artifact);
}

Tensor Counting(int64_t rows, int64_t columns) {
  Tensor tensor = Tensor::Zeros(kF32, {rows, columns});
  float next = 1;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return tensor;
}

// A program that adds x to itself: n elements, as the symbol says.
struct Doubling {
  Doubling(ProgramBuilder& builder, uint32_t n)
      : x(builder.AddValue(kExternal, kF32, {Extent::Of(n)})),
        y(builder.AddValue(kExternal, kF32, {Extent::Of(n)})),
        main(builder.AddFunction("main")) {
    ProgramBuilder::AddInput(main, "x", x);
    ProgramBuilder::AddOutput(main, "y", y);
    ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {x, x}, {y});
  }
  uint32_t x;
  uint32_t y;
  v1::Function& main;
};

class Convolution : public ::testing::Test {
 protected:
  void Load(const ProgramContextOptions& options = {}) {
    ASSERT_OK_AND_ASSIGN(program_, LoadBuilt(builder_));
    ASSERT_OK_AND_ASSIGN(context_, program_->NewContext(options));
  }

  absl::Status Run(int64_t batch, int64_t width, int64_t out_width, std::vector<Tensor>& outputs) {
    return context_->Run({Counting(batch, width), Tensor::Zeros(kF32, {out_width})},
                         absl::MakeSpan(outputs));
  }

  ProgramBuilder builder_ = FreeWidth().builder;
  std::unique_ptr<Program> program_;
  std::unique_ptr<ProgramContext> context_;
};

TEST_F(Convolution, RunsForEverySize) {
  Load();
  for (const auto& [batch, width] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 3}, {2, 9}, {2, 10}, {8, 64}, {1, 3}, {3, 63}}) {
    const int64_t out_width = (width - 3) / 2 + 1;
    std::vector<Tensor> outputs(1);
    ASSERT_OK(Run(batch, width, out_width, outputs));
    EXPECT_EQ(outputs[0].type(), (TensorType{kF32, {batch, out_width}}));
    const Tensor x = Counting(batch, width);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t j = 0; j < out_width; ++j) {
        const float* window = &x.values<float>()[static_cast<size_t>(b * width + 2 * j)];
        ASSERT_EQ(outputs[0].values<float>()[static_cast<size_t>(b * out_width + j)],
                  window[0] + window[1] + window[2] + 100);
      }
    }
  }
}

TEST_F(Convolution, NamesSymbolsOutOfBoundsAndExtentsThatDisagree) {
  Load();
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(
      Run(9, 9, 4, outputs),
      StatusIs(Code::kInvalidArgument, "input 'x': dimension 0: symbol 'batch' is 1 to 8, not 9"));
  EXPECT_THAT(Run(0, 9, 4, outputs), StatusIs(Code::kInvalidArgument, HasSubstr("not 0")));
  EXPECT_THAT(Run(1, 2, 1, outputs), StatusIs(Code::kInvalidArgument, HasSubstr("'width'")));
  EXPECT_THAT(Run(1, 9, 5, outputs),
              StatusIs(Code::kInvalidArgument, "input 'z': dimension 0 must be 4 here, not 5"));
  EXPECT_THAT(
      context_->Run({Tensor::Zeros(kF32, {2}), Tensor::Zeros(kF32, {2})}, absl::MakeSpan(outputs)),
      StatusIs(Code::kInvalidArgument, "input \"x\" is f32[batch, width], but f32[2] is given"));
  EXPECT_THAT(context_->Run({Tensor::Zeros(kI64, {2, 9}), Tensor::Zeros(kF32, {4})},
                            absl::MakeSpan(outputs)),
              StatusIs(Code::kInvalidArgument, HasSubstr("i64[2, 9] is given")));
  EXPECT_OK(Run(1, 9, 4, outputs));
}

TEST_F(Convolution, WritesInPlaceWhereTheTypeIsTheCallsOwn) {
  Load();
  std::vector<Tensor> outputs = {Tensor::Zeros(kF32, {1, 4})};
  const Tensor held = outputs[0];
  ASSERT_OK(Run(1, 9, 4, outputs));
  EXPECT_EQ(held.values<float>()[0], 106);
  EXPECT_THAT(Run(2, 9, 4, outputs),
              StatusIs(Code::kInvalidArgument, "output 'y' is f32[2, 4], but f32[1, 4] is given"));
}

TEST_F(Convolution, AllocatesNothingWhenSizesRepeat) {
  Load();
  const std::vector<Tensor> small = {Counting(1, 9), Tensor::Zeros(kF32, {4})};
  const std::vector<Tensor> large = {Counting(8, 64), Tensor::Zeros(kF32, {31})};
  std::vector<Tensor> small_out(1);
  std::vector<Tensor> large_out(1);
  ASSERT_OK(context_->Run(small, absl::MakeSpan(small_out)));
  ASSERT_OK(context_->Run(large, absl::MakeSpan(large_out)));
  const struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 1000; ++i) {
    context_->Run(small, absl::MakeSpan(small_out)).IgnoreError();
    context_->Run(large, absl::MakeSpan(large_out)).IgnoreError();
  }
  EXPECT_EQ(mallinfo2().uordblks, before.uordblks);
}

TEST_F(Convolution, NamesTheOptionThatLimitsDynamicMemory) {
  ProgramContextOptions options;
  options.dynamic_bytes = 300;
  Load(options);
  std::vector<Tensor> outputs(1);
  EXPECT_OK(Run(1, 9, 4, outputs));
  outputs.assign(1, Tensor());
  EXPECT_THAT(Run(8, 64, 31, outputs),
              StatusIs(Code::kResourceExhausted,
                       AllOf(HasSubstr("step 0"),
                             HasSubstr("300 allowed; allow more with --dynamic-bytes"))));
  outputs.assign(1, Tensor());
  EXPECT_OK(Run(1, 9, 4, outputs));
}

TEST_F(Convolution, RefusesABufferThatIsTooSmallForItsValue) {
  const uint32_t eight = builder_.Number(8);
  const uint32_t sums = builder_.manifest().functions(0).steps(0).kernel().outputs(0);
  builder_.buffer_of(sums).mutable_size()->set_expression(eight);
  Load();
  std::vector<Tensor> outputs(1);
  EXPECT_OK(Run(1, 5, 2, outputs));
  outputs.assign(1, Tensor());
  EXPECT_THAT(
      Run(1, 7, 3, outputs),
      StatusIs(Code::kInvalidArgument, AllOf(HasSubstr("step 0"), HasSubstr("needs 12 bytes"))));
}

// A value of fixed size in memory that callers bring: as large as they like.
TEST(SymbolicProgram, RefusesMemoryOfCallersThatIsTooSmallForAValueInIt) {
  for (const bool is_output : {false, true}) {
    ProgramBuilder builder;
    const Doubling doubling(builder, builder.AddSymbol("n", 0, 100));
    builder.AddValueBeside(is_output ? doubling.y : doubling.x, 0, kF32, {8});
    ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
    ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
    std::vector<Tensor> outputs(1);
    EXPECT_OK(context->Run({Tensor::Zeros(kF32, {8})}, absl::MakeSpan(outputs)));
    outputs.assign(1, Tensor());
    EXPECT_THAT(context->Run({Tensor::Zeros(kF32, {7})}, absl::MakeSpan(outputs)),
                StatusIs(Code::kInvalidArgument, HasSubstr("needs 32 bytes at 0")));
  }
}

// What a program takes for the same is the same, or nothing runs.
TEST(SymbolicProgram, HoldsConstraints) {
  ProgramBuilder builder;
  const uint32_t n = builder.AddSymbol("n", 0, 64);
  const uint32_t m = builder.AddSymbol("m", 0, 64);
  const Doubling doubling(builder, n);
  const uint32_t z = builder.AddValue(kExternal, kF32, {Extent::Of(m)});
  ProgramBuilder::AddInput(doubling.main, "z", z);
  ProgramBuilder::AddConstraint(doubling.main, "Add sum", {{m, n}, {m, builder.Number(1)}});
  ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  const auto run = [&](int64_t of_x, int64_t of_z) {
    std::vector<Tensor> outputs(1);
    return context->Run({Tensor::Zeros(kF32, {of_x}), Tensor::Zeros(kF32, {of_z})},
                        absl::MakeSpan(outputs));
  };
  EXPECT_OK(run(8, 8));
  EXPECT_OK(run(8, 1));
  for (int i = 0; i < 2; ++i) {  // What was refused is refused again.
    EXPECT_THAT(run(8, 5),
                StatusIs(Code::kInvalidArgument,
                         "Add sum needs m = n or m = 1, but these are 5 and 8, 5 and 1"));
  }
  EXPECT_OK(run(5, 5));
}

// A division that has no result for some size is refused when the program is checked.
TEST(SymbolicProgram, RefusesDivisionsWithoutResult) {
  ProgramBuilder builder;
  const uint32_t n = builder.AddSymbol("n", 0, 200);
  builder.Operation(Operation::FLOOR_DIVIDE, builder.Number(12), n);
  const uint32_t x = builder.AddValue(kExternal, DataType::kUint8, {Extent::Of(n)});
  ProgramBuilder::AddInput(builder.AddFunction("main"), "x", x);
  EXPECT_THAT(builder.Build(),
              StatusIs(Code::kInvalidArgument, HasSubstr("divides by what can be 0")));
}

// What does not fit in 64 bits is refused at the sizes where it comes about.
TEST(SymbolicProgram, RefusesSizesAtWhichExpressionsOverflow) {
  ProgramBuilder builder;
  const uint32_t n = builder.AddSymbol("n", 1, INT32_MAX);
  uint32_t power = n;
  for (int i = 0; i < 3; ++i) power = builder.Operation(Operation::MULTIPLY, power, power);
  const Doubling doubling(builder, n);
  ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  EXPECT_OK(context->Run({Tensor::Zeros(kF32, {200})}, absl::MakeSpan(outputs)));
  outputs.assign(1, Tensor());
  EXPECT_THAT(context->Run({Tensor::Zeros(kF32, {300})}, absl::MakeSpan(outputs)),
              StatusIs(Code::kInvalidArgument, HasSubstr("cannot be computed from")));
}

// Of a symbol that nothing binds, and of those of two functions: there is nothing to compute them from.
TEST(SymbolicProgram, ExpressionsThatNothingNeedsAreNotComputed) {
  ProgramBuilder builder;
  const auto add_function = [&](const std::string& name, uint32_t n) {
    const uint32_t x = builder.AddValue(kExternal, DataType::kUint8, {Extent::Of(n)});
    ProgramBuilder::AddInput(builder.AddFunction(name), "x", x);
  };
  const uint32_t unbound = builder.AddSymbol("unbound", 1, 9);
  const uint32_t n = builder.AddSymbol("n", 1, 9);
  const uint32_t m = builder.AddSymbol("m", 1, 9);
  const uint32_t twelve = builder.Number(12);
  builder.Operation(Operation::FLOOR_DIVIDE, twelve, unbound);
  builder.Operation(Operation::FLOOR_DIVIDE, m, n);
  add_function("other", n);
  add_function("main", m);
  builder.manifest().add_more_entries(0);
  ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  for (const int entry : {0, 1}) {
    EXPECT_OK(context->Run({Tensor::Zeros(DataType::kUint8, {5})}, absl::Span<Tensor>(),
                           {.entry = entry}));
  }
}

TEST(SymbolicProgram, RefusesValuesThatKernelsCannotIndex) {
  ProgramBuilder builder;
  const uint32_t n = builder.AddSymbol("n", 0, INT32_MAX);
  const uint32_t x = builder.AddValue(kExternal, DataType::kUint8, {Extent::Of(n)});
  const uint32_t square =
      builder.AddValue(kDynamic, DataType::kUint8, {Extent::Of(n), Extent::Of(n)});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddKernel(main, SmallKernel::kAlways, {x}, {square});
  ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  EXPECT_THAT(context->Run({Tensor::Zeros(DataType::kUint8, {50000})}, absl::Span<Tensor>()),
              StatusIs(Code::kInvalidArgument, HasSubstr("more than 2147483647 bytes")));
}

TEST(SymbolicProgram, AStepFindsAShapeOut) {
  ProgramBuilder builder = FoundShape().builder;
  ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  const auto run = [&](const std::vector<float>& values) {
    std::vector<Tensor> outputs(1);
    const absl::Status status =
        context->Run({Tensor::Of<float>({static_cast<int64_t>(values.size())}, values)},
                     absl::MakeSpan(outputs));
    return status.ok() ? absl::StatusOr<Tensor>(outputs[0]) : status;
  };
  ASSERT_OK_AND_ASSIGN(Tensor out, run({-1, 5, 0, 7, 8}));
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(1, 3, 4));
  ASSERT_OK_AND_ASSIGN(out, run({-1, -1}));
  EXPECT_EQ(out.type(), (TensorType{kI64, {0}}));
  ASSERT_OK_AND_ASSIGN(out, run({1, 1, 1, 1, 1, 1}));
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(
      run({1, 1, 1, 1, 1, 1, 1}),
      StatusIs(Code::kInvalidArgument,
               AllOf(HasSubstr("step 1 'bind'"), HasSubstr("symbol 'found' is 0 to 6, not 7"))));
  // The tensor of an earlier call is its caller's.
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(SymbolicProgram, ComputesWithEveryOperation) {
  struct Case {
    Operation::Kind kind;
    int64_t right;
    int64_t expected;  // For a left side of -7 + n, where n is 0 here, and 14 in the other call.
    int64_t expected_at_14;
  };
  for (const Case& c : std::vector<Case>{{Operation::ADD, 9, 2, 16},
                                         {Operation::SUBTRACT, -9, 2, 16},
                                         {Operation::MULTIPLY, -1, 7, -7},
                                         {Operation::FLOOR_DIVIDE, 2, -4, 3},
                                         {Operation::CEIL_DIVIDE, 2, -3, 4},
                                         {Operation::MIN, 3, -7, 3},
                                         {Operation::MAX, 3, 3, 7}}) {
    ProgramBuilder builder;
    const uint32_t n = builder.AddSymbol("n", 0, 100);
    const uint32_t left = builder.Operation(Operation::ADD, builder.Number(-7), n);
    const uint32_t result = builder.Operation(c.kind, left, builder.Number(c.right));
    // An extent is not negative, so 20 more.
    const uint32_t extent = builder.Operation(Operation::ADD, result, builder.Number(20));
    const uint32_t x = builder.AddValue(kExternal, DataType::kUint8, {Extent::Of(n)});
    const uint32_t y = builder.AddValue(kExternal, DataType::kUint8, {Extent::Of(extent)});
    v1::Function& main = builder.AddFunction("main");
    ProgramBuilder::AddInput(main, "x", x);
    ProgramBuilder::AddOutput(main, "y", y);
    ProgramBuilder::AddKernel(main, SmallKernel::kAlways, {x}, {y});
    ASSERT_OK_AND_ASSIGN(const auto program, LoadBuilt(builder));
    ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
    for (const auto& [number, expected] :
         {std::pair<int64_t, int64_t>{0, c.expected}, {14, c.expected_at_14}}) {
      std::vector<Tensor> outputs(1);
      ASSERT_OK(context->Run({Tensor::Zeros(DataType::kUint8, {number})}, absl::MakeSpan(outputs)));
      EXPECT_EQ(outputs[0].shape()[0], expected + 20) << Operation::Kind_Name(c.kind);
    }
  }
}

}  // namespace
}  // namespace slipway
