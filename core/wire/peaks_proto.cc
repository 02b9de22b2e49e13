#include "core/wire/peaks_proto.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Of anything that is repeated.
constexpr int kMaxEntries = 32;
constexpr size_t kMaxNameBytes = 16;
constexpr size_t kMaxAcceleratorNameBytes = 255;

using ArithmeticProtos = google::protobuf::RepeatedPtrField<v1::DevicePeaks::Arithmetic>;
using ReadingProtos = google::protobuf::RepeatedPtrField<v1::DevicePeaks::Reading>;

absl::Status CheckName(absl::string_view name) {
  bool is_good = !name.empty() && name.size() <= kMaxNameBytes;
  for (const char c : name) is_good = is_good && absl::ascii_isalnum(c);
  return is_good ? absl::OkStatus() : absl::InvalidArgumentError("a name is none");
}

absl::Status CheckRate(double rate) {
  if (std::isfinite(rate) && rate > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(rate, " a second is no rate"));
}

absl::Status CheckEntries(int entries) {
  if (entries > 0 && entries <= kMaxEntries) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(entries, " entries, where 1 to ", kMaxEntries, " are wanted"));
}

absl::StatusOr<std::vector<ArithmeticPeak>> FromProto(const ArithmeticProtos& protos) {
  std::vector<ArithmeticPeak> peaks;
  SLIPWAY_RETURN_IF_ERROR(CheckEntries(protos.size()));
  for (const v1::DevicePeaks::Arithmetic& each : protos) {
    SLIPWAY_RETURN_IF_ERROR(CheckName(each.type()));
    SLIPWAY_RETURN_IF_ERROR(CheckRate(each.operations_per_second()));
    peaks.push_back({each.type(), each.operations_per_second()});
  }
  return peaks;
}

absl::StatusOr<std::vector<ReadingPeak>> FromProto(const ReadingProtos& protos) {
  std::vector<ReadingPeak> peaks;
  SLIPWAY_RETURN_IF_ERROR(CheckEntries(protos.size()));
  for (int i = 0; i < protos.size(); ++i) {
    const v1::DevicePeaks::Reading& each = protos[i];
    const bool is_last = i + 1 == protos.size();
    SLIPWAY_RETURN_IF_ERROR(CheckName(each.level()));
    SLIPWAY_RETURN_IF_ERROR(CheckRate(each.bytes_per_second()));
    if (is_last ? each.bytes() != 0 : each.bytes() <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("level \"", each.level(), "\" of ", each.bytes(), " bytes"));
    }
    peaks.push_back({each.level(), each.bytes(), each.bytes_per_second()});
  }
  return peaks;
}

absl::StatusOr<MachinePeaks> FromProto(const v1::DevicePeaks::OnThreads& proto) {
  MachinePeaks peaks{.threads = proto.threads()};
  SLIPWAY_ASSIGN_OR_RETURN(peaks.arithmetic, FromProto(proto.arithmetic()));
  SLIPWAY_ASSIGN_OR_RETURN(peaks.reading, FromProto(proto.reading()));
  return peaks;
}

absl::StatusOr<AcceleratorPeaks> FromProto(const v1::DevicePeaks::Accelerator& proto) {
  if (proto.name().size() > kMaxAcceleratorNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a name has ", proto.name().size(),
                                                   " bytes; at most ", kMaxAcceleratorNameBytes));
  }
  AcceleratorPeaks peaks{.name = proto.name()};
  SLIPWAY_ASSIGN_OR_RETURN(peaks.arithmetic, FromProto(proto.arithmetic()));
  SLIPWAY_ASSIGN_OR_RETURN(peaks.reading, FromProto(proto.reading()));
  SLIPWAY_RETURN_IF_ERROR(CheckRate(proto.from_host_bytes_per_second()));
  SLIPWAY_RETURN_IF_ERROR(CheckRate(proto.to_host_bytes_per_second()));
  peaks.from_host_bytes_per_second = proto.from_host_bytes_per_second();
  peaks.to_host_bytes_per_second = proto.to_host_bytes_per_second();
  return peaks;
}

// For both messages that have such lists.
template <typename Proto, typename Peaks>
void AddRates(const Peaks& peaks, Proto& proto) {
  for (const ArithmeticPeak& arithmetic : peaks.arithmetic) {
    v1::DevicePeaks::Arithmetic& to = *proto.add_arithmetic();
    to.set_type(arithmetic.type);
    to.set_operations_per_second(arithmetic.operations_per_second);
  }
  for (const ReadingPeak& reading : peaks.reading) {
    v1::DevicePeaks::Reading& to = *proto.add_reading();
    to.set_level(reading.level);
    to.set_bytes(reading.bytes);
    to.set_bytes_per_second(reading.bytes_per_second);
  }
}

}  // namespace

v1::DevicePeaks ToProto(absl::Span<const MachinePeaks> peaks,
                        absl::Span<const AcceleratorPeaks> accelerators) {
  v1::DevicePeaks proto;
  for (const MachinePeaks& each : peaks) {
    v1::DevicePeaks::OnThreads& on_threads = *proto.add_on_threads();
    on_threads.set_threads(each.threads);
    AddRates(each, on_threads);
  }
  for (const AcceleratorPeaks& each : accelerators) {
    v1::DevicePeaks::Accelerator& accelerator = *proto.add_accelerators();
    accelerator.set_name(each.name.substr(0, kMaxAcceleratorNameBytes));
    AddRates(each, accelerator);
    accelerator.set_from_host_bytes_per_second(each.from_host_bytes_per_second);
    accelerator.set_to_host_bytes_per_second(each.to_host_bytes_per_second);
  }
  return proto;
}

absl::StatusOr<std::vector<AcceleratorPeaks>> AcceleratorsFromProto(const v1::DevicePeaks& proto) {
  std::vector<AcceleratorPeaks> peaks;
  if (proto.accelerators_size() > kMaxEntries) return CheckEntries(proto.accelerators_size());
  for (const v1::DevicePeaks::Accelerator& each : proto.accelerators()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(peaks.emplace_back(), FromProto(each),
                                  absl::StrCat("peaks of accelerator ", peaks.size()));
  }
  return peaks;
}

absl::StatusOr<std::vector<MachinePeaks>> FromProto(const v1::DevicePeaks& proto) {
  std::vector<MachinePeaks> peaks;
  if (proto.on_threads_size() > kMaxEntries) return CheckEntries(proto.on_threads_size());
  for (const v1::DevicePeaks::OnThreads& on_threads : proto.on_threads()) {
    if (on_threads.threads() <= (peaks.empty() ? 0 : peaks.back().threads)) {
      return absl::InvalidArgumentError(
          absl::StrCat("peaks: ", on_threads.threads(), " threads are out of order"));
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(MachinePeaks each, FromProto(on_threads),
                                  absl::StrCat("peaks of ", on_threads.threads(), " threads"));
    peaks.push_back(std::move(each));
  }
  return peaks;
}

}  // namespace slipway
