#include "core/runtime/test_programs/hand_written_programs.h"

namespace slipway {
namespace {

using Extent = ProgramBuilder::Extent;
using Extents = ProgramBuilder::Extents;

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kI64 = DataType::kInt64;
constexpr DataType kBool = DataType::kBool;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;
constexpr v1::Buffer::Class kStatic = v1::Buffer::CLASS_STATIC;

Tensor F32(float value) { return Tensor::Scalar<float>(value); }
Tensor I64(int64_t value) { return Tensor::Scalar<int64_t>(value); }

// A function: x f32[n], turn i64[] -> y, x + x or x with the turn at its end.
void AddBranch(ProgramBuilder& builder, const std::string& name, bool appends) {
  const uint32_t n = builder.AddSymbol("n", 0, 100);
  const uint32_t more = builder.Operation(v1::Expression::Operation::ADD, n, builder.Number(1));
  const uint32_t x = builder.AddValue(kExternal, kF32, {Extent::Of(n)});
  const uint32_t turn = builder.AddValue(kExternal, kI64, {});
  const uint32_t y = builder.AddValue(kDynamic, kF32, {Extent::Of(appends ? more : n)});
  v1::Function& function = builder.AddFunction(name);
  ProgramBuilder::AddInput(function, "x", x);
  ProgramBuilder::AddInput(function, "turn", turn);
  ProgramBuilder::AddOutput(function, "y", y);
  ProgramBuilder::AddKernel(function, appends ? SmallKernel::kAppend : SmallKernel::kAdd,
                            {x, appends ? turn : x}, {y});
}

// A function: f32[] a, b -> a + b, in memory of this class.
void AddSum(ProgramBuilder& builder, const std::string& name, v1::Buffer::Class output) {
  const uint32_t a = builder.AddValue(kExternal, kF32, {});
  const uint32_t b = builder.AddValue(kExternal, kF32, {});
  const uint32_t sum = builder.AddValue(output, kF32, {});
  v1::Function& function = builder.AddFunction(name);
  ProgramBuilder::AddInput(function, "a", a);
  ProgramBuilder::AddInput(function, "b", b);
  ProgramBuilder::AddOutput(function, "sum", sum);
  ProgramBuilder::AddKernel(function, SmallKernel::kAdd, {a, b}, {sum});
}

// What a loop's body of NestedControl takes and gives: turn, total, turns, one -> next. Answers with their values.
struct NestedBody {
  uint32_t total, turns, one, next;
};
NestedBody BindNestedBody(ProgramBuilder& builder, v1::Function& body, uint32_t turn,
                          v1::Buffer::Class next) {
  const NestedBody values = {
      builder.AddValue(kExternal, kF32, {}), builder.AddValue(kExternal, kI64, {}),
      builder.AddValue(kExternal, kF32, {}), builder.AddValue(next, kF32, {})};
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "total", values.total);
  ProgramBuilder::AddInput(body, "turns", values.turns);
  ProgramBuilder::AddInput(body, "one", values.one);
  ProgramBuilder::AddOutput(body, "next", values.next);
  return values;
}

}  // namespace

HandWrittenProgram Branches(const std::string& host) {
  ProgramBuilder builder(host);
  AddBranch(builder, "longer", true);
  AddBranch(builder, "double", false);
  const uint32_t n = builder.AddSymbol("n", 0, 100);
  const uint32_t m = builder.AddSymbol("m", 0, 4);
  const uint32_t c = builder.AddValue(kExternal, kBool, {});
  const uint32_t x = builder.AddValue(kExternal, kF32, {Extent::Of(n)});
  const uint32_t seven = builder.AddConstant(I64(7));
  const uint32_t chosen = builder.AddValue(kDynamic, kF32, {Extent::Of(m)});
  const uint32_t y = builder.AddValue(kDynamic, kF32, {Extent::Of(m)});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "c", c);
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  v1::Step& step = *main.add_steps();
  step.set_name("choose");
  v1::Step::If& branch = *step.mutable_branch();
  branch.set_condition(c);
  branch.set_then_function(1);
  branch.set_else_function(0);
  branch.add_inputs(x);
  branch.add_inputs(seven);
  branch.add_outputs(chosen);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {chosen, chosen}, {y});
  return {"branches",
          builder,
          {Tensor::Scalar<bool>(false), Tensor::Of<float>({3}, {1, 2, 3})},
          {Tensor::Of<float>({4}, {2, 4, 6, 14})}};
}

