// What the command prints with --json: that it is JSON, with all that is promised and nothing else.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/render.h"
#include "client/cli/test_results.h"
#include "core/base/digest.h"
#include "core/base/json_writer.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::IsJson;
using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;

std::string QuotedManifest() { return absl::StrCat("\"", Digest::Of("manifest").hex(), "\""); }

TEST(RenderJsonTest, Compilation) {
  Job job = CompiledJob();
  const std::string common =
      R"("schema_version": 1, "job": "01JA", "model": "resnet50.onnx", "tags": {},
      "target": "x86-64-v4-linux", "compile_key": "key", "cached": false,
      "total_ns": 1000000000,
      "stages": [{"name": "import", "ns": 81000000, "nodes_after": 0},
                 {"name": "compile kernels", "ns": 13200000000, "nodes_after": 0}],
      "passes": [{"name": "FuseOps", "ns": 740000, "nodes_after": 57}],
      "kernels": 53, "kernels_compiled": 20, "kernels_cached": 33, "code_bytes": 412000,
      "constant_bytes": 102000000, "arena_bytes": 9633792, "artifact_bytes": 102500000,
      "artifact_digest": )" +
      QuotedManifest();
  EXPECT_THAT(RenderCompilationJson(job, absl::Seconds(1)), IsJson("{" + common + "}"));
  Job noted = job;
  noted.compilation->passes[0].notes = {"one", "two"};
  EXPECT_THAT(
      RenderCompilationJson(noted, absl::Seconds(1)),
      IsJson(absl::StrCat(
          "{", absl::StrReplaceAll(common, {{"57}", "57, \"notes\": [\"one\", \"two\"]}"}}), "}")));
  job.compilation->printed_graph = "graph \"g\" {\n}\n";
  EXPECT_THAT(RenderCompilationJson(job, absl::Seconds(1)),
              IsJson("{" + common + R"(, "printed_graph": "graph \"g\" {\n}\n"})"));
}

TEST(RenderJsonTest, Quantization) {
  const QuantizationReport report = Quantization();
  EXPECT_THAT(RenderQuantizationJson(report), IsJson(R"({"schema_version": 1,
      "model": "net.onnx", "device": "board", "threads": 2, "examples": 10,
      "artifact_bytes": 30000000, "f32_artifact_bytes": 100000000, "min_ns": 2000000,
      "f32_min_ns": 5000000, "speedup": 2.5, "integer_products": 53,
      "float_products": [{"node": "fc", "reason": "it is\nodd"}],
      "outputs": [{"name": "scores", "elements": 100, "largest_absolute": 0.5,
                   "largest_relative": 0.125, "signal_to_noise_db": 20, "cosine": 0.995,
                   "agreement": 0.9},
                  {"name": "same", "elements": 1, "largest_absolute": 0, "largest_relative": 0,
                   "signal_to_noise_db": null, "cosine": 1},
                  {"name": "labels", "elements": 10, "agreement": 1}],
      "artifact_digest": )" + QuotedManifest() + "}"));
}

TEST(RenderJsonTest, Run) {
  const std::string common = R"("schema_version": 1, "job": "01JC", "device": "board",
      "model": "net.onnx", "tags": {"branch": "main", "commit": "1f"},
      "artifact_digest": "", "run_ns": 250000, "load_ns": 0,
      "clock_resolution_ns": 0)";
  EXPECT_THAT(RenderRunJson(RunJob(), Outputs()), IsJson("{" + common + R"(,
      "outputs": [{"name": "y/0", "dtype": "f32", "shape": [1, 2], "min": 1, "max": 3, "mean": 2,
                   "largest_at": 1, "nan_count": 0, "file": "out/y%2F0.npy"}]})"));
  const float nans[] = {0.0f / 0.0f};
  const std::vector<WrittenOutput> unwritten = {
      {{"none", Tensor::Zeros(DataType::kFloat32, {0})}, ""},
      {{"nan", Tensor::Of<float>({1}, absl::MakeConstSpan(nans))}, ""}};
  EXPECT_THAT(RenderRunJson(RunJob(), unwritten), IsJson("{" + common + R"(,
      "outputs": [{"name": "none", "dtype": "f32", "shape": [0], "min": null, "max": null,
                   "mean": null, "largest_at": null, "nan_count": 0},
                  {"name": "nan", "dtype": "f32", "shape": [1], "min": null, "max": null,
                   "mean": null, "largest_at": null, "nan_count": 1}]})"));
}

