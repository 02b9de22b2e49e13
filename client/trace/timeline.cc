#include "client/trace/timeline.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/trace/clock_offset.h"
#include "client/trace/program_timeline.h"

namespace slipway {
namespace {

std::string Title(const FollowedJob& followed) {
  return absl::StrCat(Name(followed.job.kind), " ", followed.subject);
}

bool IsKnown(absl::Time time) { return time != absl::InfinitePast(); }

// The server's clock against the client's.
OffsetBounds ServerBounds(absl::Span<const FollowedJob> jobs) {
  OffsetBounds bounds;
  for (const FollowedJob& followed : jobs) {
    const Job& job = followed.job;
    if (!IsKnown(job.create_time)) continue;
    bounds.After(job.create_time, followed.submit_begin);
    bounds.Before(job.create_time, followed.submit_end);
    for (const JobSighting& sighting : followed.sightings) {
      if (sighting.state == JobState::kRunning && IsKnown(job.start_time) && job.attempts == 1) {
        bounds.Before(job.start_time, sighting.at);
      }
      if (sighting.state >= JobState::kSucceeded && IsKnown(job.end_time)) {
        bounds.Before(job.end_time, sighting.at);
      }
    }
  }
  return bounds;
}

std::string Signed(absl::Duration offset) {
  if (offset == absl::InfiniteDuration() || offset == -absl::InfiniteDuration()) return "any";
  return absl::FormatDuration(absl::Trunc(offset, absl::Microseconds(1)));
}

std::string AboutClock(const std::string& whose, const std::string& against,
                       const OffsetBounds& bounds) {
  if (bounds.contradict()) {
    return absl::StrCat(whose, " clock fits no offset from ", against,
                        " clock: one of them was set meanwhile, and times of both do not fit");
  }
  const absl::Duration offset = bounds.Choose();
  return absl::StrCat(whose, " clock can be from ", Signed(bounds.least()), " to ",
                      Signed(bounds.most()), " ahead of ", against, " clock; ",
                      offset == absl::ZeroDuration()
                          ? "it is taken as it is"
                          : absl::StrCat("it is moved by ", Signed(-offset)));
}

// The client's moments.
TimelineTrack ClientTrack(absl::Span<const FollowedJob> jobs) {
  TimelineTrack track = {"client", "jobs", {}};
  for (const FollowedJob& followed : jobs) {
    const std::vector<JobSighting>& sightings = followed.sightings;
    const absl::Time end = std::max(followed.submit_end,
                                    sightings.empty() ? followed.submit_end : sightings.back().at);
    track.spans.push_back(
        {Title(followed),
         followed.submit_begin,
         end - followed.submit_begin,
         {{"job", followed.job.id}, {"state", std::string(Name(followed.job.state))}}});
    track.spans.push_back({"submit",
                           followed.submit_begin,
                           followed.submit_end - followed.submit_begin,
                           {{"what", "sends what the server lacks, until the job is accepted"}}});
    for (size_t i = 0; i + 1 < sightings.size(); ++i) {
      const JobSighting& sighting = sightings[i];
      const std::string state(Name(sighting.state));
      const absl::Time begin = std::max(sighting.at, followed.submit_end);
      track.spans.push_back(
          {sighting.stage.empty() ? state : absl::StrCat(state, ": ", sighting.stage),
           begin,
           sightings[i + 1].at - begin,
           {{"what", "as the client heard it"}}});
    }
  }
  return track;
}

// The server's moments, by the client's clock.
std::optional<TimelineTrack> ServerTrack(const FollowedJob& followed, absl::Duration ahead) {
  const Job& job = followed.job;
  if (!IsKnown(job.create_time) || !IsKnown(job.end_time)) return std::nullopt;
  const absl::Time create = job.create_time - ahead;
  const absl::Time end = std::max(job.end_time - ahead, create);
  TimelineTrack track = {"server", Title(followed), {}};
  track.spans.push_back({Title(followed),
                         create,
                         end - create,
                         {{"job", job.id},
                          {"owner", job.owner},
                          {"attempts", static_cast<int64_t>(job.attempts)},
                          {"priority", static_cast<int64_t>(job.priority)}}});
  if (!IsKnown(job.start_time)) {
    track.spans.push_back({"queued", create, end - create});
    return track;
  }
  const absl::Time start = std::clamp(job.start_time - ahead, create, end);
  track.spans.push_back({"queued, assigned", create, start - create});
  track.spans.push_back({"running", start, end - start, {{"by", job.assignee}}});
  return track;
}

void AddCompilation(const FollowedJob& followed, absl::Duration ahead, Timeline& timeline) {
  const Job& job = followed.job;
  if (!job.compilation.has_value() || !IsKnown(job.start_time)) return;
  if (job.compilation->cached) {
    timeline.remarks.push_back(absl::StrCat(
        "\"", followed.subject,
        "\" was compiled before: the stages are those of that compilation, and not drawn"));
    return;
  }
  const std::string process = absl::StrCat("worker ", job.assignee);
  TimelineTrack stages = {process, absl::StrCat("stages of ", followed.subject), {}};
  TimelineTrack passes = {process, absl::StrCat("passes of ", followed.subject), {}};
  absl::Time at = job.start_time - ahead;
  for (const StageTime& stage : job.compilation->stages) {
    TimelineSpan span = {stage.name, at, stage.duration};
    if (stage.name == "compile kernels") {
      span.facts = {{"kernels", job.compilation->kernels},
                    {"compiled", job.compilation->kernels_compiled},
                    {"cached", job.compilation->kernels_cached}};
    }
    stages.spans.push_back(std::move(span));
    if (stage.name == "passes") {
      absl::Time pass_at = at;
      for (const StageTime& pass : job.compilation->passes) {
        passes.spans.push_back(
            {pass.name, pass_at, pass.duration, {{"nodes_after", pass.nodes_after}}});
        pass_at += pass.duration;
      }
    }
    at += stage.duration;
  }
  timeline.remarks.push_back(
      absl::StrCat("stages of compiling \"", followed.subject,
                   "\" follow each other from when the server heard that they began; what is left "
                   "until its end is the start of the "
                   "compiler and sending the artifact"));
  timeline.tracks.push_back(std::move(stages));
  if (!passes.spans.empty()) timeline.tracks.push_back(std::move(passes));
}

// What an attempt on a device did, as far as it is in `timings`; `run` is what the time of running is called.
TimelineTrack AttemptTrack(const std::string& device, const AttemptTimings& timings,
                           absl::Time start, const std::vector<TimelineSpan>& work) {
  TimelineTrack track = {absl::StrCat("agent ", device), "attempt", {}};
  const absl::Time spawn = start - timings.spawn;
  track.spans.push_back(
      {"fetch", spawn - timings.fetch, timings.fetch, {{"what", "blobs that the device lacked"}}});
  track.spans.push_back({"start of the runner", spawn, timings.spawn});
  absl::Time at = start;
  for (const TimelineSpan& span : work) {
    track.spans.push_back(span);
    at = std::max(at, span.begin + span.length);
  }
  track.spans.push_back({"upload", at, timings.upload, {{"what", "results"}}});
  return track;
}

void AddRun(const FollowedJob& followed, absl::Duration ahead, Timeline& timeline) {
  const Job& job = followed.job;
  if (!IsKnown(job.start_time) || !IsKnown(job.end_time)) return;
  const AttemptTimings& timings = job.run->timings;
  // The server may hear of the begin together with the end.
  const absl::Time start =
      std::min(job.start_time, job.end_time - timings.load - timings.run - timings.upload) - ahead;
  timeline.tracks.push_back(
      AttemptTrack(job.run->device, timings, start,
                   {{"load", start, timings.load}, {"run", start + timings.load, timings.run}}));
}

// The device's clock against the server's: its samples were taken after the server had the job, and had ended when it ended.
OffsetBounds DeviceBounds(const Job& job, absl::Duration before_samples, absl::Duration samples) {
  OffsetBounds bounds;
  const absl::Time begin = job.benchmark->start_time;
  bounds.After(begin, job.create_time + before_samples);
  bounds.Before(begin + samples, job.end_time);
  return bounds;
}

void AddBenchmark(const FollowedJob& followed, absl::Duration ahead, const ArtifactSummary& program,
                  Timeline& timeline) {
  const Job& job = followed.job;
  const BenchmarkResult& result = *job.benchmark;
  if (!IsKnown(job.start_time) || !IsKnown(job.end_time)) return;
  const AttemptTimings& timings = result.timings;
  const absl::Duration before = absl::Nanoseconds(result.load_cold_ns) +
                                absl::Nanoseconds(result.first_run_ns) +
                                absl::Nanoseconds(result.load_warm_ns);
  const absl::Duration samples = SamplesLength(result);
  const OffsetBounds bounds = DeviceBounds(job, before, samples);
  timeline.remarks.push_back(
      AboutClock(absl::StrCat("the device's (", result.device, ")"), "the server's", bounds));
  const absl::Time begin = result.start_time - bounds.Choose() - ahead;
  // The server hears that measuring began after it did: it begins then at the latest, and early enough for all that it has.
  const absl::Time start = std::min({job.start_time - ahead, begin - before,
                                     job.end_time - ahead - timings.run - timings.upload});
  timeline.tracks.push_back(AttemptTrack(
      result.device, timings, start,
      {{"measure", start, timings.run, {{"threads", static_cast<int64_t>(result.threads)}}}}));
  AddMeasurement(result, program, start, begin, timeline);
}

}  // namespace

Timeline MakeTimeline(absl::Span<const FollowedJob> jobs, const ArtifactSummary& program) {
  Timeline timeline;
  const OffsetBounds bounds = ServerBounds(jobs);
  const absl::Duration ahead = bounds.Choose();
  timeline.remarks.push_back(AboutClock("the server's", "this machine's", bounds));
  timeline.tracks.push_back(ClientTrack(jobs));
  for (const FollowedJob& followed : jobs) {
    if (auto track = ServerTrack(followed, ahead)) timeline.tracks.push_back(*std::move(track));
  }
  for (const FollowedJob& followed : jobs) {
    AddCompilation(followed, ahead, timeline);
    if (followed.job.run.has_value()) AddRun(followed, ahead, timeline);
    if (followed.job.benchmark.has_value()) AddBenchmark(followed, ahead, program, timeline);
  }
  return timeline;
}

}  // namespace slipway
