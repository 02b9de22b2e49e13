#include "client/cli/render_gate.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::IsJson;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kTime = absl::FromUnixSeconds(1767225600);

HistorySeries Series(const std::string& artifact, int count, absl::Time begin) {
  HistorySeries series = {.model = "net.onnx",
                          .target = "x86-64-v3-linux",
                          .device = "board",
                          .threads = 2,
                          .conditions = "0123456789abcdef",
                          .entries = {}};
  for (int i = 0; i < count; ++i) {
    HistoryEntry& entry = series.entries.emplace_back();
    entry.id = absl::StrCat(artifact, i);
    entry.artifact = Digest::Of(artifact);
    entry.end_time = begin + absl::Hours(24 * i);
  }
  return series;
}

// Three results of one hour are held against four days.
GateReport Undecided() {
  GateReport report = {.results = {.baseline = Series("a", 4, kTime),
                                   .candidate = Series("b", 1, kTime + absl::Hours(96))},
                       .baseline = {"baseline", "main"},
                       .candidate = Tag{"commit", "1f0c9ad"},
                       .max_regression = 0.03,
                       .finding = {},
                       .not_timed = "--no-measure"};
  HistoryFinding& history = report.finding.history;
  for (int i = 0; i < 4; ++i) {
    history.baseline.push_back(
        {.begin = kTime + absl::Hours(24 * i), .results = 1, .call_ns = 1000.0 + 10 * (i % 2)});
  }
  history.candidate = {{.begin = kTime + absl::Hours(96), .results = 1, .call_ns = 1030}};
  history.sitting = absl::Hours(12);
  history.spread = 0.0074;
  history.ratio = {.value = 1.0249, .interval = std::nullopt};
  history.sittings_wanted = 6;
  return report;
}

Estimate Between(double low, double high) {
  return {.value = (low + high) / 2, .interval = ConfidenceInterval{low, high}};
}

GateReport Regressed() {
  GateReport report = Undecided();
  report.not_timed.clear();
  report.finding.turns = Comparison();
  report.finding.turns->ratio = Between(1.02, 1.04);
  report.finding.turns->cycles = 9;
  report.finding.turns->a_ns = 1000;
  report.finding.turns->b_ns = 1031;
  report.finding.turns->lag1_autocorrelation = 0.125;
  report.finding.verdict = GateVerdict::kRegressed;
  return report;
}

TEST(RenderGateTest, TextHasSeriesNumbersAndVerdict) {
  EXPECT_EQ(
      RenderGate(Undecided()),
      absl::StrCat(
          "net.onnx for x86-64-v3-linux on board, 2 threads\n"
          "           TAG             RESULTS  SITTINGS  FIRST                    LAST             "
          "            p50  ARTIFACT\n"
          "baseline   baseline=main         4         4  2026-01-01 00:00:00 UTC  2026-01-04 "
          "00:00:00 UTC  1.00 us  ",
          Digest::Of("a").hex().substr(0, 12),
          "\n"
          "candidate  commit=1f0c9ad        1         1  2026-01-05 00:00:00 UTC  2026-01-05 "
          "00:00:00 UTC  1.03 us  ",
          Digest::Of("b").hex().substr(0, 12),
          "\n"
          "  ▁▃▁▃ █  1.00 us to 1.03 us\n"
          "history: the candidate takes 1.0249 times as long, which 1 sitting cannot bound; about "
          "6 "
          "sittings of it, 12 h 0 min apart, would tell\n"
          "not timed in turns: --no-measure\n"
          "undecided: a regression of 3 % is not excluded, and none of 1.5 % is shown\n"));
  EXPECT_THAT(
      RenderGate(Regressed()),
      EndsWith("in turns: the candidate takes 1.0300 times as long (99 %: 1.0200 to 1.0400), 9 "
               "cycles\nregressed: it is slower by more than 1.5 %, and 3 % is not excluded\n"));
}

