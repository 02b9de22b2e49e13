#include "device_agent/measure/energy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "device_agent/measure/machine_files.h"

namespace slipway {
namespace {

constexpr int kMaxPackages = 16;
constexpr int kMaxParts = 8;
constexpr int kMaxSensors = 16;
constexpr int kMaxInputs = 8;
constexpr int kMaxBatteries = 4;
constexpr size_t kMaxCounters = 16;
constexpr size_t kMaxNameBytes = 64;
// GPUs bring their counters up to date every 20 to 100 ms.
constexpr int64_t kAcceleratorLagNs = 100'000'000;
// 100 kW, in microjoules a nanosecond.
constexpr double kMostPower = 1e5 * 1e6 / 1e9;

}  // namespace

EnergyMeter::EnergyMeter(const std::string& root) {
  FindRapl(root);
  if (counters_.empty()) FindSensors(root);
  if (counters_.empty()) FindBatteries(root);
}

bool EnergyMeter::Add(std::string name, const std::string& path, Kind kind, int64_t range) {
  if (counters_.size() == kMaxCounters) return false;
  const absl::StatusOr<int64_t> value = ReadMachineNumber(path);
  if (absl::IsPermissionDenied(value.status()) && unknown_.empty()) {
    unknown_ = absl::StrCat("the agent may not read ", path,
                            ": run it as root, or let its user read that");
  }
  if (!value.ok()) return false;
  name.resize(std::min(name.size(), kMaxNameBytes));
  counters_.push_back({.name = std::move(name), .path = path, .kind = kind, .range = range});
  return true;
}

void EnergyMeter::FindRapl(const std::string& root) {
  for (int package = 0; package < kMaxPackages; ++package) {
    const std::string folder = absl::StrCat(root, "/sys/class/powercap/intel-rapl:", package);
    const std::string name = ReadMachineText(folder + "/name");
    if (name.empty()) break;
    // The platform ("psys") has packages in it, which would count twice.
    if (name.starts_with("package")) {
      Add(name, folder + "/energy_uj", Kind::kEnergy,
          ReadMachineNumber(folder + "/max_energy_range_uj").value_or(0));
    }
    // Cores and what is beside them are in the package; memory is not.
    for (int part = 0; part < kMaxParts; ++part) {
      const std::string inner = absl::StrCat(folder, "/intel-rapl:", package, ":", part);
      const std::string part_name = ReadMachineText(inner + "/name");
      if (part_name.empty()) break;
      if (part_name != "dram") continue;
      Add(absl::StrCat("dram of ", name), inner + "/energy_uj", Kind::kEnergy,
          ReadMachineNumber(inner + "/max_energy_range_uj").value_or(0));
    }
  }
}

void EnergyMeter::FindSensors(const std::string& root) {
  for (const auto& [kind, what] : {std::pair{Kind::kEnergy, "energy"}, {Kind::kPower, "power"}}) {
    for (int sensor = 0; sensor < kMaxSensors; ++sensor) {
      const std::string folder = absl::StrCat(root, "/sys/class/hwmon/hwmon", sensor);
      const std::string name = ReadMachineText(folder + "/name");
      if (name.empty()) continue;
      for (int input = 1; input <= kMaxInputs; ++input) {
        const std::string path = absl::StrCat(folder, "/", what, input);
        std::string label = ReadMachineText(path + "_label");
        if (label.empty()) {
          label = absl::StrCat(name, " ", what, input);
        }
        Add(label, path + "_input", kind);
      }
    }
    if (!counters_.empty()) return;
  }
}

void EnergyMeter::FindBatteries(const std::string& root) {
  for (int battery = 0; battery < kMaxBatteries; ++battery) {
    const std::string folder = absl::StrCat(root, "/sys/class/power_supply/BAT", battery);
    if (ReadMachineText(folder + "/status") != "Discharging") continue;
    Add(absl::StrCat("battery ", battery), folder + "/power_now", Kind::kPower);
  }
}

void EnergyMeter::FindAccelerators(absl::Span<const AcceleratorReading> accelerators) {
  for (size_t i = 0; i < accelerators.size() && counters_.size() < kMaxCounters; ++i) {
    const AcceleratorReading& reading = accelerators[i];
    Counter counter{.name = reading.counter, .path = {}, .accelerator = i};
    if (reading.microjoules.has_value()) {
      counter.lag_ns = kAcceleratorLagNs;
    } else if (reading.state.power_milliwatts() > 0) {
      counter.kind = Kind::kPower;
    } else {
      continue;
    }
    counters_.push_back(std::move(counter));
  }
}

absl::StatusOr<int64_t> EnergyMeter::ValueOf(const Counter& counter,
                                             absl::Span<const AcceleratorReading> accelerators) {
  if (!counter.accelerator.has_value()) return ReadMachineNumber(counter.path);
  if (*counter.accelerator < accelerators.size()) {
    const AcceleratorReading& reading = accelerators[*counter.accelerator];
    if (counter.kind == Kind::kEnergy && reading.microjoules.has_value()) {
      return *reading.microjoules;
    }
    if (counter.kind == Kind::kPower && reading.state.power_milliwatts() > 0) {
      return reading.state.power_milliwatts() * 1000;
    }
  }
  return absl::UnavailableError("it does not tell");
}

void EnergyMeter::Count(Counter& counter, int64_t value, int64_t elapsed_ns) {
  double more = 0;
  if (counter.kind == Kind::kPower) {
    // Microwatts over nanoseconds, as the mean of both ends.
    more = (static_cast<double>(counter.last) + static_cast<double>(value)) / 2 *
           static_cast<double>(elapsed_ns) / 1e9;
  } else {
    more = static_cast<double>(value) - static_cast<double>(counter.last);
    if (more < 0) more += static_cast<double>(counter.range);
  }
  if (more < 0) {
    counter.lost = absl::StrCat(counter.name, " counted backwards");
  } else if (more > kMostPower * static_cast<double>(elapsed_ns + counter.lag_ns)) {
    counter.lost = absl::StrCat(counter.name, " counted more than 100 kW");
  } else {
    counter.microjoules += more;
  }
}

void EnergyMeter::Read(int64_t now_ns, absl::Span<const AcceleratorReading> accelerators) {
  if (last_ns_ < 0) FindAccelerators(accelerators);
  for (Counter& counter : counters_) {
    if (!counter.lost.empty()) continue;
    const absl::StatusOr<int64_t> value = ValueOf(counter, accelerators);
    if (!value.ok() || *value < 0) {
      counter.lost = absl::StrCat(counter.name, " cannot be read any more: ",
                                  value.ok() ? "it is negative" : value.status().message());
      continue;
    }
    if (counter.last >= 0) Count(counter, *value, now_ns - last_ns_);
    counter.last = *value;
  }
  last_ns_ = now_ns;
}

void EnergyMeter::Finish(v1::BenchmarkResult& result) const {
  result.clear_energy();
  std::string why = unknown_;
  bool knows_machine = false;
  for (const Counter& counter : counters_) {
    if (!counter.lost.empty()) {
      why = counter.lost;
      continue;
    }
    knows_machine |= !counter.accelerator.has_value();
    v1::EnergyCount& count = *result.add_energy();
    count.set_counter(counter.name);
    count.set_microjoules(std::llround(counter.microjoules));
  }
  result.set_energy_unknown(knows_machine ? "" : why);
}

}  // namespace slipway
