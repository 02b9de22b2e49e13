// What the command prints, for injected results.
#include "client/cli/render.h"

#include <numeric>
#include <sstream>

#include "client/cli/progress.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kTime = absl::FromUnixSeconds(1767225600);

Job CompiledJob() {
  Job job;
  job.id = "01JA";
  job.state = JobState::kSucceeded;
  job.model = "resnet50.onnx";
  job.target = "x86-64-v4-linux";
  job.assignee = "worker-0";
  job.attempts = 1;
  job.create_time = kTime;
  job.start_time = kTime + absl::Milliseconds(2);
  job.end_time = kTime + absl::Seconds(15);
  job.compilation = Compilation{.artifact = Digest::Of("manifest"),
                                .compile_key = "key",
                                .artifact_bytes = 102'500'000,
                                .stages = {{"import", absl::Milliseconds(81), 0},
                                           {"compile kernels", absl::Seconds(13.2), 0}},
                                .passes = {{"FuseOps", absl::Microseconds(740), 57}},
                                .kernels = 53,
                                .kernels_compiled = 20,
                                .kernels_cached = 33,
                                .code_bytes = 412'000,
                                .constant_bytes = 102'000'000,
                                .arena_bytes = 9'633'792};
  return job;
}

TEST(RenderTest, Compilation) {
  EXPECT_EQ(RenderCompilation(CompiledJob(), absl::Seconds(15.1)),
            "compiled resnet50.onnx for x86-64-v4-linux in 15.1 s\n"
            "stages\n"
            "  import           81.0 ms\n"
            "  compile kernels   13.2 s\n"
            "passes\n"
            "  FuseOps  740 us  57 nodes\n"
            "kernels    53 (20 compiled, 33 from the cache)\n"
            "code       402 KiB\n"
            "constants  97.3 MiB\n"
            "arena      9.2 MiB\n"
            "artifact   97.8 MiB, " +
                Digest::Of("manifest").hex() + "\n");
  Job cached = CompiledJob();
  cached.compilation->cached = true;
  EXPECT_THAT(RenderCompilation(cached, absl::Milliseconds(12)),
              HasSubstr("found resnet50.onnx for x86-64-v4-linux in 12.0 ms (cached"));
  EXPECT_THAT(RenderCompilationJson(CompiledJob(), absl::Seconds(1)),
              AllOf(HasSubstr("\"schema_version\": 1"), HasSubstr("\"kernels_compiled\": 20"),
                    HasSubstr("\"total_ns\": 1000000000"), HasSubstr("\"nodes_after\": 57")));
}

BenchmarkResult Benchmark() {
  BenchmarkResult result;
  result.samples_ns.resize(100);
  std::iota(result.samples_ns.begin(), result.samples_ns.end(), 10'000'001);
  result.iterations_per_sample = 10;
  result.load_cold_ns = 3'000'000;
  result.load_warm_ns = 700'000;
  result.first_run_ns = 2'000'000;
  result.peak_memory_bytes = 130'000'000;
  result.start_time = kTime + absl::Milliseconds(5);
  result.device = "board";
  result.device_target = "x86-64-v4-linux";
  return result;
}

BenchmarkContext Context() {
  BenchmarkContext context = {.job = "01JB", .model = "net.onnx"};
  context.artifact.digest = Digest::Of("manifest");
  context.artifact.target = "x86-64-v4-linux";
  context.artifact.compile_key = "key";
  context.artifact.artifact_bytes = 5 << 20;
  context.versions = {{"client", "0.1.0"}};
  return context;
}

TEST(RenderTest, BenchmarkText) {
  BenchmarkResult result = Benchmark();
  EXPECT_EQ(RenderBenchmark(Context(), result),
            "model    net.onnx\n"
            "target   x86-64-v4-linux\n"
            "device   board, 1 thread\n"
            "samples  100 of 10 calls\n"
            "\n"
            "      min      p50      p90      p99\n"
            "  1.00 ms  1.00 ms  1.00 ms  1.00 ms\n"
            "\n"
            "load         3.00 ms cold, 700 us warm\n"
            "first run    2.00 ms\n"
            "peak memory  124 MiB\n"
            "artifact     5.0 MiB\n");
  result.disturbed = true;
  result.disturbed_millis = 123;
  result.steps = {{"small", {"Relu"}, 1000}, {"large", {"Conv", "Add"}, 3000}};
  result.samples_ns.resize(99);
  EXPECT_THAT(RenderBenchmark(Context(), result),
              AllOf(HasSubstr("1.00 ms    -\n"), HasSubstr("others took 12.3 %"),
                    HasSubstr("slowest of 2 steps, 4.00 us together\n"
                              "  STEP      TIME   SHARE  OPERATORS\n"
                              "  large  3.00 us  75.0 %  Conv Add\n"
                              "  small  1.00 us  25.0 %  Relu\n")));
}

