// What the command prints, for injected results.
#include "client/cli/render.h"

#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/cli/progress.h"
#include "client/cli/render_profile.h"
#include "client/cli/test_results.h"
#include "client/cli/wait_text.h"
#include "core/base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

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
  Job noted = CompiledJob();
  noted.compilation->passes[0].notes = {"\"mul\" stays\n"};
  EXPECT_THAT(RenderCompilation(noted, absl::Seconds(15.1)),
              HasSubstr("57 nodes\n  FuseOps: \"mul\" stays\\x0a\nkernels"));
  Job cached = CompiledJob();
  cached.compilation->cached = true;
  EXPECT_THAT(RenderCompilation(cached, absl::Milliseconds(12)),
              HasSubstr("found resnet50.onnx for x86-64-v4-linux in 12.0 ms (cached"));
}

TEST(RenderTest, CompilationIn8Bits) {
  Job job = CompiledJob();
  job.compilation->integer_products = 52;
  job.compilation->float_products = {{"fc", "because"}};
  EXPECT_THAT(RenderCompilation(job, absl::Seconds(1)),
              HasSubstr("products   52 in 8 bits, 1 in f32\n"));
}

TEST(RenderTest, QuantizationText) {
  EXPECT_EQ(RenderQuantization(Quantization()),
            "model          net.onnx\n"
            "examples       10\n"
            "products       53 in 8 bits, 1 in f32\n"
            "artifact       28.6 MiB, f32 95.4 MiB\n"
            "shortest call  2.00 ms, f32 5.00 ms: 2.50 times as fast\n"
            "measured on    board, 2 threads\n"
            "\n"
            "OUTPUT  ERROR  OF LARGEST  SIGNAL/NOISE   COSINE  AGREES WITH F32\n"
            "scores    0.5     12.50 %       20.0 dB  0.99500          90.00 %\n"
            "same        0      0.00 %         equal  1.00000\n"
            "labels                                                   100.00 %\n"
            "\n"
            "STAYS F32  BECAUSE\n"
            "fc         it is\\x0aodd\n"
            "\n"
            "wrote net.slip\n");
}

TEST(RenderTest, BenchmarkText) {
  BenchmarkResult result = Benchmark();
  EXPECT_EQ(RenderBenchmark(Context(), result),
            "model    net.onnx\n"
            "target   x86-64-v4-linux\n"
            "device   board, 1 thread\n"
            "samples  100 of 10 calls\n"
            "\n"
            "          TIME  95 % BETWEEN      AND\n"
            "  min  1.00 ms\n"
            "  p50  1.00 ms             -        -\n"
            "  p90        -      needs 36  samples\n"
            "  p99        -     needs 368  samples\n"
            "\n"
            "load         3.00 ms cold, 700 us warm\n"
            "first run    2.00 ms\n"
            "peak memory  124 MiB\n"
            "artifact     5.0 MiB\n"
            "samples depend on each other (lag-1 1.0) and tell as much as 3\n");
  result.disturbed = true;
  result.disturbed_millis = 123;
  result.steps = {{"small", {"Relu"}, 1000}, {"large", {"Conv", "Add"}, 3000}};
  EXPECT_THAT(RenderBenchmark(Context(), result),
              AllOf(HasSubstr("others took 12.3 %"),
                    HasSubstr("slowest of 2 steps, 4.00 us together\n"
                              "  STEP      TIME   SHARE  FLOPS  BYTES  REACHED  LIMIT  OPERATORS\n"
                              "  large  3.00 us  75.0 %      -      -        -  -      Conv Add\n"
                              "  small  1.00 us  25.0 %      -      -        -  -      Relu\n")));
}

