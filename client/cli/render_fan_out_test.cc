#include "client/cli/render_fan_out.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::IsJson;

FanOutRow Measured(const std::string& device, int64_t ns) {
  FanOutRow row = {.device = device, .target = "x86-64-v3-linux", .job_id = "01J" + device};
  row.state = JobState::kSucceeded;
  row.result = BenchmarkResult{.samples_ns = {ns, ns, ns},
                               .iterations_per_sample = 1,
                               .peak_memory_bytes = 10 << 20,
                               .device = device,
                               .device_target = "x86-64-v4-linux"};
  return row;
}

std::vector<FanOutRow> Rows() {
  FanOutRow lost = {.device = "d", .target = "arm-64-linux", .job_id = "01Jd"};
  lost.error = absl::UnavailableError("the device is lost");
  lost.is_lost = true;
  lost.replaced_by = "b";
  FanOutRow failed = {.device = "a", .target = "arm-64-linux"};
  failed.error = absl::InvalidArgumentError("bad\x07");
  return {Measured("c", 3'000'000), lost, failed, Measured("b", 1'500'000)};
}

TEST(RenderFanOutTest, TheFastestComesFirst) {
  EXPECT_EQ(RenderFanOut("net.onnx", Rows()),
            "DEVICE  TARGET               p50      MIN  RATIO    MEMORY  DISTURBED\n"
            "b       x86-64-v3-linux  1.50 ms  1.50 ms   1.00  10.0 MiB  no\n"
            "c       x86-64-v3-linux  3.00 ms  3.00 ms   2.00  10.0 MiB  no\n"
            "a failed: bad\\x07\n"
            "d was lost: the device is lost; in its place: b\n"
            "net.onnx: measured on 2 of 4 devices\n");
  EXPECT_EQ(RenderFanOut("net.onnx", {Rows()[2]}),
            "a failed: bad\\x07\nnet.onnx: measured on 0 of 1 device\n");
}

TEST(RenderFanOutTest, JsonHasTheSame) {
  EXPECT_THAT(RenderFanOutJson("net.onnx", Rows()), IsJson(R"({"schema_version": 1,
      "model": "net.onnx", "measured": 2, "failed": 2, "devices": [
      {"device": "b", "target": "x86-64-v3-linux", "job": "01Jb", "min_ns": 1500000.0,
       "p50_ns": 1500000.0, "p50_interval_ns": null, "ratio": 1.0,
       "device_target": "x86-64-v4-linux", "samples": 3, "iterations_per_sample": 1,
       "peak_memory_bytes": 10485760, "disturbed": false, "error": null},
      {"device": "c", "target": "x86-64-v3-linux", "job": "01Jc", "min_ns": 3000000.0,
       "p50_ns": 3000000.0, "p50_interval_ns": null, "ratio": 2.0,
       "device_target": "x86-64-v4-linux", "samples": 3, "iterations_per_sample": 1,
       "peak_memory_bytes": 10485760, "disturbed": false, "error": null},
      {"device": "a", "target": "arm-64-linux", "job": "", "error": "bad\u0007", "lost": false,
       "replaced_by": null},
      {"device": "d", "target": "arm-64-linux", "job": "01Jd", "error": "the device is lost",
       "lost": true, "replaced_by": "b"}]})"));
}

TEST(RenderFanOutTest, ProgressIsToldOfOneAndOfAll) {
  FanOutRow row = {.device = "a", .target = "arm-64-linux"};
  EXPECT_EQ(DescribeRow(row).stage, "a: compiling");
  row.job_id = "01J";
  EXPECT_EQ(DescribeRow(row).stage, "a: waiting");
  row.state = JobState::kRunning;
  EXPECT_EQ(DescribeRow(row).stage, "a: measuring");
  row.progress.stage = "measure";
  EXPECT_EQ(DescribeRow(row).stage, "a: measure");
  EXPECT_EQ(DescribeRow(Rows()[1]).stage, "d: lost: the device is lost");
  std::vector<FanOutRow> rows = Rows();
  rows.push_back(row);
  EXPECT_EQ(DescribeAll("net.onnx", rows).stage,
            "net.onnx on 5 devices: 2 done, 1 failed, 1 lost, 1 measuring");
}

}  // namespace
}  // namespace slipway::cli
