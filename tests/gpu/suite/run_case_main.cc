// What a machine with a GPU runs of a suite (suite_case.h), once a process, so that what crashes is one case. Prints lines of a key and values.
//
//   run_case check SUITE CASE LIBRARIES   passed, or failed and why; how far off the outputs are; times of loading and of the first call; its precision, and
//                                         what PyTorch's counterpart is called. Unless LIBRARIES is "never" also with what vendors' libraries make of it,
//                                         wherever they can
//   run_case measure SUITE CASE SECONDS LIBRARIES
//                                         times of calls, by the host's clock and by the device's, as pieces and as graphs; of each step, median; of products
//                                         that a library could make, what both take, and whether it does, as LIBRARIES says: "never", "measured", "always"
//   run_case slip SUITE CASE FILE.slip    writes the program as a whole; names of its inputs and outputs
//   run_case machine                      the devices, as the driver and as NVML tell
//   run_case peaks                        what a device does at most a second (core/runtime/drivers/cuda/cuda_peaks.h)
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "core/artifact/program_steps.h"
#include "core/artifact/slip_file.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/cuda/cuda_peaks.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/vendor_library.h"
#include "core/target/machine_peaks.h"
#include "core/tensor/comparison.h"
#include "core/tensor/npy.h"
#include "device_agent/accelerators/nvml.h"
#include "tests/gpu/suite/suite_case.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 31;

using Words = std::vector<std::string>;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

int64_t Median(std::vector<int64_t> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// A case, loaded, with room for its outputs.
struct Loaded {
  SuiteCase suite_case;
  std::string folder;
  std::unique_ptr<Program> program;
  std::unique_ptr<ProgramContext> context;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  int64_t load_ns = 0;

  absl::Status Call(const CallOptions& options = {}) {
    return context->Run(inputs, absl::MakeSpan(outputs), options);
  }
};

absl::StatusOr<SuiteCase> ReadCase(const std::string& suite, const std::string& name) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(JoinPath(CaseFolder(suite, name), "case"), kMaxBytes));
  return ParseSuiteCase(text);
}

absl::StatusOr<Loaded> Load(const std::string& suite, const std::string& name, LibraryUse libraries,
                            bool graphs = true) {
  Loaded loaded;
  SLIPWAY_ASSIGN_OR_RETURN(loaded.suite_case, ReadCase(suite, name));
  loaded.folder = CaseFolder(suite, name);
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, LoadSuiteProgram(suite, loaded.suite_case));
  SLIPWAY_ASSIGN_OR_RETURN(loaded.inputs, LoadSuiteInputs(loaded.folder, loaded.suite_case));
  const int64_t begin = NowNs();
  SLIPWAY_ASSIGN_OR_RETURN(loaded.program,
                           LoadProgram(artifact, {.cuda_graphs = graphs, .libraries = libraries}));
  SLIPWAY_ASSIGN_OR_RETURN(loaded.context, loaded.program->NewContext({.is_timed = true}));
  loaded.load_ns = NowNs() - begin;
  loaded.outputs.resize(loaded.program->signature().outputs.size());
  if (loaded.outputs.size() == loaded.suite_case.outputs.size()) return loaded;
  return absl::InvalidArgumentError("the case has other outputs than its program");
}

absl::StatusOr<LibraryUse> ParseLibraries(const std::string& word) {
  const std::optional<LibraryUse> use = FindLibraryUse(word);
  if (use.has_value()) return *use;
  return absl::InvalidArgumentError("libraries are used never, measured or always");
}

