#include "client/convert.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <functional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::Job Proto(const std::string& text) {
  v1::Job proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

TEST(ConvertTest, FailedJobCarriesErrorAndLog) {
  ASSERT_OK_AND_ASSIGN(const Job job, JobFromProto(Proto(R"(
    id: "J" state: FAILED revision: 7 compilation { model { display_name: "m.onnx" } target { name: "t" } }
    error { code: 12 message: "no operator" log_tail: "log" } attempts: 2 create_time_ns: 5 end_time_ns: 9)")));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.kind, JobKind::kCompilation);
  EXPECT_EQ(job.model, "m.onnx");
  EXPECT_THAT(job.error, StatusIs(absl::StatusCode::kUnimplemented, "no operator"));
  EXPECT_EQ(job.error_log, "log");
  EXPECT_TRUE(job.ended());
  EXPECT_EQ(job.start_time, absl::InfinitePast());
  EXPECT_EQ(job.end_time, absl::FromUnixNanos(9));
}

TEST(ConvertTest, CandidatesThatAreNoSchedulesAreLeftOut) {
  ASSERT_OK_AND_ASSIGN(const Job job, JobFromProto(Proto(R"(
    id: "J" state: SUCCEEDED
    compilation { model { display_name: "m.onnx" } target { name: "t" } }
    compilation_result {
      manifest { sha256: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" size_bytes: 1 }
      report {
        candidates {
          kernel: "3f0c9a4410be72d1" schedule: "convolution  width=6 # chosen" steps: "Conv a" steps: "Conv b"
          candidates: "convolution width=4" candidates: "convolution width=4\n0123456789abcdef rows"
          candidates: "convolution width=" candidates: ""
        }
        candidates { kernel: "3f0c9a4410be72d1 rows #" schedule: "rows" }
        candidates { kernel: "no kernel" schedule: "rows" }
      }
    })")));
  const std::vector<KernelCandidates>& kernels = job.compilation->candidates;
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].kernel, "3f0c9a4410be72d1");
  EXPECT_EQ(kernels[0].schedule, "convolution width=6");
  EXPECT_THAT(kernels[0].candidates, ElementsAre("convolution width=4"));
  EXPECT_THAT(kernels[0].steps, ElementsAre("Conv a", "Conv b"));
}

TEST(ConvertTest, ALeaseSaysWhenItEnds) {
  v1::Device proto;
  proto.set_state(v1::Device::BUSY);
  proto.mutable_lease()->set_kind(v1::Lease::SESSION);
  proto.mutable_lease()->set_until_ns(9);
  proto.mutable_lease()->set_idle_ns(3);
  ASSERT_OK_AND_ASSIGN(Device device, DeviceFromProto(proto));
  EXPECT_EQ(device.lease->until, absl::FromUnixNanos(9));
  EXPECT_EQ(device.lease->idle, absl::Nanoseconds(3));
  EXPECT_EQ(device.lease->idle_until, std::nullopt);
  proto.mutable_lease()->set_idle_until_ns(7);
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.lease->idle_until, absl::FromUnixNanos(7));
}

v1::BenchmarkResult BenchmarkProto(const std::string& text) {
  v1::BenchmarkResult proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

TEST(ConvertTest, AScenarioComesWithItsVerdict) {
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result, BenchmarkFromProto(BenchmarkProto(R"(
    samples_ns: 5 samples_ns: 7 iterations_per_sample: 1
    scenario { scenario { kind: SERVER instances: 2 qps_millis: 1500 latency_bound_ns: 9
                          percentile_ppm: 999000 }
               duration_ns: 100 calls: 2 verdict: MISSED
               trials { qps_millis: 3000 latency_ns: 8 verdict: MET } })")));
  ASSERT_TRUE(result.scenario.has_value());
  EXPECT_EQ(result.scenario->scenario.kind, ScenarioKind::kServer);
  EXPECT_EQ(result.scenario->scenario.qps, 1.5);
  EXPECT_DOUBLE_EQ(result.scenario->scenario.percentile, 0.999);
  EXPECT_EQ(result.scenario->verdict, BoundVerdict::kMissed);
  ASSERT_EQ(result.scenario->trials.size(), 1u);
  EXPECT_EQ(result.scenario->trials[0].qps, 3);
  // Both ways.
  const v1::Scenario again = ToProto(result.scenario->scenario);
  EXPECT_EQ(again.kind(), v1::Scenario::SERVER);
  EXPECT_EQ(again.qps_millis(), 1500);
  EXPECT_EQ(again.percentile_ppm(), 999'000);
  // What cannot be is not computed with.
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult odd, BenchmarkFromProto(BenchmarkProto(R"(
    samples_ns: 5 iterations_per_sample: 1
    scenario { scenario { kind: SERVER percentile_ppm: -4 } duration_ns: -5 calls: -3 })")));
  EXPECT_EQ(odd.scenario->scenario.percentile, 0.99);
  EXPECT_GT(odd.scenario->duration, absl::ZeroDuration());
  EXPECT_EQ(odd.scenario->calls, 0);
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult unknown, BenchmarkFromProto(BenchmarkProto(R"(
    samples_ns: 5 iterations_per_sample: 1 scenario { scenario {} })")));
  EXPECT_FALSE(unknown.scenario.has_value());
}

TEST(ConvertTest, StampsAreOfAllSamplesOrNone) {
  const std::string samples = "samples_ns: 5 samples_ns: 7 samples_ns: 9 iterations_per_sample: 1 ";
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result, BenchmarkFromProto(BenchmarkProto(samples + R"(
          stamps { samples: 2 foreign_millis: 2000 waited_millis: -1 disturbed: true }
          stamps { samples: 1 throttled: true governor: "powersave" temperature_millicelsius: -5
                   accelerators { name: "GPU" clock_hz: 7 throttled: true } })")));
  ASSERT_EQ(result.stamps.size(), 2u);
  EXPECT_EQ(result.stamps[0].foreign_millis, 1000);
  EXPECT_EQ(result.stamps[0].waited_millis, 0);
  EXPECT_TRUE(result.stamps[0].disturbed);
  EXPECT_EQ(result.stamps[1].governor, "powersave");
  EXPECT_EQ(result.stamps[1].temperature_millicelsius, 0);
  ASSERT_EQ(result.stamps[1].accelerators.size(), 1u);
  EXPECT_EQ(result.stamps[1].accelerators[0].clock_hz, 7);
  EXPECT_TRUE(result.stamps[1].accelerators[0].throttled);
  for (const char* wrong : {"stamps { samples: 2 }", "stamps { samples: 4 }",
                            "stamps { samples: -1 } stamps { samples: 4 }",
                            "stamps { samples: 3 } stamps { samples: 0 }"}) {
    ASSERT_OK_AND_ASSIGN(const BenchmarkResult none,
                         BenchmarkFromProto(BenchmarkProto(samples + wrong)));
    EXPECT_TRUE(none.stamps.empty()) << wrong;
  }
}

TEST(ConvertTest, StepsTellTheirDeviceAndWhatTheyMultiply) {
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result, BenchmarkFromProto(BenchmarkProto(R"(
    samples_ns: 5 iterations_per_sample: 1
    steps { flops: 8 bytes: 4 constant_bytes: 0 product_type: DATA_TYPE_FLOAT32
            product_precision: PRECISION_TF32 device: 2 }
    steps { flops: 0 bytes: 4 constant_bytes: 0 device: -2 copied: TO_HOST }
    peaks { accelerators { name: "GPU" arithmetic { type: "f32" operations_per_second: 1 }
                           reading { level: "memory" bytes_per_second: 2 }
                           from_host_bytes_per_second: 3 to_host_bytes_per_second: 4 } })")));
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[0].work->product_precision, Precision::kTensorFloat32);
  EXPECT_EQ(result.steps[0].device, 2);
  EXPECT_EQ(result.steps[0].copied, CopiedBetween::kNone);
  EXPECT_EQ(result.steps[1].device, 0);
  EXPECT_EQ(result.steps[1].copied, CopiedBetween::kToHost);
  ASSERT_EQ(result.accelerator_peaks.size(), 1u);
  EXPECT_EQ(result.accelerator_peaks[0].name, "GPU");
  EXPECT_EQ(result.accelerator_peaks[0].to_host_bytes_per_second, 4);
}

TEST(ConvertTest, TheQueueIsRead) {
  v1::ListQueueResponse proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    jobs { job_id: "J" owner: "ann" kind: COMPILATION subject: "m" device: "d" target: "t" priority: 3
           queue_position: 2 since_ns: 5 until_ns: 6
           reason { kind: HELD device: "d" lease { kind: RUN owner: "bob" until_ns: 9 } until_ns: 9 fitting: 4 } }
    jobs { reason { kind: RESERVED reservation { from_ns: 1 until_ns: 2 owner: "bob" } } }
    waiting: 7)",
                                                            &proto));
  // A kind that is newer than this client.
  proto.add_jobs()->mutable_reason()->set_kind(static_cast<v1::WaitReason::Kind>(99));
  ASSERT_OK_AND_ASSIGN(const Queue queue, QueueFromProto(proto));
  EXPECT_EQ(queue.waiting, 7);
  ASSERT_EQ(queue.jobs.size(), 3u);
  EXPECT_EQ(queue.jobs[0].kind, JobKind::kCompilation);
  EXPECT_EQ(queue.jobs[0].ahead, 1);
  EXPECT_EQ(queue.jobs[0].waits.kind, WaitKind::kHeld);
  EXPECT_EQ(queue.jobs[0].waits.lease->owner, "bob");
  EXPECT_EQ(queue.jobs[0].waits.until, absl::FromUnixNanos(9));
  EXPECT_EQ(queue.jobs[0].waits.fitting, 4);
  EXPECT_EQ(queue.jobs[1].waits.reservation->owner, "bob");
  EXPECT_EQ(queue.jobs[1].waits.until, absl::InfinitePast());
  EXPECT_EQ(queue.jobs[2].waits.kind, WaitKind::kUnknown);
  proto.mutable_jobs(1)->mutable_reason()->mutable_reservation()->set_until_ns(1);
  EXPECT_THAT(QueueFromProto(proto), StatusIs(absl::StatusCode::kInternal));
}

TEST(ConvertTest, WhetherADeviceIsGivenWork) {
  v1::Device proto;
  proto.set_state(v1::Device::IDLE);
  ASSERT_OK_AND_ASSIGN(Device device, DeviceFromProto(proto));
  EXPECT_EQ(device.availability, std::nullopt);
  v1::Availability& availability = *proto.mutable_availability();
  availability.set_state(v1::Availability::DRAINING);
  availability.set_reason("a new fan");
  availability.set_since_ns(5);
  availability.mutable_reservation()->set_until_ns(8);
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.availability->state, AvailabilityState::kDraining);
  EXPECT_EQ(device.availability->reason, "a new fan");
  EXPECT_EQ(device.availability->since, absl::FromUnixNanos(5));
  EXPECT_EQ(device.availability->reservation->until, absl::FromUnixNanos(8));
  availability.set_state(static_cast<v1::Availability::State>(99));
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.availability->state, AvailabilityState::kUnknown);
  EXPECT_FALSE(device.health.has_value());
  proto.mutable_health()->set_failures(2);
  proto.mutable_health()->set_probe_end_ns(7);
  proto.mutable_health()->set_usual_call_ns(9);
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.health->failures, 2);
  EXPECT_FALSE(device.machine.has_value());
  proto.mutable_machine()->set_temperature_millicelsius(42'000);
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.machine->temperature_millicelsius, 42'000);
  EXPECT_EQ(device.health->probe_end, absl::FromUnixNanos(7));
  EXPECT_EQ(device.health->usual_call, absl::Nanoseconds(9));
  availability.mutable_reservation()->set_from_ns(-1);
  EXPECT_THAT(DeviceFromProto(proto), StatusIs(absl::StatusCode::kInternal));
}

TEST(ConvertTest, AnswersThatBreakTheProtocolAreRefused) {
  for (const char* text : {
           R"(id: "J" state: QUEUED)",
           R"(id: "J" compilation {})",
           R"(id: "J" state: SUCCEEDED compilation {} run_result {})",
           R"(id: "J" state: SUCCEEDED compilation {} compilation_result {})",
           R"(id: "J" state: RUNNING run { manifest { sha256: "zz" } })",
       }) {
    EXPECT_THAT(
        JobFromProto(Proto(text)),
        StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr("\"J\""), HasSubstr("malformed"))))
        << text;
  }
  v1::Device device;
  EXPECT_THAT(DeviceFromProto(device), StatusIs(absl::StatusCode::kInternal));
}

v1::HistoryEntry Entry() {
  v1::HistoryEntry proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(id: "J" owner: "ada" model: "m.onnx" tags { key: "commit" value: "1f" }
         target: "x86-64-linux" compile_key: "key" tools: "halide 14"
         device { id: "board" target: "x86-64-v3-linux" model: "AMD" os: "Debian" cores: 2
                  memory_bytes: 7 }
         agent_version: "1" server_version: "2" conditions: "c"
         summary { count: 2 min_ns: 1.5 p50_ns: 2 p90_ns: 3 max_ns: 4 }
         result { iterations_per_sample: 2 samples_ns: 3 samples_ns: 8 threads: 1
                  before { governor: "performance" }
                  after { accelerators { name: "GPU" clock_hz: 1 memory_clock_hz: 2
                                         power_milliwatts: 3 temperature_millicelsius: 4
                                         memory_free_bytes: 5 throttled: true } } }
         create_time_ns: 5 end_time_ns: 9)",
      &proto));
  proto.mutable_manifest()->set_sha256(std::string(64, 'a'));
  proto.mutable_manifest()->set_size_bytes(3);
  return proto;
}

