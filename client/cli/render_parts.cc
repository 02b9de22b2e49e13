#include "client/cli/render_parts.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/tensor_summary.h"
#include "core/base/text_table.h"

namespace slipway::cli {

namespace {

void RatesJson(JsonWriter& json, const std::vector<ArithmeticPeak>& arithmetic,
               const std::vector<ReadingPeak>& reading) {
  json.BeginArray("arithmetic");
  for (const ArithmeticPeak& each : arithmetic) {
    json.BeginObject();
    json.Text("type", each.type);
    json.Real("operations_per_second", each.operations_per_second);
    json.EndObject();
  }
  json.EndArray();
  json.BeginArray("reading");
  for (const ReadingPeak& each : reading) {
    json.BeginObject();
    json.Text("level", each.level);
    json.Integer("bytes", each.bytes);
    json.Real("bytes_per_second", each.bytes_per_second);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void PeaksJson(JsonWriter& json, const std::vector<MachinePeaks>& peaks) {
  json.BeginArray("peaks");
  for (const MachinePeaks& each : peaks) {
    json.BeginObject();
    json.Integer("threads", each.threads);
    RatesJson(json, each.arithmetic, each.reading);
    json.EndObject();
  }
  json.EndArray();
}

void AcceleratorPeaksJson(JsonWriter& json, const std::vector<AcceleratorPeaks>& peaks) {
  if (peaks.empty()) return;
  json.BeginArray("accelerator_peaks");
  for (const AcceleratorPeaks& each : peaks) {
    json.BeginObject();
    json.Text("name", each.name);
    RatesJson(json, each.arithmetic, each.reading);
    json.Real("from_host_bytes_per_second", each.from_host_bytes_per_second);
    json.Real("to_host_bytes_per_second", each.to_host_bytes_per_second);
    json.EndObject();
  }
  json.EndArray();
}

std::string ProductsText(const Compilation& compilation) {
  return absl::StrCat(compilation.integer_products, " in 8 bits, ",
                      compilation.float_products.size(), " in f32");
}

void ProductsJson(JsonWriter& json, const Compilation& compilation) {
  json.Integer("integer_products", compilation.integer_products);
  json.BeginArray("float_products");
  for (const FloatProduct& product : compilation.float_products) {
    json.BeginObject();
    json.Text("node", product.node);
    json.Text("reason", product.reason);
    json.EndObject();
  }
  json.EndArray();
}

void IntervalJson(JsonWriter& json, absl::string_view name,
                  const std::optional<ConfidenceInterval>& interval) {
  if (!interval.has_value()) return json.Null(name);
  json.BeginArray(name);
  json.Real("", interval->low);
  json.Real("", interval->high);
  json.EndArray();
}

std::string TagsText(const std::vector<Tag>& tags) {
  return absl::StrJoin(tags, " ",
                       [](std::string* out, const Tag& tag) { out->append(ToString(tag)); });
}

void TagsJson(JsonWriter& json, const std::vector<Tag>& tags) {
  json.BeginObject("tags");
  for (const Tag& tag : tags) json.Text(tag.key, tag.value);
  json.EndObject();
}

void LeaseJson(JsonWriter& json, const DeviceLease& lease) {
  json.BeginObject("lease");
  json.Text("job", lease.job_id);
  json.Text("kind", lease.kind.has_value() ? Name(*lease.kind) : "unknown");
  json.Text("purpose", lease.purpose);
  json.Text("owner", lease.owner);
  json.Integer("since_ns", absl::ToUnixNanos(lease.since));
  json.Integer("until_ns", absl::ToUnixNanos(lease.until));
  json.Integer("idle_ns", absl::ToInt64Nanoseconds(lease.idle));
  lease.idle_until.has_value() ? json.Integer("idle_until_ns", absl::ToUnixNanos(*lease.idle_until))
                               : json.Null("idle_until_ns");
  json.EndObject();
}

void ReservationFields(JsonWriter& json, const Reservation& reservation) {
  json.Text("id", reservation.id);
  json.Text("device", reservation.device);
  json.Text("owner", reservation.owner);
  json.Text("purpose", reservation.purpose);
  json.Integer("from_ns", absl::ToUnixNanos(reservation.from));
  json.Integer("until_ns", absl::ToUnixNanos(reservation.until));
}

void ReservationJson(JsonWriter& json, absl::string_view name, const Reservation& reservation) {
  json.BeginObject(name);
  ReservationFields(json, reservation);
  json.EndObject();
}

void WaitJson(JsonWriter& json, absl::string_view name, const WaitReason& reason) {
  const auto time = [&json](absl::string_view name, absl::Time value) {
    if (value != absl::InfinitePast()) json.Integer(name, absl::ToUnixNanos(value));
  };
  json.BeginObject(name);
  json.Text("kind", Name(reason.kind));
  json.Text("device", reason.device);
  if (reason.lease.has_value()) LeaseJson(json, *reason.lease);
  if (reason.reservation.has_value()) ReservationJson(json, "reservation", *reason.reservation);
  time("until_ns", reason.until);
  time("since_ns", reason.since);
  json.Text("detail", reason.detail);
  json.Integer("fitting", reason.fitting);
  json.EndObject();
}

std::string AcceleratorText(const AcceleratorState& state) {
  std::vector<std::string> parts = {Printable(state.name)};
  if (state.clock_hz > 0) parts.push_back(absl::StrCat(state.clock_hz / 1'000'000, " MHz"));
  if (state.memory_clock_hz > 0) {
    parts.push_back(absl::StrCat("memory ", state.memory_clock_hz / 1'000'000, " MHz"));
  }
  if (state.power_milliwatts > 0) {
    parts.push_back(absl::StrFormat("%.1f W", static_cast<double>(state.power_milliwatts) / 1e3));
  }
  if (state.temperature_millicelsius != 0) {
    parts.push_back(
        absl::StrFormat("%.0f C", static_cast<double>(state.temperature_millicelsius) / 1e3));
  }
  if (state.throttled) parts.emplace_back("slowed down");
  return absl::StrJoin(parts, ", ");
}

void AcceleratorsJson(JsonWriter& json, const std::vector<AcceleratorState>& accelerators) {
  if (accelerators.empty()) return;
  json.BeginArray("accelerators");
  for (const AcceleratorState& state : accelerators) {
    json.BeginObject();
    json.Text("name", state.name);
    json.Integer("clock_hz", state.clock_hz);
    json.Integer("memory_clock_hz", state.memory_clock_hz);
    json.Integer("power_milliwatts", state.power_milliwatts);
    json.Integer("temperature_millicelsius", state.temperature_millicelsius);
    json.Integer("memory_free_bytes", state.memory_free_bytes);
    json.Bool("throttled", state.throttled);
    json.EndObject();
  }
  json.EndArray();
}

void MachineJson(JsonWriter& json, absl::string_view name, const MachineState& machine) {
  json.BeginObject(name);
  json.Integer("cpu_frequency_hz", machine.cpu_frequency_hz);
  json.Text("governor", machine.governor);
  json.Integer("temperature_millicelsius", machine.temperature_millicelsius);
  json.Integer("load_millis", machine.load_millis);
  AcceleratorsJson(json, machine.accelerators);
  json.EndObject();
}

void TensorJson(JsonWriter& json, const NamedTensor& named, const std::string& file) {
  const Tensor& tensor = named.tensor;
  const TensorStatistics statistics = Statistics(tensor);
  const auto optional = [&json](absl::string_view name, const std::optional<double>& value) {
    value.has_value() ? json.Real(name, *value) : json.Null(name);
  };
  json.Text("name", named.name);
  json.Text("dtype", Name(tensor.dtype()));
  json.Integers("shape", tensor.shape());
  optional("min", statistics.min);
  optional("max", statistics.max);
  optional("mean", statistics.mean);
  statistics.max.has_value() ? json.Integer("largest_at", statistics.largest_at)
                             : json.Null("largest_at");
  json.Integer("nan_count", statistics.nan_count);
  if (!file.empty()) json.Text("file", file);
}

}  // namespace slipway::cli