TEST(RenderGateTest, TextSaysWhyItPassed) {
  GateReport report = Undecided();
  report.candidate.reset();
  report.not_timed.clear();
  report.finding.verdict = report.finding.history.verdict = GateVerdict::kPassed;
  report.finding.history.ratio = Between(0.99, 1.01);
  report.finding.history.sittings_wanted.reset();
  const std::string by_history = RenderGate(report);
  EXPECT_THAT(by_history, HasSubstr("\ncandidate  -  "));
  EXPECT_THAT(
      by_history,
      EndsWith("history: the candidate takes 1.0000 times as long (99 %: 0.9900 to 1.0100)\n"
               "passed: a regression of 3 % is excluded\n"));

  report.finding.turns = Comparison();
  report.finding.turns->ratio = Between(0.99, 1.01);
  report.finding.history.verdict = GateVerdict::kRegressed;
  EXPECT_THAT(
      RenderGate(report),
      EndsWith("passed: a regression of 3 % is excluded; what became slower is the machine\n"));

  report.finding.turns.reset();
  report.results.candidate.entries[0].artifact = Digest::Of("a");
  EXPECT_THAT(RenderGate(report),
              EndsWith("passed: both are one artifact; what differs is the machine\n"));
}

TEST(RenderGateTest, TextSaysWhereMoreResultsAreOfNoUse) {
  GateReport report = Undecided();
  report.finding.history.sittings_wanted.reset();
  report.finding.history.ratio = Between(0.9, 1.1);
  const std::string text = RenderGate(report);
  EXPECT_THAT(text, HasSubstr("0.9000 to 1.1000); with this baseline, no number of its results "
                              "would tell\n"));
  EXPECT_THAT(text, Not(HasSubstr("cannot bound")));
}

TEST(RenderGateTest, TextHasTheNewestSittingsAlone) {
  GateReport report = Undecided();
  report.finding.history.baseline.assign(40, {.begin = kTime, .results = 1, .call_ns = 2000});
  report.finding.history.baseline.front().call_ns = 1;
  const std::string text = RenderGate(report);
  std::string bars;
  for (int i = 0; i < 30; ++i) bars += "█";
  EXPECT_THAT(text, HasSubstr(absl::StrCat("\n  ", bars, " ▁  1.03 us to 2.00 us\n")));
}

TEST(RenderGateTest, NothingFromElsewhereReachesTheTerminal) {
  GateReport report = Undecided();
  report.results.candidate.device = "bo\x1b[2Jard";
  EXPECT_THAT(RenderGate(report), Not(HasSubstr("\x1b")));
}

TEST(RenderGateTest, Json) {
  EXPECT_THAT(RenderGateJson(Undecided()),
              IsJson(absl::StrCat(R"({
      "schema_version": 1, "verdict": "undecided", "max_regression": 0.03, "confidence": 0.99,
      "model": "net.onnx", "target": "x86-64-v3-linux", "device": "board", "threads": 2,
      "one_program": false,
      "baseline": {"tag": "baseline=main", "artifact_digest": ")",
                                  Digest::Of("a").hex(),
                                  R"(", "results": ["a0", "a1", "a2", "a3"], "sittings": [
          {"begin_ns": 1767225600000000000, "results": 1, "p50_ns": 1000},
          {"begin_ns": 1767312000000000000, "results": 1, "p50_ns": 1010},
          {"begin_ns": 1767398400000000000, "results": 1, "p50_ns": 1000},
          {"begin_ns": 1767484800000000000, "results": 1, "p50_ns": 1010}]},
      "candidate": {"tag": "commit=1f0c9ad", "artifact_digest": ")",
                                  Digest::Of("b").hex(), R"(", "results": ["b0"], "sittings": [
          {"begin_ns": 1767571200000000000, "results": 1, "p50_ns": 1030}]},
      "history": {"verdict": "undecided", "ratio": 1.0249, "ratio_interval": null,
                  "spread": 0.0074, "sitting_seconds": 43200, "sittings_wanted": 6},
      "turns": null, "not_timed": "--no-measure"})")));
  GateReport regressed = Regressed();
  regressed.candidate.reset();
  regressed.finding.history.sittings_wanted.reset();
  const auto json = testing::ParseJson(RenderGateJson(regressed));
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE((*json)["candidate"]["tag"].is_null());
  EXPECT_TRUE((*json)["not_timed"].is_null());
  EXPECT_TRUE((*json)["history"]["sittings_wanted"].is_null());
  EXPECT_THAT((*json)["turns"].dump(), IsJson(R"({
      "verdict": "regressed", "ratio": 1.03, "ratio_interval": [1.02, 1.04], "cycles": 9,
      "baseline_p50_ns": 1000, "candidate_p50_ns": 1031, "lag1_autocorrelation": 0.125})"));
}

}  // namespace
}  // namespace slipway::cli
