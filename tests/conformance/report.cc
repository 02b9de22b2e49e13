#include "tests/conformance/report.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace slipway {
namespace {

using Verdict = CaseResult::Verdict;

// Verdicts but that nothing is wrong, or that something is missing.
bool IsWrong(Verdict verdict) {
  return verdict != Verdict::kPassed && verdict != Verdict::kUnsupported;
}

struct Counts {
  int passed = 0;
  int failed = 0;  // And crashed, and hung.
  int unsupported = 0;

  void Add(Verdict verdict) {
    ++(verdict == Verdict::kPassed ? passed : IsWrong(verdict) ? failed : unsupported);
  }
};

Counts CountAll(const std::vector<CaseResult>& results) {
  Counts counts;
  for (const CaseResult& result : results) counts.Add(result.verdict);
  return counts;
}

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&out, "\\", absl::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string FormatTable(const std::vector<CaseResult>& results) {
  std::map<std::string, Counts> by_operator;
  for (const CaseResult& result : results) by_operator[result.op].Add(result.verdict);

  std::string out =
      absl::StrFormat("%-24s %7s %7s %12s\n", "operator", "passed", "failed", "unsupported");
  std::vector<std::string> missing;
  for (const auto& [op, counts] : by_operator) {
    if (counts.passed + counts.failed == 0) {
      missing.push_back(absl::StrCat(op, " (", counts.unsupported, ")"));
    } else {
      absl::StrAppendFormat(&out, "%-24s %7d %7d %12d\n", op, counts.passed, counts.failed,
                            counts.unsupported);
    }
  }
  const auto append_reasons = [&](absl::string_view title, bool wrong) {
    bool first = true;
    for (const CaseResult& result : results) {
      const Counts& counts = by_operator[result.op];
      if (result.verdict == Verdict::kPassed || IsWrong(result.verdict) != wrong ||
          counts.passed + counts.failed == 0) {
        continue;
      }
      if (first) absl::StrAppend(&out, "\n", title, "\n");
      first = false;
      absl::StrAppend(&out, "  ", result.name, ": ", result.reason, "\n");
    }
  };
  append_reasons("failed:", /*wrong=*/true);
  append_reasons("unsupported cases of these operators:", /*wrong=*/false);
  if (!missing.empty()) {
    absl::StrAppend(&out, "\nno case passes or fails of: ", absl::StrJoin(missing, ", "), "\n");
  }
  const Counts all = CountAll(results);
  absl::StrAppend(&out, "\n", all.passed, " passed, ", all.failed, " failed, ", all.unsupported,
                  " unsupported\n");
  return out;
}

std::string FormatJson(const std::vector<CaseResult>& results) {
  const Counts all = CountAll(results);
  std::string out = absl::StrCat("{\"passed\": ", all.passed, ", \"failed\": ", all.failed,
                                 ", \"unsupported\": ", all.unsupported, ", \"cases\": [\n");
  absl::StrAppend(&out, absl::StrJoin(results, ",\n", [](std::string* o, const CaseResult& result) {
    absl::StrAppend(o, "  {\"name\": ", JsonString(result.name),
                    ", \"operator\": ", JsonString(result.op),
                    ", \"verdict\": ", JsonString(Name(result.verdict)),
                    ", \"reason\": ", JsonString(result.reason), "}");
  }));
  return absl::StrCat(out, "\n]}\n");
}

}  // namespace slipway
