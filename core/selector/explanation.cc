#include "core/selector/explanation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway {
namespace {

// As many as one takes in at a glance.
constexpr size_t kMostReasons = 8;

}  // namespace

Reason MatchesBut(absl::string_view state) {
  return {absl::StrCat("matches but is ", state), absl::StrCat("match but are ", state)};
}

std::string ExplainNone(absl::string_view wanted, absl::Span<const Reason> reasons) {
  const std::string none = absl::StrCat("no device matches ", wanted, ": ");
  if (reasons.empty()) return none + "none is known";
  if (reasons.size() == 1) {
    return absl::StrCat(none, "the only one that is known ", reasons.front().of_one);
  }
  std::map<std::string, std::pair<int64_t, const Reason*>> counted;
  for (const Reason& reason : reasons) {
    auto& [count, said] = counted[reason.of_several];
    ++count;
    said = &reason;
  }
  std::vector<std::pair<int64_t, const Reason*>> sorted;
  for (const auto& [text, entry] : counted) sorted.push_back(entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> said;
  int64_t others = 0;
  for (const auto& [count, reason] : sorted) {
    if (said.size() == kMostReasons) {
      others += count;
      continue;
    }
    said.push_back(absl::StrCat(count, " ", count == 1 ? reason->of_one : reason->of_several));
  }
  if (others > 0) said.push_back(absl::StrCat(others, " are other than that"));
  return absl::StrCat(none, "of ", reasons.size(), " devices, ", absl::StrJoin(said, ", "));
}

}  // namespace slipway