TEST(RenderTest, BenchmarkJsonHasEveryFieldThatWasPromised) {
  BenchmarkResult result = Benchmark();
  result.steps = {{"conv", {"Conv"}, 1000}};
  const std::string json = RenderBenchmarkJson(Context(), result);
  for (const std::string field : {"\"schema_version\": 1",
                                  "\"job\": \"01JB\"",
                                  "\"model\": \"net.onnx\"",
                                  "\"target\": ",
                                  "\"device\": \"board\"",
                                  "\"artifact_digest\": ",
                                  "\"compile_key\": \"key\"",
                                  "\"versions\": {",
                                  "\"threads\": 1",
                                  "\"samples_ns\": [10000001, ",
                                  "\"iterations_per_sample\": 10",
                                  "\"min_ns\": 1000000.1",
                                  "\"p50_ns\": 1000005",
                                  "\"p90_ns\": 1000009",
                                  "\"p99_ns\": 1000009.9",
                                  "\"load_cold_ns\": 3000000",
                                  "\"load_warm_ns\": 700000",
                                  "\"first_run_ns\": 2000000",
                                  "\"peak_memory_bytes\": 130000000",
                                  "\"artifact_bytes\": 5242880",
                                  "\"disturbed\": false",
                                  "\"started_at\": \"2026-01-01T00:00:00.005Z\"",
                                  "\"steps\": [",
                                  "\"ns\": 1000"}) {
    EXPECT_THAT(json, HasSubstr(field));
  }
  result.steps.clear();
  result.samples_ns.resize(10);
  EXPECT_THAT(RenderBenchmarkJson(Context(), result),
              AllOf(HasSubstr("\"p99_ns\": null"), Not(HasSubstr("steps"))));
}

TEST(RenderTest, Run) {
  Job job;
  job.id = "01JC";
  job.kind = JobKind::kRun;
  job.state = JobState::kSucceeded;
  job.run = RunResult{.timings = {.fetch = absl::Milliseconds(1), .run = absl::Microseconds(250)},
                      .device = "board"};
  const float values[] = {1, 3};
  const std::vector<WrittenOutput> outputs = {
      {{"y/0", Tensor::Of<float>({1, 2}, absl::MakeConstSpan(values))}, "out/y%2F0.npy"}};
  EXPECT_EQ(RenderRun(job, outputs),
            "ran on board: run 250 us, load 0 ns, start 0 ns, fetch 1.00 ms\n"
            "OUTPUT  TYPE       SUMMARY\n"
            "y/0     f32[1, 2]  min 1, max 3, mean 2, largest at 1: 1 3\n"
            "wrote y/0 to out/y%2F0.npy\n");
  EXPECT_THAT(RenderRunJson(job, outputs),
              AllOf(HasSubstr("\"name\": \"y/0\""), HasSubstr("\"shape\": [1, 2]"),
                    HasSubstr("\"largest_at\": 1"), HasSubstr("\"file\": \"out/y%2F0.npy\"")));
}

