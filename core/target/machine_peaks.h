// What the machine that this runs on does at most, measured: the limits that the steps of programs are held against.
#ifndef SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_
#define SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// How many operations a second there are, a multiply-add counted as two.
struct ArithmeticPeak {
  std::string type;  // Of what is multiplied: "f32", "bf16", "int8".
  double operations_per_second = 0;
};

// How fast data is read that lies at a level of the memory.
struct ReadingPeak {
  std::string level;  // "L1", "L2", "L3", "memory".
  int64_t bytes = 0;  // That the threads' caches of this level hold together; 0: any number.
  double bytes_per_second = 0;
};

// Of so many threads together.
struct MachinePeaks {
  int threads = 1;
  std::vector<ArithmeticPeak> arithmetic;  // "f32" first.
  std::vector<ReadingPeak> reading;        // From the smallest level to memory.
};

// Data caches. What there is not, or is not known, is 0.
struct CacheSizes {
  int64_t l1_bytes = 0;  // Of a core;
  int64_t l2_bytes = 0;  // of a core;
  int64_t l3_bytes = 0;  // of all that share it.
};

// Those of this machine, as a folder like /sys/devices/system/cpu/cpu0/cache tells them; where it does not, those that the
// machine's target has at least.
CacheSizes HostCaches(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

// A level, and as many bytes as lie there for sure when they are read again and again.
struct MeasuredLevel {
  ReadingPeak level;  // Not measured yet.
  int64_t read_bytes = 0;
};
// The levels that threads of one machine see together. A cache that has no room beside those below it is none.
std::vector<MeasuredLevel> LevelsFor(const CacheSizes& caches, int threads);

// Takes some 0.2 s, and 128 MiB of memory at most meanwhile. Of a machine that is busy it tells too little.
MachinePeaks MeasureMachine(int threads, const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_
