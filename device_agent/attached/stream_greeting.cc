#include "device_agent/attached/stream_greeting.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "device_agent/runner/stream.h"

namespace slipway {
namespace {

constexpr size_t kMaxBytesBefore = 64 << 10;
constexpr size_t kMaxShownBytes = 256;

constexpr absl::string_view Greeting() {
  return absl::string_view(kStreamGreeting, sizeof(kStreamGreeting) - 1);
}
// What no terminal changes.
constexpr absl::string_view Beginning() { return Greeting().substr(0, Greeting().find(' ') + 1); }

// What came instead, for people.
std::string Shown(absl::string_view bytes) {
  const std::string text = ToUtf8(absl::StripAsciiWhitespace(bytes));
  return text.empty() ? ""
                      : absl::StrCat(": ", Utf8Prefix(absl::Utf8SafeCEscape(text), kMaxShownBytes));
}

}  // namespace

absl::Status AwaitGreeting(int stream, absl::Duration deadline) {
  std::string read;
  while (!absl::EndsWith(read, Greeting())) {
    const size_t begins = read.find(std::string(Beginning()));
    if (begins != std::string::npos &&
        !absl::StartsWith(Greeting(), absl::string_view(read).substr(begins))) {
      return absl::FailedPreconditionError(
          "the connection to the device changes bytes, as a terminal does: one without is needed "
          "(ssh -T, adb shell -T)");
    }
    if (read.size() == kMaxBytesBefore) {
      return absl::FailedPreconditionError(
          absl::StrCat("the device does not answer as a bare runner does", Shown(read)));
    }
    // One by one: what is behind the greeting is for others to read. It comes once for each runner.
    char byte = 0;
    const absl::StatusOr<size_t> received = ReceiveSome(stream, &byte, 1, deadline);
    if (absl::IsUnavailable(received.status())) {
      return absl::UnavailableError(
          absl::StrCat("the connection to the device ended", Shown(read)));
    }
    SLIPWAY_RETURN_IF_ERROR(received.status());
    read.push_back(byte);
  }
  return absl::OkStatus();
}

}  // namespace slipway