TEST(RenderTest, ProfileAgainstWhatTheDeviceDoesAtMost) {
  // An operation and a byte a nanosecond.
  StepProfile profile = {{{"small", {"Relu"}, 1000, StepWork{0, 500, 0}},
                          {"large", {"Conv", "Add"}, 3000, StepWork{1500, 1024, 512}},
                          {"loop", {"Loop"}, 4000}},
                         {{1, {{"f32", 1e9}}, {{"memory", 0, 1e9}}}},
                         1};
  EXPECT_EQ(RenderProfile(profile),
            "slowest of 3 steps, 8.00 us together\n"
            "  STEP      TIME   SHARE   FLOPS    BYTES  REACHED  LIMIT   OPERATORS\n"
            "  loop   4.00 us  50.0 %       -        -        -  -       Loop\n"
            "  large  3.00 us  37.5 %  1.50 k  1.0 KiB   50.0 %  f32     Conv Add\n"
            "  small  1.00 us  12.5 %       0    500 B   50.0 %  memory  Relu\n"
            "the 2 steps that are known: 4.00 us, limit 2.00 us on 1 thread "
            "(50.0 % reached; limited by f32 75.0 %, memory 25.0 %)\n");
  // A step of a GPU by the GPU's peaks.
  profile.steps[1].device = 1;
  profile.accelerators = {{"GPU", {{"f32", 1e10}}, {{"memory", 0, 1e10}}, 1e9, 1e9}};
  EXPECT_THAT(RenderProfile(profile),
              AllOf(HasSubstr("  large  3.00 us  37.5 %  1.50 k  1.0 KiB    5.0 %  f32     Conv"),
                    HasSubstr("limit 650 ns on 1 thread and accelerators (")));
  profile.steps[1].library = "cublasLt 12.4.5";
  EXPECT_THAT(RenderProfile(profile), HasSubstr("  Conv Add by cublasLt 12.4.5\n"));
  profile.steps[1].library.clear();
  profile.accelerators.clear();
  profile.steps[1].device = 0;
  profile.steps.pop_back();
  EXPECT_THAT(RenderProfile(profile), HasSubstr("\nall steps: 4.00 us, limit 2.00 us"));
  profile.steps.push_back({"loop", {"Loop"}, 4000});
  // An agent that does not tell what its device does at most.
  profile.peaks.clear();
  EXPECT_EQ(RenderProfile(profile),
            "slowest of 3 steps, 8.00 us together\n"
            "  STEP      TIME   SHARE   FLOPS    BYTES  REACHED  LIMIT  OPERATORS\n"
            "  loop   4.00 us  50.0 %       -        -        -  -      Loop\n"
            "  large  3.00 us  37.5 %  1.50 k  1.0 KiB        -  -      Conv Add\n"
            "  small  1.00 us  12.5 %       0    500 B        -  -      Relu\n"
            "no limits: the agent does not tell, or not yet, what its device does at most\n");
}

TEST(RenderTest, WhatDevicesDoAtMost) {
  Device device = IdleDevice();
  device.os = "Debian";
  device.agent_version = "0.1.0";
  EXPECT_EQ(RenderDeviceFacts({device}),
            "\nboard: Debian; agent 0.1.0\n"
            "  its agent does not confine programs\n"
            "  its agent does not tell, or not yet, what it does at most\n");
  device.confinement = DeviceConfinement{{"files: no Landlock", "tasks: it is root"}};
  EXPECT_THAT(RenderDeviceFacts({device}),
              HasSubstr("  programs are confined, but not wholly; it lacks\n"
                        "    files: no Landlock\n"
                        "    tasks: it is root\n"));
  device.is_compiled_only = true;
  EXPECT_THAT(RenderDeviceFacts({device}),
              HasSubstr("tasks: it is root\n"
                        "  takes only programs compiled by this server\n"));
  device.is_compiled_only = false;
  device.confinement->missing.clear();
  device.peaks = {{1, {{"f32", 118e9}}, {{"L1", 32768, 200.04e9}, {"memory", 0, 17e9}}},
                  {2, {{"f32", 236e9}}, {{"memory", 0, 28e9}}}};
  EXPECT_EQ(RenderDeviceFacts({device}),
            "\nboard: Debian; agent 0.1.0\n"
            "  programs are confined\n"
            "  THREADS      AT MOST  OF\n"
            "        1  118.0 GOP/s  f32\n"
            "            200.0 GB/s  L1, 32.0 KiB\n"
            "             17.0 GB/s  memory\n"
            "        2  236.0 GOP/s  f32\n"
            "             28.0 GB/s  memory\n");
  device.accelerator_peaks = {{"Fake\nH100",
                               {{"f32", 60e12}, {"tf32", 400e12}},
                               {{"L2", 50 << 20, 5500e9}, {"memory", 0, 3000e9}},
                               50e9,
                               48e9}};
  EXPECT_THAT(RenderDeviceFacts({device}), EndsWith("             28.0 GB/s  memory\n"
                                                    "  ACCELERATOR          AT MOST  OF\n"
                                                    "  Fake\\x0aH100   60000.0 GOP/s  f32\n"
                                                    "                400000.0 GOP/s  tf32\n"
                                                    "                   5500.0 GB/s  L2, 50.0 MiB\n"
                                                    "                   3000.0 GB/s  memory\n"
                                                    "                     50.0 GB/s  from host\n"
                                                    "                     48.0 GB/s  to host\n"));
}

