#include "core/target/machine_description.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

MachineDescription Describe(const std::string& target) {
  return DescribeMachine(ParseTarget(target)->devices.back());
}

TEST(MachineDescriptionTest, VectorsFollowTheLevel) {
  const struct {
    const char* target;
    int bytes;
    int registers;
  } rows[] = {{"x86-64-linux", 16, 16},    {"x86-64-v2-linux", 16, 16},
              {"x86-64-v3-linux", 32, 16}, {"x86-64-v4-linux", 64, 32},
              {"arm-64-linux", 16, 32},    {"arm-32-linux-neon", 16, 16},
              {"riscv-64-linux", 16, 8},   {"wasm-32-wasi-simd128", 16, 11}};
  for (const auto& row : rows) {
    EXPECT_EQ(Describe(row.target).vector_bytes, row.bytes) << row.target;
    EXPECT_EQ(Describe(row.target).vector_registers, row.registers) << row.target;
  }
  // One instruction of a higher level is not that level.
  EXPECT_EQ(Describe("x86-64-v3-linux-avx512f").vector_bytes, 32);
}

TEST(MachineDescriptionTest, InstructionsFollowTheFeatures) {
  EXPECT_FALSE(Describe("x86-64-v2-linux").has_fma);
  EXPECT_TRUE(Describe("x86-64-v3-linux").has_fma);
  EXPECT_TRUE(Describe("arm-64-linux").has_fma);
  EXPECT_TRUE(Describe("arm-64-linux").has_lane_fma);
  EXPECT_FALSE(Describe("x86-64-v4-linux").has_lane_fma);
  EXPECT_TRUE(Describe("riscv-64-linux").has_fma);
  EXPECT_TRUE(Describe("arm-32-linux-fma").has_fma);
  EXPECT_FALSE(Describe("arm-32-linux-neon").has_fma);
  EXPECT_FALSE(Describe("riscv-64-linux").has_lane_fma);
  EXPECT_FALSE(Describe("wasm-32-wasi-simd128").has_fma);
  EXPECT_FALSE(Describe("x86-64-v4-linux").has_int8);
  for (const char* target :
       {"x86-64-v4-linux-vnni", "x86-64-v3-linux-avxvnni", "arm-64-linux-dotprod"}) {
    EXPECT_TRUE(Describe(target).has_int8) << target;
    EXPECT_FALSE(Describe(target).has_bf16) << target;
  }
  EXPECT_TRUE(Describe("x86-64-v4-linux-bf16").has_bf16);
  EXPECT_TRUE(Describe("arm-64-linux-fp16").has_fp16);
}

TEST(MachineDescriptionTest, CpusHaveCachesAndCoresAndNothingOfAGpu) {
  for (const char* target :
       {"x86-64-linux", "x86-64-v3-linux", "x86-64-v4-linux", "arm-64-linux", "wasm-32-wasi"}) {
    const MachineDescription machine = Describe(target);
    EXPECT_GE(machine.cores, 1) << target;
    EXPECT_GE(machine.l1_bytes, 16 << 10) << target;
    EXPECT_GT(machine.l2_bytes, machine.l1_bytes) << target;
    EXPECT_GE(machine.l3_bytes, machine.l2_bytes) << target;
    EXPECT_EQ(machine.warp_size, 0) << target;
    EXPECT_EQ(machine.shared_memory_bytes, 0) << target;
  }
}

TEST(MachineDescriptionTest, CudaFollowsTheCapability) {
  const MachineDescription ampere = Describe("x86-64-linux,cuda-sm80");
  EXPECT_EQ(ampere.arch, Arch::kCuda);
  EXPECT_EQ(ampere.warp_size, 32);
  EXPECT_EQ(ampere.max_threads_per_block, 1'024);
  EXPECT_EQ(ampere.max_registers_per_thread, 255);
  EXPECT_EQ(ampere.max_registers_per_block, 64 << 10);
  EXPECT_EQ(ampere.vector_bytes, 0);
  EXPECT_TRUE(ampere.has_bf16);
  EXPECT_FALSE(Describe("x86-64-linux,cuda-sm50").has_fp16);
  EXPECT_FALSE(Describe("x86-64-linux,cuda-sm60").has_int8);
  const struct {
    const char* target;
    int64_t shared_kib;
  } rows[] = {{"x86-64-linux,cuda-sm80", 163},  {"x86-64-linux,cuda-sm86", 99},
              {"x86-64-linux,cuda-sm87", 163},  {"x86-64-linux,cuda-sm90", 227},
              {"x86-64-linux,cuda-sm100", 227}, {"x86-64-linux,cuda-sm121", 99}};
  for (const auto& row : rows) {
    EXPECT_EQ(Describe(row.target).shared_memory_bytes, row.shared_kib << 10) << row.target;
  }
}

TEST(MachineDescriptionTest, OpenClPromisesLittle) {
  const MachineDescription machine = Describe("x86-64-linux,opencl");
  EXPECT_EQ(machine.max_threads_per_block, 64);
  EXPECT_EQ(machine.shared_memory_bytes, 32 << 10);
  EXPECT_EQ(machine.warp_size, 0);
}

TEST(MachineDescriptionTest, WhatNothingKnowsHasItsArchitectureAlone) {
  for (const char* target : {"x86-64-linux,cuda-sm30"}) {
    const MachineDescription machine = Describe(target);
    EXPECT_EQ(machine.arch, ParseTarget(target)->devices.back().arch) << target;
    EXPECT_EQ(machine.vector_bytes, 0) << target;
    EXPECT_EQ(machine.cores, 0) << target;
    EXPECT_EQ(machine.warp_size, 0) << target;
  }
}

}  // namespace
}  // namespace slipway
