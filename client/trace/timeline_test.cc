#include "client/trace/timeline.h"

#include <optional>
#include <string>
#include <vector>

#include "client/trace/clock_offset.h"
#include "client/trace/followed_job.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const absl::Time kBegin = absl::FromUnixSeconds(1'767'225'600);

absl::Time At(double ms) { return kBegin + absl::Milliseconds(ms); }

TEST(OffsetBoundsTest, ClocksThatMayBeRightAreTakenAsTheyAre) {
  OffsetBounds bounds;
  EXPECT_EQ(bounds.Choose(), absl::ZeroDuration());
  bounds.After(At(5), At(1));
  bounds.Before(At(5), At(9));
  EXPECT_EQ(bounds.least(), absl::Milliseconds(-4));
  EXPECT_EQ(bounds.most(), absl::Milliseconds(4));
  EXPECT_EQ(bounds.Choose(), absl::ZeroDuration());
}

TEST(OffsetBoundsTest, AClockThatIsOffIsMovedAsLittleAsCanBe) {
  OffsetBounds ahead;
  ahead.After(At(105), At(1));
  ahead.Before(At(105), At(9));
  EXPECT_EQ(ahead.Choose(), absl::Milliseconds(96));
  OffsetBounds behind;
  behind.After(At(-95), At(1));
  behind.Before(At(-95), At(9));
  EXPECT_EQ(behind.Choose(), absl::Milliseconds(-96));
}

TEST(OffsetBoundsTest, AClockThatWasSetMeanwhileFitsNoOffset) {
  OffsetBounds bounds;
  bounds.After(At(5), At(5));
  bounds.Before(At(15), At(5));
  EXPECT_TRUE(bounds.contradict());
  EXPECT_EQ(bounds.Choose(), absl::Milliseconds(5));
}

TEST(JobLogTest, KeepsWhatChanges) {
  JobLog log;
  log.Submitted("a", "net.onnx", At(0), At(1));
  Job job;
  job.id = "a";
  log.Saw(job, At(2));
  job.ahead = 3;
  log.Saw(job, At(3));
  job.state = JobState::kRunning;
  job.progress.stage = "passes";
  log.Saw(job, At(4));
  job.id = "another";
  log.Saw(job, At(5));
  ASSERT_EQ(log.jobs().size(), 1u);
  const std::vector<JobSighting>& seen = log.jobs()[0].sightings;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].at, At(2));
  EXPECT_EQ(seen[1].stage, "passes");
  EXPECT_EQ(log.jobs()[0].job.state, JobState::kRunning);
}

FollowedJob Compiled() {
  FollowedJob followed;
  followed.subject = "net.onnx";
  followed.submit_begin = At(0);
  followed.submit_end = At(10);
  Job& job = followed.job;
  job.id = "01JA";
  job.state = JobState::kSucceeded;
  job.assignee = "w";
  job.attempts = 1;
  job.create_time = At(8);
  job.start_time = At(20);
  job.end_time = At(100);
  job.compilation = Compilation{.stages = {{"import", absl::Milliseconds(5)},
                                           {"passes", absl::Milliseconds(10)},
                                           {"link", absl::Milliseconds(30)}},
                                .passes = {{"FuseOps", absl::Milliseconds(4), 57},
                                           {"PlanMemory", absl::Milliseconds(6), 57}}};
  followed.sightings = {{At(11), JobState::kQueued, ""},
                        {At(21), JobState::kRunning, "import"},
                        {At(101), JobState::kSucceeded, ""}};
  return followed;
}

