// What a schedule needs to know of the machine that it is made for.
#ifndef SLIPWAY_CORE_TARGET_MACHINE_DESCRIPTION_H_
#define SLIPWAY_CORE_TARGET_MACHINE_DESCRIPTION_H_

#include <cstdint>

#include "core/target/target.h"

namespace slipway {

// A target names instructions, not a chip: where chips of one target differ, this is what nearly all of them
// have at least, so that a schedule which fits it fits them. What a machine does not have, or a target does
// not tell, is 0 or false.
struct MachineDescription {
  Arch arch = Arch::kX86_64;

  // --- Instructions ---
  bool has_fma = false;  // f32: multiply and add.
  // The same by one element of a register, which need not be broadcast before.
  bool has_lane_fma = false;
  bool has_int8 = false;  // Four products of int8, summed to int32: vnni, avxvnni, dotprod, dp4a.
  bool has_bf16 = false;  // Products of bf16, summed to f32.
  // The same of whole tiles, in registers of their own: amxint8; amxbf16, where products of vectors are slower than f32's.
  bool has_int8_tiles = false;
  bool has_bf16_tiles = false;
  bool has_fp16 = false;  // Arithmetic on f16.

  // --- CPUs ---
  int cores = 0;             // To keep busy: those of phones that are fast, those of small servers.
  int vector_bytes = 0;      // Of one vector register.
  int vector_registers = 0;  // That code may use.
  // Data caches: the first two belong to one core, the third is what a core has of a shared one.
  int64_t l1_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;

  // --- GPUs ---
  int warp_size = 0;                 // Threads that go together.
  int max_threads_per_block = 0;     // Or work-items a group.
  int max_registers_per_thread = 0;  // Of 32 bits.
  int max_registers_per_block = 0;
  int64_t shared_memory_bytes = 0;  // That one block may have.
};

// Of any device that parses; one that nothing here knows has its architecture alone. A pure function: two
// machines describe a target alike.
// CPUs by architecture and level (x86-64: Intel's and AMD's optimization manuals; arm-64: the Cortex-A
// series; arm-32: the Cortex-A7; riscv-64: SiFive's U74, without the vector extension; wasm-32: a small x86-64 below an engine), CUDA by compute capability (CUDA C++
// Programming Guide, technical specifications per compute capability; one that is not listed is described as
// the highest listed one below it), OpenCL by the least that OpenCL 1.2 wants of a device (section 4.2).
MachineDescription DescribeMachine(const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_MACHINE_DESCRIPTION_H_