TEST(RenderTest, Run) {
  EXPECT_EQ(RenderRun(RunJob(), Outputs()),
            "ran net.onnx on board: run 250 us, load 0 ns, start 0 ns, fetch 1.00 ms\n"
            "OUTPUT  TYPE       SUMMARY\n"
            "y/0     f32[1, 2]  min 1, max 3, mean 2, largest at 1: 1 3\n"
            "wrote y/0 to out/y%2F0.npy\n");
}

TEST(RenderTest, Devices) {
  EXPECT_EQ(RenderDevices({IdleDevice(), BusyDevice()}, kTime + absl::Seconds(2)),
            "DEVICE  STATE           TARGET           CORES   MEMORY        SEEN  MODEL\n"
            "board   idle            x86-64-v3-linux      4  8.0 GiB  2.00 s ago  A Board\n"
            "b2      busy with 01JA  x86-64-v3-linux      4  8.0 GiB  2.00 s ago  A Board\n"
            "warning: b2: a second agent claims this id\n");
  EXPECT_EQ(RenderDevices({}, kTime), "no devices\n");
}

TEST(RenderTest, WhatADeviceIsMadeOf) {
  EXPECT_THAT(RenderDeviceFacts({LabelledDevice()}),
              ::testing::HasSubstr("  labels       lab=berlin rack=2\n"
                                   "  machine      physical\n"
                                   "  kernel       6.1.0\n"
                                   "  cores        2 of capacity 1024, 2800 MHz at most\n"
                                   "  cores        4 of capacity 446\n"
                                   "  storage      1.0 GiB free of 8.0 GiB\n"
                                   "  power        battery, charged to 80 %\n"
                                   "  accelerator  NVIDIA H100\n"));
  EXPECT_EQ(RenderDevices({LabelledDevice()}, kTime, *ParseColumns("id,labels,power")),
            "DEVICE  LABELS             POWER\n"
            "board   lab=berlin rack=2  battery, 80 %\n");
  EXPECT_EQ(RenderLabels("board", {{"lab", "berlin"}, {"rack", ""}}),
            "device board: lab=berlin rack=\n");
  EXPECT_EQ(RenderLabels("board", {}), "device board has no labels of administrators\n");
}

TEST(RenderTest, Leases) {
  Device newer = LeasedDevice();
  newer.lease->kind = std::nullopt;
  newer.lease->purpose.clear();
  newer.lease->idle = absl::ZeroDuration();
  Device left = LeasedDevice();
  left.lease->idle_until = kTime + absl::Minutes(10);
  EXPECT_EQ(RenderLeases({IdleDevice(), LeasedDevice(), left, newer}),
            "DEVICE  STATE  HELD BY  FOR              JOB   SINCE                    "
            "ENDS                                            AT THE LATEST\n"
            "board   idle\n"
            "b2      busy   local    session: tuning  01JA  2026-01-01 00:00:00 UTC  "
            "10s without its client                          2026-01-01 01:00:00 UTC\n"
            "b2      busy   local    session: tuning  01JA  2026-01-01 00:00:00 UTC  "
            "2026-01-01 00:10:00 UTC, unless it is taken up  2026-01-01 01:00:00 UTC\n"
            "b2      busy   local    unknown          01JA  2026-01-01 00:00:00 UTC  "
            "when it is done                                 2026-01-01 01:00:00 UTC\n");
  EXPECT_EQ(RenderLeases({}), "no devices\n");
  EXPECT_EQ(RenderTakenLease({.session = "01J",
                              .ticket = "secret",
                              .device = "board",
                              .target = "x86-64-linux",
                              .until = kTime}),
            "session  01J\n"
            "ticket   secret\n"
            "device   board\n"
            "until    2026-01-01 00:00:00 UTC, unless it is taken up\n"
            "take it up with: slipway session --lease 01J:secret\n");
}