// Of a device whose clock is an hour ahead.
FollowedJob Measured() {
  FollowedJob followed;
  followed.subject = "net.onnx";
  followed.submit_begin = At(102);
  followed.submit_end = At(104);
  Job& job = followed.job;
  job.id = "01JB";
  job.kind = JobKind::kBenchmark;
  job.state = JobState::kSucceeded;
  job.attempts = 1;
  job.create_time = At(103);
  job.start_time = At(110);
  job.end_time = At(200);
  BenchmarkResult& result = job.benchmark.emplace();
  result.device = "board";
  result.samples_ns = {10'000'000, 12'000'000, 11'000'000};
  result.load_cold_ns = 3'000'000;
  result.first_run_ns = 2'000'000;
  result.load_warm_ns = 1'000'000;
  result.start_time = At(130) + absl::Hours(1);
  result.timings = {.fetch = absl::Milliseconds(2),
                    .spawn = absl::Milliseconds(1),
                    .load = absl::Milliseconds(3),
                    .run = absl::Milliseconds(80)};
  result.stamps = {{.samples = 2, .foreign_millis = 30, .cpu_frequency_hz = 2'000'000'000},
                   {.samples = 1, .foreign_millis = 500, .temperature_millicelsius = 61'000}};
  followed.sightings = {{At(105), JobState::kAssigned, ""}, {At(201), JobState::kSucceeded, ""}};
  return followed;
}

const TimelineTrack* Find(const Timeline& timeline, const std::string& process,
                          const std::string& name) {
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.process == process && track.name == name) return &track;
  }
  return nullptr;
}

std::vector<std::string> Spans(const Timeline& timeline, const std::string& process,
                               const std::string& name) {
  std::vector<std::string> spans;
  const TimelineTrack* track = Find(timeline, process, name);
  if (track == nullptr) return spans;
  for (const TimelineSpan& span : track->spans) {
    spans.push_back(span.name + " " + absl::FormatDuration(span.begin - kBegin) + "+" +
                    absl::FormatDuration(span.length));
  }
  return spans;
}

TEST(TimelineTest, ACompilationThroughClientServerAndWorker) {
  const Timeline timeline = MakeTimeline({Compiled()}, {});
  EXPECT_THAT(Spans(timeline, "client", "jobs"),
              ElementsAre("compilation net.onnx 0+101ms", "submit 0+10ms", "queued 11ms+10ms",
                          "running: import 21ms+80ms"));
  EXPECT_THAT(Spans(timeline, "server", "compilation net.onnx"),
              ElementsAre("compilation net.onnx 8ms+92ms", "queued, assigned 8ms+12ms",
                          "running 20ms+80ms"));
  EXPECT_THAT(Spans(timeline, "worker w", "stages of net.onnx"),
              ElementsAre("import 20ms+5ms", "passes 25ms+10ms", "link 35ms+30ms"));
  EXPECT_THAT(Spans(timeline, "worker w", "passes of net.onnx"),
              ElementsAre("FuseOps 25ms+4ms", "PlanMemory 29ms+6ms"));
  EXPECT_THAT(timeline.remarks[0], HasSubstr("it is taken as it is"));
}

TEST(TimelineTest, TheServersClockIsMovedWhereItMustBe) {
  FollowedJob followed = Compiled();
  for (absl::Time* time :
       {&followed.job.create_time, &followed.job.start_time, &followed.job.end_time}) {
    *time += absl::Minutes(1);
  }
  const Timeline timeline = MakeTimeline({followed}, {});
  // Accepted 8 ms to 10 ms after the client began at most; begun 1 ms before the client saw it.
  EXPECT_THAT(Spans(timeline, "server", "compilation net.onnx"),
              ElementsAre("compilation net.onnx 9ms+92ms", "queued, assigned 9ms+12ms",
                          "running 21ms+80ms"));
  EXPECT_THAT(timeline.remarks[0], HasSubstr("can be from 59.999s to 1m0.008s ahead of this "
                                             "machine's clock; it is moved by -59.999s"));
}

TEST(TimelineTest, StagesOfACachedCompilationAreAnotherTimes) {
  FollowedJob followed = Compiled();
  followed.job.compilation->cached = true;
  const Timeline timeline = MakeTimeline({followed}, {});
  EXPECT_EQ(Find(timeline, "worker w", "stages of net.onnx"), nullptr);
  EXPECT_THAT(timeline.remarks, Contains(HasSubstr("compiled before")));
}

TEST(TimelineTest, ABenchmarkOfADeviceWithAnotherClock) {
  const Timeline timeline = MakeTimeline({Compiled(), Measured()}, {});
  // Its 33 ms of samples ended with the job at the latest.
  EXPECT_THAT(Spans(timeline, "program on board", "samples"),
              ElementsAre("sample 0 167ms+10ms", "sample 1 177ms+12ms", "sample 2 189ms+11ms"));
  EXPECT_THAT(Spans(timeline, "program on board", "measurement"),
              ElementsAre("cold load 110ms+3ms", "first call 113ms+2ms", "warm load 115ms+1ms",
                          "warm-up 116ms+51ms", "samples 167ms+33ms"));
  EXPECT_THAT(Spans(timeline, "agent board", "attempt"),
              ElementsAre("fetch 107ms+2ms", "start of the runner 109ms+1ms", "measure 110ms+80ms",
                          "upload 190ms+0"));
  EXPECT_THAT(timeline.remarks, Contains(HasSubstr("the device's (board) clock can be from")));
  ASSERT_EQ(timeline.counters.size(), 3u);
  EXPECT_EQ(timeline.counters[0].name, "frequency, MHz");
  EXPECT_THAT(timeline.counters[0].values, ElementsAre(std::make_pair(At(167), 2000.0)));
  EXPECT_THAT(timeline.counters[1].values, ElementsAre(std::make_pair(At(189), 61.0)));
  EXPECT_THAT(timeline.counters[2].values,
              ElementsAre(std::make_pair(At(167), 3.0), std::make_pair(At(189), 50.0)));
}

TEST(TimelineTest, SamplesThatOverlapAreNotDrawn) {
  FollowedJob followed = Measured();
  followed.job.benchmark->scenario = ScenarioResult{.scenario = {.kind = ScenarioKind::kServer},
                                                    .duration = absl::Milliseconds(7)};
  const Timeline timeline = MakeTimeline({followed}, {});
  EXPECT_EQ(Find(timeline, "program on board", "samples"), nullptr);
  EXPECT_THAT(Spans(timeline, "program on board", "measurement"), Contains(HasSubstr("+7ms")));
  EXPECT_THAT(timeline.counters, IsEmpty());
}

TEST(TimelineTest, NeighboursOfManySamplesAreOneSpan) {
  FollowedJob followed = Measured();
  followed.job.benchmark->samples_ns.assign(2 * kMostSampleSpans + 1, 1'000);
  const Timeline timeline = MakeTimeline({followed}, {});
  const TimelineTrack* track = Find(timeline, "program on board", "samples");
  ASSERT_NE(track, nullptr);
  EXPECT_LE(track->spans.size(), kMostSampleSpans);
  EXPECT_EQ(track->spans.front().name, "samples 0 to 2");
  absl::Duration all;
  for (const TimelineSpan& span : track->spans) all += span.length;
  EXPECT_EQ(all, absl::Nanoseconds(1'000 * (2 * kMostSampleSpans + 1)));
}

// An entry behind the body of its loop, which both have two steps.
ArtifactSummary Looping() {
  ArtifactSummary program;
  program.entry = 1;
  program.functions = {{.name = "body", .steps = {{"mul", {"Mul"}, ""}, {"add", {"Add"}, ""}}}};
  program.functions[0].steps[0].kernel = {0, 7};
  program.functions[0].steps[1].kernel = {0, 8};
  program.steps = {{"loop", {"Loop"}, "loop: body"}, {"relu", {"Relu"}, ""}};
  program.steps[0].runs = {0};
  program.steps[1].kernel = {1, 2};
  return program;
}

TEST(TimelineTest, StepsOfALoopAreInIt) {
  FollowedJob followed = Measured();
  followed.job.benchmark->steps = {{"mul", {"Mul"}, 3'000'000},
                                   {"add", {"Add"}, 2'000'000},
                                   {"loop", {"Loop"}, 6'000'000},
                                   {"relu", {"Relu"}, 1'000'000, StepWork{500, 64, 16}}};
  const Timeline timeline = MakeTimeline({followed}, Looping());
  EXPECT_THAT(Spans(timeline, "program on board", "one call, its steps (1 thread)"),
              ElementsAre("call 200ms+7ms", "loop 200ms+6ms", "mul 200ms+3ms", "add 203ms+2ms",
                          "relu 206ms+1ms"));
  EXPECT_THAT(Spans(timeline, "program on board", "one call, its kernels (1 thread)"),
              ElementsAre("kernel 7 200ms+3ms", "kernel 8 203ms+2ms", "kernel 2 206ms+1ms"));
}

TEST(TimelineTest, WhatThreadsDidIsDrawnOnATrackForEach) {
  FollowedJob followed = Measured();
  BenchmarkResult& result = *followed.job.benchmark;
  result.threads = 2;
  result.steps = {{"mul", {"Mul"}, 3'000'000},
                  {"add", {"Add"}, 2'000'000},
                  {"loop", {"Loop"}, 6'000'000},
                  {"relu", {"Relu"}, 4'000'000}};
  EXPECT_THAT(MakeTimeline({followed}, Looping()).remarks,
              Contains(HasSubstr("does not tell what each thread did")));
  result.steps[1].threads = {{.begin_ns = 0, .end_ns = 2'000'000, .busy_ns = 1'000'000, .tasks = 3},
                             {}};
  result.steps[3].threads = {
      {.begin_ns = 0, .end_ns = 3'000'000, .busy_ns = 3'000'000, .tasks = 5},
      {.begin_ns = 1'000'000, .end_ns = 4'000'000, .busy_ns = 2'000'000, .tasks = 4}};
  const Timeline timeline = MakeTimeline({followed}, Looping());
  EXPECT_THAT(Spans(timeline, "program on board", "one call, thread 0"),
              ElementsAre("mul 200ms+3ms", "add 203ms+2ms", "relu 206ms+3ms"));
  EXPECT_THAT(Spans(timeline, "program on board", "one call, thread 1"),
              ElementsAre("relu 207ms+3ms"));
  EXPECT_THAT(timeline.remarks, Not(Contains(HasSubstr("each thread"))));
}

TEST(TimelineTest, TheStepsOfAnotherProgramAreNotDrawn) {
  FollowedJob followed = Measured();
  followed.job.benchmark->steps = {{"mul", {"Mul"}, 3'000'000}};
  const Timeline timeline = MakeTimeline({followed}, Looping());
  EXPECT_EQ(Find(timeline, "program on board", "one call, its steps (1 thread)"), nullptr);
  EXPECT_THAT(timeline.remarks, Contains(HasSubstr("other steps than the artifact")));
}

TEST(TimelineTest, AFailedJobIsDrawnAsFarAsItCame) {
  FollowedJob followed = Compiled();
  followed.job.state = JobState::kFailed;
  followed.job.compilation.reset();
  followed.job.start_time = absl::InfinitePast();
  followed.sightings.clear();
  const Timeline timeline = MakeTimeline({followed}, {});
  EXPECT_THAT(Spans(timeline, "client", "jobs"),
              ElementsAre("compilation net.onnx 0+10ms", "submit 0+10ms"));
  EXPECT_THAT(Spans(timeline, "server", "compilation net.onnx"),
              ElementsAre("compilation net.onnx 8ms+92ms", "queued 8ms+92ms"));
}

}  // namespace
}  // namespace slipway
