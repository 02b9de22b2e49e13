#include "core/base/out_of_memory.h"

#include <signal.h>
#include <unistd.h>

#include <new>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr int64_t kMaxVmstatBytes = 1 << 20;

}  // namespace

// Nothing may allocate here.
void ExitOutOfMemory() {
  constexpr char kMessage[] = "out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kOutOfMemoryExitCode);
}

void ExitWhenOutOfMemory() { std::set_new_handler(ExitOutOfMemory); }

bool EndedOutOfMemory(const ExitStatus& end, absl::string_view output) {
  if (end.signal == 0) return end.exit_code == kOutOfMemoryExitCode;
  return end.signal == SIGABRT &&
         (absl::StrContains(output, "out of memory") || absl::StrContains(output, "bad_alloc"));
}

int64_t OutOfMemoryKills(const std::string& vmstat) {
  const absl::StatusOr<std::string> text = ReadFile(vmstat, kMaxVmstatBytes);
  if (!text.ok()) return 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    int64_t kills = 0;
    if (absl::ConsumePrefix(&line, "oom_kill ") && absl::SimpleAtoi(line, &kills)) return kills;
  }
  return 0;
}

}  // namespace slipway
