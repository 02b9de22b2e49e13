#include "core/runtime/library_choice.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr int64_t kMostBytes = 4 << 20;
// Raised when steps are measured in another way.
constexpr absl::string_view kHead = "slipway library steps 1";
constexpr absl::string_view kNoWay = "-";

// "OWN_NS WAY LIBRARY_NS KEY".
std::string Line(absl::string_view key, const StepTimes& times) {
  return absl::StrCat(times.own_ns, " ",
                      times.way.has_value() ? absl::StrCat(*times.way) : std::string(kNoWay), " ",
                      times.library_ns, " ", key, "\n");
}

std::optional<StepTimes> ReadTimes(absl::string_view own, absl::string_view way,
                                   absl::string_view library) {
  StepTimes times;
  int number = 0;
  if (!absl::SimpleAtoi(own, &times.own_ns) || !absl::SimpleAtoi(library, &times.library_ns) ||
      times.own_ns < 0 || times.library_ns < 0) {
    return std::nullopt;
  }
  if (way == kNoWay) return times;
  if (!absl::SimpleAtoi(way, &number) || number < 0 || number >= KeptStepTimes::kMostWays) {
    return std::nullopt;
  }
  times.way = number;
  return times;
}

}  // namespace

StepTimes FastestOf(int64_t own_ns, absl::Span<const std::optional<int64_t>> ways_ns) {
  StepTimes times;
  times.own_ns = own_ns;
  for (size_t i = 0; i < ways_ns.size(); ++i) {
    if (!ways_ns[i].has_value()) continue;
    if (times.way.has_value() && *ways_ns[i] >= times.library_ns) continue;
    times.way = static_cast<int>(i);
    times.library_ns = *ways_ns[i];
  }
  return times;
}

bool IsForLibrary(const StepTimes& times, LibraryUse use) {
  if (!times.way.has_value() || use == LibraryUse::kNever) return false;
  return use == LibraryUse::kAlways || times.library_ns < times.own_ns - times.own_ns / 32;
}

KeptStepTimes::KeptStepTimes(std::string file) : file_(std::move(file)) { Read(); }

void KeptStepTimes::Read() {
  if (file_.empty()) return;
  entries_.clear();
  const absl::StatusOr<std::string> text = ReadFile(file_, kMostBytes);
  if (!text.ok()) return;
  const std::vector<absl::string_view> lines = absl::StrSplit(*text, '\n');
  if (lines[0] != kHead) return;
  for (const absl::string_view line : absl::MakeConstSpan(lines).subspan(1)) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 3));
    if (words.size() != 4) continue;
    const std::optional<StepTimes> times = ReadTimes(words[0], words[1], words[2]);
    if (times.has_value()) entries_.push_back({std::string(words[3]), *times});
  }
}

std::optional<StepTimes> KeptStepTimes::Find(absl::string_view key) const {
  const auto found =
      absl::c_find_if(entries_, [key](const Entry& each) { return each.key == key; });
  return found == entries_.end() ? std::nullopt : std::optional<StepTimes>(found->times);
}

absl::Status KeptStepTimes::Keep(absl::string_view key, const StepTimes& times) {
  Read();  // What others have added meanwhile.
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [key](const Entry& each) { return each.key == key; }),
                 entries_.end());
  entries_.push_back({std::string(key), times});
  if (entries_.size() > kMostKept) entries_.erase(entries_.begin());
  if (file_.empty()) return absl::OkStatus();
  std::string text = absl::StrCat(kHead, "\n");
  for (const Entry& each : entries_) absl::StrAppend(&text, Line(each.key, each.times));
  return WriteFileAtomically(file_, text, /*durable=*/false);
}

}  // namespace slipway
