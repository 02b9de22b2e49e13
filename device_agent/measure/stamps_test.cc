// What a machine tells of itself while samples are taken, with machines made up of files.
#include "device_agent/measure/stamps.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/settle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

// A folder that stands for a machine.
class MadeMachine {
 public:
  const std::string& root() const { return folder_.path(); }
  void Set(const std::string& path, const std::string& text) const {
    const std::string file = JoinPath(root(), path);
    ASSERT_OK(MakeFolders(file.substr(0, file.rfind('/'))));
    ASSERT_OK(WriteFileAtomically(file, text, /*durable=*/false));
  }
  void Remove(const std::string& path) const {
    ASSERT_EQ(unlink(JoinPath(root(), path).c_str()), 0);
  }

 private:
  const TemporaryFolder folder_ = *TemporaryFolder::Create("made_machine");
};

TEST(ReadCpuState, TakesWhatCanBe) {
  const MadeMachine machine;
  const std::string cpu = "sys/devices/system/cpu/cpu3/";
  EXPECT_EQ(ReadCpuState(3, machine.root()).SerializeAsString(), "");
  machine.Set(cpu + "cpufreq/scaling_cur_freq", "2400000\n");
  machine.Set(cpu + "cpufreq/scaling_governor", "powersave\n");
  machine.Set("sys/class/thermal/thermal_zone0/temp", "41000\n");
  machine.Set("sys/class/thermal/thermal_zone1/temp", "62500\n");
  v1::MachineState state = ReadCpuState(3, machine.root());
  EXPECT_EQ(state.cpu_frequency_hz(), 2'400'000'000);
  EXPECT_EQ(state.governor(), "powersave");
  EXPECT_EQ(state.temperature_millicelsius(), 62'500);
  // A sensor that is broken is not believed, and hides no other.
  for (const char* garbage : {"-274000", "2147483647", "hot", "", "9223372036854775808"}) {
    machine.Set("sys/class/thermal/thermal_zone1/temp", garbage);
    EXPECT_EQ(ReadCpuState(3, machine.root()).temperature_millicelsius(), 41'000) << garbage;
  }
  machine.Set(cpu + "cpufreq/scaling_cur_freq", "-5");
  EXPECT_EQ(ReadCpuState(3, machine.root()).cpu_frequency_hz(), 0);
  machine.Set(cpu + "cpufreq/scaling_cur_freq", "9223372036854775807");
  EXPECT_EQ(ReadCpuState(3, machine.root()).cpu_frequency_hz(), 0);
}

TEST(ReadThrottleCount, IsOfCoreAndPackage) {
  const MadeMachine machine;
  EXPECT_EQ(ReadThrottleCount(0, machine.root()), 0);
  const std::string folder = "sys/devices/system/cpu/cpu0/thermal_throttle/";
  machine.Set(folder + "core_throttle_count", "7\n");
  machine.Set(folder + "package_throttle_count", "30\n");
  EXPECT_EQ(ReadThrottleCount(0, machine.root()), 37);
  machine.Set(folder + "package_throttle_count", "-30\n");
  EXPECT_EQ(ReadThrottleCount(0, machine.root()), 7);
}

TEST(ProcessorCooling, IsWhatCpufreqIsHeldTo) {
  const MadeMachine machine;
  const std::string devices = "sys/class/thermal/cooling_device";
  EXPECT_THAT(FindProcessorCooling(machine.root()), SizeIs(0));
  machine.Set(devices + "0/type", "pwm-fan\n");
  machine.Set(devices + "0/cur_state", "3\n");
  machine.Set(devices + "2/type", "cpufreq-cpu4\n");
  machine.Set(devices + "2/cur_state", "0\n");
  machine.Set(devices + "3/type", "thermal-cpufreq-0\n");
  const std::vector<std::string> states = FindProcessorCooling(machine.root());
  EXPECT_THAT(states, SizeIs(2));
  EXPECT_FALSE(IsCooling(states));
  machine.Set(devices + "2/cur_state", "1\n");
  EXPECT_TRUE(IsCooling(states));
  machine.Set(devices + "2/cur_state", "-1\n");
  EXPECT_FALSE(IsCooling(states));
}

TEST(ReadWaitedNs, IsTheSecondNumber) {
  const MadeMachine machine;
  EXPECT_FALSE(ReadWaitedNs(machine.root()).has_value());
  machine.Set("proc/self/schedstat", "117126 3794933 2\n");
  EXPECT_EQ(ReadWaitedNs(machine.root()), 3'794'933);
  for (const char* bad : {"1 2", "1 -2 3", "1 two 3", ""}) {
    machine.Set("proc/self/schedstat", bad);
    EXPECT_FALSE(ReadWaitedNs(machine.root()).has_value()) << bad;
  }
}

TEST(ReadProportionalBytes, IsPss) {
  const MadeMachine machine;
  EXPECT_EQ(ReadProportionalBytes(machine.root()), 0);
  machine.Set("proc/self/smaps_rollup",
              "5579d674a000-7fff6cd4f000 ---p 00000000 00:00 0    [rollup]\nRss:   1708 kB\n"
              "Pss:                 268 kB\nPss_Anon:   112 kB\n");
  EXPECT_EQ(ReadProportionalBytes(machine.root()), 268 * 1024);
  machine.Set("proc/self/smaps_rollup", "Pss:                 -5 kB\n");
  EXPECT_EQ(ReadProportionalBytes(machine.root()), 0);
  EXPECT_GT(ReadProportionalBytes(), 100 << 10);
}

std::vector<std::pair<std::string, int64_t>> Energy(const EnergyMeter& meter) {
  v1::BenchmarkResult result;
  meter.Finish(result);
  std::vector<std::pair<std::string, int64_t>> energy;
  for (const v1::EnergyCount& count : result.energy()) {
    energy.emplace_back(count.counter(), count.microjoules());
  }
  return energy;
}

std::string Unknown(const EnergyMeter& meter) {
  v1::BenchmarkResult result;
  meter.Finish(result);
  return result.energy_unknown();
}

TEST(EnergyMeter, CountsPackagesAndMemory) {
  const MadeMachine machine;
  const std::string rapl = "sys/class/powercap/intel-rapl:";
  machine.Set(rapl + "0/name", "package-0\n");
  machine.Set(rapl + "0/energy_uj", "1000\n");
  machine.Set(rapl + "0/max_energy_range_uj", "10000\n");
  machine.Set(rapl + "0/intel-rapl:0:0/name", "core\n");
  machine.Set(rapl + "0/intel-rapl:0:0/energy_uj", "1\n");
  machine.Set(rapl + "0/intel-rapl:0:1/name", "dram\n");
  machine.Set(rapl + "0/intel-rapl:0:1/energy_uj", "50\n");
  machine.Set(rapl + "1/name", "psys\n");
  machine.Set(rapl + "1/energy_uj", "1\n");
  EnergyMeter meter(machine.root());
  meter.Read(0);
  machine.Set(rapl + "0/energy_uj", "4000\n");
  machine.Set(rapl + "0/intel-rapl:0:1/energy_uj", "70\n");
  meter.Read(100 * kMs);
  EXPECT_THAT(Energy(meter), ::testing::ElementsAre(std::pair("package-0", 3000),
                                                    std::pair("dram of package-0", 20)));
  // It wraps around.
  machine.Set(rapl + "0/energy_uj", "500\n");
  meter.Read(200 * kMs);
  EXPECT_EQ(Energy(meter)[0].second, 3000 + 6500);
  EXPECT_EQ(Unknown(meter), "");
  // One that has no range, and goes back, is not believed; nor is one that is gone.
  machine.Set(rapl + "0/intel-rapl:0:1/energy_uj", "10\n");
  meter.Read(300 * kMs);
  EXPECT_THAT(Energy(meter), SizeIs(1));
  machine.Remove(rapl + "0/energy_uj");
  meter.Read(400 * kMs);
  EXPECT_THAT(Energy(meter), SizeIs(0));
  EXPECT_THAT(Unknown(meter), HasSubstr("dram of package-0 counted backwards"));
}

TEST(EnergyMeter, BelievesNoGarbage) {
  const MadeMachine machine;
  const std::string rapl = "sys/class/powercap/intel-rapl:0/";
  machine.Set(rapl + "name", "package-0\n");
  machine.Set(rapl + "energy_uj", "1000\n");
  EnergyMeter meter(machine.root());
  meter.Read(0);
  machine.Set(rapl + "energy_uj", "9223372036854775807\n");
  meter.Read(100 * kMs);
  EXPECT_THAT(Energy(meter), SizeIs(0));
  EXPECT_THAT(Unknown(meter), HasSubstr("package-0 counted more than 100 kW"));
}

TEST(EnergyMeter, SumsUpThePowerOfSensorsAndBatteries) {
  const MadeMachine machine;
  machine.Set("sys/class/hwmon/hwmon2/name", "ina226\n");
  machine.Set("sys/class/hwmon/hwmon2/power1_input", "2000000\n");
  machine.Set("sys/class/hwmon/hwmon2/power1_label", "VDD_CPU\n");
  machine.Set("sys/class/hwmon/hwmon2/power2_input", "oops\n");
  EnergyMeter meter(machine.root());
  meter.Read(0);
  machine.Set("sys/class/hwmon/hwmon2/power1_input", "4000000\n");
  meter.Read(500 * kMs);
  // 3 W over half a second.
  EXPECT_THAT(Energy(meter), ::testing::ElementsAre(std::pair("VDD_CPU", 1'500'000)));

  const MadeMachine laptop;
  laptop.Set("sys/class/power_supply/BAT0/status", "Discharging\n");
  laptop.Set("sys/class/power_supply/BAT0/power_now", "10000000\n");
  EnergyMeter battery(laptop.root());
  battery.Read(0);
  battery.Read(100 * kMs);
  EXPECT_THAT(Energy(battery), ::testing::ElementsAre(std::pair("battery 0", 1'000'000)));
  laptop.Set("sys/class/power_supply/BAT0/status", "Charging\n");
  EXPECT_EQ(Unknown(EnergyMeter(laptop.root())), "");
}

AcceleratorReading Counted(const std::string& name, std::optional<int64_t> microjoules,
                           int64_t milliwatts = 0) {
  AcceleratorReading reading{.counter = name, .microjoules = microjoules};
  reading.state.set_power_milliwatts(milliwatts);
  return reading;
}

TEST(EnergyMeter, CountsAcceleratorsBesidePackages) {
  const MadeMachine machine;
  const std::string rapl = "sys/class/powercap/intel-rapl:0/";
  machine.Set(rapl + "name", "package-0\n");
  machine.Set(rapl + "energy_uj", "1000\n");
  EnergyMeter meter(machine.root());
  // The first counts, the second tells its power alone, the third nothing.
  meter.Read(0, {Counted("gpu-0", 5'000'000, 300'000), Counted("gpu-1", std::nullopt, 200'000),
                 Counted("gpu-2", std::nullopt)});
  machine.Set(rapl + "energy_uj", "4000\n");
  meter.Read(500 * kMs, {Counted("gpu-0", 155'000'000), Counted("gpu-1", std::nullopt, 400'000),
                         Counted("gpu-2", 7)});
  EXPECT_THAT(Energy(meter),
              ::testing::ElementsAre(std::pair("package-0", 3000), std::pair("gpu-0", 150'000'000),
                                     std::pair("gpu-1", 150'000'000)));
  // A counter is brought up to date now and then: 70 J in half a millisecond are what was taken before.
  meter.Read(500 * kMs + kMs / 2,
             {Counted("gpu-0", 225'000'000), Counted("gpu-1", std::nullopt, 400'000), {}});
  EXPECT_EQ(Energy(meter)[1].second, 220'000'000);
  EXPECT_EQ(Unknown(meter), "");
  // One that was set back, as by a driver that was loaded anew, is not believed, nor one that tells no more.
  meter.Read(600 * kMs, {Counted("gpu-0", 3), Counted("gpu-1", std::nullopt), {}});
  EXPECT_THAT(Energy(meter), ::testing::ElementsAre(std::pair("package-0", 3000)));
}

TEST(EnergyMeter, AcceleratorsDoNotHideThatTheMachineIsUnknown) {
  const MadeMachine machine;
  const std::string rapl = "sys/class/powercap/intel-rapl:0/";
  machine.Set(rapl + "name", "package-0\n");
  machine.Set(rapl + "energy_uj", "1000\n");
  EnergyMeter meter(machine.root());
  meter.Read(0, {Counted("gpu-0", 0)});
  machine.Remove(rapl + "energy_uj");
  meter.Read(100 * kMs, {Counted("gpu-0", 5)});
  EXPECT_THAT(Energy(meter), ::testing::ElementsAre(std::pair("gpu-0", 5)));
  EXPECT_THAT(Unknown(meter), HasSubstr("package-0 cannot be read any more"));
}

TEST(EnergyMeter, BelievesNoAcceleratorThatCountsTooMuch) {
  const MadeMachine machine;
  EnergyMeter meter(machine.root());
  meter.Read(0, {Counted("gpu-0", 0)});
  meter.Read(100 * kMs, {Counted("gpu-0", 21'000'000'000)});
  EXPECT_THAT(Energy(meter), SizeIs(0));
  EXPECT_THAT(Unknown(meter), HasSubstr("gpu-0 counted more than 100 kW"));
  EnergyMeter none(machine.root());
  none.Read(0, {Counted("gpu-0", std::nullopt)});
  EXPECT_EQ(Unknown(none), "");
}

TEST(EnergyMeter, SaysWhatItMayNotRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const MadeMachine machine;
  machine.Set("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  machine.Set("sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
  ASSERT_EQ(chmod((machine.root() + "/sys/class/powercap/intel-rapl:0/energy_uj").c_str(), 0), 0);
  EXPECT_THAT(Unknown(EnergyMeter(machine.root())), HasSubstr("may not read"));
}

TEST(Rules, AreOfBothShareAndTime) {
  EXPECT_FALSE(WaitedTooMuch(90'000, kMs));
  EXPECT_TRUE(WaitedTooMuch(110'000, kMs));
  EXPECT_FALSE(WaitedTooMuch(400'000, 10 * kMs));
  EXPECT_TRUE(WaitedTooMuch(600'000, 10 * kMs));
  // A tick of 10 ms is a large share of a short time, and nothing.
  EXPECT_FALSE(IsForeignTooMuch(250, 20 * kMs, 2));
  EXPECT_TRUE(IsForeignTooMuch(200, 100 * kMs, 2));
  EXPECT_FALSE(IsForeignTooMuch(50, 1000 * kMs, 2));
  EXPECT_TRUE(IsForeignTooMuch(51, 1000 * kMs, 2));
}

v1::SampleStamp Stamp(int samples) {
  v1::SampleStamp stamp;
  stamp.set_samples(samples);
  return stamp;
}

int64_t Sum(const v1::BenchmarkResult& result) {
  return std::accumulate(result.stamps().begin(), result.stamps().end(), int64_t{0},
                         [](int64_t sum, const auto& stamp) { return sum + stamp.samples(); });
}

TEST(StampSeries, StaysSmallAndLosesNoSample) {
  StampSeries series;
  constexpr int64_t kStamps = 100'000;
  for (int64_t i = 0; i < kStamps; ++i) {
    v1::SampleStamp stamp = Stamp(3);
    stamp.set_disturbed(i == 777);
    series.Add(i * 10 * kMs, std::move(stamp));
    v1::SampleStamp found;
    found.set_throttled(i == 50'000);
    found.set_temperature_millicelsius(i == 60'000 ? 90'000 : 40'000);
    series.Fill(1, found);
    ASSERT_LE(series.size(), kMaxStamps);
  }
  v1::BenchmarkResult result;
  series.Take(result);
  EXPECT_EQ(Sum(result), 3 * kStamps);
  int disturbed = 0;
  int throttled = 0;
  int64_t hottest = 0;
  for (const v1::SampleStamp& stamp : result.stamps()) {
    disturbed += stamp.disturbed();
    throttled += stamp.throttled();
    hottest = std::max<int64_t>(hottest, stamp.temperature_millicelsius());
  }
  EXPECT_EQ(disturbed, 1);
  EXPECT_EQ(throttled, 1);
  EXPECT_EQ(hottest, 90'000);
}

TEST(StampSeries, CountsMomentsWhereTheyBelong) {
  StampSeries series;
  for (const int64_t end : {100, 200, 300, 400}) series.Add(end, Stamp(0));
  series.CountSamples({1, 100, 101, 400, 401, 900});
  v1::BenchmarkResult result;
  series.Take(result);
  ASSERT_EQ(result.stamps_size(), 3);
  EXPECT_EQ(result.stamps(0).samples(), 2);
  EXPECT_EQ(result.stamps(1).samples(), 1);
  EXPECT_EQ(result.stamps(2).samples(), 3);
}

TEST(MachineWatch, StampsSamples) {
  const MadeMachine machine;
  machine.Set("proc/self/schedstat", "1 1000000 1\n");
  machine.Set("proc/stat",
              "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
  machine.Set("sys/class/thermal/thermal_zone0/temp", "50000\n");
  MachineWatch watch(0, machine.root());
  // 30 ms of samples of 5 ms, in the second 10 ms of which another had the processor for 2 ms.
  for (int i = 1; i <= 6; ++i) {
    if (i == 3) machine.Set("proc/self/schedstat", "1 3000000 1\n");
    watch.Sampled(i * 5 * kMs);
  }
  v1::BenchmarkResult result;
  watch.Finish(31 * kMs, result);
  ASSERT_EQ(result.stamps_size(), 3);
  EXPECT_EQ(Sum(result), 6);
  EXPECT_EQ(result.stamps(0).waited_millis(), 0);
  EXPECT_EQ(result.stamps(1).waited_millis(), 200);
  EXPECT_FALSE(result.stamps(0).disturbed());
  EXPECT_TRUE(result.stamps(1).disturbed());
  EXPECT_FALSE(result.stamps(2).disturbed());
  EXPECT_EQ(result.stamps(2).temperature_millicelsius(), 50'000);
  EXPECT_FALSE(result.disturbed());
  EXPECT_EQ(result.energy_unknown(), "");
}

TEST(MachineWatch, SeesThatABoardIsSlowedDown) {
  const MadeMachine machine;
  const std::string device = "sys/class/thermal/cooling_device0/";
  machine.Set(device + "type", "cpufreq-cpu0\n");
  machine.Set(device + "cur_state", "0\n");
  MachineWatch watch(0, machine.root());
  watch.Sampled(110 * kMs);
  machine.Set(device + "cur_state", "2\n");
  watch.Sampled(220 * kMs);
  v1::BenchmarkResult result;
  watch.Finish(221 * kMs, result);
  ASSERT_EQ(result.stamps_size(), 2);
  EXPECT_FALSE(result.stamps(0).throttled());
  EXPECT_TRUE(result.stamps(1).throttled());
}

// GPUs of which a test says how they do.
class MadeGpus final : public AcceleratorWatch {
 public:
  std::vector<AcceleratorReading> Read() override {
    ++reads;
    std::vector<AcceleratorReading> readings;
    for (const v1::AcceleratorState& state : states) {
      readings.push_back({.state = state, .counter = absl::StrCat("gpu-", readings.size())});
    }
    return readings;
  }

  std::vector<v1::AcceleratorState> states;
  int reads = 0;
};

v1::AcceleratorState Gpu(int64_t hz, int64_t milliwatts, bool throttled) {
  v1::AcceleratorState state;
  state.set_name("GPU");
  state.set_clock_hz(hz);
  state.set_power_milliwatts(milliwatts);
  state.set_throttled(throttled);
  return state;
}

TEST(MachineWatch, StampsWhatGpusDoEvery100Ms) {
  const MadeMachine machine;
  MadeGpus gpus;
  gpus.states = {Gpu(1'980, 300, false), Gpu(1'500, 70, false)};
  MachineWatch watch(0, machine.root(), &gpus);
  for (int i = 1; i <= 20; ++i) watch.Sampled(i * 5 * kMs);
  EXPECT_EQ(gpus.reads, 2);  // In the beginning, for their energy.
  gpus.states[1].set_throttled(true);
  watch.Sampled(210 * kMs);
  gpus.states[1].set_throttled(false);
  v1::BenchmarkResult result;
  watch.Finish(211 * kMs, result);
  EXPECT_EQ(gpus.reads, 3);
  EXPECT_EQ(Sum(result), 21);
  // 300 and 70 mW over 211 ms.
  ASSERT_EQ(result.energy_size(), 2);
  EXPECT_EQ(result.energy(0).counter(), "gpu-0");
  EXPECT_EQ(result.energy(0).microjoules(), 63'000);
  EXPECT_EQ(result.energy(1).microjoules(), 14'700);
  ASSERT_EQ(result.stamps_size(), 11);
  for (int i = 0; i < 11; ++i) {
    const v1::SampleStamp& stamp = result.stamps(i);
    ASSERT_EQ(stamp.accelerators_size(), 2);
    EXPECT_EQ(stamp.accelerators(0).clock_hz(), 1'980);
    EXPECT_EQ(stamp.accelerators(1).power_milliwatts(), 70);
    EXPECT_FALSE(stamp.accelerators(0).throttled());
    EXPECT_EQ(stamp.accelerators(1).throttled(), i == 10);
    EXPECT_EQ(stamp.throttled(), i == 10);
  }
}

TEST(StampSeries, KeepsTheWorstOfGpus) {
  StampSeries series;
  for (size_t i = 0; i < 2 * kMaxStamps; ++i) {
    series.Add(static_cast<int64_t>(i), Stamp(1));
    v1::SampleStamp found;
    *found.add_accelerators() = Gpu(i == 100   ? 1'000
                                    : i == 200 ? 0
                                               : 1'980,
                                    i == 300 ? 700 : 400,
                                    /*throttled=*/i == 400);
    series.Fill(1, found);
  }
  v1::BenchmarkResult result;
  series.Take(result);
  int64_t least_hz = 5'000;
  int64_t most_power = 0;
  int throttled = 0;
  for (const v1::SampleStamp& stamp : result.stamps()) {
    ASSERT_EQ(stamp.accelerators_size(), 1);
    EXPECT_EQ(stamp.accelerators(0).name(), "GPU");
    least_hz = std::min(least_hz, stamp.accelerators(0).clock_hz());
    most_power = std::max(most_power, stamp.accelerators(0).power_milliwatts());
    throttled += stamp.accelerators(0).throttled();
  }
  EXPECT_LT(static_cast<size_t>(result.stamps_size()), 2 * kMaxStamps);
  EXPECT_EQ(least_hz, 1'000);
  EXPECT_EQ(most_power, 700);
  EXPECT_EQ(throttled, 1);
}

TEST(MachineWatch, OfThisMachineEndsWithAllSamples) {
  WatchingThread watch;
  const int64_t now = SystemPacer().NowNs();
  v1::BenchmarkResult result;
  watch.Finish({now, now + 1, now + kMs}, result);
  EXPECT_EQ(Sum(result), 3);
}

v1::MachineState State(int64_t hz, int64_t temperature) {
  v1::MachineState state;
  state.set_cpu_frequency_hz(hz);
  state.set_temperature_millicelsius(temperature);
  return state;
}

TEST(SteadyRule, LooksAtTheLastTwoSeconds) {
  SteadyRule rule;
  EXPECT_FALSE(rule.IsSteady());
  for (int i = 0; i <= 20; ++i) {
    EXPECT_FALSE(rule.IsSteady());
    rule.Add(i * 100 * kMs, State(2'000'000'000 + i % 2 * 30'000'000, 60'000 + i % 2 * 900));
  }
  EXPECT_TRUE(rule.IsSteady());
  rule.Add(2100 * kMs, State(1'900'000'000, 60'000));
  EXPECT_FALSE(rule.IsSteady());
  for (int i = 22; i <= 45; ++i) rule.Add(i * 100 * kMs, State(1'900'000'000, 60'000));
  EXPECT_TRUE(rule.IsSteady());
  rule.Add(4600 * kMs, State(1'900'000'000, 62'000));
  EXPECT_FALSE(rule.IsSteady());
  SteadyRule blind;
  for (int i = 0; i <= 50; ++i) blind.Add(i * 100 * kMs, State(0, 0));
  EXPECT_FALSE(blind.IsSteady());
}

v1::MachineState WithGpu(v1::MachineState state, int64_t hz, int64_t temperature,
                         bool throttled = false) {
  v1::AcceleratorState& gpu = *state.add_accelerators();
  gpu.set_clock_hz(hz);
  gpu.set_temperature_millicelsius(temperature);
  gpu.set_throttled(throttled);
  return state;
}

// A GPU's clock and temperature count as the processor's do, by itself: a machine of which nothing else tells is known.
TEST(SteadyRule, LooksAtAccelerators) {
  for (const v1::MachineState& host : {State(0, 0), State(3'000'000'000, 50'000)}) {
    SteadyRule rule;
    for (int i = 0; i <= 20; ++i) {
      EXPECT_FALSE(rule.IsSteady());
      rule.Add(i * 100 * kMs, WithGpu(host, 1'980'000'000 - i % 2 * 15'000'000, 61'000));
    }
    EXPECT_TRUE(rule.IsSteady());
    rule.Add(2100 * kMs, WithGpu(host, 1'980'000'000, 63'000));
    EXPECT_FALSE(rule.IsSteady());
    for (int i = 22; i <= 45; ++i) {
      rule.Add(i * 100 * kMs, WithGpu(host, 1'980'000'000, 63'000, /*throttled=*/true));
    }
    EXPECT_TRUE(rule.IsSteady());
    rule.Add(4600 * kMs, WithGpu(host, 1'400'000'000, 63'000));
    EXPECT_FALSE(rule.IsSteady());
  }
}

class FakePacer final : public Pacer {
 public:
  int64_t NowNs() override { return now_; }
  void WaitUntil(int64_t moment_ns) override { now_ = std::max(now_, moment_ns); }

 private:
  int64_t now_ = 7;
};

TEST(CoolDown, EndsWhenItIsCoolOrTooLong) {
  FakePacer pacer;
  int64_t temperature = 70'000;
  const ReadState cooling = [&] { return State(0, temperature -= 100); };
  v1::Settling settling;
  v1::Settled settled;
  CoolDown(settling, cooling, pacer, settled);
  EXPECT_EQ(settled.cooled_ns(), 0);
  settling.set_cool_down_millicelsius(60'000);
  CoolDown(settling, cooling, pacer, settled);
  EXPECT_TRUE(settled.is_cool());
  EXPECT_EQ(temperature, 60'000);
  EXPECT_EQ(settled.cooled_ns(), 99 * 100 * kMs);
  settling.set_cool_down_millicelsius(20'000);
  settling.set_longest_ns(1'000 * kMs);
  v1::Settled late;
  CoolDown(settling, cooling, pacer, late);
  EXPECT_FALSE(late.is_cool());
  EXPECT_EQ(late.cooled_ns(), 1'000 * kMs);
  // Nobody waits for a sensor that is not there.
  v1::Settled blind;
  CoolDown(
      settling, [] { return State(1, 0); }, pacer, blind);
  EXPECT_FALSE(blind.is_cool());
  EXPECT_EQ(blind.cooled_ns(), 0);
}

TEST(CoolDown, WaitsForAccelerators) {
  v1::Settling settling;
  settling.set_cool_down_millicelsius(50'000);
  int64_t temperature = 55'000;
  const auto cool = [&](const ReadState& read) {
    FakePacer pacer;
    v1::Settled settled;
    CoolDown(settling, read, pacer, settled);
    EXPECT_TRUE(settled.is_cool());
    return settled.cooled_ns() / (100 * kMs);
  };
  // No thermal zone tells, or one that is cool all the time.
  for (const int64_t zone : {0, 40'000}) {
    temperature = 55'000;
    EXPECT_EQ(cool([&] { return WithGpu(State(0, zone), 0, temperature -= 1'000); }), 4);
  }
  // As cool as that, but slowed down.
  int readings = 0;
  EXPECT_EQ(cool([&] { return WithGpu(State(0, 0), 0, 45'000, ++readings < 4); }), 3);
}

TEST(Steady, CallsUntilTheMachineHoldsStill) {
  FakePacer pacer;
  v1::Settling settling;
  v1::Settled settled;
  int calls = 0;
  const auto call = [&] {
    ++calls;
    pacer.WaitUntil(pacer.NowNs() + 30 * kMs);
    return absl::OkStatus();
  };
  // It warms up for three seconds.
  const ReadState warming = [&] {
    return State(1, std::min<int64_t>(70'000, 40'000 + pacer.NowNs() / kMs * 10));
  };
  ASSERT_OK(Steady(settling, call, warming, pacer, settled));
  EXPECT_EQ(calls, 0);
  settling.set_until_steady(true);
  ASSERT_OK(Steady(settling, call, warming, pacer, settled));
  EXPECT_TRUE(settled.is_steady());
  EXPECT_GT(settled.steadied_ns(), 4'500 * kMs);
  EXPECT_LT(settled.steadied_ns(), 5'500 * kMs);
  EXPECT_EQ(settled.temperature_millicelsius(), 70'000);
  EXPECT_GT(calls, 100);
  // The processor is still all the time, and cooler.
  const int64_t begin = pacer.NowNs();
  v1::Settled with_gpu;
  ASSERT_OK(Steady(
      settling, call,
      [&] {
        return WithGpu(State(1, 40'000), 1'980'000'000,
                       std::min<int64_t>(70'000, 40'000 + (pacer.NowNs() - begin) / kMs * 10));
      },
      pacer, with_gpu));
  EXPECT_TRUE(with_gpu.is_steady());
  EXPECT_GT(with_gpu.steadied_ns(), 4'500 * kMs);
  EXPECT_EQ(with_gpu.temperature_millicelsius(), 70'000);
  // Up and down, for ever.
  int reading = 0;
  settling.set_longest_ns(3'000 * kMs);
  v1::Settled unsteady;
  ASSERT_OK(Steady(
      settling, call, [&] { return State(++reading % 2 == 0 ? 1'000 : 2'000, 0); }, pacer,
      unsteady));
  EXPECT_FALSE(unsteady.is_steady());
  EXPECT_GE(unsteady.steadied_ns(), 3'000 * kMs);
  v1::Settled blind;
  ASSERT_OK(Steady(
      settling, call, [] { return State(0, 0); }, pacer, blind));
  EXPECT_FALSE(blind.is_steady());
  EXPECT_EQ(blind.steadied_ns(), 0);
  EXPECT_THAT(Steady(
                  settling, [] { return absl::InternalError("broken"); }, warming, pacer, blind),
              StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
