#include "server/peers/bounds.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/benchmark_spec.h"
#include "core/wire/tensor_proto.h"
#include "google/protobuf/descriptor.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr Bound kLargeFields[] = {
    {"slipway.v1.BenchmarkResult.samples_ns", kMaxSamples},
    {"slipway.v1.BenchmarkResult.steps", 100'000},
    {"slipway.v1.CompileReport.printed_graph", 16 << 20},
    {"slipway.v1.CompileReport.printed_schedules", kMaxSchedulesBytes},
    {"slipway.v1.Tensor.inline_data", kMaxInlineTensorBytes},
};

int64_t BoundOf(const FieldDescriptor& field, int64_t otherwise) {
  static const auto& large = *new absl::flat_hash_map<absl::string_view, int64_t>([] {
    absl::flat_hash_map<absl::string_view, int64_t> bounds;
    for (const Bound& bound : kLargeFields) bounds.emplace(bound.field, bound.most);
    return bounds;
  }());
  const auto found = large.find(field.full_name());
  return found == large.end() ? otherwise : found->second;
}

absl::Status CheckSize(const FieldDescriptor& field, int64_t size, int64_t otherwise,
                       absl::string_view of_what) {
  const int64_t most = BoundOf(field, otherwise);
  if (size <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field.full_name(), " has ", size, " ", of_what, "; at most ", most));
}

absl::Status CheckText(const FieldDescriptor& field, const std::string& text) {
  return CheckSize(field, static_cast<int64_t>(text.size()), kMaxReportedTextBytes, "bytes");
}

absl::Status CheckFinite(const FieldDescriptor& field, double number) {
  if (std::isfinite(number)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field.full_name(), " is ", number, "; a finite number is wanted"));
}

// Of a field of floating-point numbers.
absl::Status CheckNumbers(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const bool is_double = field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
  if (!field.is_repeated()) {
    return CheckFinite(field, is_double ? reflection.GetDouble(message, &field)
                                        : reflection.GetFloat(message, &field));
  }
  const int entries = reflection.FieldSize(message, &field);
  for (int i = 0; i < entries; ++i) {
    SLIPWAY_RETURN_IF_ERROR(
        CheckFinite(field, is_double ? reflection.GetRepeatedDouble(message, &field, i)
                                     : reflection.GetRepeatedFloat(message, &field, i)));
  }
  return absl::OkStatus();
}

absl::Status CheckField(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const bool is_number = field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
                         field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  std::string scratch;
  if (!field.is_repeated()) {
    if (is_text) {
      return CheckText(field, reflection.GetStringReference(message, &field, &scratch));
    }
    if (is_number) return CheckNumbers(message, field);
    return is_message ? CheckBounds(reflection.GetMessage(message, &field)) : absl::OkStatus();
  }
  const int entries = reflection.FieldSize(message, &field);
  SLIPWAY_RETURN_IF_ERROR(CheckSize(field, entries, kMaxReportedEntries, "entries"));
  if (is_number) return CheckNumbers(message, field);
  if (!is_text && !is_message) return absl::OkStatus();
  for (int i = 0; i < entries; ++i) {
    SLIPWAY_RETURN_IF_ERROR(
        is_text
            ? CheckText(field, reflection.GetRepeatedStringReference(message, &field, i, &scratch))
            : CheckBounds(reflection.GetRepeatedMessage(message, &field, i)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Bound> LargeFields() { return kLargeFields; }

absl::Status CheckBounds(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    SLIPWAY_RETURN_IF_ERROR(CheckField(message, *field));
  }
  return absl::OkStatus();
}

}  // namespace slipway::server
