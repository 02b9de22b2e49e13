#include "client/trace/program_timeline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/roofline.h"
#include "client/trace/placed_steps.h"

namespace slipway {
namespace {

// Samples that do not follow each other.
bool Overlap(const BenchmarkResult& result) {
  return result.scenario.has_value() && (result.scenario->scenario.kind == ScenarioKind::kOffline ||
                                         result.scenario->scenario.kind == ScenarioKind::kServer);
}

TimelineTrack SampleTrack(const std::string& process, const BenchmarkResult& result,
                          absl::Time begin) {
  TimelineTrack track = {process, "samples", {}};
  const std::vector<int64_t>& samples = result.samples_ns;
  const size_t group = (samples.size() + kMostSampleSpans - 1) / kMostSampleSpans;
  absl::Time at = begin;
  for (size_t i = 0; i < samples.size(); i += group) {
    const size_t end = std::min(i + group, samples.size());
    absl::Duration length;
    for (size_t s = i; s < end; ++s) length += absl::Nanoseconds(samples[s]);
    const auto calls = static_cast<int64_t>(end - i) * result.iterations_per_sample;
    track.spans.push_back(
        {end == i + 1 ? absl::StrCat("sample ", i) : absl::StrCat("samples ", i, " to ", end - 1),
         at,
         length,
         {{"calls", calls}}});
    at += length;
  }
  return track;
}

// The machine's state at the begin of the samples that each stamp is for.
void AddCounters(const std::string& process, const BenchmarkResult& result, absl::Time begin,
                 Timeline& timeline) {
  TimelineCounter frequency = {process, "frequency, MHz", {}};
  TimelineCounter temperature = {process, "temperature, C", {}};
  TimelineCounter foreign = {process, "time that others took, %", {}};
  absl::Time at = begin;
  size_t sample = 0;
  for (const SampleStamp& stamp : result.stamps) {
    if (stamp.cpu_frequency_hz > 0) {
      frequency.values.emplace_back(at, static_cast<double>(stamp.cpu_frequency_hz) / 1e6);
    }
    if (stamp.temperature_millicelsius != 0) {
      temperature.values.emplace_back(at,
                                      static_cast<double>(stamp.temperature_millicelsius) / 1e3);
    }
    foreign.values.emplace_back(at, static_cast<double>(stamp.foreign_millis) / 10);
    for (int64_t i = 0; i < stamp.samples && sample < result.samples_ns.size(); ++i) {
      at += absl::Nanoseconds(result.samples_ns[sample++]);
    }
  }
  for (TimelineCounter* counter : {&frequency, &temperature, &foreign}) {
    if (!counter->values.empty()) timeline.counters.push_back(std::move(*counter));
  }
}

TimelineFacts FactsOf(const StepTime& time, const ArtifactSummary::Step& step,
                      const std::optional<StepLimit>& limit) {
  TimelineFacts facts = {{"operators", absl::StrJoin(time.operators, " ")}};
  if (!step.control.empty()) facts.emplace_back("decides", step.control);
  if (time.work.has_value()) {
    facts.emplace_back("flops", time.work->flops);
    facts.emplace_back("bytes", time.work->bytes);
  }
  if (limit.has_value()) {
    facts.emplace_back("limit", limit->what);
    facts.emplace_back("limit_ns", static_cast<int64_t>(limit->ns));
  }
  return facts;
}

// What each thread did in the steps, the calling one first. A step whose threads are not told is the calling one's.
std::vector<TimelineTrack> ThreadTracks(const std::string& process, const BenchmarkResult& result,
                                        absl::Span<const PlacedStep> placed, absl::Time begin) {
  size_t count = 0;
  for (const StepTime& time : result.steps) count = std::max(count, time.threads.size());
  std::vector<TimelineTrack> tracks(count);
  for (size_t t = 0; t < count; ++t) {
    tracks[t].process = process;
    tracks[t].name = absl::StrCat("one call, thread ", t);
  }
  for (const PlacedStep& step : placed) {
    if (count == 0 || !step.step->kernel.has_value()) continue;
    const StepTime& time = result.steps[step.number];
    const absl::Time at = begin + step.begin;
    if (time.threads.empty()) {
      tracks[0].spans.push_back({time.name, at, absl::Nanoseconds(time.duration_ns)});
    }
    for (size_t t = 0; t < time.threads.size(); ++t) {
      const ThreadWork& work = time.threads[t];
      if (work.tasks == 0) continue;
      tracks[t].spans.push_back({time.name,
                                 at + absl::Nanoseconds(work.begin_ns),
                                 absl::Nanoseconds(work.end_ns - work.begin_ns),
                                 {{"tasks", work.tasks}, {"busy_ns", work.busy_ns}}});
    }
  }
  return tracks;
}

// A call, put together of its steps.
void AddCall(const std::string& process, const BenchmarkResult& result,
             const ArtifactSummary& program, absl::Time begin, Timeline& timeline) {
  const std::vector<PlacedStep> placed = PlaceSteps(result.steps, program);
  if (placed.empty()) {
    timeline.remarks.push_back("the profile has other steps than the artifact: they are not drawn");
    return;
  }
  const std::string threads =
      absl::StrCat(result.threads, result.threads == 1 ? " thread" : " threads");
  TimelineTrack steps = {process, absl::StrCat("one call, its steps (", threads, ")"), {}};
  TimelineTrack kernels = {process, absl::StrCat("one call, its kernels (", threads, ")"), {}};
  absl::Duration length;
  for (const PlacedStep& step : placed) {
    if (step.depth == 0) length += absl::Nanoseconds(result.steps[step.number].duration_ns);
  }
  steps.spans.push_back({"call", begin, length, {{"what", "the smallest time of each step"}}});
  const Roofline limits =
      FindLimits(result.steps, result.peaks, result.threads, result.accelerator_peaks);
  for (const PlacedStep& step : placed) {
    const StepTime& time = result.steps[step.number];
    const absl::Time at = begin + step.begin;
    const absl::Duration duration = absl::Nanoseconds(time.duration_ns);
    steps.spans.push_back(
        {time.name, at, duration, FactsOf(time, *step.step, limits.steps[step.number])});
    if (!step.step->kernel.has_value()) continue;
    kernels.spans.push_back({absl::StrCat("kernel ", step.step->kernel->number),
                             at,
                             duration,
                             {{"step", time.name},
                              {"code", static_cast<int64_t>(step.step->kernel->code)},
                              {"kernel", static_cast<int64_t>(step.step->kernel->number)}}});
  }
  timeline.remarks.push_back(
      "the call is put together of the smallest time of each step over the profiled calls, which "
      "came after the samples");
  timeline.tracks.push_back(std::move(steps));
  if (!kernels.spans.empty()) timeline.tracks.push_back(std::move(kernels));
  std::vector<TimelineTrack> of_threads = ThreadTracks(process, result, placed, begin);
  if (of_threads.empty() && result.threads > 1) {
    timeline.remarks.push_back("the agent does not tell what each thread did");
  }
  absl::c_move(of_threads, std::back_inserter(timeline.tracks));
}

}  // namespace

absl::Duration SamplesLength(const BenchmarkResult& result) {
  if (Overlap(result)) return result.scenario->duration;
  absl::Duration length;
  for (const int64_t sample : result.samples_ns) length += absl::Nanoseconds(sample);
  return length;
}

void AddMeasurement(const BenchmarkResult& result, const ArtifactSummary& program, absl::Time start,
                    absl::Time begin, Timeline& timeline) {
  const std::string process = absl::StrCat("program on ", result.device);
  const absl::Duration length = SamplesLength(result);
  TimelineTrack track = {process, "measurement", {}};
  absl::Time at = start;
  const std::pair<const char*, int64_t> parts[] = {{"cold load", result.load_cold_ns},
                                                   {"first call", result.first_run_ns},
                                                   {"warm load", result.load_warm_ns}};
  for (const auto& [name, ns] : parts) {
    track.spans.push_back({name, at, absl::Nanoseconds(ns)});
    at += absl::Nanoseconds(ns);
  }
  if (result.settled.has_value() && result.settled->steadied > absl::ZeroDuration() &&
      at + result.settled->steadied <= begin) {
    track.spans.push_back({"settle", at, result.settled->steadied});
    at += result.settled->steadied;
  }
  if (at < begin) track.spans.push_back({"warm-up", at, begin - at});
  track.spans.push_back({"samples",
                         begin,
                         length,
                         {{"samples", static_cast<int64_t>(result.samples_ns.size())},
                          {"calls_per_sample", result.iterations_per_sample}}});
  timeline.tracks.push_back(std::move(track));
  if (!Overlap(result)) {
    timeline.tracks.push_back(SampleTrack(process, result, begin));
    timeline.remarks.push_back(
        "samples are drawn one after the other from when the first began: pauses between them are "
        "not known");
    AddCounters(process, result, begin, timeline);
  } else {
    timeline.remarks.push_back(absl::StrCat("samples of the scenario \"",
                                            Name(result.scenario->scenario.kind),
                                            "\" overlap, and are not drawn one by one"));
  }
  if (!result.steps.empty()) AddCall(process, result, program, begin + length, timeline);
}

}  // namespace slipway
