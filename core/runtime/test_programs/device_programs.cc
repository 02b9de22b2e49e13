#include "core/runtime/test_programs/hand_written_programs.h"

namespace slipway {
namespace {

using Operation = v1::Expression::Operation;
using Extent = ProgramBuilder::Extent;

constexpr DataType kF32 = DataType::kFloat32;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;
constexpr v1::Buffer::Class kStatic = v1::Buffer::CLASS_STATIC;

}  // namespace

HandWrittenProgram ThereAndBack(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t gpu = builder.AddDevice("cuda-sm90");
  const uint32_t host_space = builder.AddSpace(0);
  const uint32_t gpu_space = builder.AddSpace(gpu);
  const uint32_t code = builder.AddEntries(v1::Code::KIND_PTX, gpu, {"add_f32"});
  const uint32_t x = builder.AddValue(kExternal, kF32, {5}, host_space);
  const uint32_t doubled = builder.AddValue(kStatic, kF32, {5}, host_space);
  const uint32_t there = builder.AddValue(kStatic, kF32, {5}, gpu_space);
  const uint32_t bias =
      builder.AddConstant(Tensor::Of<float>({5}, {10, 20, 30, 40, 50}), gpu_space);
  const uint32_t sum = builder.AddValue(kStatic, kF32, {5}, gpu_space);
  const uint32_t back = builder.AddValue(kStatic, kF32, {5}, host_space);
  const uint32_t y = builder.AddValue(kExternal, kF32, {5}, host_space);
  const uint32_t one = builder.AddConstant(Tensor::Scalar<float>(1), host_space);
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {x, x}, {doubled});
  ProgramBuilder::AddCopy(main, gpu, doubled, there).add_after(0);
  v1::Step& add = builder.AddLaunch(main, code, 0, {there, bias}, {sum}, {2}, 4);
  add.set_queue(2);
  add.add_after(1);
  v1::Step& copy = ProgramBuilder::AddCopy(main, gpu, sum, back);
  copy.set_queue(1);
  copy.add_after(2);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {back, one}, {y}).add_after(3);
  return {"there_and_back",
          builder,
          {Tensor::Of<float>({5}, {1, 2, 3, 4, 5})},
          {Tensor::Of<float>({5}, {13, 25, 37, 49, 61})}};
}

HandWrittenProgram TwoGpus(const std::string& host) {
  ProgramBuilder builder(host);
  const uint32_t opencl = builder.AddDevice("opencl");
  const uint32_t cuda = builder.AddDevice("cuda-sm90");
  const uint32_t host_space = builder.AddSpace(0);
  const uint32_t opencl_space = builder.AddSpace(opencl);
  const uint32_t cuda_space = builder.AddSpace(cuda);
  const uint32_t shared_space = builder.AddSpace(cuda, {0});
  const uint32_t source =
      builder.AddEntries(v1::Code::KIND_OPENCL_SOURCE, opencl, {"fill_f32", "copy_f32"});
  const uint32_t ptx = builder.AddEntries(v1::Code::KIND_PTX, cuda, {"tile_f32"});
  const uint32_t n = builder.AddSymbol("n", 0, 1000);
  const uint32_t blocks = builder.Operation(Operation::CEIL_DIVIDE, n, builder.Number(4));
  const uint32_t groups =
      builder.Operation(Operation::MAX, builder.Number(1),
                        builder.Operation(Operation::MIN, blocks, builder.Number(65535)));
  const Extent length = Extent::Of(n);
  const uint32_t x = builder.AddValue(kExternal, kF32, {length}, host_space);
  const uint32_t there = builder.AddValue(kDynamic, kF32, {length}, opencl_space);
  const uint32_t copied = builder.AddValue(kDynamic, kF32, {length}, opencl_space);
  const uint32_t middle = builder.AddValue(kDynamic, kF32, {length}, host_space);
  const uint32_t here = builder.AddValue(kDynamic, kF32, {length}, cuda_space);
  const uint32_t tiled = builder.AddValue(kDynamic, kF32, {length}, shared_space);
  const uint32_t y = builder.AddValue(kExternal, kF32, {length}, host_space);
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddCopy(main, opencl, x, there);
  builder.AddLaunch(main, source, 1, {there}, {copied}, {Extent::Of(groups)}, 4);
  ProgramBuilder::AddCopy(main, opencl, copied, middle);
  v1::Step& copy = ProgramBuilder::AddCopy(main, cuda, middle, here);
  copy.set_queue(1);
  copy.add_after(2);
  v1::Step& tile = builder.AddLaunch(main, ptx, 0, {here}, {tiled}, {Extent::Of(groups)}, 4);
  tile.mutable_kernel()->mutable_launch()->set_shared_bytes(16);
  tile.set_queue(2);
  tile.add_after(3);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {tiled, x}, {y}).add_after(4);
  return {"two_gpus",
          builder,
          {Tensor::Of<float>({5}, {1, 2, 3, 4, 5})},
          {Tensor::Of<float>({5}, {2, 4, 6, 8, 10})}};
}

}  // namespace slipway
