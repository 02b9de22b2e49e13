#include "core/base/agent_stamp.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "core/base/version.h"

namespace slipway {
namespace {

constexpr char kMark[] = "slipway-agent-stamp ";
constexpr size_t kMaxPartBytes = 64;

#if defined(__x86_64__)
constexpr char kPlatform[] = "x86-64-linux";
#elif defined(__aarch64__)
constexpr char kPlatform[] = "arm-64-linux";
#elif defined(__arm__)
constexpr char kPlatform[] = "arm-32-linux";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr char kPlatform[] = "riscv-64-linux";
#else
#error "what this is built for has no name yet: give it one"
#endif

template <size_t... kSizes>
constexpr auto Join(const char (&... parts)[kSizes]) {
  std::array<char, (kSizes + ...) - sizeof...(kSizes) + 1> joined{};
  char* next = joined.data();
  const auto append = [&next](const char* part, size_t size) {
    for (size_t i = 0; i + 1 < size; ++i) *next++ = part[i];
  };
  (append(parts, kSizes), ...);
  return joined;
}

// A whole object of its own, which the linker keeps in one piece.
constexpr auto kStamp = Join(kMark, kVersion, " ", kPlatform, ";");

bool IsPart(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxPartBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::string_view("._-+").find(c) != absl::string_view::npos;
         });
}

}  // namespace

AgentStamp OwnAgentStamp() { return *FindAgentStamp({kStamp.data(), kStamp.size()}); }

std::optional<AgentStamp> FindAgentStamp(absl::string_view bytes) {
  const absl::string_view mark(kMark);
  for (size_t at = bytes.find(mark); at != absl::string_view::npos; at = bytes.find(mark, at + 1)) {
    const absl::string_view rest = bytes.substr(at + mark.size(), 2 * kMaxPartBytes + 2);
    const size_t space = rest.find(' ');
    const size_t end = rest.find(';');
    if (space == absl::string_view::npos || end == absl::string_view::npos || end < space) continue;
    const absl::string_view version = rest.substr(0, space);
    const absl::string_view platform = rest.substr(space + 1, end - space - 1);
    if (!IsPart(version) || !IsPart(platform)) continue;
    return AgentStamp{.version = std::string(version), .platform = std::string(platform)};
  }
  return std::nullopt;
}

}  // namespace slipway