TEST(RenderTest, Jobs) {
  EXPECT_EQ(
      RenderJobs({CompiledJob(), FailedJob()}, false),
      "JOB   KIND         STATE      ACCEPTED                   TOOK  ON        SUBJECT\n"
      "01JA  compilation  succeeded  2026-01-01 00:00:00 UTC  15.0 s  worker-0  resnet50.onnx\n"
      "01JD  compilation  failed     2026-01-01 00:00:00 UTC  15.0 s  worker-0  resnet50.onnx\n");
  EXPECT_THAT(RenderJob(FailedJob(), kTime),
              AllOf(HasSubstr("error     UNIMPLEMENTED: operator \"X\""),
                    HasSubstr("the end of the log:\n  line 1\n  line\\x092\n")));
  EXPECT_EQ(RenderJobs({}, true), "no jobs\n");
  EXPECT_EQ(
      RenderJobs({CompiledJob()}, true),
      "JOB   OWNER  KIND         STATE      ACCEPTED                   TOOK  ON        SUBJECT\n"
      "01JA  local  compilation  succeeded  2026-01-01 00:00:00 UTC  15.0 s  worker-0  "
      "resnet50.onnx\n");
}

TEST(RenderTest, JobsSayWhatTheyAreAboutAndTheirTags) {
  Job unnamed = RunJob();
  unnamed.subject.clear();
  unnamed.tags.clear();
  unnamed.artifact = Digest::Of("manifest");
  EXPECT_EQ(RenderJobs({RunJob(), unnamed}, false),
            "JOB   KIND  STATE      ACCEPTED  TOOK  ON  SUBJECT       TAGS\n"
            "01JC  run   succeeded  -            -      net.onnx      branch=main commit=1f\n"
            "01JC  run   succeeded  -            -      " +
                Digest::Of("manifest").hex().substr(0, 12) + "\n");
  EXPECT_THAT(RenderJob(RunJob(), kTime),
              AllOf(HasSubstr("model             net.onnx\n"),
                    HasSubstr("tags              branch=main commit=1f\n")));
  Job job = CompiledJob();
  job.id = std::string(26, 'J');
  EXPECT_EQ(
      RenderJobLine(job, false),
      "JJJJJJJJJJJJJJJJJJJJJJJJJJ  compilation  succeeded  2026-01-01 00:00:00 UTC  15.0 s    "
      "worker-0          resnet50.onnx\n");
  job = RunJob();
  job.id = std::string(26, 'J');
  job.subject = "a\x1b[2J";
  EXPECT_EQ(
      RenderJobLine(job, true),
      "JJJJJJJJJJJJJJJJJJJJJJJJJJ  run          succeeded  -                        -         "
      "                  a\\x1b[2J  of local  branch=main commit=1f\n");
}

WaitReason Reason(WaitKind kind, const std::string& device = "board") {
  WaitReason reason;
  reason.kind = kind;
  reason.device = device;
  reason.until = kTime + absl::Minutes(65);
  reason.since = kTime;
  return reason;
}

