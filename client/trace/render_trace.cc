#include "client/trace/render_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/json_writer.h"
#include "core/base/version.h"

namespace slipway {
namespace {

absl::Time FirstMoment(const Timeline& timeline) {
  absl::Time first = absl::InfiniteFuture();
  for (const TimelineTrack& track : timeline.tracks) {
    for (const TimelineSpan& span : track.spans) first = std::min(first, span.begin);
  }
  return first == absl::InfiniteFuture() ? absl::UnixEpoch() : first;
}

// Processes have numbers from 1, in the order in which they come first.
class TraceWriter {
 public:
  explicit TraceWriter(absl::Time origin) : origin_(origin) {}

  void Track(const TimelineTrack& track) {
    const int64_t process = Process(track.process);
    const int64_t thread = ++threads_;
    Metadata("thread_name", process, thread, track.name);
    for (const TimelineSpan& span : track.spans) {
      Begin(span.name, "X", process);
      json_.Integer("tid", thread);
      Moment("ts", span.begin - origin_);
      Moment("dur", span.length);
      json_.BeginObject("args");
      for (const auto& [name, value] : span.facts) {
        if (const auto* text = std::get_if<std::string>(&value)) {
          json_.Text(name, *text);
        } else {
          json_.Integer(name, std::get<int64_t>(value));
        }
      }
      json_.EndObject();
      json_.EndObject();
    }
  }

  void Counter(const TimelineCounter& counter) {
    const int64_t process = Process(counter.process);
    for (const auto& [at, value] : counter.values) {
      Begin(counter.name, "C", process);
      Moment("ts", at - origin_);
      json_.BeginObject("args");
      json_.Real("value", value);
      json_.EndObject();
      json_.EndObject();
    }
  }

  JsonWriter& json() { return json_; }

 private:
  void Begin(const std::string& name, const char* phase, int64_t process) {
    json_.BeginObjectInLine();
    json_.Text("name", name);
    json_.Text("ph", phase);
    json_.Integer("pid", process);
  }

  void Moment(const char* name, absl::Duration time) {
    json_.Decimal(name, absl::ToInt64Nanoseconds(time), 3);
  }

  void Metadata(const char* what, int64_t process, int64_t thread, const std::string& name) {
    Begin(what, "M", process);
    json_.Integer("tid", thread);
    json_.BeginObject("args");
    json_.Text("name", name);
    json_.EndObject();
    json_.EndObject();
  }

  int64_t Process(const std::string& name) {
    const auto [process, is_new] =
        processes_.emplace(name, static_cast<int64_t>(processes_.size()) + 1);
    if (is_new) Metadata("process_name", process->second, 0, name);
    return process->second;
  }

  const absl::Time origin_;
  JsonWriter json_;
  std::map<std::string, int64_t> processes_;
  int64_t threads_ = 0;
};

}  // namespace

std::string RenderTrace(const Timeline& timeline) {
  const absl::Time origin = FirstMoment(timeline);
  TraceWriter writer(origin);
  JsonWriter& json = writer.json();
  json.BeginObject();
  json.Text("displayTimeUnit", "ns");
  json.BeginObject("otherData");
  json.Text("schema_version", "1");
  json.Text("written_by", absl::StrCat("slipway ", kVersion));
  json.Text("begins_at", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", origin, absl::UTCTimeZone()));
  for (size_t i = 0; i < timeline.remarks.size(); ++i) {
    json.Text(absl::StrCat("remark_", i + 1), timeline.remarks[i]);
  }
  json.EndObject();
  json.BeginArray("traceEvents");
  for (const TimelineTrack& track : timeline.tracks) writer.Track(track);
  for (const TimelineCounter& counter : timeline.counters) writer.Counter(counter);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace slipway
