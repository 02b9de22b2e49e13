#include "device_agent/measure/measure.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/runtime/device.h"
#include "core/runtime/load_program.h"
#include "device_agent/measure/clock_resolution.h"
#include "device_agent/measure/machine_state.h"
#include "device_agent/measure/pacer.h"
#include "device_agent/measure/samples.h"
#include "device_agent/measure/scenarios.h"
#include "device_agent/measure/settle.h"

namespace slipway {
namespace {

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

// A program and all a call needs.
struct Loaded {
  std::unique_ptr<Program> program;
  std::unique_ptr<ProgramContext> context;
  std::vector<Tensor> outputs;
};

absl::StatusOr<Loaded> LoadAll(const Artifact& artifact, const Drivers& drivers,
                               const MeasureOptions& options) {
  Loaded loaded;
  SLIPWAY_ASSIGN_OR_RETURN(loaded.program, LoadProgram(artifact, drivers));
  SLIPWAY_ASSIGN_OR_RETURN(loaded.context, loaded.program->NewContext(options.context));
  loaded.outputs.resize(loaded.program->signature().outputs.size());
  return loaded;
}

// Asks the system to forget the artifact's pages; it keeps those that others use.
void DropFromPageCache(const Artifact& artifact) {
  for (const Digest& digest : artifact.manifest().blobs()) {
    const absl::string_view bytes = artifact.blob(digest).bytes();
    if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % 4096 != 0) continue;
    void* address = const_cast<char*>(bytes.data());
    // Takes them out of this process and, being clean pages of a file, out of memory.
    madvise(address, bytes.size(), MADV_PAGEOUT);
  }
}

class Measurement {
 public:
  Measurement(const Artifact& artifact, const Drivers& drivers, absl::Span<const Tensor> inputs,
              const MeasureOptions& options)
      : artifact_(artifact), drivers_(drivers), inputs_(inputs), options_(options) {}

  absl::StatusOr<v1::BenchmarkResult> Run() {
    if (is_attached() && HasManyCalls() && options_.scenario->instances() > 1) {
      return absl::UnimplementedError(
          "attached: a bare runner carries out one call at a time: of scenarios with several "
          "calls at once there are those of --instances 1");
    }
    *result_.mutable_before() = ReadMachine();
    SystemPacer pacer;
    if (options_.settling.has_value()) {
      SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<AcceleratorWatch> watch, WatchBeforeLoading());
      CoolDown(*options_.settling, StateWith(watch.get()), pacer, *result_.mutable_settled());
    }
    if (!is_attached()) result_.set_memory_before_bytes(ReadProportionalBytes());
    SLIPWAY_RETURN_IF_ERROR(MeasureLoads());
    accelerators_ = WatchDevices(loaded_.program->devices(), options_.accelerators);
    if (options_.settling.has_value()) {
      SLIPWAY_RETURN_IF_ERROR(Steady(
          *options_.settling, [this] { return Call(); }, StateWith(accelerators_.get()), pacer,
          *result_.mutable_settled()));
    }
    SLIPWAY_RETURN_IF_ERROR(HasManyCalls() ? SampleInstances() : Sample());
    accelerators_.reset();
    *result_.mutable_after() = ReadMachine();
    SLIPWAY_RETURN_IF_ERROR(is_attached() ? TellAttachedMemory() : TellMemory());
    return Finish();
  }

 private:
  bool is_attached() const { return options_.attached != nullptr; }

