#include "core/runtime/drivers/cuda/cuda_peaks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/cuda/peak_loops.h"

namespace slipway {
namespace {

// Of a measurement, by the host's clock; launching and waiting are less than a hundredth of it.
constexpr absl::Duration kEnough = absl::Milliseconds(3);
constexpr int kRounds = 10;
constexpr int64_t kMostTimes = 1 << 20;
constexpr int64_t kCopiedBytes = 16 << 20;
// Of the memory that is read, beside what L2 holds, so that little of it is still there a round later.
constexpr int64_t kTimesL2 = 8;
constexpr int64_t kUnknownL2Bytes = 16 << 20;

// A piece of a device's memory, which goes with this.
class Held {
 public:
  Held(ComputeDevice& device, const DeviceMemory& memory) : device_(device), memory_(memory) {}
  ~Held() { device_.Free(memory_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  static absl::StatusOr<std::unique_ptr<Held>> Allocate(ComputeDevice& device, int64_t bytes,
                                                        MemoryKind kind) {
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory, device.Allocate(bytes, kind));
    return std::make_unique<Held>(device, memory);
  }
  const DeviceMemory& memory() const { return memory_; }

 private:
  ComputeDevice& device_;
  const DeviceMemory memory_;
};

// What an entry is launched with: pointers, and numbers that stand for extents.
class Argument {
 public:
  // `numbers` outermost first, each below 2^31.
  explicit Argument(const DeviceMemory& memory, std::vector<int64_t> numbers = {}) {
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      dimensions_.push_back({0, static_cast<int32_t>(*number), 1, 0});
    }
    buffer_.device = memory.address;
    buffer_.dimensions = static_cast<int32_t>(dimensions_.size());
    buffer_.dim = dimensions_.data();
  }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  slipway_buffer* get() { return &buffer_; }

 private:
  std::vector<slipway_dimension> dimensions_;
  slipway_buffer buffer_ = {};
};

// One thing that is measured: queues it so many times, which are `work` each.
struct Measured {
  std::function<absl::Status(int64_t times)> queue;
  double work = 0;
  double* rate = nullptr;  // Of work a second: the best so far.
  int64_t times = 1;
};

class Measurement {
 public:
  Measurement(ComputeDevice& device, const CudaDeviceName& told, const Clock& clock)
      : device_(device), told_(told), clock_(clock) {}

  absl::StatusOr<AcceleratorPeaks> Run() {
    peaks_.name = told_.name;
    SLIPWAY_ASSIGN_OR_RETURN(queues_, device_.NewQueues({.is_timed = true}));
    SLIPWAY_RETURN_IF_ERROR(PrepareSums());
    SLIPWAY_RETURN_IF_ERROR(PrepareReading());
    SLIPWAY_RETURN_IF_ERROR(PrepareCopies());
    for (int round = 0; round < kRounds; ++round) {
      for (Measured& each : measured_) SLIPWAY_RETURN_IF_ERROR(Measure(each));
    }
    return std::move(peaks_);
  }

 private:
  int64_t Multiprocessors() const { return std::max(1, told_.multiprocessors); }

  // Until it takes long enough, it is done more often.
  absl::Status Measure(Measured& measured) {
    while (true) {
      const absl::Duration begin = clock_.Monotonic();
      const int64_t worked = *queues_->worked_ns();
      SLIPWAY_RETURN_IF_ERROR(measured.queue(measured.times));
      SLIPWAY_RETURN_IF_ERROR(queues_->Finish());
      const int64_t taken = std::max<int64_t>(1, *queues_->worked_ns() - worked);
      const double rate =
          measured.work * static_cast<double>(measured.times) / static_cast<double>(taken) * 1e9;
      *measured.rate = std::max(*measured.rate, rate);
      const absl::Duration elapsed = clock_.Monotonic() - begin;
      if (elapsed >= kEnough || measured.times == kMostTimes) return absl::OkStatus();
      const double more = absl::FDivDuration(kEnough, std::max(elapsed, absl::Microseconds(1)));
      measured.times =
          std::min<int64_t>(kMostTimes, static_cast<int64_t>(static_cast<double>(measured.times) *
                                                             std::clamp(1.2 * more, 2.0, 10.0)));
    }
  }

  absl::StatusOr<const DeviceCode*> Load(const std::string& text, const std::string& entry) {
    v1::Code code;
    code.set_kind(v1::Code::KIND_PTX);
    code.set_kernel_count(1);
    code.add_entries(entry);
    SLIPWAY_ASSIGN_OR_RETURN(codes_.emplace_back(), device_.LoadCode(code, 1, text));
    return codes_.back().get();
  }

  absl::StatusOr<const DeviceMemory*> Allocate(int64_t bytes,
                                               MemoryKind kind = MemoryKind::kLocal) {
    SLIPWAY_ASSIGN_OR_RETURN(held_.emplace_back(), Held::Allocate(device_, bytes, kind));
    return &held_.back()->memory();
  }

  absl::Status Launch(const DeviceCode& code, absl::Span<slipway_buffer* const> arguments,
                      int64_t groups, int instances) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceLaunch> launch,
                             queues_->Prepare(code, 0, arguments, "a peak"));
    SLIPWAY_RETURN_IF_ERROR(
        queues_->Launch(0, *launch, {.groups = {groups, 1, 1}, .group = {instances, 1, 1}}));
    // Prepared launches live as long as what they queue.
    return queues_->Finish();
  }