TEST(RenderJsonTest, Benchmark) {
  BenchmarkResult result = Benchmark();
  result.before = {.cpu_frequency_hz = 2'600'000'000, .governor = "performance"};
  result.after = {.temperature_millicelsius = 41'500,
                  .load_millis = 980,
                  .accelerators = {{.name = "GPU", .clock_hz = 1'980'000'000, .throttled = true}}};
  result.steps = {{"conv", {"Conv", "Relu"}, 1000, StepWork{500, 64, 16}, {{10, 900, 850, 7}, {}}},
                  {"loop", {"Loop"}, 7}};
  result.steps[0].device = 1;
  result.steps[0].library = "cublasLt 12.4.5";
  result.accelerator_peaks = {{"GPU", {{"f32", 1e9}}, {{"memory", 0, 2e9}}, 3e9, 4e9}};
  result.peaks = {{1, {{"f32", 1e9}}, {{"memory", 0, 2e9}}}};
  Json samples = Json::array();
  for (int i = 0; i < 100; ++i) samples.push_back(10'000'001 + i);
  // Ten calls a sample, 10,000,001 ns and 1 ns more each: so steady a drift tells of no percentile.
  EXPECT_THAT(RenderBenchmarkJson(Context(), result), IsJson(R"({
      "schema_version": 1, "job": "01JB", "model": "net.onnx", "tags": {}, "target": "x86-64-v4-linux",
      "device": "board", "device_target": "x86-64-v4-linux", "compile_key": "key",
      "versions": {"client": "0.1.0"}, "threads": 1, "iterations_per_sample": 10,
      "min_ns": 1000000.1, "p50_ns": 1000005.0, "p50_interval_ns": null, "p90_ns": null,
      "p90_interval_ns": null, "p99_ns": null, "p99_interval_ns": null,
      "lag1_autocorrelation": 0.97, "effective_samples": 2.874040456, "two_modes": null,
      "load_cold_ns": 3000000, "load_warm_ns": 700000, "first_run_ns": 2000000,
      "peak_memory_bytes": 130000000, "artifact_bytes": 5242880,
      "clock_resolution_ns": 0, "memory_before_bytes": 0, "memory_after_bytes": 0, "energy": [], "energy_unknown": "",
      "disturbed_samples": 0, "throttled_samples": 0, "throttled_accelerator_samples": 0, "stamps": [],
      "disturbed": false, "disturbed_millis": 0,
      "before": {"cpu_frequency_hz": 2600000000, "governor": "performance",
                 "temperature_millicelsius": 0, "load_millis": 0},
      "after": {"cpu_frequency_hz": 0, "governor": "",
                "temperature_millicelsius": 41500, "load_millis": 980,
                "accelerators": [{"name": "GPU", "clock_hz": 1980000000, "memory_clock_hz": 0,
                                  "power_milliwatts": 0, "temperature_millicelsius": 0,
                                  "memory_free_bytes": 0, "throttled": true}]},
      "started_at": "2026-01-01T00:00:00.005Z",
      "steps": [{"name": "conv", "operators": ["Conv", "Relu"], "ns": 1000, "device": 1, "library": "cublasLt 12.4.5", "flops": 500,
                 "bytes": 64, "constant_bytes": 16, "limit_ns": 500.0, "limit": "f32",
                 "threads": [{"begin_ns": 10, "end_ns": 900, "busy_ns": 850, "tasks": 7},
                             {"begin_ns": 0, "end_ns": 0, "busy_ns": 0, "tasks": 0}]},
                {"name": "loop", "operators": ["Loop"], "ns": 7}],
      "limit_ns": 500.0,
      "peaks": [{"threads": 1,
                 "arithmetic": [{"type": "f32", "operations_per_second": 1000000000.0}],
                 "reading": [{"level": "memory", "bytes": 0, "bytes_per_second": 2000000000.0}]}],
      "accelerator_peaks": [{"name": "GPU",
                 "arithmetic": [{"type": "f32", "operations_per_second": 1000000000.0}],
                 "reading": [{"level": "memory", "bytes": 0, "bytes_per_second": 2000000000.0}],
                 "from_host_bytes_per_second": 3000000000.0, "to_host_bytes_per_second": 4000000000.0}],
      "samples_ns": )" + samples.dump() + R"(,
      "artifact_digest": )" + QuotedManifest() + "}"));
  result.steps.clear();
  // The same in an order that says nothing.
  for (size_t i = 0; i < 100; ++i) {
    result.samples_ns[i] = 10'000'000 + static_cast<int64_t>(i * 37 % 100);
  }
  result.precision_ppm = 12;
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(RenderBenchmarkJson(Context(), result)));
  EXPECT_EQ(json["p90_ns"], 1000008.9);
  EXPECT_EQ(json["p50_interval_ns"].size(), 2u);
  EXPECT_LT(json["p50_interval_ns"][0], json["p50_interval_ns"][1]);
  EXPECT_TRUE(json["p99_ns"].is_null());
  EXPECT_EQ(json["precision_ppm"], 12);
  EXPECT_FALSE(json.contains("steps"));
}

TEST(RenderJsonTest, Queue) {
  const std::string reservation = R"({"id": "01JR", "device": "board", "owner": "bob",
      "purpose": "a try", "from_ns": 1767222000000000000, "until_ns": 1767232800000000000})";
  EXPECT_THAT(RenderQueueJson(WaitingQueue()),
              IsJson(R"({"schema_version": 1, "waiting": 9, "jobs": [
      {"id": "01JQ", "owner": "ann", "kind": "benchmark", "subject": "0123456789ab",
       "device": "board", "target": "x86-64-v3-linux", "priority": 5, "ahead": 1,
       "since_ns": 1767225600000000000, "until_ns": 1767229200000000000,
       "waits": {"kind": "next", "device": "board", "detail": "", "fitting": 1}},
      {"id": "", "owner": "bob", "kind": "unknown", "subject": "", "device": "", "target": "",
       "priority": 0, "ahead": 0, "since_ns": 1767229200000000000, "until_ns": 1767232800000000000,
       "waits": {"kind": "reserved", "device": "board", "reservation": )" +
                     reservation + R"(,
                 "until_ns": 1767232800000000000, "detail": "", "fitting": 0}}]})"));
  EXPECT_THAT(RenderReservationsJson({BobsReservation()}),
              IsJson(R"({"schema_version": 1, "reservations": [)" + reservation + "]}"));
  EXPECT_THAT(RenderReservationJson(BobsReservation()),
              IsJson(R"({"schema_version": 1, )" + reservation.substr(1)));
  Device device = IdleDevice();
  device.availability = DeviceAvailability{.state = AvailabilityState::kDrained,
                                           .reason = "a new fan",
                                           .by = "ada",
                                           .since = kTime,
                                           .reservation = BobsReservation()};
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(RenderDeviceJson(device)));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["id"], "board");
  ASSERT_OK_AND_ASSIGN(const Json expected,
                       ParseJson(R"({"state": "drained", "reason": "a new fan", "by": "ada",
                    "since_ns": 1767225600000000000, "reservation": )" +
                                 reservation + "}"));
  EXPECT_EQ(json["availability"], expected);
  device.health = DeviceHealth{.failures = 1, .probe_error = "smoke"};
  ASSERT_OK_AND_ASSIGN(const Json probed, ParseJson(RenderDeviceJson(device)));
  ASSERT_OK_AND_ASSIGN(
      const Json health,
      ParseJson(R"({"failures": 1, "passes": 0, "probe_end_ns": null, "probe_error": "smoke",
                    "probe_call_ns": 0, "usual_call_ns": 0})"));
  EXPECT_EQ(probed["health"], health);
  device.availability = DeviceAvailability{};
  ASSERT_OK_AND_ASSIGN(const Json open, ParseJson(RenderDeviceJson(device)));
  EXPECT_TRUE(open["availability"]["since_ns"].is_null());
}

