#include "core/runtime/test_programs/hand_written_programs.h"

namespace slipway {
namespace {

using Operation = v1::Expression::Operation;
using Extent = ProgramBuilder::Extent;

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kI64 = DataType::kInt64;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;

}  // namespace

HandWrittenProgram FreeWidth(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t batch = builder.AddSymbol("batch", 1, 8);
  const uint32_t width = builder.AddSymbol("width", 3, 64);
  const uint32_t positions = builder.Operation(
      Operation::ADD,
      builder.Operation(Operation::FLOOR_DIVIDE,
                        builder.Operation(Operation::SUBTRACT, width, builder.Number(3)),
                        builder.Number(2)),
      builder.Number(1));
  const Extent b = Extent::Of(batch);
  const Extent w = Extent::Of(positions);
  const uint32_t x = builder.AddValue(kExternal, kF32, {b, Extent::Of(width)});
  const uint32_t z = builder.AddValue(kExternal, kF32, {w});
  const uint32_t sums = builder.AddValue(kDynamic, kF32, {b, w});
  const uint32_t hundred = builder.AddConstant(Tensor::Scalar<float>(100));
  const uint32_t y = builder.AddValue(kExternal, kF32, {b, w});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddInput(main, "z", z);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddKernel(main, SmallKernel::kWindowSum, {x}, {sums});
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {sums, hundred}, {y});
  return {
      "free_width",
      builder,
      {Tensor::Of<float>({2, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}),
       Tensor::Zeros(kF32, {4})},
      {Tensor::Of<float>({2, 4}, {106, 112, 118, 124, 133, 139, 145, 151})}};
}

HandWrittenProgram FoundShape(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t n = builder.AddSymbol("n", 0, 1000);
  const uint32_t found = builder.AddSymbol("found", 0, 6);
  const uint32_t x = builder.AddValue(kExternal, kF32, {Extent::Of(n)});
  const uint32_t count = builder.AddValue(v1::Buffer::CLASS_STATIC, kI64, {1});
  const uint32_t places = builder.AddValue(kDynamic, kI64, {Extent::Of(found)});
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "places", places);
  ProgramBuilder::AddKernel(main, SmallKernel::kCountPositive, {x}, {count});
  v1::Step& bind = *main.add_steps();
  bind.set_name("bind");
  bind.mutable_bind_symbols()->set_value(count);
  bind.mutable_bind_symbols()->add_symbols(ProgramBuilder::SymbolOf(builder.manifest(), found));
  ProgramBuilder::AddKernel(main, SmallKernel::kPositions, {x}, {places});
  ProgramBuilder::AddConstraint(main, "no more than there are",
                                {{builder.Operation(Operation::MIN, n, found), found}});
  return {"found_shape",
          builder,
          {Tensor::Of<float>({5}, {-1, 5, 0, 7, 8})},
          {Tensor::Of<int64_t>({3}, {1, 3, 4})}};
}

HandWrittenProgram SharedBuffer(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t n = builder.AddSymbol("n", 1, 16);
  const uint32_t x = builder.AddValue(kExternal, kF32, {Extent::Of(n)});
  const uint32_t first = builder.AddValue(kDynamic, kF32, {Extent::Of(n)});
  const uint32_t second = builder.AddValueBeside(first, 64, kF32, {Extent::Of(n)});
  const uint32_t column = builder.AddValueBeside(first, 0, kF32, {Extent::Of(n), 1});
  const uint32_t y = builder.AddValue(kExternal, kF32, {Extent::Of(n)});
  builder.buffer_of(first).mutable_size()->set_expression(builder.Number(128));
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {x, x}, {first});
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {first, x}, {second});
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {second, column}, {y});
  return {"shared_buffer",
          builder,
          {Tensor::Of<float>({5}, {1, 2, 3, 4, 5})},
          {Tensor::Of<float>({5}, {5, 10, 15, 20, 25})}};
}

}  // namespace slipway