  absl::Status PrepareSums() {
    const std::vector<CudaSumLoop> loops = CudaSumLoops(told_.capability);
    peaks_.arithmetic.reserve(loops.size());
    for (const CudaSumLoop& loop : loops) {
      const absl::StatusOr<const DeviceCode*> code = Load(loop.text, loop.entry);
      const bool is_too_new =
          absl::IsFailedPrecondition(code.status()) || absl::IsUnimplemented(code.status());
      if (is_too_new && loop.type != "f32") continue;
      SLIPWAY_RETURN_IF_ERROR(code.status());
      const int64_t groups = loop.groups * Multiprocessors();
      SLIPWAY_ASSIGN_OR_RETURN(
          const DeviceMemory* const out,
          Allocate(groups * loop.instances * static_cast<int64_t>(sizeof(float))));
      measured_.push_back({.queue =
                               [this, code = *code, out, groups, loop](int64_t times) {
                                 Argument argument(*out, {times});
                                 return Launch(*code, {argument.get()}, groups, loop.instances);
                               },
                           .work = static_cast<double>(loop.operations * groups),
                           .rate = &ArithmeticOf(loop.type)});
    }
    return absl::OkStatus();
  }

  double& ArithmeticOf(const std::string& type) {
    for (ArithmeticPeak& known : peaks_.arithmetic) {
      if (known.type == type) return known.operations_per_second;
    }
    peaks_.arithmetic.push_back({type});
    return peaks_.arithmetic.back().operations_per_second;
  }

  absl::Status PrepareReading() {
    const CudaReadLoop loop = CudaReading(told_.capability);
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceCode* const code, Load(loop.text, loop.entry));
    peaks_.reading.reserve(2);
    const auto bytes_at_a_time = [&](int64_t groups) {
      return groups * Multiprocessors() * loop.instances * kReadAtATime * kReadVectorBytes;
    };
    // As many groups as find their data in L2, which is half full then.
    for (const int64_t groups : {4, 2, 1}) {
      const int64_t parts = told_.l2_bytes / 2 / bytes_at_a_time(groups);
      if (parts == 0) continue;
      peaks_.reading.push_back({"L2", told_.l2_bytes});
      SLIPWAY_RETURN_IF_ERROR(
          PrepareReading(*code, groups, loop.instances, parts * bytes_at_a_time(groups)));
      break;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const MemoryInfo memory, device_.memory_info());
    const int64_t l2_bytes = told_.l2_bytes > 0 ? told_.l2_bytes : kUnknownL2Bytes;
    const int64_t bytes = std::min(kTimesL2 * l2_bytes, memory.free / 8);
    peaks_.reading.push_back({"memory", 0});
    constexpr int64_t kGroups = 4;
    return PrepareReading(
        *code, kGroups, loop.instances,
        std::max<int64_t>(1, bytes / bytes_at_a_time(kGroups)) * bytes_at_a_time(kGroups));
  }

  // Of the level that was added last.
  absl::Status PrepareReading(const DeviceCode& code, int64_t groups_at_a_time, int instances,
                              int64_t bytes) {
    const int64_t groups = groups_at_a_time * Multiprocessors();
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory* const data, Allocate(bytes));
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory* const out,
                             Allocate(groups * instances * static_cast<int64_t>(sizeof(uint32_t))));
    measured_.push_back({.queue =
                             [this, &code, data, out, groups, instances, bytes](int64_t times) {
                               Argument read(*data, {times, bytes / kReadVectorBytes});
                               Argument written(*out);
                               return Launch(code, {read.get(), written.get()}, groups, instances);
                             },
                         .work = static_cast<double>(bytes),
                         .rate = &peaks_.reading.back().bytes_per_second});
    return absl::OkStatus();
  }

  absl::Status PrepareCopies() {
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory* const host,
                             Allocate(kCopiedBytes, MemoryKind::kHostVisible));
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory* const here, Allocate(kCopiedBytes));
    const MemoryPlace theirs{nullptr, {0, host->host, kCopiedBytes}};
    const MemoryPlace ours{&device_, *here};
    const auto add = [&](const MemoryPlace& from, const MemoryPlace& to, double& rate) {
      measured_.push_back({.queue =
                               [this, from, to](int64_t times) {
                                 absl::Status status;
                                 for (int64_t i = 0; i < times && status.ok(); ++i) {
                                   status = queues_->Copy(0, from, to, kCopiedBytes);
                                 }
                                 return status;
                               },
                           .work = static_cast<double>(kCopiedBytes),
                           .rate = &rate});
    };
    add(theirs, ours, peaks_.from_host_bytes_per_second);
    add(ours, theirs, peaks_.to_host_bytes_per_second);
    return absl::OkStatus();
  }

  ComputeDevice& device_;
  const CudaDeviceName& told_;
  const Clock& clock_;
  AcceleratorPeaks peaks_;
  std::vector<std::unique_ptr<Held>> held_;
  std::vector<std::unique_ptr<DeviceCode>> codes_;
  std::unique_ptr<DeviceQueues> queues_;  // Ends first, with what it has queued.
  std::vector<Measured> measured_;
};

}  // namespace

absl::StatusOr<AcceleratorPeaks> MeasureCudaPeaks(int ordinal, const Clock& clock) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CudaDeviceName> devices, ListCudaDevices());
  // Not as graphs: each launch is another one.
  SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<ComputeDevice> device,
                           MakeCudaDriver({.graphs = false})->Open(ordinal));
  return Measurement(*device, devices[static_cast<size_t>(ordinal)], clock).Run();
}

}  // namespace slipway
