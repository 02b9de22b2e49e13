#include "core/target/machine_description.h"

namespace slipway {
namespace {

constexpr int64_t kKiB = 1 << 10;

struct CpuRow {
  Arch arch;
  int level;  // The row holds from this level on.
  int cores;
  int vector_bytes;
  int vector_registers;
  int64_t l1_bytes;
  int64_t l2_bytes;
  int64_t l3_bytes;
};

// Of several rows that hold, the last.
constexpr CpuRow kCpus[] = {
    {Arch::kX86_64, 1, 4, 16, 16, 32 * kKiB, 256 * kKiB, 1024 * kKiB},
    {Arch::kX86_64, 3, 4, 32, 16, 32 * kKiB, 256 * kKiB, 1024 * kKiB},
    {Arch::kX86_64, 4, 4, 64, 32, 32 * kKiB, 1024 * kKiB, 1024 * kKiB},
    {Arch::kArm64, 0, 4, 16, 32, 32 * kKiB, 256 * kKiB, 512 * kKiB},
    {Arch::kArm32, 0, 4, 16, 16, 32 * kKiB, 256 * kKiB, 512 * kKiB},
    // Vectors of four are four registers there of 32 that hold one number.
    {Arch::kRiscv64, 0, 4, 16, 8, 32 * kKiB, 128 * kKiB, 512 * kKiB},
    // One thread. Engines keep some of 16 registers for themselves: with more than eight accumulators V8 spills.
    {Arch::kWasm32, 0, 1, 16, 11, 32 * kKiB, 256 * kKiB, 1024 * kKiB},
};

struct CudaRow {
  int capability;  // The row holds from this one on.
  int registers_per_block;
  int64_t shared_memory_bytes;
};

constexpr CudaRow kCuda[] = {
    {50, 64 << 10, 48 * kKiB},  {53, 32 << 10, 48 * kKiB},  {60, 64 << 10, 48 * kKiB},
    {62, 32 << 10, 48 * kKiB},  {70, 64 << 10, 96 * kKiB},  {75, 64 << 10, 64 * kKiB},
    {80, 64 << 10, 163 * kKiB}, {86, 64 << 10, 99 * kKiB},  {87, 64 << 10, 163 * kKiB},
    {89, 64 << 10, 99 * kKiB},  {90, 64 << 10, 227 * kKiB}, {120, 64 << 10, 99 * kKiB},
};

void DescribeCpu(const DeviceTarget& device, MachineDescription& machine) {
  for (const CpuRow& row : kCpus) {
    if (row.arch != device.arch || row.level > device.level) continue;
    machine.cores = row.cores;
    machine.vector_bytes = row.vector_bytes;
    machine.vector_registers = row.vector_registers;
    machine.l1_bytes = row.l1_bytes;
    machine.l2_bytes = row.l2_bytes;
    machine.l3_bytes = row.l3_bytes;
  }
  machine.has_fma =
      device.arch == Arch::kArm64 || device.arch == Arch::kRiscv64 || device.Has("fma");
  machine.has_lane_fma = device.arch == Arch::kArm64;
  machine.has_int8 = device.Has("vnni") || device.Has("avxvnni") || device.Has("dotprod");
  machine.has_bf16 = device.Has("bf16");
  machine.has_int8_tiles = device.Has("amxint8");
  machine.has_bf16_tiles = device.Has("amxbf16");
  machine.has_fp16 = device.Has("fp16");
}

void DescribeCuda(int capability, MachineDescription& machine) {
  for (const CudaRow& row : kCuda) {
    if (row.capability > capability) continue;
    machine.warp_size = 32;
    machine.max_threads_per_block = 1'024;
    machine.max_registers_per_thread = 255;
    machine.max_registers_per_block = row.registers_per_block;
    machine.shared_memory_bytes = row.shared_memory_bytes;
  }
  machine.has_fma = capability >= 20;
  machine.has_fp16 = capability >= 53;
  machine.has_int8 = capability >= 61;
  machine.has_bf16 = capability >= 80;
}

// The standard wants groups of one instance; devices with shared virtual memory, without which none is driven
// (core/runtime/drivers/opencl), have 64 and more.
void DescribeOpenCl(MachineDescription& machine) {
  machine.max_threads_per_block = 64;
  machine.shared_memory_bytes = 32 * kKiB;
}

}  // namespace

MachineDescription DescribeMachine(const DeviceTarget& device) {
  MachineDescription machine;
  machine.arch = device.arch;
  if (device.arch == Arch::kCuda) {
    DescribeCuda(device.level, machine);
  } else if (device.arch == Arch::kOpenCl) {
    DescribeOpenCl(machine);
  } else {
    DescribeCpu(device, machine);
  }
  return machine;
}

}  // namespace slipway