// Outputs of three calls.
absl::Status CheckOutputs(Loaded& loaded) {
  const int64_t begin = NowNs();
  SLIPWAY_RETURN_IF_ERROR(loaded.Call());
  const int64_t first_ns = NowNs() - begin;
  // Nothing may hang on what memory held before; the second call may be captured, and the third replayed.
  for (int again = 0; again < 2; ++again) SLIPWAY_RETURN_IF_ERROR(loaded.Call());
  std::cout << "load_ns " << loaded.load_ns << "\nfirst_ns " << first_ns << "\n";
  double share = 0;
  for (size_t i = 0; i < loaded.outputs.size(); ++i) {
    const SuiteCase::Output& wanted = loaded.suite_case.outputs[i];
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes,
                             ReadFile(JoinPath(loaded.folder, wanted.file), kMaxBytes));
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor expected, ParseNpy(bytes));
    const Tensor output = Sampled(loaded.outputs[i], wanted.stride);
    SLIPWAY_ASSIGN_OR_RETURN(const TensorDifference difference,
                             MeasureDifference(output, expected, loaded.suite_case.tolerance));
    double largest = 0;
    if (expected.dtype() == DataType::kFloat32) {
      for (const float value : expected.values<float>()) {
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(double{value}));
      }
    }
    if (largest > 0) share = std::max(share, difference.absolute / largest);
    std::cout << "share " << share << "\n";
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckClose(output, expected, loaded.suite_case.tolerance),
                                 absl::StrCat("output ", i));
  }
  return absl::OkStatus();
}

absl::Status Check(const Words& words) {
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryUse libraries, ParseLibraries(words[2]));
  if (libraries != LibraryUse::kNever) {
    SLIPWAY_ASSIGN_OR_RETURN(Loaded made, Load(words[0], words[1], LibraryUse::kAlways));
    const auto used = std::count_if(
        made.program->steps().begin(), made.program->steps().end(),
        [](const StepInfo& step) { return step.library.has_value() && step.library->is_used; });
    if (used > 0) {
      SLIPWAY_RETURN_IF_ERROR_WITH(CheckOutputs(made), "with products by a library");
    }
    std::cout << "library_steps " << used << "\n";
  }
  SLIPWAY_ASSIGN_OR_RETURN(Loaded loaded, Load(words[0], words[1], LibraryUse::kNever));
  std::cout << "precision " << loaded.suite_case.precision << "\n";
  if (!loaded.suite_case.like.empty()) std::cout << "like " << loaded.suite_case.like << "\n";
  return CheckOutputs(loaded);
}

// A line for each step that a library could make.
void TellLibraries(const Program& program) {
  for (const StepInfo& step : program.steps()) {
    if (!step.library.has_value()) continue;
    std::cout << "library " << (step.library->is_used ? "used " : "own ") << step.library->own_ns
              << " " << step.library->library_ns.value_or(0) << " "
              << (step.cost.has_value() ? step.cost->flops : 0) << " "
              << absl::StrReplaceAll(step.library->name, {{" ", "-"}}) << " "
              << absl::StrReplaceAll(step.name, {{"\n", " "}}) << "\n";
  }
}

// Times of calls in nanoseconds, by the host's clock and by the device's, as lines of these keys.
absl::Status TimeCalls(Loaded& loaded, double seconds, absl::string_view host_key,
                       absl::string_view device_key) {
  constexpr int kWarm = 3;
  constexpr int kMostCalls = 1000;
  for (int i = 0; i < kWarm; ++i) SLIPWAY_RETURN_IF_ERROR(loaded.Call());
  std::vector<int64_t> host;
  std::vector<int64_t> device;
  const int64_t begin = NowNs();
  while (host.empty() ||
         (static_cast<double>(NowNs() - begin) < seconds * 1e9 && host.size() < kMostCalls)) {
    const int64_t worked = loaded.context->worked_ns().value_or(0);
    const int64_t called = NowNs();
    SLIPWAY_RETURN_IF_ERROR(loaded.Call());
    host.push_back(NowNs() - called);
    device.push_back(loaded.context->worked_ns().value_or(0) - worked);
  }
  std::cout << host_key << " " << absl::StrJoin(host, " ") << "\n"
            << device_key << " " << absl::StrJoin(device, " ") << "\n";
  return absl::OkStatus();
}

