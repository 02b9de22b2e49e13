#include "core/codegen/schedules/parameters.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway {
namespace {

// "1 to 12, a divisor of 8".
std::string Range(const Parameter& parameter) {
  std::string text = absl::StrCat(parameter.min, " to ", parameter.max);
  if (parameter.divides != 0) absl::StrAppend(&text, ", a divisor of ", parameter.divides);
  if (parameter.multiple != 1) absl::StrAppend(&text, ", a multiple of ", parameter.multiple);
  return text;
}

}  // namespace

bool Fits(const Parameter& parameter, int value) {
  if (value < parameter.min || value > parameter.max) return false;
  if (parameter.divides != 0 && parameter.divides % value != 0) return false;
  return value % parameter.multiple == 0;
}

std::vector<std::pair<std::string, int>> NumbersOf(const Parameters& parameters) {
  std::vector<std::pair<std::string, int>> numbers;
  for (const Parameter& each : parameters) numbers.emplace_back(each.name, *each.value);
  return numbers;
}

absl::Status SetParameters(const StageSchedule& record,
                           absl::FunctionRef<Parameters()> parameters) {
  const Parameters all = parameters();
  for (const auto& [name, value] : record.numbers) {
    const auto has_name = [&name = name](const Parameter& each) { return each.name == name; };
    if (std::any_of(all.begin(), all.end(), has_name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        record.kind, " has no parameter \"", name,
        "\"; it has: ", absl::StrJoin(all, ", ", [](std::string* out, const Parameter& each) {
          absl::StrAppend(out, each.name);
        })));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Parameter parameter = parameters()[i];
    const auto said =
        std::find_if(record.numbers.begin(), record.numbers.end(),
                     [&](const auto& number) { return number.first == parameter.name; });
    const bool is_said = said != record.numbers.end();
    const int value = is_said ? said->second : *parameter.value;
    if (!Fits(parameter, value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          record.kind, ": parameter \"", parameter.name, "\" is ", value,
          is_said ? "" : " where the record does not say it", "; it may be ", Range(parameter)));
    }
    *parameter.value = value;
  }
  return absl::OkStatus();
}

}  // namespace slipway
