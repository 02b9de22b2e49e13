#include "core/runtime/drivers/device_entry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway {

absl::Status CheckArguments(const DeviceEntry& entry, int inputs, int outputs) {
  const auto given = static_cast<uint32_t>(inputs + outputs);
  const bool fits = entry.tensors.has_value() ? *entry.tensors == given : entry.parameters >= given;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gives ", inputs, " inputs and ", outputs, " outputs to entry '", entry.name,
                   "', which takes ", entry.tensors.value_or(entry.parameters)));
}

absl::Status CheckParameters(const DeviceEntry& entry, absl::Span<slipway_buffer* const> arguments,
                             absl::string_view label) {
  size_t given = arguments.size();
  for (const slipway_buffer* argument : arguments) {
    given += static_cast<size_t>(argument->dimensions);
  }
  if (entry.parameters >= arguments.size() && entry.parameters <= given) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(label, ": entry '", entry.name, "' has ", entry.parameters, " parameters, for ",
                   arguments.size(), " tensors with ", given - arguments.size(), " extents"));
}

absl::Status CheckSizes(const DeviceEntry& entry, const LaunchLimits& limits,
                        const LaunchSizes& sizes, absl::string_view device_name) {
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(
        device_name, " does not launch ", absl::StrJoin(sizes.groups, " x "), " groups of ",
        absl::StrJoin(sizes.group, " x "), " of entry '", entry.name, "': ", why));
  };
  const int64_t max_group = std::min(limits.max_group, entry.max_group);
  int64_t group = 1;
  int64_t all = 1;
  for (size_t i = 0; i < 3; ++i) {
    int64_t instances = 0;
    if (sizes.groups[i] < 1 || sizes.group[i] < 1) return refuse("each is at least 1");
    if (sizes.group[i] > limits.max_group_sizes[i] ||
        __builtin_mul_overflow(group, sizes.group[i], &group) || group > max_group) {
      return refuse(absl::StrCat("a group has at most ", max_group, " instances, at most ",
                                 absl::StrJoin(limits.max_group_sizes, " x ")));
    }
    if (sizes.groups[i] > limits.max_groups[i]) {
      return refuse(
          absl::StrCat("there are at most ", absl::StrJoin(limits.max_groups, " x "), " groups"));
    }
    if (__builtin_mul_overflow(sizes.groups[i], sizes.group[i], &instances) ||
        __builtin_mul_overflow(all, instances, &all)) {
      return refuse("that is more than 64 bits count");
    }
  }
  int64_t shared_bytes = 0;
  if (sizes.shared_bytes < 0 ||
      __builtin_add_overflow(sizes.shared_bytes, entry.shared_bytes, &shared_bytes) ||
      shared_bytes > limits.shared_bytes) {
    return refuse(absl::StrCat("a group shares ", entry.shared_bytes, " and ", sizes.shared_bytes,
                               " bytes, of which there are ", limits.shared_bytes));
  }
  return absl::OkStatus();
}

}  // namespace slipway