TEST(RenderJsonTest, Comparison) {
  ComparisonReport report = {.a = {"a.slip", Digest::Of("a"), "x86-64-v3-linux"},
                             .b = {"b.slip", Digest::Of("b"), "x86-64-v4-linux"},
                             .device = "board",
                             .margin = 0.01,
                             .comparison = {.verdict = Verdict::kWorse,
                                            .is_certain = true,
                                            .ratio = {1.5, ConfidenceInterval{1.25, 1.75}},
                                            .a_ns = 1000,
                                            .b_ns = 1500,
                                            .cycles = 8,
                                            .lag1_autocorrelation = 0.25}};
  ASSERT_OK_AND_ASSIGN(Json json, ParseJson(RenderComparisonJson(report)));
  EXPECT_EQ(json["a"]["artifact_digest"], Digest::Of("a").hex());
  json["a"].erase("artifact_digest");
  json["b"].erase("artifact_digest");
  EXPECT_THAT(json.dump(), IsJson(R"({"schema_version": 1, "verdict": "worse", "certain": true,
      "ratio": 1.5, "ratio_interval": [1.25, 1.75], "confidence": 0.99, "margin": 0.01,
      "a": {"name": "a.slip", "target": "x86-64-v3-linux", "p50_ns": 1000.0},
      "b": {"name": "b.slip", "target": "x86-64-v4-linux", "p50_ns": 1500.0},
      "device": "board", "threads": 1, "cycles": 8, "lag1_autocorrelation": 0.25})"));
  EXPECT_EQ(RenderComparison(report),
            "   PROGRAM  TARGET               p50\n"
            "A  a.slip   x86-64-v3-linux  1.00 us\n"
            "B  b.slip   x86-64-v4-linux  1.50 us\n"
            "on board, 1 thread, 8 cycles of A B B A B A A B\n"
            "B takes 1.5000 times as long as A (99 %: 1.2500 to 1.7500)\n"
            "worse: they differ by more than 1 %\n");
  report.comparison.verdict = Verdict::kSame;
  report.comparison.is_certain = false;
  EXPECT_THAT(RenderComparison(report), ::testing::HasSubstr("same: nothing else was shown"));
}

