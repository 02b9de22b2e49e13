// EnergyMeter: what the machine counts of the energy that it takes.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "device_agent/measure/accelerator_watch.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Counts from the first reading to the last. It is to be read every few seconds at least: a counter that wraps around may do so
// once between two readings. The first of these that the machine has, and lets this process read:
//   1. packages, and memory beside them, by RAPL (/sys/class/powercap, Documentation/power/powercap/powercap.rst of Linux)
//   2. sensors that count energy, or else power, summed up over time (/sys/class/hwmon, Documentation/hwmon/sysfs-interface.rst)
//   3. batteries that discharge, by their power (/sys/class/power_supply)
// And beside them accelerators, as they are given with each reading: what they count, or else their power, summed up over time. A counter that cannot be read any more, or that counts more than 100 kW, is left out, and the reason told. Not thread-safe.
class EnergyMeter {
 public:
  // `root` is in front of "/sys"; empty for this machine's.
  explicit EnergyMeter(const std::string& root = "");

  // `now_ns` is monotonic. The first call begins; later ones have as many accelerators, in the same order.
  void Read(int64_t now_ns, absl::Span<const AcceleratorReading> accelerators = {});
  // Sets `energy`, and `energy_unknown` if there are counters of the machine, but none that counts; neither where there are none.
  void Finish(v1::BenchmarkResult& result) const;

 private:
  enum class Kind { kEnergy, kPower };  // Microjoules since some time, microwatts now.
  struct Counter {
    std::string name;
    std::string path;                        // Empty: an accelerator's.
    std::optional<size_t> accelerator = {};  // Its place among them.
    Kind kind = Kind::kEnergy;
    int64_t range = 0;   // Where it wraps around; 0: it does not.
    int64_t lag_ns = 0;  // What it counts may be so old.
    int64_t last = -1;   // -1: not read yet.
    double microjoules = 0;
    std::string lost;  // Why it is left out; empty while it is not.
  };

  // Adds it if it can be read now; false where it cannot.
  bool Add(std::string name, const std::string& path, Kind kind, int64_t range = 0);
  void FindRapl(const std::string& root);
  void FindSensors(const std::string& root);
  void FindBatteries(const std::string& root);
  void FindAccelerators(absl::Span<const AcceleratorReading> accelerators);
  static absl::StatusOr<int64_t> ValueOf(const Counter& counter,
                                         absl::Span<const AcceleratorReading> accelerators);
  static void Count(Counter& counter, int64_t value, int64_t elapsed_ns);

  std::vector<Counter> counters_;
  std::string unknown_;  // Why a counter that is there cannot be read.
  int64_t last_ns_ = -1;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_
