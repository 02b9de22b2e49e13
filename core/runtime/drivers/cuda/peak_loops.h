// Loops of PTX that do one thing as fast as a GPU can, each with a known amount of work: the limits that kernels are held against. Sources: NVIDIA, "Parallel
// Thread Execution ISA", "Warp-level matrix instructions" and "Asynchronous warpgroup level matrix instructions".
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PEAK_LOOPS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PEAK_LOOPS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

// Multiply-adds from registers, or of warp groups from what a group shares. The entry's parameters are a pointer to an f32 for each instance of the
// launch, and the turns. All factors are 1: an instance leaves the sum of all that it added up, `sum` for each turn, while that is below 2^24.
struct CudaSumLoop {
  std::string type;  // Of what it multiplies: "f32", "tf32", "f16", "bf16".
  std::string entry;
  std::string text;
  int instances = 0;       // Of a group.
  int groups = 0;          // That a multiprocessor is to have at a time.
  int64_t operations = 0;  // Of a group in a turn, a multiply-add being two.
  int64_t sum = 0;
};

// For devices of this capability (90 for 9.0): "f32" first, then by tensor cores what they multiply; of one type there may be several, of which the
// fastest counts.
std::vector<CudaSumLoop> CudaSumLoops(int capability);

// Reads data again and again, by vectors of 16 bytes that no multiprocessor keeps (.cg), each instance kReadAtATime of them before it waits. The entry's
// parameters are pointers to the data and to a u32 for each instance of the launch, then rounds and the data's vectors, a multiple of instances times
// kReadAtATime. An instance leaves the sum of all words that it has read.
struct CudaReadLoop {
  std::string entry;
  std::string text;
  int instances = 0;  // Of a group.
};
inline constexpr int kReadAtATime = 4;
inline constexpr int kReadVectorBytes = 16;
CudaReadLoop CudaReading(int capability);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_PEAK_LOOPS_H_