TEST(RenderJsonTest, Devices) {
  EXPECT_THAT(RenderDevicesJson({IdleDevice(), BusyDevice()}), IsJson(R"({"schema_version": 1,
      "devices": [
        {"id": "board", "state": "idle", "target": "x86-64-v3-linux", "model": "A Board",
         "os": "", "cores": 4, "memory_bytes": 8589934592, "job": "",
         "last_seen_ns": 1767225600000000000, "agent_version": "", "min_abi": 0, "max_abi": 0,
         "min_format": 0, "max_format": 0, "warning": "", "confinement_missing": null,
         "compiled_only": false, "labels": []},
        {"id": "b2", "state": "busy", "target": "x86-64-v3-linux", "model": "A Board",
         "os": "", "cores": 4, "memory_bytes": 8589934592, "job": "01JA",
         "last_seen_ns": 1767225600000000000, "agent_version": "", "min_abi": 2, "max_abi": 7,
         "min_format": 0, "max_format": 0, "warning": "a second agent claims this id",
         "confinement_missing": null,
         "compiled_only": false, "labels": []}]})"));
  EXPECT_THAT(RenderDevicesJson({}), IsJson(R"({"schema_version": 1, "devices": []})"));
}

TEST(RenderJsonTest, WhatADeviceIsMadeOf) {
  ASSERT_OK_AND_ASSIGN(Json json, ParseJson(RenderDevicesJson({LabelledDevice()})));
  EXPECT_EQ(json["devices"][0]["labels"].dump(),
            R"([{"by_administrator":true,"key":"lab","value":"berlin"},)"
            R"({"by_administrator":false,"key":"rack","value":"2"}])");
  EXPECT_EQ(json["devices"][0]["inventory"].dump(),
            R"({"accelerators":["NVIDIA H100"],"charge_percent":80,"core_kinds":)"
            R"([{"capacity":1024,"cores":2,"max_frequency_hz":2800000000},)"
            R"({"capacity":446,"cores":4,"max_frequency_hz":0}],"kernel":"6.1.0",)"
            R"("machine":"physical","power":"battery","storage_bytes":8589934592,)"
            R"("storage_free_bytes":1073741824})");
  Device mains = LabelledDevice();
  mains.inventory = DeviceInventory{};
  ASSERT_OK_AND_ASSIGN(json, ParseJson(RenderDevicesJson({mains})));
  EXPECT_TRUE(json["devices"][0]["inventory"]["charge_percent"].is_null());
  EXPECT_EQ(json["devices"][0]["inventory"]["power"], "unknown");
  EXPECT_THAT(RenderLabelsJson("board", {{"lab", "berlin"}, {"rack", ""}}),
              IsJson(R"({"schema_version": 1, "device": "board",
                         "labels": {"lab": "berlin", "rack": ""}})"));
}

