#include "core/confinement/probe_report.h"

#include <errno.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace slipway {
namespace {

// Lines "missing NUMBER WHY" or "error WHAT", and one that says that this was all.
constexpr char kMissing[] = "missing";
constexpr char kError[] = "error";
constexpr char kEnd[] = "end";

}  // namespace

void WriteProbeReport(int fd, const absl::StatusOr<MissingParts>& found) {
  std::string text;
  if (!found.ok()) {
    absl::StrAppend(&text, kError, " 0 ", found.status().message(), "\n");
  } else {
    for (const MissingPart& part : *found) {
      absl::StrAppend(&text, kMissing, " ", static_cast<int>(part.part), " ", part.why, "\n");
    }
  }
  text += kEnd;
  // Shorter than a pipe holds, so that it is written at once; what is cut off lacks its end.
  [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
}

absl::StatusOr<MissingParts> ReadProbeReport(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
  }
  MissingParts missing;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line == kEnd) return missing;
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    int part = 0;
    if (fields.size() != 3 || !absl::SimpleAtoi(fields[1], &part)) break;
    if (fields[0] == kError) return absl::InternalError(fields[2]);
    missing.push_back({static_cast<ConfinementPart>(part), fields[2]});
  }
  return absl::InternalError("the process that tries a confinement ended before it had told");
}

}  // namespace slipway
