#include "device_agent/measure/machine_files.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int64_t kMaxBytes = 1 << 20;

}  // namespace

std::string ReadMachineText(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

absl::StatusOr<int64_t> ReadMachineNumber(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(absl::StrCat(path, " is no number"));
}

}  // namespace slipway