TEST(RenderJsonTest, Leases) {
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(RenderDevicesJson({LeasedDevice()})));
  EXPECT_EQ(json["devices"][0]["lease"].dump(),
            R"({"idle_ns":10000000000,"idle_until_ns":null,"job":"01JA","kind":"session",)"
            R"("owner":"local","purpose":"tuning","since_ns":1767225600000000000,)"
            R"("until_ns":1767229200000000000})");
  Device left = LeasedDevice();
  left.lease->idle_until = kTime;
  ASSERT_OK_AND_ASSIGN(const Json left_json, ParseJson(RenderDevicesJson({left})));
  EXPECT_EQ(left_json["devices"][0]["lease"]["idle_until_ns"], 1767225600000000000);
  EXPECT_THAT(RenderTakenLeaseJson({.session = "01J",
                                    .ticket = "secret",
                                    .device = "board",
                                    .target = "x86-64-linux",
                                    .until = kTime}),
              IsJson(R"({"schema_version": 1, "session": "01J", "ticket": "secret",
                         "device": "board", "target": "x86-64-linux",
                         "until_ns": 1767225600000000000})"));
}

TEST(RenderJsonTest, Jobs) {
  const std::string times = R"("create_time_ns": 1767225600000000000,
      "start_time_ns": 1767225600002000000, "end_time_ns": 1767225615000000000)";
  const std::string compilation = R"("kind": "compilation", "request_id": "01RQ", "revision": 0,
      "subject": "resnet50.onnx", "tags": {},
      "model": "resnet50.onnx", "target": "x86-64-v4-linux", "priority": 0, "attempts": 1,
      "assignee": "worker-0", )" + times;
  const std::string failed = R"("id": "01JD", "owner": "local", "state": "failed",
      "error": {"code": "UNIMPLEMENTED", "message": "operator \"X\" of node \"n\"",
                "log": "line 1\nline\t2\n"}, )" +
                             compilation;
  const std::string run =
      R"("id": "01JC", "owner": "local", "request_id": "", "kind": "run", "state": "succeeded", "revision": 0,
      "subject": "net.onnx", "tags": {"branch": "main", "commit": "1f"},
      "device": "", "artifact_digest": "", "priority": 0, "attempts": 0, "assignee": "",
      "create_time_ns": null, "start_time_ns": null, "end_time_ns": null)";
  EXPECT_THAT(RenderJobsJson({CompiledJob(), FailedJob(), RunJob()}),
              IsJson(R"({"schema_version": 1, "jobs": [
                  {"id": "01JA", "owner": "local", "state": "succeeded", )" +
                     compilation + "}, {" + failed + "}, {" + run + "}]}"));
  EXPECT_THAT(RenderJobJson(FailedJob()), IsJson(R"({"schema_version": 1, )" + failed + "}"));
  EXPECT_THAT(RenderJobJson(RunJob()), IsJson(R"({"schema_version": 1, )" + run + "}"));
  EXPECT_THAT(RenderJobsJson({}), IsJson(R"({"schema_version": 1, "jobs": []})"));
}

