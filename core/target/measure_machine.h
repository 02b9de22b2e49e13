// Measures what the machine that this runs on does at most.
#ifndef SLIPWAY_CORE_TARGET_MEASURE_MACHINE_H_
#define SLIPWAY_CORE_TARGET_MEASURE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/target/machine_peaks.h"
#include "core/target/target.h"

namespace slipway {

// A data cache, of which a machine has as many as its processors need.
struct CacheSize {
  int64_t bytes = 0;   // 0: there is none, or it is not known.
  int processors = 1;  // That share one.
};
struct CacheSizes {
  CacheSize l1, l2, l3;
};

// Those of a machine, as its folder /sys/devices/system/cpu/cpu0/cache, or a copy of it, tells them; where it does not, those that the
// machine's target has at least.
CacheSizes CachesOf(const DeviceTarget& machine, const std::string& folder);
CacheSizes HostCaches();

// A level, and as many bytes as lie there for sure when they are read again and again.
struct MeasuredLevel {
  ReadingPeak level;  // Not measured yet.
  int64_t read_bytes = 0;
};
// The levels that threads of one machine see together. A cache that has no room beside those below it is none.
std::vector<MeasuredLevel> LevelsFor(const CacheSizes& caches, int threads);

// Takes some 0.3 s, and meanwhile 128 MiB of memory, or twice what the largest caches hold. Each is the best of several short
// measurements apart from each other, as others may have the machine for a while; of one that is always busy it tells too little.
MachinePeaks MeasureMachine(int threads, const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_MEASURE_MACHINE_H_
