#include "client/trace/render_trace.h"

#include "core/base/version.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

const absl::Time kBegin = absl::FromUnixSeconds(1'767'225'600);

TEST(RenderTraceTest, SpansAndCounters) {
  Timeline timeline;
  timeline.remarks = {"a \"remark\""};
  timeline.tracks = {
      {"client",
       "jobs",
       {{"<job>", kBegin + absl::Nanoseconds(1), absl::Nanoseconds(2'500), {{"job", "01JA"}}},
        {"submit", kBegin + absl::Nanoseconds(1), absl::Nanoseconds(1), {{"attempts", 2}}}}},
      {"server", "jobs", {{"wait", kBegin + absl::Seconds(100'000), absl::ZeroDuration()}}},
      {"client", "more", {}}};
  timeline.counters = {{"server", "temperature, C", {{kBegin + absl::Microseconds(3), 61.5}}}};
  EXPECT_EQ(RenderTrace(timeline),
            R"({
  "displayTimeUnit": "ns",
  "otherData": {
    "schema_version": "1",
    "written_by": "slipway )" +
                std::string(kVersion) + R"(",
    "begins_at": "2026-01-01T00:00:00.000000Z",
    "remark_1": "a \"remark\""
  },
  "traceEvents": [
    {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "client"}},
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "jobs"}},
    {"name": "<job>", "ph": "X", "pid": 1, "tid": 1, "ts": 0.000, "dur": 2.500, "args": {"job": "01JA"}},
    {"name": "submit", "ph": "X", "pid": 1, "tid": 1, "ts": 0.000, "dur": 0.001, "args": {"attempts": 2}},
    {"name": "process_name", "ph": "M", "pid": 2, "tid": 0, "args": {"name": "server"}},
    {"name": "thread_name", "ph": "M", "pid": 2, "tid": 2, "args": {"name": "jobs"}},
    {"name": "wait", "ph": "X", "pid": 2, "tid": 2, "ts": 99999999999.999, "dur": 0.000, "args": {}},
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 3, "args": {"name": "more"}},
    {"name": "temperature, C", "ph": "C", "pid": 2, "ts": 2.999, "args": {"value": 61.5}}
  ]
}
)");
}

TEST(RenderTraceTest, NothingIsATraceToo) {
  EXPECT_NE(RenderTrace({}).find("\"traceEvents\": []"), std::string::npos);
}

}  // namespace
}  // namespace slipway