HandWrittenProgram While(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t turn = builder.AddValue(kExternal, kI64, {});
  const uint32_t sum = builder.AddValue(kExternal, kF32, {});
  const uint32_t limit = builder.AddValue(kExternal, kF32, {});
  const uint32_t step_by = builder.AddValue(kExternal, kF32, {});
  const uint32_t next = builder.AddValue(kStatic, kF32, {});
  const uint32_t goes_on = builder.AddValue(kStatic, kBool, {});
  v1::Function& body = builder.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "sum", sum);
  ProgramBuilder::AddInput(body, "limit", limit);
  ProgramBuilder::AddInput(body, "step", step_by);
  ProgramBuilder::AddOutput(body, "goes on", goes_on);
  ProgramBuilder::AddOutput(body, "next", next);
  ProgramBuilder::AddOutput(body, "collected", next);
  ProgramBuilder::AddKernel(body, SmallKernel::kAdd, {sum, step_by}, {next});
  ProgramBuilder::AddKernel(body, SmallKernel::kBelow, {next, limit}, {goes_on});

  const uint32_t turns = builder.AddSymbol("turns", 0, 1000000);
  const uint32_t start = builder.AddValue(kExternal, kF32, {});
  const uint32_t main_limit = builder.AddValue(kExternal, kF32, {});
  const uint32_t main_step = builder.AddValue(kExternal, kF32, {});
  const uint32_t first = builder.AddValue(kStatic, kBool, {});
  const uint32_t total = builder.AddValue(kExternal, kF32, {});
  const uint32_t sums = builder.AddValue(kDynamic, kF32, {Extent::Of(turns)});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "start", start);
  ProgramBuilder::AddInput(main, "limit", main_limit);
  ProgramBuilder::AddInput(main, "step", main_step);
  ProgramBuilder::AddOutput(main, "total", total);
  ProgramBuilder::AddOutput(main, "sums", sums);
  ProgramBuilder::AddKernel(main, SmallKernel::kBelow, {start, main_limit}, {first});
  v1::Step& step = *main.add_steps();
  step.set_name("while");
  v1::Step::Loop& loop = *step.mutable_loop();
  loop.set_has_condition(true);
  loop.set_first_condition(first);
  loop.add_initial(start);
  loop.add_captured(main_limit);
  loop.add_captured(main_step);
  loop.add_results(total);
  loop.add_collected(sums);
  loop.set_turns(ProgramBuilder::SymbolOf(builder.manifest(), turns));
  return {"while",
          builder,
          {F32(0), F32(10), F32(3)},
          {F32(12), Tensor::Of<float>({4}, {3, 6, 9, 12})}};
}

