#include "core/runtime/measure_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/value_table.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

constexpr int kRounds = 4;
constexpr int64_t kMostLaunches = 8;        // In a row, of what is short.
constexpr int64_t kWantedNs = 50'000;       // In a row.
constexpr int64_t kMostCompared = 1 << 20;  // Elements of the result.
// Neighbouring rows of no matrix begin with the same number.
constexpr size_t kPatternElements = 262'139;

// Of the largest element: between sums in two orders, of factors that two have rounded.
double ToleranceOf(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return 1e-4;
    case Precision::kBfloat16:
      return 1.0 / 32;
    default:
      return 1.0 / 128;
  }
}

// Numbers from -1 to 1, in the bytes of the type.
std::string Pattern(DataType dtype) {
  std::string bytes(kPatternElements * static_cast<size_t>(ByteSize(dtype)), '\0');
  uint32_t state = 1;
  for (size_t i = 0; i < kPatternElements; ++i) {
    state = state * 1664525 + 1013904223;
    const float value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
    if (dtype == DataType::kFloat32) {
      reinterpret_cast<float*>(bytes.data())[i] = value;
    } else {
      reinterpret_cast<uint16_t*>(bytes.data())[i] =
          dtype == DataType::kFloat16 ? FloatToFloat16(value) : FloatToBfloat16(value);
    }
  }
  return bytes;
}

