// What a machine does at most: the limits that the steps of programs are held against.
#ifndef SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_
#define SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

// How many operations a second there are, a multiply-add counted as two.
struct ArithmeticPeak {
  std::string type;  // Of what is multiplied: "f32", "bf16", "int8".
  double operations_per_second = 0;

  friend bool operator==(const ArithmeticPeak&, const ArithmeticPeak&) = default;
};

// How fast data is read that lies at a level of the memory.
struct ReadingPeak {
  std::string level;  // "L1", "L2", "L3", "memory".
  int64_t bytes = 0;  // That the threads' caches of this level hold together; 0: any number.
  double bytes_per_second = 0;

  friend bool operator==(const ReadingPeak&, const ReadingPeak&) = default;
};

// Of so many threads together.
struct MachinePeaks {
  int threads = 1;
  std::vector<ArithmeticPeak> arithmetic;  // "f32" first.
  std::vector<ReadingPeak> reading;        // From the smallest level to memory.

  friend bool operator==(const MachinePeaks&, const MachinePeaks&) = default;
};

// Of a GPU, or of another accelerator, all of it together.
struct AcceleratorPeaks {
  std::string name;  // For people.
  std::vector<ArithmeticPeak>
      arithmetic;                    // "f32" first; "tf32", "f16" and "bf16" are of tensor cores.
  std::vector<ReadingPeak> reading;  // "L2" where that is known, and "memory".
  // Copies between its memory and page-locked memory of the host.
  double from_host_bytes_per_second = 0;
  double to_host_bytes_per_second = 0;

  friend bool operator==(const AcceleratorPeaks&, const AcceleratorPeaks&) = default;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_MACHINE_PEAKS_H_