  // The accelerators that the program will run on; their devices are closed again, as a cold load opens them.
  absl::StatusOr<std::unique_ptr<AcceleratorWatch>> WatchBeforeLoading() const {
    if (is_attached() || options_.accelerators.watch == nullptr) return nullptr;
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<ComputeDevice>> devices,
                             OpenDevices(artifact_.manifest(), drivers_));
    return WatchDevices(devices, options_.accelerators);
  }

  // Of the machine and of those accelerators, which outlive it; they may be null.
  ReadState StateWith(AcceleratorWatch* accelerators) const {
    if (is_attached()) return options_.attached->read_state;
    return [accelerators] {
      v1::MachineState machine = ReadMachineState();
      if (accelerators == nullptr) return machine;
      for (AcceleratorReading& reading : accelerators->Read()) {
        *machine.add_accelerators() = std::move(reading.state);
      }
      return machine;
    };
  }

  absl::Status TellMemory() {
    result_.set_memory_after_bytes(ReadProportionalBytes());
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result_.set_peak_memory_bytes(int64_t{usage.ru_maxrss} * 1024);
    return absl::OkStatus();
  }

  absl::Status TellAttachedMemory() {
    SLIPWAY_ASSIGN_OR_RETURN(const MemoryInfo memory, options_.attached->device->memory_info());
    result_.set_peak_memory_bytes(memory.most_used);
    result_.set_energy_unknown("nobody counts what an attached device takes");
    return absl::OkStatus();
  }

  absl::StatusOr<v1::BenchmarkResult> Finish() {
    result_.set_threads(options_.context.threads);
    result_.set_clock_resolution_ns(ResolutionNs());
    if (options_.profile) SLIPWAY_RETURN_IF_ERROR(Profile());
    return std::move(result_);
  }

  // Of the machine that the program runs on.
  int64_t ClockNs() const { return is_attached() ? *loaded_.context->worked_ns() : NowNs(); }

  // Of the clock that samples were taken by: queries that come at their own times are by this machine's.
  int64_t ResolutionNs() const {
    if (!is_attached()) return ClockResolutionNs();
    const int64_t theirs = options_.attached->clock_resolution_ns;
    return HasManyCalls() ? std::max(theirs, ClockResolutionNs()) : theirs;
  }

  v1::MachineState ReadMachine() const {
    if (is_attached()) return options_.attached->read_state();
    v1::MachineState machine = ReadMachineState();
    if (options_.accelerators.add_states != nullptr) options_.accelerators.add_states(machine);
    return machine;
  }

  absl::Status Call(const CallOptions& options = {}) {
    return loaded_.context->Run(inputs_, absl::MakeSpan(loaded_.outputs), options);
  }

  absl::Status MeasureLoads() {
    if (!is_attached()) DropFromPageCache(artifact_);
    int64_t begin = NowNs();
    SLIPWAY_ASSIGN_OR_RETURN(loaded_, LoadAll(artifact_, drivers_, options_));
    result_.set_load_cold_ns(NowNs() - begin);
    begin = ClockNs();
    SLIPWAY_RETURN_IF_ERROR(Call());
    result_.set_first_run_ns(ClockNs() - begin);
    begin = NowNs();
    SLIPWAY_RETURN_IF_ERROR(LoadAll(artifact_, drivers_, options_).status());
    result_.set_load_warm_ns(NowNs() - begin);
    return absl::OkStatus();
  }

  // At once, or at times of their own.
  bool HasManyCalls() const {
    return options_.scenario.has_value() &&
           options_.scenario->kind() != v1::Scenario::SINGLE_STREAM;
  }

  absl::Status Sample() {
    SampleOptions samples = {.warmup = options_.warmup,
                             .samples = options_.samples,
                             .accelerators = accelerators_.get(),
                             .precision_goal_ppm = options_.precision_goal_ppm};
    if (is_attached()) {
      samples.single_calls = true;
      samples.device_ns = [this] { return ClockNs(); };
    }
    SLIPWAY_RETURN_IF_ERROR(TakeSamples([this] { return Call(); }, samples, result_));
    if (!options_.scenario.has_value()) return absl::OkStatus();
    v1::ScenarioResult& scenario = *result_.mutable_scenario();
    *scenario.mutable_scenario() = *options_.scenario;
    scenario.set_calls(result_.iterations_per_sample() * result_.samples_ns_size());
    int64_t duration_ns = 0;
    for (const int64_t ns : result_.samples_ns()) duration_ns += ns;
    scenario.set_duration_ns(duration_ns);
    return absl::OkStatus();
  }

  // The first instance is the context that was loaded; the others get their own of the same program.
  absl::Status SampleInstances() {
    struct Instance {
      ProgramContext* context;
      std::vector<Tensor> outputs;
    };
    const auto count = static_cast<size_t>(options_.scenario->instances());
    std::vector<std::unique_ptr<ProgramContext>> contexts;
    std::vector<Instance> all = {{loaded_.context.get(), std::move(loaded_.outputs)}};
    ProgramContextOptions others = options_.context;
    others.position = nullptr;  // It has room for the step of one call.
    for (size_t i = 1; i < count; ++i) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(contexts.emplace_back(), loaded_.program->NewContext(others),
                                    absl::StrCat("instance ", i + 1, " of ", count));
      all.push_back({contexts.back().get(), std::vector<Tensor>(all[0].outputs.size())});
    }
    std::vector<Instances::Call> calls;
    for (Instance& instance : all) {
      calls.push_back([this, &instance] {
        return instance.context->Run(inputs_, absl::MakeSpan(instance.outputs));
      });
    }
    Instances instances(std::move(calls));
    SystemPacer pacer;
    ScenarioOptions scenario = {.scenario = *options_.scenario,
                                .warmup = options_.warmup,
                                .samples = options_.samples,
                                .precision_goal_ppm = options_.precision_goal_ppm,
                                .seed = options_.seed,
                                .accelerators = accelerators_.get()};
    if (is_attached()) scenario.device_ns = [this] { return ClockNs(); };
    const absl::Status taken = TakeScenario(instances, scenario, pacer, result_);
    loaded_.outputs = std::move(all[0].outputs);
    return taken;
  }

  // By the clocks of devices that have one: in a context of its own, since that costs each call something.
  absl::Status Profile() {
    if (!is_attached()) {
      ProgramContextOptions timed = options_.context;
      timed.is_timed = true;
      loaded_.context.reset();
      SLIPWAY_ASSIGN_OR_RETURN(loaded_.context, loaded_.program->NewContext(timed));
    }
    return ProfileSteps(
        *loaded_.program, *loaded_.context, [this] { return Call({.profile = true}); }, result_);
  }

  const Artifact& artifact_;
  const Drivers& drivers_;
  const absl::Span<const Tensor> inputs_;
  const MeasureOptions& options_;
  Loaded loaded_;
  std::unique_ptr<AcceleratorWatch> accelerators_;  // While samples are taken.
  v1::BenchmarkResult result_;
};

}  // namespace

absl::StatusOr<v1::BenchmarkResult> MeasureProgram(const Artifact& artifact, const Drivers& drivers,
                                                   absl::Span<const Tensor> inputs,
                                                   const MeasureOptions& options) {
  if (options.samples < 1 || options.warmup < 0) {
    return absl::InvalidArgumentError("samples must be 1 or more, and warm-up 0 or more");
  }
  return Measurement(artifact, drivers, inputs, options).Run();
}

}  // namespace slipway