TEST(RenderTest, Devices) {
  Device idle = {.id = "board",
                 .target = "x86-64-v3-linux",
                 .model = "A Board",
                 .cores = 4,
                 .memory_bytes = int64_t{8} << 30,
                 .last_seen = kTime};
  Device busy = idle;
  busy.id = "b2";
  busy.state = DeviceState::kBusy;
  busy.job_id = "01JA";
  busy.abis = {2, 7};
  busy.warning = "a second agent claims this id";
  EXPECT_EQ(RenderDevices({idle, busy}, kTime + absl::Seconds(2)),
            "DEVICE  STATE           TARGET           CORES   MEMORY        SEEN  MODEL\n"
            "board   idle            x86-64-v3-linux      4  8.0 GiB  2.00 s ago  A Board\n"
            "b2      busy with 01JA  x86-64-v3-linux      4  8.0 GiB  2.00 s ago  A Board\n"
            "warning: b2: a second agent claims this id\n");
  EXPECT_EQ(RenderDevices({}, kTime), "no devices\n");
  EXPECT_THAT(RenderDevicesJson({busy}),
              AllOf(HasSubstr("\"state\": \"busy\""), HasSubstr("\"min_abi\": 2"),
                    HasSubstr("\"max_abi\": 7"), HasSubstr("\"max_format\": 0")));
}

TEST(RenderTest, Jobs) {
  Job failed = CompiledJob();
  failed.id = "01JD";
  failed.state = JobState::kFailed;
  failed.compilation.reset();
  failed.error = absl::UnimplementedError("operator \"X\" of node \"n\"");
  failed.error_log = "line 1\nline\t2\n";
  EXPECT_EQ(
      RenderJobs({CompiledJob(), failed}),
      "JOB   KIND         STATE      ACCEPTED                   TOOK  ON        SUBJECT\n"
      "01JA  compilation  succeeded  2026-01-01 00:00:00 UTC  15.0 s  worker-0  resnet50.onnx\n"
      "01JD  compilation  failed     2026-01-01 00:00:00 UTC  15.0 s  worker-0  resnet50.onnx\n");
  EXPECT_THAT(RenderJob(failed), AllOf(HasSubstr("error     UNIMPLEMENTED: operator \"X\""),
                                       HasSubstr("the end of the log:\n  line 1\n  line\\x092\n")));
  EXPECT_THAT(RenderJobJson(failed), HasSubstr("\"message\": \"operator \\\"X\\\" of node"));
  EXPECT_THAT(RenderJobsJson({failed}), HasSubstr("\"create_time_ns\": 1767225600000000000"));
  EXPECT_EQ(RenderJobs({}), "no jobs\n");
}

TEST(RenderTest, TargetsAndArtifact) {
  EXPECT_EQ(RenderTargets({"x86-64-linux", "cuda-sm90"}, "x86-64-v4-linux", {"x86-64-linux"}),
            "TARGET\nx86-64-linux\ncuda-sm90     not by this server\nhost is x86-64-v4-linux\n");
  ArtifactSummary artifact = Context().artifact;
  artifact.inputs = {{"x", {DataType::kFloat32, {1, 2}}}};
  artifact.steps = {{"conv1", {"Conv", "Relu"}}};
  EXPECT_THAT(RenderArtifact(artifact),
              AllOf(HasSubstr("input        x: f32[1, 2]\n"), HasSubstr("0  conv1  Conv Relu\n")));
  EXPECT_THAT(RenderArtifactJson(artifact), HasSubstr("\"shape\": [1, 2]"));
}

TEST(ProgressTest, PlainLinesOncePerStageAndOneLineOnATerminal) {
  Job job = CompiledJob();
  job.state = JobState::kRunning;
  job.progress = {"compile kernels", 1, 53};
  std::ostringstream out, plain, terminal;
  Environment on_plain = {.out = out, .err = plain};
  Environment on_terminal = {.out = out, .err = terminal, .err_is_terminal = true};
  {
    Progress a(on_plain), b(on_terminal);
    for (const int done : {1, 2}) {
      job.progress.done = done;
      a.Show(Describe(job, "net"));
      b.Show(Describe(job, "net"));
    }
  }
  EXPECT_EQ(plain.str(), "compile net: compile kernels\n");
  EXPECT_EQ(terminal.str(),
            "\r\x1b[Kcompile net: compile kernels 1 of 53"
            "\r\x1b[Kcompile net: compile kernels 2 of 53\r\x1b[K");
}

TEST(ProgressTest, StatesHaveNames) {
  Job job = CompiledJob();
  job.state = JobState::kQueued;
  job.attempts = 2;
  EXPECT_EQ(Describe(job, "net").stage, "compile net: queued again, after 2 attempts");
  job.state = JobState::kRunning;
  EXPECT_EQ(Describe(job, "net").stage, "compile net: running");
}

}  // namespace
}  // namespace slipway::cli