HandWrittenProgram Scan(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t turn = builder.AddValue(kExternal, kI64, {});
  const uint32_t sum = builder.AddValue(kExternal, kF32, {3});
  const uint32_t row = builder.AddValue(kExternal, kF32, {3});
  const uint32_t bias = builder.AddValue(kExternal, kF32, {});
  const uint32_t next = builder.AddValue(kStatic, kF32, {3});
  const uint32_t moved = builder.AddValue(kStatic, kF32, {3});
  v1::Function& body = builder.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "sum", sum);
  ProgramBuilder::AddInput(body, "row", row);
  ProgramBuilder::AddInput(body, "bias", bias);
  ProgramBuilder::AddOutput(body, "next", next);
  ProgramBuilder::AddOutput(body, "moved", moved);
  ProgramBuilder::AddKernel(body, SmallKernel::kAdd, {sum, row}, {next});
  ProgramBuilder::AddKernel(body, SmallKernel::kAdd, {row, bias}, {moved});

  const uint32_t n = builder.AddSymbol("n", 0, 100);
  const uint32_t rows = builder.AddValue(kExternal, kF32, {Extent::Of(n), 3});
  const uint32_t zero = builder.AddConstant(Tensor::Zeros(kF32, {3}));
  const uint32_t ten = builder.AddConstant(F32(10));
  const uint32_t total = builder.AddValue(kExternal, kF32, {3});
  const uint32_t all = builder.AddValue(kExternal, kF32, {Extent::Of(n), 3});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "rows", rows);
  ProgramBuilder::AddOutput(main, "total", total);
  ProgramBuilder::AddOutput(main, "all", all);
  v1::Step& step = *main.add_steps();
  step.set_name("scan");
  v1::Step::Loop& loop = *step.mutable_loop();
  loop.add_initial(zero);
  loop.add_scanned(rows);
  loop.add_captured(ten);
  loop.add_results(total);
  loop.add_collected(all);
  return {"scan",
          builder,
          {Tensor::Of<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
          {Tensor::Of<float>({3}, {12, 15, 18}),
           Tensor::Of<float>({3, 3}, {11, 12, 13, 14, 15, 16, 17, 18, 19})}};
}

HandWrittenProgram NestedControl(const std::string& host) {
  ProgramBuilder builder(host);
  AddSum(builder, "sum", kDynamic);
  AddSum(builder, "other", kStatic);

  const uint32_t inner_turn = builder.AddValue(kExternal, kI64, {});
  const uint32_t always = builder.AddValue(kStatic, kBool, {});
  v1::Function& inner = builder.AddFunction("inner");
  const NestedBody in = BindNestedBody(builder, inner, inner_turn, kDynamic);
  ProgramBuilder::AddKernel(inner, SmallKernel::kAlways, {inner_turn}, {always});
  v1::Step& choice = *inner.add_steps();
  choice.set_name("choose");
  v1::Step::If& branch = *choice.mutable_branch();
  branch.set_condition(always);
  branch.set_then_function(0);
  branch.set_else_function(1);
  for (const uint32_t value : {in.total, in.one}) branch.add_inputs(value);
  branch.add_outputs(in.next);

  const auto add_loop = [](v1::Function& function, const std::string& name, uint32_t body,
                           uint32_t turns, uint32_t initial, uint32_t one, uint32_t result) {
    v1::Step& step = *function.add_steps();
    step.set_name(name);
    v1::Step::Loop& loop = *step.mutable_loop();
    loop.set_body(body);
    loop.set_max_turns(turns);
    loop.add_initial(initial);
    for (const uint32_t value : {turns, one}) loop.add_captured(value);
    loop.add_results(result);
  };
  const uint32_t outer_turn = builder.AddValue(kExternal, kI64, {});
  v1::Function& outer = builder.AddFunction("outer");
  const NestedBody out = BindNestedBody(builder, outer, outer_turn, kStatic);
  add_loop(outer, "inner loop", 2, out.turns, out.total, out.one, out.next);

  const uint32_t turns = builder.AddValue(kExternal, kI64, {});
  const uint32_t one = builder.AddConstant(F32(1));
  const uint32_t zero = builder.AddConstant(F32(0));
  const uint32_t total = builder.AddValue(kExternal, kF32, {});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "turns", turns);
  ProgramBuilder::AddOutput(main, "total", total);
  add_loop(main, "outer loop", 3, turns, zero, one, total);
  return {"nested_control", builder, {I64(7)}, {F32(49)}};
}

HandWrittenProgram SeveralEntries(const std::string& host) {
  ProgramBuilder builder(host);
  AddSum(builder, "sum", kExternal);
  AddSum(builder, "sum again", kExternal);
  builder.manifest().add_more_entries(0);
  return {"several_entries", builder, {F32(1), F32(2)}, {F32(3)}};
}

}  // namespace slipway