TEST(RenderTest, WhyAJobWaits) {
  const auto text = [](const WaitReason& reason, int64_t ahead = 0) {
    return WaitText(reason, ahead, kTime);
  };
  WaitReason reason = Reason(WaitKind::kHeld);
  EXPECT_EQ(text(reason),
            "waits for board, whose agent ends what it was told to stop, or is updated");
  reason.lease = LeasedDevice().lease;
  EXPECT_EQ(text(reason, 2),
            "waits for board: held by a session of local: tuning until 2026-01-01 01:05:00 UTC at "
            "the latest, 2 before it");
  reason = Reason(WaitKind::kReserved);
  reason.reservation = BobsReservation();
  EXPECT_EQ(text(reason), "waits for board: reserved for bob until 2026-01-01 02:00:00 UTC");
  reason.kind = WaitKind::kTooLong;
  reason.reservation->from = kTime + absl::Hours(1);
  EXPECT_EQ(text(reason),
            "waits for board: reserved for bob from 2026-01-01 01:00:00 UTC to 2026-01-01 02:00:00 "
            "UTC, and its deadline is later than that");
  reason = Reason(WaitKind::kPauses, "");
  reason.until = kTime + absl::Seconds(4);
  EXPECT_EQ(text(reason), "pauses for 4.00 s after an attempt that was lost");
  EXPECT_EQ(WaitText(reason, 0, kTime + absl::Seconds(5)),
            "pauses for 0 ns after an attempt that was lost");
  reason = Reason(WaitKind::kDrained);
  EXPECT_EQ(text(reason), "waits for board, which is drained");
  reason.detail = "a new\nfan";
  EXPECT_EQ(text(reason), "waits for board, which is drained: a new\\x0afan");
  reason.kind = WaitKind::kQuarantined;
  EXPECT_EQ(text(reason), "waits for board, which is in quarantine: a new\\x0afan");
  EXPECT_EQ(text(Reason(WaitKind::kLost)),
            "waits for board, of which nothing was heard since 2026-01-01 00:00:00 UTC");
  reason = Reason(WaitKind::kNoDevice, "");
  reason.detail = "device 'board': it lacks avx512f";
  EXPECT_EQ(text(reason), "no device is there that can run it: device 'board': it lacks avx512f");
  EXPECT_EQ(text(Reason(WaitKind::kNext)), "waits for its turn on board");
  EXPECT_EQ(text(Reason(WaitKind::kNext, "")), "waits for its turn");
  EXPECT_EQ(text(Reason(WaitKind::kWorkersBusy, "")),
            "waits for a worker: those that could compile it are at work");
  EXPECT_EQ(text(Reason(WaitKind::kNoWorker, "")), "no worker is there that could compile it");
  EXPECT_EQ(text(Reason(WaitKind::kUnknown)), "waits");
  Job job = CompiledJob();
  job.state = JobState::kQueued;
  job.waits = Reason(WaitKind::kNoWorker, "");
  EXPECT_THAT(RenderJob(job, kTime), HasSubstr("no worker is there that could compile it\n"));
  EXPECT_EQ(Describe(job, "net", kTime).detail, "(no worker is there that could compile it)");
}

TEST(RenderTest, Queue) {
  EXPECT_EQ(RenderQueue({}, kTime), "nothing waits\n");
  EXPECT_EQ(RenderQueue(WaitingQueue(), kTime + absl::Seconds(3)),
            "JOB   OWNER  KIND       SUBJECT       PRIORITY   WAITS  WHY\n"
            "01JQ  ann    benchmark  0123456789ab         5  3.00 s  waits for its turn on board, "
            "1 before it\n"
            "      bob    unknown                         0    0 ns  waits for board: reserved for "
            "bob until 2026-01-01 02:00:00 UTC\n"
            "and 7 more\n");
}

TEST(RenderTest, Reservations) {
  EXPECT_EQ(RenderReservations({}), "no reservations\n");
  EXPECT_EQ(RenderReservations({BobsReservation()}),
            "DEVICE  FOR  FROM                     UNTIL                    PURPOSE  RESERVATION\n"
            "board   bob  2025-12-31 23:00:00 UTC  2026-01-01 02:00:00 UTC  a try    01JR\n");
}

TEST(RenderTest, DevicesThatAreNotGivenWork) {
  Device drained = IdleDevice();
  drained.availability = DeviceAvailability{.state = AvailabilityState::kDrained,
                                            .reason = "a new fan",
                                            .by = "ada",
                                            .since = kTime,
                                            .reservation = BobsReservation()};
  EXPECT_THAT(RenderDevices({drained}, kTime),
              AllOf(HasSubstr("board   idle, drained  x86"),
                    HasSubstr("\nboard is drained by ada since 2026-01-01 00:00:00 UTC: a new fan; "
                              "reserved for bob until 2026-01-01 02:00:00 UTC: a try\n")));
  EXPECT_EQ(RenderAvailability(drained), "board is drained: a new fan\n");
  Device doubted = IdleDevice();
  doubted.availability =
      DeviceAvailability{.state = AvailabilityState::kQuarantined, .since = kTime};
  EXPECT_THAT(RenderDevices({doubted}, kTime),
              HasSubstr("\nboard is quarantined by the server since 2026-01-01 00:00:00 UTC\n"));
  Device probed = IdleDevice();
  probed.health = DeviceHealth{};
  EXPECT_THAT(RenderDeviceFacts({probed}), HasSubstr("\n  not probed yet\n"));
  probed.health = DeviceHealth{
      .probe_end = kTime, .probe_call = absl::Milliseconds(2), .usual_call = absl::Milliseconds(1)};
  EXPECT_THAT(RenderDeviceFacts({probed}),
              HasSubstr("\n  probed at 2026-01-01 00:00:00 UTC: passed, a call took 2.00 ms, "
                        "usually 1.00 ms\n"));
  probed.health->probe_error = "it computes\nwrong";
  probed.health->failures = 2;
  EXPECT_THAT(RenderDeviceFacts({probed}),
              HasSubstr(": it computes\\x0awrong, usually 1.00 ms; 2 failures in a row\n"));
  Device available = IdleDevice();
  available.availability = DeviceAvailability{};
  EXPECT_EQ(RenderDevices({available}, kTime), RenderDevices({IdleDevice()}, kTime));
  EXPECT_EQ(RenderAvailability(IdleDevice()), "");
}

