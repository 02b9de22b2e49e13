// Results as a server might give them, for tests of what the command prints.
#ifndef SLIPWAY_CLIENT_CLI_TEST_RESULTS_H_
#define SLIPWAY_CLIENT_CLI_TEST_RESULTS_H_

#include <initializer_list>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/render.h"
#include "client/types.h"
#include "client/value_differences.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

inline const absl::Time kTime = absl::FromUnixSeconds(1767225600);

inline Job CompiledJob() {
  Job job;
  job.id = "01JA";
  job.owner = "local";
  job.request_id = "01RQ";
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

inline QuantizationReport Quantization() {
  QuantizationReport report;
  report.model = "net.onnx";
  report.device = "board";
  report.examples = 10;
  report.floats.artifact_bytes = 100'000'000;
  report.integers.artifact = Digest::Of("manifest");
  report.integers.artifact_bytes = 30'000'000;
  report.integers.integer_products = 53;
  report.integers.float_products = {{"fc", "it is\nodd"}};
  report.float_time = absl::Milliseconds(5);
  report.integer_time = absl::Milliseconds(2);
  report.threads = 2;
  OutputAccuracy::Errors errors;
  errors.absolute = 0.5;
  errors.relative = 0.125;
  errors.decibels = 20;
  errors.cosine = 0.995;
  report.outputs = {{"scores", 100, errors, 0.9},
                    {"same", 1, OutputAccuracy::Errors(), std::nullopt},
                    {"labels", 10, std::nullopt, 1.0}};
  report.file = "net.slip";
  return report;
}

inline Job FailedJob() {
  Job job = CompiledJob();
  job.id = "01JD";
  job.state = JobState::kFailed;
  job.compilation.reset();
  job.error = absl::UnimplementedError("operator \"X\" of node \"n\"");
  job.error_log = "line 1\nline\t2\n";
  return job;
}

inline Job RunJob() {
  Job job;
  job.id = "01JC";
  job.owner = "local";
  job.kind = JobKind::kRun;
  job.state = JobState::kSucceeded;
  job.subject = "net.onnx";
  job.tags = {{"branch", "main"}, {"commit", "1f"}};
  job.run = RunResult{.timings = {.fetch = absl::Milliseconds(1), .run = absl::Microseconds(250)},
                      .device = "board"};
  return job;
}

inline std::vector<WrittenOutput> Outputs() {
  const float values[] = {1, 3};
  return {{{"y/0", Tensor::Of<float>({1, 2}, absl::MakeConstSpan(values))}, "out/y%2F0.npy"}};
}

inline Device IdleDevice() {
  return {.id = "board",
          .target = "x86-64-v3-linux",
          .model = "A Board",
          .cores = 4,
          .memory_bytes = int64_t{8} << 30,
          .last_seen = kTime};
}

inline Device BusyDevice() {
  Device device = IdleDevice();
  device.id = "b2";
  device.state = DeviceState::kBusy;
  device.job_id = "01JA";
  device.abis = {2, 7};
  device.warning = "a second agent claims this id";
  return device;
}

// With all that an agent and administrators may say.
inline Device LabelledDevice() {
  Device device = IdleDevice();
  device.labels = {{.key = "lab", .value = "berlin", .by_administrator = true},
                   {.key = "rack", .value = "2"}};
  device.inventory = DeviceInventory{
      .core_kinds = {{.cores = 2, .capacity = 1024, .max_frequency_hz = 2'800'000'000},
                     {.cores = 4, .capacity = 446}},
      .kernel = "6.1.0",
      .storage_bytes = int64_t{8} << 30,
      .storage_free_bytes = int64_t{1} << 30,
      .power = PowerSource::kBattery,
      .charge_percent = 80,
      .machine = MachineKind::kPhysical,
      .accelerators = {"NVIDIA H100"}};
  return device;
}

inline BenchmarkResult Benchmark() {
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

// A board that a session holds.
inline Device LeasedDevice() {
  Device device = BusyDevice();
  device.lease = DeviceLease{.job_id = "01JA",
                             .kind = JobKind::kSession,
                             .purpose = "tuning",
                             .owner = "local",
                             .since = kTime,
                             .until = kTime + absl::Hours(1),
                             .idle = absl::Seconds(10)};
  return device;
}

// One that runs.
inline Reservation BobsReservation() {
  return {.id = "01JR",
          .device = "board",
          .owner = "bob",
          .purpose = "a try",
          .from = kTime - absl::Hours(1),
          .until = kTime + absl::Hours(2)};
}

// A job of one's own and another's, of nine.
inline Queue WaitingQueue() {
  QueuedJob own = {.job_id = "01JQ",
                   .kind = JobKind::kBenchmark,
                   .owner = "ann",
                   .subject = "0123456789ab",
                   .device = "board",
                   .target = "x86-64-v3-linux",
                   .priority = 5,
                   .ahead = 1,
                   .since = kTime,
                   .until = kTime + absl::Hours(1),
                   .waits = {.kind = WaitKind::kNext, .device = "board", .fitting = 1}};
  QueuedJob other = {.kind = std::nullopt,
                     .owner = "bob",
                     .since = kTime + absl::Hours(1),
                     .until = kTime + absl::Hours(2),
                     .waits = {.kind = WaitKind::kReserved,
                               .device = "board",
                               .reservation = BobsReservation(),
                               .until = kTime + absl::Hours(2)}};
  return {.jobs = {own, other}, .waiting = 9};
}

inline BenchmarkContext Context() {
  BenchmarkContext context = {.job = "01JB", .model = "net.onnx"};
  context.artifact.digest = Digest::Of("manifest");
  context.artifact.target = "x86-64-v4-linux";
  context.artifact.compile_key = "key";
  context.artifact.artifact_bytes = 5 << 20;
  context.versions = {{"client", "0.1.0"}};
  return context;
}

inline ArtifactSummary TwoInputArtifact() {
  ArtifactSummary artifact = Context().artifact;
  artifact.inputs = {{"x", PortType::Of({DataType::kFloat32, {1, 2}})},
                     {"scalar", PortType::Of({DataType::kInt64, {}})}};
  artifact.steps = {{"conv1", {"Conv", "Relu"}, ""}};
  return artifact;
}

// Two of three values differ, of the last one the type.
inline ValueDifferences Differences() {
  const auto values = [](std::initializer_list<float> numbers) {
    return Tensor::Of<float>({static_cast<int64_t>(numbers.size())}, numbers);
  };
  return CompareValues(
      {{"conv1", values({1, 2})},
       {"mine", values({1})},
       {"relu\n1", values({4, 1.0f / 0.0f})},
       {"fc", values({1})}},
      {{"conv1", values({1, 2})}, {"relu\n1", values({2, 3})}, {"fc", values({})}});
}

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TEST_RESULTS_H_
