#include "server/jobs/job_filter.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

v1::Job Benchmark() {
  v1::Job job;
  job.set_id("01JAAAAAAAAAAAAAAAAAAAA002");
  job.set_owner("ann");
  job.set_state(v1::Job::RUNNING);
  job.set_subject("ResNet50.onnx");
  job.set_create_time_ns(2'000);
  job.mutable_benchmark()->mutable_run()->set_device("board-1");
  for (const char* key : {"branch", "commit"}) {
    v1::Tag& tag = *job.add_tags();
    tag.set_key(key);
    tag.set_value("1f0c");
  }
  return job;
}

JobFilter Of(const std::function<void(JobFilter&)>& set) {
  JobFilter filter{.owner = "ann"};
  set(filter);
  return filter;
}

TEST(JobFilterTest, TellsWhoPasses) {
  struct Case {
    const char* what;
    JobFilter passes;
    JobFilter does_not;
    bool without_spec = true;  // Whether that can be told without the specification.
  };
  for (const Case& c : std::vector<Case>{
           {"owner", Of([](JobFilter&) {}), Of([](JobFilter& f) { f.owner = "bob"; })},
           {"everybody", Of([](JobFilter& f) { f = {.owner = "bob", .of_everybody = true}; }),
            Of([](JobFilter& f) { f = {.owner = ""}; })},
           {"state", Of([](JobFilter& f) {
              f.states = {v1::Job::QUEUED, v1::Job::RUNNING};
            }),
            Of([](JobFilter& f) { f.states = {v1::Job::QUEUED}; })},
           {"id", Of([](JobFilter& f) { f.before_id = "01JAAAAAAAAAAAAAAAAAAAA003"; }),
            Of([](JobFilter& f) { f.before_id = "01JAAAAAAAAAAAAAAAAAAAA002"; })},
           {"kind", Of([](JobFilter& f) {
              f.kinds = {v1::Job::RUN, v1::Job::BENCHMARK};
            }),
            Of([](JobFilter& f) { f.kinds = {v1::Job::RUN}; }), false},
           {"device asked for", Of([](JobFilter& f) { f.device = "board-1"; }),
            Of([](JobFilter& f) { f.device = "board-2"; }), false},
           {"tags", Of([](JobFilter& f) {
              f.tags = {{"commit", "1f0c"}, {"branch", "1f0c"}};
            }),
            Of([](JobFilter& f) {
              f.tags = {{"commit", "1f0c"}, {"branch", "1f0"}};
            })},
           {"subject", Of([](JobFilter& f) { f.subject = "sNET50."; }),
            Of([](JobFilter& f) { f.subject = "resnet18"; })},
           {"since", Of([](JobFilter& f) { f.since = absl::FromUnixNanos(2'000); }),
            Of([](JobFilter& f) { f.since = absl::FromUnixNanos(2'001); })},
       }) {
    EXPECT_TRUE(Matches(c.passes, Benchmark())) << c.what;
    EXPECT_FALSE(Matches(c.does_not, Benchmark())) << c.what;
    v1::Job small = Benchmark();
    small.clear_spec();
    EXPECT_TRUE(MayMatch(c.passes, small)) << c.what;
    EXPECT_EQ(MayMatch(c.does_not, small), !c.without_spec) << c.what;
  }
}

TEST(JobFilterTest, TheDeviceThatHasAJobCounts) {
  v1::Job job = Benchmark();
  job.mutable_benchmark()->mutable_run()->clear_device();
  const JobFilter filter = Of([](JobFilter& f) { f.device = "board-2"; });
  EXPECT_FALSE(Matches(filter, job));
  job.set_assignee("board-2");
  EXPECT_TRUE(Matches(filter, job));
  job.set_assignee("board-3");
  EXPECT_FALSE(MayMatch(filter, job));
}

TEST(JobFilterTest, KnowsEveryKind) {
  v1::Job job;
  EXPECT_EQ(KindOf(job), v1::Job::KIND_UNSPECIFIED);
  job.mutable_compilation();
  EXPECT_EQ(KindOf(job), v1::Job::COMPILATION);
  job.mutable_run();
  EXPECT_EQ(KindOf(job), v1::Job::RUN);
  job.mutable_benchmark();
  EXPECT_EQ(KindOf(job), v1::Job::BENCHMARK);
  job.mutable_session();
  EXPECT_EQ(KindOf(job), v1::Job::SESSION);
}

}  // namespace
}  // namespace slipway::server