absl::Status Measure(const Words& words) {
  constexpr int kProfiles = 9;
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryUse libraries, ParseLibraries(words[3]));
  double seconds = 0;
  if (!absl::SimpleAtod(words[2], &seconds)) return absl::InvalidArgumentError("no seconds");
  {
    SLIPWAY_ASSIGN_OR_RETURN(Loaded pieces, Load(words[0], words[1], libraries, /*graphs=*/false));
    SLIPWAY_RETURN_IF_ERROR(TimeCalls(pieces, seconds, "pieces_host_ns", "pieces_device_ns"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Loaded loaded, Load(words[0], words[1], libraries));
  TellLibraries(*loaded.program);
  SLIPWAY_RETURN_IF_ERROR(TimeCalls(loaded, seconds, "host_ns", "device_ns"));
  const std::vector<StepInfo>& steps = loaded.program->steps();
  std::vector<std::vector<int64_t>> taken(steps.size());
  for (int i = 0; i < kProfiles; ++i) {
    SLIPWAY_RETURN_IF_ERROR(loaded.Call({.profile = true}));
    for (size_t step = 0; step < steps.size(); ++step) {
      taken[step].push_back(loaded.context->step_timings()[step].duration_ns);
    }
  }
  for (size_t step = 0; step < steps.size(); ++step) {
    const StepInfo& info = steps[step];
    // Entries are a device's; kernels of a table the host's.
    const char* where = !info.kernel.has_value()     ? "copy"
                        : info.kernel->entry.empty() ? "host"
                                                     : "device";
    std::cout << "step " << Median(taken[step]) << " " << where << " "
              << (info.cost.has_value() ? info.cost->flops : 0) << " "
              << (info.cost.has_value() ? info.cost->bytes : 0) << " "
              << absl::StrReplaceAll(info.name, {{"\n", " "}}) << "\n";
  }
  return absl::OkStatus();
}

absl::Status Slip(const Words& words) {
  SLIPWAY_ASSIGN_OR_RETURN(const SuiteCase suite_case, ReadCase(words[0], words[1]));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, LoadSuiteProgram(words[0], suite_case));
  const ProgramSignature& signature = artifact.manifest().signature();
  for (const NamedType& input : signature.inputs) std::cout << "input " << input.name << "\n";
  for (const NamedType& output : signature.outputs) std::cout << "output " << output.name << "\n";
  return WriteSlip(artifact, words[2]);
}

absl::Status Machine(const Words& /*words*/) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CudaDeviceName> devices, ListCudaDevices());
  for (const CudaDeviceName& device : devices) {
    std::cout << "device sm" << device.capability << " CUDA " << device.version << " "
              << device.name << "\n";
  }
  const absl::StatusOr<std::vector<GpuState>> gpus = ReadGpus();
  if (!gpus.ok()) std::cout << "nvml " << gpus.status().message() << "\n";
  if (!gpus.ok()) return absl::OkStatus();
  for (const GpuState& gpu : *gpus) {
    std::cout << "gpu " << DescribeGpu(gpu) << "\nstate " << DescribeGpuState(gpu) << "\n";
  }
  return absl::OkStatus();
}

absl::Status Peaks(const Words& /*words*/) {
  SLIPWAY_ASSIGN_OR_RETURN(const AcceleratorPeaks peaks, MeasureCudaPeaks(0, SystemClock()));
  for (const ArithmeticPeak& each : peaks.arithmetic) {
    std::cout << "arithmetic " << each.type << " " << each.operations_per_second << "\n";
  }
  for (const ReadingPeak& each : peaks.reading) {
    std::cout << "reading " << each.level << " " << each.bytes_per_second << "\n";
  }
  std::cout << "copying from_host " << peaks.from_host_bytes_per_second << "\n"
            << "copying to_host " << peaks.to_host_bytes_per_second << "\n";
  return absl::OkStatus();
}

struct Command {
  const char* name;
  size_t words;
  absl::Status (*run)(const Words&);
};

constexpr Command kCommands[] = {{"check", 3, Check},
                                 {"measure", 4, Measure},
                                 {"slip", 3, Slip},
                                 {"machine", 0, Machine},
                                 {"peaks", 0, Peaks}};

int Main(const Words& words) {
  for (const Command& command : kCommands) {
    if (words.empty() || words[0] != command.name || words.size() != command.words + 1) continue;
    const absl::Status status = command.run(Words(words.begin() + 1, words.end()));
    std::cout << (status.ok() ? "passed"
                              : absl::StrCat("failed ", absl::StrReplaceAll(status.ToString(),
                                                                            {{"\n", " / "}})))
              << std::endl;
    return status.ok() ? 0 : 1;
  }
  std::cerr << "usage: see the top of run_case_main.cc\n";
  return 2;
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  return slipway::testing::Main(std::vector<std::string>(argv + 1, argv + argc));
}
