// Timeline: when what was done for jobs, by whom, on one clock. Pure.
//
// A job's life is written down by four machines with clocks of their own. Client and server are brought together by what
// must have followed each other: a job is accepted while its client submits it, and is not seen in a state before it is in it.
// The device's clock is held against the job's begin and end at the server. What has a length and no moment (stages of a compilation,
// of an attempt) stands in the order in which it is done, from where it can have begun. Timeline::remarks say all of this
// with the numbers at hand.
#ifndef SLIPWAY_CLIENT_TRACE_TIMELINE_H_
#define SLIPWAY_CLIENT_TRACE_TIMELINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/artifact_summary.h"
#include "client/trace/followed_job.h"

namespace slipway {

// Facts about a span, by name.
using TimelineFacts = std::vector<std::pair<std::string, std::variant<std::string, int64_t>>>;

struct TimelineSpan {
  std::string name;
  absl::Time begin;  // By the client's clock, like all times here.
  absl::Duration length;
  TimelineFacts facts = {};
};

// What follows each other, or is part of each other: two spans of a track are apart, or one holds the other and comes
// first.
struct TimelineTrack {
  std::string process;  // "client", "server", "worker NAME", "agent NAME", "program NAME".
  std::string name;
  std::vector<TimelineSpan> spans;
};

// A number that changes.
struct TimelineCounter {
  std::string process;
  std::string name;
  std::vector<std::pair<absl::Time, double>> values;
};

struct Timeline {
  std::vector<TimelineTrack> tracks;  // Those of one process follow each other.
  std::vector<TimelineCounter> counters;
  std::vector<std::string> remarks;  // A sentence each, for people.
};

// Samples that are drawn one by one at most; of more, neighbours are one span.
inline constexpr size_t kMostSampleSpans = 10'000;

// `program` is what the last job ran or measured. Jobs that have not ended are drawn as far as they were seen.
Timeline MakeTimeline(absl::Span<const FollowedJob> jobs, const ArtifactSummary& program);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_TIMELINE_H_
