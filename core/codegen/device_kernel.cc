#include "core/codegen/device_kernel.h"

#include <charconv>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace slipway {
namespace {

// A head of lines of words, an empty line, and the two texts.
constexpr char kKinds[] = "ios";
constexpr size_t kMaxCount = 4096;

void AppendArguments(char where, const std::vector<DeviceArgument>& arguments, std::string& line) {
  for (const DeviceArgument& argument : arguments) {
    absl::StrAppend(&line, " ", std::string(1, where),
                    std::string(1, kKinds[static_cast<int>(argument.kind)]), argument.index);
  }
}

std::optional<int64_t> ParseNumber(absl::string_view word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0) return std::nullopt;
  return number;
}

bool ParseArgument(absl::string_view word, EntryLaunch& launch) {
  if (word.size() < 3 || (word[0] != 'r' && word[0] != 'w')) return false;
  const size_t kind = absl::string_view(kKinds).find(word[1]);
  const std::optional<int64_t> index = ParseNumber(word.substr(2));
  if (kind == absl::string_view::npos || !index.has_value() || *index > INT32_MAX) return false;
  (word[0] == 'r' ? launch.reads : launch.writes)
      .push_back({static_cast<DeviceArgument::Kind>(kind), static_cast<int>(*index)});
  return true;
}

bool ParseLaunch(const std::vector<absl::string_view>& words, EntryLaunch& launch) {
  constexpr size_t kNumbers = 9;
  if (words.size() < kNumbers) return false;
  launch.entry = std::string(words[1]);
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<int64_t> groups = ParseNumber(words[2 + i]);
    const std::optional<int64_t> group = ParseNumber(words[5 + i]);
    if (!groups.has_value() || !group.has_value()) return false;
    launch.groups[i] = *groups;
    launch.group[i] = *group;
  }
  const std::optional<int64_t> shared = ParseNumber(words[kNumbers - 1]);
  if (!shared.has_value()) return false;
  launch.shared_bytes = *shared;
  for (size_t i = kNumbers; i < words.size(); ++i) {
    if (!ParseArgument(words[i], launch)) return false;
  }
  return true;
}

bool ParseLine(absl::string_view line, DeviceKernel& kernel, size_t& preamble_bytes) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words[0] == "launch") {
    kernel.launches.emplace_back();
    return kernel.launches.size() <= kMaxCount && ParseLaunch(words, kernel.launches.back());
  }
  const std::optional<int64_t> number =
      words.size() == 2 ? ParseNumber(words[1]) : std::optional<int64_t>();
  if (!number.has_value()) return false;
  if (words[0] == "scratch") {
    kernel.scratch_bytes.push_back(*number);
    return kernel.scratch_bytes.size() <= kMaxCount;
  }
  preamble_bytes = static_cast<size_t>(*number);
  return words[0] == "preamble";
}

}  // namespace

std::string FormatDeviceKernel(const DeviceKernel& kernel) {
  std::string bytes;
  for (const int64_t scratch : kernel.scratch_bytes) {
    absl::StrAppend(&bytes, "scratch ", scratch, "\n");
  }
  for (const EntryLaunch& launch : kernel.launches) {
    std::string line = absl::StrCat("launch ", launch.entry);
    for (const int64_t groups : launch.groups) absl::StrAppend(&line, " ", groups);
    for (const int64_t group : launch.group) absl::StrAppend(&line, " ", group);
    absl::StrAppend(&line, " ", launch.shared_bytes);
    AppendArguments('r', launch.reads, line);
    AppendArguments('w', launch.writes, line);
    absl::StrAppend(&bytes, line, "\n");
  }
  absl::StrAppend(&bytes, "preamble ", kernel.preamble.size(), "\n\n", kernel.preamble,
                  kernel.text);
  return bytes;
}

absl::StatusOr<DeviceKernel> ParseDeviceKernel(absl::string_view bytes) {
  const absl::Status wrong = absl::InvalidArgumentError("these bytes are no kernel of a device");
  DeviceKernel kernel;
  size_t preamble_bytes = 0;
  while (true) {
    const size_t end = bytes.find('\n');
    if (end == absl::string_view::npos) return wrong;
    const absl::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (line.empty()) break;
    if (!ParseLine(line, kernel, preamble_bytes)) return wrong;
  }
  if (preamble_bytes > bytes.size()) return wrong;
  kernel.preamble = std::string(bytes.substr(0, preamble_bytes));
  kernel.text = std::string(bytes.substr(preamble_bytes));
  return kernel;
}

}  // namespace slipway