TEST(ConvertTest, AnEntryOfTheHistory) {
  ASSERT_OK_AND_ASSIGN(const HistoryEntry entry, HistoryEntryFromProto(Entry()));
  EXPECT_EQ(entry.id, "J");
  EXPECT_EQ(entry.owner, "ada");
  EXPECT_EQ(entry.model, "m.onnx");
  EXPECT_THAT(entry.tags, ::testing::ElementsAre(Tag{"commit", "1f"}));
  EXPECT_EQ(entry.artifact.hex(), std::string(64, 'a'));
  EXPECT_EQ(entry.target, "x86-64-linux");
  EXPECT_EQ(entry.compile_key, "key");
  EXPECT_THAT(entry.tools, ::testing::ElementsAre("halide 14"));
  EXPECT_EQ(entry.device.id, "board");
  EXPECT_EQ(entry.device.target, "x86-64-v3-linux");
  EXPECT_EQ(entry.device.memory_bytes, 7);
  EXPECT_EQ(entry.agent_version, "1");
  EXPECT_EQ(entry.server_version, "2");
  EXPECT_EQ(entry.conditions, "c");
  EXPECT_EQ(entry.summary.count, 2);
  EXPECT_EQ(entry.summary.min_ns, 1.5);
  EXPECT_EQ(entry.summary.max_ns, 4);
  EXPECT_THAT(entry.result.samples_ns, ::testing::ElementsAre(3, 8));
  EXPECT_EQ(entry.result.before.governor, "performance");
  EXPECT_TRUE(entry.result.before.accelerators.empty());
  ASSERT_EQ(entry.result.after.accelerators.size(), 1u);
  const AcceleratorState& gpu = entry.result.after.accelerators[0];
  EXPECT_EQ(gpu.name, "GPU");
  EXPECT_EQ(gpu.clock_hz, 1);
  EXPECT_EQ(gpu.memory_clock_hz, 2);
  EXPECT_EQ(gpu.power_milliwatts, 3);
  EXPECT_EQ(gpu.temperature_millicelsius, 4);
  EXPECT_EQ(gpu.memory_free_bytes, 5);
  EXPECT_TRUE(gpu.throttled);
  EXPECT_EQ(entry.create_time, absl::FromUnixNanos(5));
  EXPECT_EQ(entry.end_time, absl::FromUnixNanos(9));
  v1::HistoryEntry without = Entry();
  without.mutable_result()->clear_samples_ns();
  EXPECT_OK(HistoryEntryFromProto(without));
}