TEST(RenderTest, TargetsAndArtifact) {
  EXPECT_EQ(RenderTargets({"x86-64-linux", "cuda-sm90"}, "x86-64-v4-linux", {"x86-64-linux"}),
            "TARGET\nx86-64-linux\ncuda-sm90     not by this server\nhost is x86-64-v4-linux\n");
  EXPECT_THAT(RenderArtifact(TwoInputArtifact()),
              AllOf(HasSubstr("input        x: f32[1, 2]\n"), HasSubstr("0  conv1  Conv Relu\n")));
}

TEST(RenderTest, ArtifactThatDecides) {
  ArtifactSummary artifact = TwoInputArtifact();
  artifact.symbols = {{"batch", 1, 16}};
  artifact.steps = {{"If", {}, "if: keep, else change"}};
  artifact.code = {{"ELF", "x86-64-linux", 2048, 3, {}}, {"PTX", "cuda-sm90", 1024, 1, {"scale"}}};
  artifact.spaces = {{"x86-64-linux", {"cuda-sm90"}, 1024}, {"cuda-sm90", {}, 0}};
  artifact.functions = {{"keep", false, artifact.inputs, {}, {{"copy", {"Identity"}, ""}}}};
  EXPECT_THAT(
      RenderArtifact(artifact),
      AllOf(HasSubstr("symbol       batch: 1 to 16\n"),
            HasSubstr("code for     cuda-sm90: 1.0 KiB of PTX, 1 kernels: scale\n"),
            HasSubstr("space        0: x86-64-linux, arena 1.0 KiB, shared with cuda-sm90\n"),
            HasSubstr("0  If    if: keep, else change\n"),
            HasSubstr("function keep\n  input x: f32[1, 2]\n"), HasSubstr("0  copy  Identity\n")));
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
      a.Show(Describe(job, "net", kTime));
      b.Show(Describe(job, "net", kTime));
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
  EXPECT_EQ(Describe(job, "net", kTime).stage, "compile net: queued again, after 2 attempts");
  job.ahead = 3;
  EXPECT_EQ(Describe(job, "net", kTime).stage,
            "compile net: queued again, after 2 attempts, 3 ahead");
  job.state = JobState::kRunning;
  EXPECT_EQ(Describe(job, "net", kTime).stage, "compile net: running");
}

TEST(RenderTest, Differences) {
  EXPECT_EQ(RenderDifferences(Differences()),
            "3 values compared (skipped: 1 that only the first has, 0 that only the second has): "
            "2 differ, first \"relu\\x0a1\"\n"
            "VALUE      TYPE                DIFFERING             ABSOLUTE  RELATIVE  FURTHEST\n"
            "relu\\x0a1  f32[2]              2 of 2, 1 not finite         2         1  [1]: inf, "
            "not 3\n"
            "fc         f32[1], not f32[0]\n");
  EXPECT_EQ(RenderDifferences(CompareValues({}, {})), "0 values compared: all agree\n");
  std::vector<NamedTensor> ones, twos;
  for (int i = 0; i < 25; ++i) {
    ones.push_back({absl::StrCat("v", i), Tensor::Scalar<float>(1)});
    twos.push_back({absl::StrCat("v", i), Tensor::Scalar<float>(2)});
  }
  const std::string text = RenderDifferences(CompareValues(ones, twos));
  EXPECT_THAT(text, AllOf(HasSubstr("25 differ, first \"v0\""), HasSubstr("\nv19 "),
                          ::testing::Not(HasSubstr("v20")), HasSubstr("... and 5 more\n")));
}

}  // namespace
}  // namespace slipway::cli
