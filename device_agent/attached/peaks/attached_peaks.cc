#include "device_agent/attached/peaks/attached_peaks.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/base/embedded_file.h"
#include "core/base/status_macros.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/target/peak_rows.h"
#include "core/target/peak_tables.h"
#include "device_agent/attached/file_for_machine.h"
#include "device_agent/attached/peaks/peak_program.h"
#include "device_agent/attached/peaks/peak_program_files.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {
namespace {

// Of which the best of some is taken: long beside what beginning one takes.
constexpr int64_t kLeastNs = 4'000'000;
constexpr int kRepeats = 6;
constexpr int64_t kFirstRounds = 20'000;
constexpr int64_t kFirstBytes = 1 << 20;  // That all tasks read together.
constexpr int kMostDoublings = 20;

// As ELF numbers machines.
uint16_t NumberOf(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return EM_X86_64;
    case Arch::kArm64:
      return EM_AARCH64;
    case Arch::kArm32:
      return EM_ARM;
    case Arch::kRiscv64:
      return EM_RISCV;
    default:
      return EM_NONE;
  }
}

absl::StatusOr<absl::string_view> FindProgram(Arch arch) {
  const EmbeddedFile* const file = FindFileFor(NumberOf(arch), PeakProgramFiles());
  if (file != nullptr) return file->contents;
  return absl::UnimplementedError(
      "attached: this agent has nothing that measures what such a machine does at most");
}

// Memory of the device, which is given back.
class Held {
 public:
  static absl::StatusOr<Held> Take(ComputeDevice& device, int64_t bytes) {
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory, device.Allocate(bytes, MemoryKind::kLocal));
    return Held(device, memory);
  }
  Held(Held&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), memory_(other.memory_) {}
  ~Held() {
    if (device_ != nullptr) device_->Free(memory_);
  }
  const DeviceMemory& memory() const { return memory_; }

 private:
  Held(ComputeDevice& device, const DeviceMemory& memory) : device_(&device), memory_(memory) {}

  ComputeDevice* device_;
  DeviceMemory memory_;
};

// Bytes as a kernel's argument.
struct Argument {
  explicit Argument(const DeviceMemory& memory) {
    buffer.device = memory.address;
    buffer.host = memory.host;
    buffer.type = {SLIPWAY_TYPE_UINT, 8, 1};
    // Of two dimensions, as one has less than 2^31.
    const int64_t inner = memory.bytes % SLIPWAY_READ_STEP == 0 ? SLIPWAY_READ_STEP : 1;
    dimensions[0] = {0, static_cast<int32_t>(inner), 1, 0};
    dimensions[1] = {0, static_cast<int32_t>(memory.bytes / inner), static_cast<int32_t>(inner), 0};
    buffer.dimensions = 2;
    buffer.dim = dimensions;
  }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  slipway_buffer buffer = {};
  slipway_dimension dimensions[2] = {};
};