TEST(ConvertTest, AnEntryThatCannotBeIsRefused) {
  for (const std::function<void(v1::HistoryEntry&)>& spoil :
       std::vector<std::function<void(v1::HistoryEntry&)>>{
           [](auto& e) { e.mutable_manifest()->set_sha256("zz"); },
           [](auto& e) { e.mutable_summary()->set_p50_ns(-1); },
           [](auto& e) { e.mutable_summary()->set_min_ns(std::nan("")); },
           [](auto& e) { e.mutable_summary()->set_max_ns(HUGE_VAL); },
           [](auto& e) { e.mutable_result()->set_iterations_per_sample(0); },
           [](auto& e) { e.mutable_result()->set_samples_ns(0, -5); }}) {
    v1::HistoryEntry entry = Entry();
    spoil(entry);
    EXPECT_THAT(HistoryEntryFromProto(entry),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("entry \"J\"")));
  }
  v1::BenchmarkResult lie = Entry().result();
  EXPECT_OK(BenchmarkFromProto(lie));
  lie.add_samples_ns(0);
  EXPECT_THAT(BenchmarkFromProto(lie),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("a sample that took 0 ns")));
}

TEST(ConvertTest, AThreadWhoseTimesCannotBeHasDoneNothing) {
  v1::BenchmarkResult result;
  v1::StepTime& step = *result.add_steps();
  step.set_duration_ns(100);
  step.set_library("cublasLt 12.4.5");
  EXPECT_EQ(StepTimesFromProto(result.steps())[0].library, "cublasLt 12.4.5");
  const auto add = [&](int64_t begin, int64_t end, int64_t busy, int64_t tasks) {
    v1::ThreadWork& work = *step.add_threads();
    work.set_begin_ns(begin);
    work.set_end_ns(end);
    work.set_busy_ns(busy);
    work.set_tasks(tasks);
  };
  add(1, 99, 90, 3);
  add(0, 0, 0, 0);
  add(-1, 99, 90, 3);
  add(99, 1, 0, 3);
  add(1, 101, 90, 3);
  add(1, 99, 99, 3);
  add(1, 99, -1, 3);
  add(1, 99, 90, -3);
  const std::vector<ThreadWork> threads = StepTimesFromProto(result.steps())[0].threads;
  ASSERT_EQ(threads.size(), 8u);
  EXPECT_EQ(threads[0].begin_ns, 1);
  EXPECT_EQ(threads[0].end_ns, 99);
  EXPECT_EQ(threads[0].busy_ns, 90);
  EXPECT_EQ(threads[0].tasks, 3);
  for (size_t i = 1; i < threads.size(); ++i) {
    EXPECT_EQ(threads[i].tasks, 0) << i;
    EXPECT_EQ(threads[i].end_ns, 0) << i;
  }
}

}  // namespace
}  // namespace slipway