TEST(RenderJsonTest, TargetsAndArtifact) {
  EXPECT_THAT(RenderTargetsJson({"x86-64-linux", "cuda-sm90"}, "x86-64-v4-linux", {"x86-64-linux"}),
              IsJson(R"({"schema_version": 1, "targets": ["x86-64-linux", "cuda-sm90"],
                         "host": "x86-64-v4-linux", "server_targets": ["x86-64-linux"]})"));
  EXPECT_THAT(RenderTargetsJson({}, "x86-64-linux", {}),
              IsJson(R"({"schema_version": 1, "targets": [], "host": "x86-64-linux"})"));
  EXPECT_THAT(RenderArtifactJson(TwoInputArtifact()), IsJson(R"({"schema_version": 1,
      "model": "", "target": "x86-64-v4-linux", "compile_key": "key", "versions": {},
      "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 2]},
                 {"name": "scalar", "dtype": "i64", "shape": []}],
      "outputs": [], "kernels": 0, "code_bytes": 0, "constant_bytes": 0, "arena_bytes": 0,
      "artifact_bytes": 5242880, "steps": [{"name": "conv1", "operators": ["Conv", "Relu"]}],
      "symbols": [], "code": [], "spaces": [], "functions": [],
      "artifact_digest": )" + QuotedManifest() + "}"));
}

TEST(RenderJsonTest, TextFromOutsideStaysText) {
  for (int first = 0; first < 256; ++first) {
    const std::string foreign = {'"', static_cast<char>(first), '\\', '\xc3', '\xa9', '\0', '}'};
    Device device = IdleDevice();
    device.model = foreign;
    ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(RenderDevicesJson({device})));
    const std::string middle = first < 0x80 ? std::string(1, static_cast<char>(first)) : "\ufffd";
    EXPECT_EQ(json["devices"][0]["model"],
              absl::StrCat("\"", middle, "\\é", std::string(1, '\0'), "}"))
        << first;
  }
}

TEST(RenderJsonTest, Differences) {
  EXPECT_THAT(RenderDifferencesJson(Differences()), IsJson(R"({
      "schema_version": 1, "compared": 3, "differing": 2, "first_differing": "relu\n1",
      "only_first": 1, "only_second": 0,
      "values": [{"name": "conv1", "close": true, "first_type": "f32[2]", "second_type": "f32[2]",
                  "relative_tolerance": 0.001, "absolute_tolerance": 1e-05, "count": 2,
                  "differing": 0, "not_finite": 0, "largest_absolute": 0, "largest_relative": 0},
                 {"name": "relu\n1", "close": false, "first_type": "f32[2]",
                  "second_type": "f32[2]", "relative_tolerance": 0.001, "absolute_tolerance": 1e-05,
                  "count": 2, "differing": 2, "not_finite": 1, "largest_absolute": 2,
                  "largest_relative": 1, "at": [1], "first_value": "inf", "second_value": "3"},
                 {"name": "fc", "close": false, "first_type": "f32[1]", "second_type": "f32[0]",
                  "relative_tolerance": 0.001, "absolute_tolerance": 1e-05}]})"));
  EXPECT_THAT(RenderDifferencesJson(CompareValues({}, {})), IsJson(R"({
      "schema_version": 1, "compared": 0, "differing": 0, "first_differing": null,
      "only_first": 0, "only_second": 0, "values": []})"));
}

}  // namespace
}  // namespace slipway::cli