class Measurement {
 public:
  Measurement(const ResidentProgram& program, const VendorStep& step)
      : program_(program),
        step_(step),
        manifest_(program.manifest().proto()),
        function_(manifest_.functions(static_cast<int>(step.function))),
        device_(*program.device(launch(step.first).device())),
        values_(manifest_) {}
  ~Measurement() {
    if (queues_ != nullptr) queues_->Finish().IgnoreError();
    ways_.clear();
    own_launches_.clear();
    queues_.reset();
    for (const auto& [buffer, memory] : own_) device_.Free(memory);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  absl::Status Prepare() {
    SLIPWAY_RETURN_IF_ERROR(PlaceValues());
    SLIPWAY_ASSIGN_OR_RETURN(queues_, device_.NewQueues({.is_timed = true}));
    if (!queues_->worked_ns().has_value()) {
      return absl::UnimplementedError(absl::StrCat(device_.name(), " has no clock"));
    }
    for (uint32_t i = step_.first; i < step_.end(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(PrepareStep(launch(i)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<StepTimes> Run(absl::Span<const std::unique_ptr<LibraryWay>> ways) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t first_ns, Time(own_launches_, 1));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<float> wanted, ReadResult());
    for (const std::unique_ptr<LibraryWay>& way : ways) {
      const absl::Status status = AddWay(*way, wanted);
      if (!status.ok()) SLIPWAY_RETURN_IF_ERROR(LeaveOut(ways_.back(), status));
    }
    const int64_t launches =
        std::clamp(kWantedNs / std::max<int64_t>(first_ns, 1), int64_t{1}, kMostLaunches);
    int64_t own_ns = INT64_MAX;
    std::vector<std::optional<int64_t>> ways_ns(ways_.size());
    for (int round = 0; round < kRounds; ++round) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t ns, Time(own_launches_, launches));
      own_ns = std::min(own_ns, ns);
      for (size_t i = 0; i < ways_.size(); ++i) {
        if (!ways_[i].is_right) continue;
        const absl::StatusOr<int64_t> way_ns = Time(ways_[i].launches, launches);
        if (way_ns.ok()) {
          ways_ns[i] = std::min(ways_ns[i].value_or(INT64_MAX), *way_ns);
        } else {
          ways_ns[i] = std::nullopt;
          SLIPWAY_RETURN_IF_ERROR(LeaveOut(ways_[i], way_ns.status()));
        }
      }
    }
    return FastestOf(own_ns, ways_ns);
  }

 private:
  struct Prepared {
    std::unique_ptr<DeviceLaunch> launch;
    LaunchSizes sizes;
  };
  struct Way {
    std::vector<Prepared> launches;  // One.
    bool is_right = true;
  };

  const v1::Step& launch(uint32_t index) const { return function_.steps(static_cast<int>(index)); }

  // Memory for what the steps touch, but for constants, which have theirs.
  absl::Status PlaceValues() {
    std::map<uint32_t, int64_t> bytes;  // Of buffers.
    for (uint32_t i = step_.first; i < step_.end(); ++i) {
      const v1::Step::Kernel& call = launch(i).kernel();
      for (const auto* list : {&call.inputs(), &call.outputs()}) {
        for (const uint32_t value : *list) {
          for (const v1::Dimension& dimension : values_.proto(value).shape()) {
            if (!dimension.has_value()) return absl::UnimplementedError("a tensor of open extents");
          }
          int64_t& end = bytes[values_.buffer(value)];
          end = std::max(end, values_.offset(value) + values_.bytes(value));
          touched_.push_back(value);
        }
      }
    }
    for (const auto& [buffer, size] : bytes) {
      if (program_.plan().buffer_classes[buffer] == v1::Buffer::CLASS_CONSTANT) {
        values_.SetBuffer(buffer, program_.constant(buffer));
        continue;
      }
      SLIPWAY_ASSIGN_OR_RETURN(own_[buffer], device_.Allocate(size, MemoryKind::kLocal));
      values_.SetBuffer(buffer, own_[buffer]);
    }
    for (const uint32_t value : touched_) SLIPWAY_RETURN_IF_ERROR(Fill(value));
    return absl::OkStatus();
  }

  // With numbers, by copies that get larger and larger; what is no number stays as it is.
  absl::Status Fill(uint32_t value) {
    const DataType dtype = values_.dtype(value);
    if (own_.count(values_.buffer(value)) == 0) return absl::OkStatus();
    if (dtype != DataType::kFloat32 && dtype != DataType::kFloat16 &&
        dtype != DataType::kBfloat16) {
      return absl::OkStatus();
    }
    std::string& pattern = patterns_[dtype];
    if (pattern.empty()) pattern = Pattern(dtype);
    const DeviceMemory memory = values_.memory(value);
    const int64_t size = values_.bytes(value);
    int64_t filled = std::min(size, static_cast<int64_t>(pattern.size()));
    SLIPWAY_RETURN_IF_ERROR(
        device_.Copy({nullptr, {0, reinterpret_cast<uint8_t*>(pattern.data()), filled}},
                     {&device_, memory}, filled));
    while (filled < size) {
      const int64_t next = std::min(filled, size - filled);
      SLIPWAY_RETURN_IF_ERROR(
          device_.Copy({&device_, memory}, {&device_, memory.From(filled)}, next));
      filled += next;
    }
    return absl::OkStatus();
  }

  absl::Status PrepareStep(const v1::Step& step) {
    const v1::Step::Kernel& call = step.kernel();
    std::vector<slipway_buffer*> arguments;
    for (const uint32_t value : call.inputs()) arguments.push_back(&values_.descriptor(value));
    for (const uint32_t value : call.outputs()) arguments.push_back(&values_.descriptor(value));
    Prepared& prepared = own_launches_.emplace_back();
    for (int i = 0; i < std::min(3, call.launch().groups_size()); ++i) {
      if (call.launch().groups(i).has_expression()) {
        return absl::UnimplementedError("launches of open sizes");
      }
      prepared.sizes.groups[static_cast<size_t>(i)] = call.launch().groups(i).constant();
      prepared.sizes.group[static_cast<size_t>(i)] = call.launch().group(i);
    }
    prepared.sizes.shared_bytes = call.launch().shared_bytes();
    SLIPWAY_ASSIGN_OR_RETURN(
        prepared.launch,
        queues_->Prepare(program_.code(call.code()), call.kernel(), arguments, step.name()));
    return absl::OkStatus();
  }

  // An error where what is wrong is the device, and not the way.
  absl::Status LeaveOut(Way& way, const absl::Status& why) {
    // Some of what heuristics name is not there for this device.
    Log(absl::IsUnimplemented(why) ? LogLevel::kDebug : LogLevel::kWarning,
        "a library's step is not used",
        {{"step", DescribeVendorStep(step_)}, {"why", why.message()}});
    way.is_right = false;
    return queues_->Finish();
  }

  // OK where its result is the wanted one.
  absl::Status AddWay(LibraryWay& way, const std::vector<float>& wanted) {
    std::vector<Prepared>& made = ways_.emplace_back().launches;
    SLIPWAY_RETURN_IF_ERROR(way.Load());
    SLIPWAY_ASSIGN_OR_RETURN(
        made.emplace_back().launch,
        queues_->PrepareLibrary(way, ArgumentsOf(step_, values_), "a library's step"));
    SLIPWAY_RETURN_IF_ERROR(Fill(step_.result));
    SLIPWAY_RETURN_IF_ERROR(Time(made, 1).status());
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<float> result, ReadResult());
    double largest = 0;
    double difference = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!std::isfinite(wanted[i]) || !std::isfinite(result[i])) {
        if (std::isfinite(wanted[i]) == std::isfinite(result[i])) continue;
        return absl::DataLossError("it has another result");
      }
      largest = std::max(largest, std::fabs(double{wanted[i]}));
      difference = std::max(difference, std::fabs(double{wanted[i]} - double{result[i]}));
    }
    if (difference <= largest * ToleranceOf(step_.precision)) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("its result is off by ", difference, " of ", largest));
  }

  // Of one of so many, one after the other.
  absl::StatusOr<int64_t> Time(const std::vector<Prepared>& steps, int64_t times) {
    const int64_t before = *queues_->worked_ns();
    for (int64_t i = 0; i < times; ++i) {
      for (const Prepared& each : steps) {
        SLIPWAY_RETURN_IF_ERROR(queues_->Launch(0, *each.launch, each.sizes));
      }
    }
    SLIPWAY_RETURN_IF_ERROR(queues_->Finish());
    return (*queues_->worked_ns() - before) / times;
  }

  absl::StatusOr<std::vector<float>> ReadResult() {
    const uint32_t value = step_.result;
    const int64_t bytes = std::min<int64_t>(values_.bytes(value), kMostCompared * 4);
    std::vector<float> read(static_cast<size_t>(bytes / 4));
    SLIPWAY_RETURN_IF_ERROR(
        device_.Copy({&device_, values_.memory(value)},
                     {nullptr, {0, reinterpret_cast<uint8_t*>(read.data()), bytes}}, bytes));
    return read;
  }

  const ResidentProgram& program_;
  const VendorStep& step_;
  const v1::Manifest& manifest_;
  const v1::Function& function_;
  ComputeDevice& device_;
  ValueTable values_;
  std::vector<uint32_t> touched_;
  std::map<uint32_t, DeviceMemory> own_;  // By buffer.
  std::map<DataType, std::string> patterns_;
  std::unique_ptr<DeviceQueues> queues_;
  std::vector<Prepared> own_launches_;
  std::vector<Way> ways_;
};

}  // namespace

absl::StatusOr<StepTimes> MeasureStep(const ResidentProgram& program, const VendorStep& step,
                                      absl::Span<const std::unique_ptr<LibraryWay>> ways) {
  Measurement measurement(program, step);
  SLIPWAY_RETURN_IF_ERROR(measurement.Prepare());
  return measurement.Run(ways);
}

LibraryArguments ArgumentsOf(const VendorStep& step, ValueTable& values) {
  const auto optional = [&values](const std::optional<uint32_t>& value) {
    return value.has_value() ? &values.descriptor(*value) : nullptr;
  };
  const std::array<uint32_t, 2> factors = step.factors();
  return {{&values.descriptor(factors[0]), &values.descriptor(factors[1])},
          &values.descriptor(step.result),
          optional(step.bias),
          optional(step.added)};
}

}  // namespace slipway