class Measurement {
 public:
  static absl::StatusOr<Measurement> Begin(ComputeDevice& device, Arch arch, int threads) {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view program, FindProgram(arch));
    v1::Code code;
    code.set_kind(v1::Code::KIND_ELF);
    code.set_kernel_count(SLIPWAY_PEAK_KERNELS);
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<DeviceCode> loaded,
                             device.LoadCode(code, SLIPWAY_ABI_VERSION, program));
    for (uint32_t kernel = 0; kernel < SLIPWAY_PEAK_KERNELS; ++kernel) {
      SLIPWAY_RETURN_IF_ERROR(loaded->CheckArguments(kernel, 2, 0));
    }
    QueueOptions options;
    options.threads = threads;
    options.scratch_bytes = 0;
    options.is_timed = true;
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<DeviceQueues> queues, device.NewQueues(options));
    SLIPWAY_ASSIGN_OR_RETURN(Held call, Held::Take(device, sizeof(slipway_peak_call)));
    return Measurement(device, std::move(loaded), std::move(queues), std::move(call), threads);
  }

  // Operations a second.
  absl::StatusOr<double> Sum(const SumLoop& loop) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const double rounds,
        BestRate(SLIPWAY_PEAK_SUMS, {loop.number, kFirstRounds, threads_, 0}, call_.memory()));
    return rounds * static_cast<double>(loop.operations) * threads_;
  }

  // Bytes a second.
  absl::StatusOr<double> Read(int loop, int64_t bytes) {
    const int64_t step = SLIPWAY_READ_STEP;
    const int64_t part = std::max(bytes / threads_ / step, int64_t{1}) * step;
    SLIPWAY_ASSIGN_OR_RETURN(const Held data, Held::Take(device_, part * threads_));
    SLIPWAY_RETURN_IF_ERROR(Run(SLIPWAY_PEAK_FILL, {0, 1, threads_, part}, data.memory()).status());
    const int64_t times = std::max(kFirstBytes / (part * threads_), int64_t{1});
    SLIPWAY_ASSIGN_OR_RETURN(
        const double passes,
        BestRate(SLIPWAY_PEAK_READ, {loop, times, threads_, part}, data.memory()));
    return passes * static_cast<double>(part) * threads_;
  }

 private:
  Measurement(ComputeDevice& device, std::unique_ptr<DeviceCode> code,
              std::unique_ptr<DeviceQueues> queues, Held call, int threads)
      : device_(device),
        code_(std::move(code)),
        queues_(std::move(queues)),
        call_(std::move(call)),
        threads_(threads) {}

  // How long it takes, by the device's clock.
  absl::StatusOr<int64_t> Run(uint32_t kernel, const slipway_peak_call& call,
                              const DeviceMemory& data) {
    slipway_peak_call copy = call;
    const DeviceMemory host = {0, reinterpret_cast<uint8_t*>(&copy), sizeof(copy)};
    SLIPWAY_RETURN_IF_ERROR(
        device_.Copy({nullptr, host}, {&device_, call_.memory()}, sizeof(copy)));
    Argument what(call_.memory());
    Argument memory(data);
    slipway_buffer* const arguments[] = {&what.buffer, &memory.buffer};
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceLaunch> launch,
                             queues_->Prepare(*code_, kernel, arguments, "peaks"));
    const std::optional<int64_t> before = queues_->worked_ns();
    SLIPWAY_RETURN_IF_ERROR(queues_->Launch(0, *launch, {}));
    SLIPWAY_RETURN_IF_ERROR(queues_->Finish());
    const std::optional<int64_t> after = queues_->worked_ns();
    if (!before.has_value() || !after.has_value()) {
      return absl::UnimplementedError("attached: the device tells no times");
    }
    return *after - *before;
  }

  // How often a second a task does what it does `times` times in a call.
  absl::StatusOr<double> BestRate(uint32_t kernel, slipway_peak_call call,
                                  const DeviceMemory& data) {
    SLIPWAY_ASSIGN_OR_RETURN(int64_t ns, Run(kernel, call, data));
    for (int i = 0; ns < kLeastNs && i < kMostDoublings; ++i) {
      call.times *= 2;
      SLIPWAY_ASSIGN_OR_RETURN(ns, Run(kernel, call, data));
    }
    for (int i = 0; i < kRepeats; ++i) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t again, Run(kernel, call, data));
      ns = std::min(ns, again);
    }
    if (ns <= 0) return absl::InternalError("attached: the device's clock stands still");
    return static_cast<double>(call.times) * 1e9 / static_cast<double>(ns);
  }

  ComputeDevice& device_;
  std::unique_ptr<DeviceCode> code_;
  std::unique_ptr<DeviceQueues> queues_;
  Held call_;
  int threads_;
};

}  // namespace

absl::StatusOr<MachinePeaks> MeasureAttachedPeaks(ComputeDevice& device,
                                                  const DeviceTarget& machine,
                                                  const CacheSizes& caches, int threads) {
  SLIPWAY_ASSIGN_OR_RETURN(Measurement measurement,
                           Measurement::Begin(device, machine.arch, threads));
  MachinePeaks peaks{.threads = threads};
  for (const SumLoop& loop : SumLoopsFor(machine)) {
    SLIPWAY_ASSIGN_OR_RETURN(const double rate, measurement.Sum(loop));
    peaks.arithmetic.push_back({loop.type, rate});
  }
  for (const MeasuredLevel& level : LevelsFor(caches, threads)) {
    SLIPWAY_ASSIGN_OR_RETURN(const double rate,
                             measurement.Read(ReadLoopFor(machine), level.read_bytes));
    ReadingPeak peak = level.level;
    peak.bytes_per_second = rate;
    peaks.reading.push_back(std::move(peak));
  }
  return peaks;
}

}  // namespace slipway
