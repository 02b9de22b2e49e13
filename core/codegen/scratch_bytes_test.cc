#include "core/codegen/scratch_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway {
namespace {

const Halide::Target& Plain() {
  static const auto& target =
      *new Halide::Target("x86-64-linux-no_runtime-no_asserts-no_bounds_query");
  return target;
}

// Of a stage of `extent` floats that another one reads.
int64_t ScratchOf(int extent, Halide::MemoryType memory) {
  Halide::Var x("x");
  Halide::Func stage("stage"), result("result");
  stage(x) = Halide::cast<float>(x) * 3.0f;
  result(x) = stage(x) + stage(extent - 1 - x);
  result.bound(x, 0, extent);
  stage.compute_root().store_in(memory);
  return ScratchBytes(result.compile_to_module({}, "kernel", Plain())).call;
}

TEST(ScratchBytes, IsWhatGoesToTheHeap) {
  EXPECT_EQ(ScratchOf(1 << 10, Halide::MemoryType::Auto), 0);
  EXPECT_EQ(ScratchOf(1 << 10, Halide::MemoryType::Heap), 4096 + 128);
  EXPECT_EQ(ScratchOf(1 << 12, Halide::MemoryType::Auto), 0);
  EXPECT_EQ(ScratchOf((1 << 12) + 1, Halide::MemoryType::Auto), 16384 + 64 + 128);
  EXPECT_EQ(ScratchOf(1 << 20, Halide::MemoryType::Stack), 0);
}

TEST(ScratchBytes, IsNotKnownWhereAnExtentIsOpen) {
  Halide::Var x("x");
  Halide::Func stage("stage"), result("result");
  Halide::ImageParam input(Halide::Float(32), 1);
  stage(x) = input(x) * 3.0f;
  result(x) = stage(x) + 1.0f;
  stage.compute_root();
  EXPECT_EQ(ScratchBytes(result.compile_to_module({input}, "kernel", Plain())),
            (KernelScratch{-1, 0}));
}

TEST(ScratchBytes, StagesThatFollowEachOtherShare) {
  constexpr int kExtent = 1 << 13;
  constexpr int64_t kStage = kExtent * 4 + 128;
  Halide::Var x("x");
  Halide::Func a("a"), b("b"), c("c"), result("result");
  a(x) = Halide::cast<float>(x);
  b(x) = a(x) + a(kExtent - 1 - x);
  c(x) = b(x) + b(kExtent - 1 - x);
  result(x) = c(x) + c(kExtent - 1 - x);
  result.bound(x, 0, kExtent);
  for (Halide::Func* stage : {&a, &b, &c}) stage->compute_root();
  const int64_t bytes = ScratchBytes(result.compile_to_module({}, "kernel", Plain())).call;
  EXPECT_GE(bytes, 2 * kStage);
  EXPECT_LE(bytes, 3 * kStage);
}

// A stage of a task's, one of a task within it, and one around them; `extent` floats are the inner ones' each.
Halide::Module Nested(Halide::Expr extent, std::vector<Halide::Argument> arguments) {
  constexpr int kRows = 16;
  Halide::Var x("x"), y("y"), z("z");
  Halide::Func whole("whole"), row("row"), part("part"), result("result");
  whole(x) = Halide::cast<float>(x);
  row(x, z) = whole(x) * 3.0f + z;
  part(x, y, z) = row(x, z) + y;
  result(x, y, z) =
      part(x, y, z) + part(extent - 1 - x, y, z) + row(extent - 1 - x, z) + whole(extent - 1 - x);
  result.bound(x, 0, extent).bound(y, 0, kRows).bound(z, 0, kRows).parallel(y).parallel(z);
  whole.compute_root().store_in(Halide::MemoryType::Heap);
  row.compute_at(result, z).store_in(Halide::MemoryType::Heap);
  part.compute_at(result, y).store_in(Halide::MemoryType::Heap);
  return result.compile_to_module(arguments, "kernel", Plain());
}

TEST(ScratchBytes, WhatTasksTakeIsBesideWhatIsAroundTheirLoops) {
  constexpr int64_t kStage = 4096 * 4 + 128;
  EXPECT_EQ(ScratchBytes(Nested(4096, {})), (KernelScratch{3 * kStage, 2 * kStage}));
}

TEST(ScratchBytes, IsNotKnownWhereATasksExtentIsOpen) {
  const Halide::Param<int> extent("extent");
  EXPECT_EQ(ScratchBytes(Nested(extent, {extent})), (KernelScratch{-1, -1}));
}

}  // namespace
}  // namespace slipway
