// EnergyMeter: what the machine counts of the energy that it takes.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Counts from the first reading to the last. It is to be read every few seconds at least: a counter that wraps around may do so
// once between two readings. The first of these that the machine has, and lets this process read:
//   1. packages, and memory beside them, by RAPL (/sys/class/powercap, Documentation/power/powercap/powercap.rst of Linux)
//   2. sensors that count energy, or else power, summed up over time (/sys/class/hwmon, Documentation/hwmon/sysfs-interface.rst)
//   3. batteries that discharge, by their power (/sys/class/power_supply)
// A counter that cannot be read any more, or that counts more than 100 kW, is left out, and the reason told. Not thread-safe.
class EnergyMeter {
 public:
  // `root` is in front of "/sys"; empty for this machine's.
  explicit EnergyMeter(const std::string& root = "");

  // `now_ns` is monotonic. The first call begins.
  void Read(int64_t now_ns);
  // Sets `energy`, or `energy_unknown` if there are counters; neither where there are none.
  void Finish(v1::BenchmarkResult& result) const;

 private:
  enum class Kind { kEnergy, kPower };  // Microjoules since some time, microwatts now.
  struct Counter {
    std::string name;
    std::string path;
    Kind kind = Kind::kEnergy;
    int64_t range = 0;  // Where it wraps around; 0: it does not.
    int64_t last = -1;  // -1: not read yet.
    double microjoules = 0;
    std::string lost;  // Why it is left out; empty while it is not.
  };

  // Adds it if it can be read now; false where it cannot.
  bool Add(std::string name, const std::string& path, Kind kind, int64_t range = 0);
  void FindRapl(const std::string& root);
  void FindSensors(const std::string& root);
  void FindBatteries(const std::string& root);
  static void Count(Counter& counter, int64_t value, int64_t elapsed_ns);

  std::vector<Counter> counters_;
  std::string unknown_;  // Why a counter that is there cannot be read.
  int64_t last_ns_ = -1;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_ENERGY_H_
