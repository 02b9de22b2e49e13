#include "client/cli/render_history.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::HasSubstr;

HistoryEntry Entry(const std::string& id, double p50_ns, const std::string& artifact) {
  HistoryEntry entry;
  entry.id = id;
  entry.owner = "ada";
  entry.artifact = Digest::Of(artifact);
  entry.tools = {"halide 14"};
  entry.device.id = "board-1";
  entry.device.model = "AMD EPYC";
  entry.agent_version = "0.1";
  entry.create_time = absl::FromUnixSeconds(1767225600);
  entry.end_time = entry.create_time + absl::Seconds(2);
  entry.summary = {.count = 100,
                   .min_ns = p50_ns / 2,
                   .p50_ns = p50_ns,
                   .p90_ns = p50_ns * 2,
                   .max_ns = p50_ns * 4};
  return entry;
}

std::vector<HistorySeries> Two() {
  HistorySeries digits = {.model = "digits.onnx",
                          .target = "x86-64-v3-linux",
                          .device = "board-1",
                          .threads = 1,
                          .conditions = "0123456789abcdef",
                          .entries = {Entry("01JA", 2'000, "one"), Entry("01JB", 2'000, "one"),
                                      Entry("01JC", 3'000, "two")}};
  digits.entries[2].tags = {{"branch", "main"}, {"commit", "2f, \"quoted\""}};
  digits.entries[2].result.samples_ns = {1, 2};
  digits.entries[2].result.disturbed = true;
  HistorySeries net = digits;
  net.model = "net.onnx";
  net.threads = 2;
  net.entries = {Entry("01JD", 1'000'000, "three")};
  return {digits, net};
}

TEST(RenderHistoryTest, SparklineGoesFromTheLeastToTheGreatest) {
  EXPECT_EQ(Sparkline({}), "");
  EXPECT_EQ(Sparkline({5}), "▅");
  EXPECT_EQ(Sparkline({5, 5}), "▅▅");
  EXPECT_EQ(Sparkline({0, 7, 1, 6.6, 3}), "▁█▂█▄");
}

TEST(RenderHistoryTest, TextHasASeriesEach) {
  EXPECT_EQ(RenderHistory({}), "no results\n");
  EXPECT_EQ(
      RenderHistory(Two()),
      "digits.onnx for x86-64-v3-linux on board-1, 1 thread, 3 results\n"
      "  ▁▁█  2.00 us to 3.00 us\n"
      "    a\n"
      "  (what changed: a artifact, c compiler, d device, v version of the agent)\n"
      "  MEASURED                  MEDIAN   BEFORE      MIN  SAMPLES  DISTURBED  ARTIFACT      "
      "RESULT  CHANGED   TAGS\n"
      "  2026-01-01 00:00:02 UTC  2.00 us           1.00 us      100  no         " +
          Digest::Of("one").hex().substr(0, 12) +
          "  01JA\n"
          "  2026-01-01 00:00:02 UTC  2.00 us   +0.0 %  1.00 us      100  no         " +
          Digest::Of("one").hex().substr(0, 12) +
          "  01JB\n"
          "  2026-01-01 00:00:02 UTC  3.00 us  +50.0 %  1.50 us      100  yes        " +
          Digest::Of("two").hex().substr(0, 12) +
          "  01JC    artifact  branch=main commit=2f, \"quoted\"\n"
          "\n"
          "net.onnx for x86-64-v3-linux on board-1, 2 threads, 1 result\n"
          "  ▅  1.00 ms to 1.00 ms\n"
          "  MEASURED                  MEDIAN  BEFORE     MIN  SAMPLES  DISTURBED  ARTIFACT      "
          "RESULT  CHANGED\n"
          "  2026-01-01 00:00:02 UTC  1.00 ms          500 us      100  no         " +
          Digest::Of("three").hex().substr(0, 12) + "  01JD\n");
}

TEST(RenderHistoryTest, MarksWhatWeighsMost) {
  std::vector<HistorySeries> all = Two();
  all.pop_back();
  std::vector<HistoryEntry>& entries = all[0].entries;
  entries[0].agent_version = "0.0";
  entries[1].tools = {"halide 13"};
  entries[2].device.model = "Cortex";
  EXPECT_THAT(RenderHistory(all), HasSubstr("▁▁█  2.00 us to 3.00 us\n   cd\n"));
  entries[1] = entries[2];
  entries[1].agent_version = "0.2";
  entries[0] = entries[2];
  EXPECT_THAT(RenderHistory(all), HasSubstr("\n   vv\n"));
}

TEST(RenderHistoryTest, JsonHasAll) {
  const std::string json = RenderHistoryJson(Two());
  EXPECT_THAT(json, HasSubstr("\"schema_version\": 1"));
  EXPECT_THAT(json, HasSubstr("\"threads\": 2"));
  EXPECT_THAT(json, HasSubstr("\"conditions\": \"0123456789abcdef\""));
  EXPECT_THAT(json, HasSubstr("\"p50_ns\": 3000"));
  EXPECT_THAT(json, HasSubstr("\"samples_ns\": [1, 2]"));
  EXPECT_THAT(json, HasSubstr("\"commit\": \"2f, \\\"quoted\\\"\""));
  EXPECT_THAT(json, HasSubstr("\"artifact\": true"));
  EXPECT_THAT(json, HasSubstr("\"model\": \"AMD EPYC\""));
}

TEST(RenderHistoryTest, ARecordSaysAll) {
  CheckedRecord record = {.entry = Two()[0].entries[2],
                          .signed_at = absl::FromUnixSeconds(1767225660)};
  record.entry.model = "digits\x1b.onnx";
  const std::string text = RenderRecord(record);
  EXPECT_THAT(text, HasSubstr("the record is as its server signed it\n"));
  EXPECT_THAT(text, HasSubstr("signed     2026-01-01 00:01:00 UTC\n"));
  EXPECT_THAT(text, HasSubstr("model      digits\\x1b.onnx\n"));
  EXPECT_THAT(text, HasSubstr("artifact   " + Digest::Of("two").hex() + "\n"));
  EXPECT_THAT(text, HasSubstr("samples    2 of 1 call\n"));
  EXPECT_THAT(text, HasSubstr("median     3.00 us\n"));
  const std::string json = RenderRecordJson(record);
  EXPECT_THAT(json, HasSubstr("\"signed_at_ns\": 1767225660000000000"));
  EXPECT_THAT(json, HasSubstr("\"samples_ns\": [1, 2]"));
  EXPECT_THAT(json, ::testing::Not(HasSubstr("changed")));
}

TEST(RenderHistoryTest, CsvIsALineEach) {
  const std::string csv = RenderHistoryCsv(Two());
  EXPECT_THAT(csv, ::testing::StartsWith("id,ended_at,model,"));
  EXPECT_THAT(csv, HasSubstr("01JC,2026-01-01T00:00:02.000Z,digits.onnx,x86-64-v3-linux,board-1,1,"
                             "0123456789abcdef,100,1500,3000,6000,12000,0,0,0,true,"));
  EXPECT_THAT(csv, HasSubstr(",\"branch=main commit=2f, \"\"quoted\"\"\",ada\r\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
}

}  // namespace
}  // namespace slipway::cli
