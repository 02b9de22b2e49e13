/* Which loops of sum_loops.h and read_loops.h there are, by architecture: for who has them, and for who asks another machine for one by its number. */
#ifndef SLIPWAY_CORE_TARGET_PEAK_ROWS_H_
#define SLIPWAY_CORE_TARGET_PEAK_ROWS_H_

/* More independent sums than latency times units, each a vector: 8 to 10 for multiply-adds on any core so far, more for sums of
 * pairs; as many as the registers hold beside two operands. Of eight tile registers two are multiplied. */
#define SLIPWAY_SUMS_IN_16 12
#define SLIPWAY_SUMS_IN_32 24
#define SLIPWAY_SUMS_IN_TILES 6

/* Whole lines in flight, enough that none waits for the one before. */
#define SLIPWAY_READ_STEP (8 * 64)

/* By architecture the loops of sums: the function, what it multiplies, whether a machine (a DeviceTarget) runs it, and how many operations a
 * round has, a multiply-add being two. Of several that a machine runs for a type the first is meant. */
#define SLIPWAY_X86_64_LOOPS(LOOP)                                                            \
  LOOP(F32In512, "f32", machine.level >= 4, SLIPWAY_SUMS_IN_32 * 32)                          \
  LOOP(F32In256, "f32", machine.level >= 3, SLIPWAY_SUMS_IN_16 * 16)                          \
  LOOP(F32In128, "f32", true, SLIPWAY_SUMS_IN_16 * 8)                                         \
  LOOP(Bf16InTiles, "bf16", machine.Has("amxbf16"), SLIPWAY_SUMS_IN_TILES * 2 * 16 * 16 * 32) \
  LOOP(Bf16In512, "bf16", machine.Has("bf16"), SLIPWAY_SUMS_IN_32 * 64)                       \
  LOOP(Int8InTiles, "int8", machine.Has("amxint8"), SLIPWAY_SUMS_IN_TILES * 2 * 16 * 16 * 64) \
  LOOP(Int8In512, "int8", machine.Has("vnni"), SLIPWAY_SUMS_IN_32 * 128)                      \
  LOOP(Int8In256, "int8", machine.Has("avxvnni"), SLIPWAY_SUMS_IN_16 * 64)
#define SLIPWAY_ARM_64_LOOPS(LOOP) LOOP(F32In128, "f32", true, SLIPWAY_SUMS_IN_32 * 8)
#define SLIPWAY_ARM_32_LOOPS(LOOP)                                     \
  LOOP(F32Scalar, "f32", !machine.Has("neon"), SLIPWAY_SUMS_IN_16 * 2) \
  LOOP(F32In128, "f32", true, SLIPWAY_SUMS_IN_16 * 8)
#define SLIPWAY_RISCV_64_LOOPS(LOOP) LOOP(F32Scalar, "f32", true, SLIPWAY_SUMS_IN_32 * 2)

/* By architecture those that read: the function, and whether a machine runs it. The first is meant. */
#define SLIPWAY_X86_64_READS(READ)  \
  READ(Read512, machine.level >= 4) \
  READ(Read256, machine.level >= 3) \
  READ(Read128, true)
#define SLIPWAY_OTHER_READS(READ) READ(Read128, true)

#endif /* SLIPWAY_CORE_TARGET_PEAK_ROWS_H_ */
