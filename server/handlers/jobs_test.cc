#include "server/handlers/jobs.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/fleet.h"
#include "server/handlers/runs.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/limits.h"
#include "server/peers/sync_messages.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using v1::Job;

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() : manifest_(server_.PutProgram()) {}

  std::string Create() { return Create(server_.caller, absl::StrCat("r", ++requests_)); }
  std::string Create(const Caller& caller, const std::string& request_id) {
    v1::CreateRunRequest request;
    request.set_request_id(request_id);
    *request.mutable_spec()->mutable_manifest() = manifest_;
    v1::CreateJobResponse response;
    EXPECT_OK(CreateRun(caller, server_.env, request, &response));
    return response.job_id();
  }
  Job Cancel(const std::string& id) {
    v1::CancelJobRequest request;
    request.set_id(id);
    Job job;
    EXPECT_OK(CancelJob(server_.caller, server_.env, request, &job));
    return job;
  }
  absl::StatusOr<v1::ListJobsResponse> List(const v1::ListJobsRequest& request) {
    v1::ListJobsResponse response;
    const absl::Status status = ListJobs(server_.caller, server_.env, request, &response);
    if (!status.ok()) return status;
    return response;
  }
  static std::vector<std::string> Ids(const v1::ListJobsResponse& response) {
    std::vector<std::string> ids;
    for (const Job& job : response.jobs()) ids.push_back(job.id());
    return ids;
  }

  testing::HandlerEnvironment server_;
  const v1::Digest manifest_;
  int requests_ = 0;
};

TEST_F(JobsTest, AJobIsReadByItsId) {
  const std::string id = Create();
  v1::GetJobRequest request;
  request.set_id(id);
  Job job;
  ASSERT_OK(GetJob(server_.caller, server_.env, request, &job));
  EXPECT_EQ(job.id(), id);
  EXPECT_EQ(job.run().manifest().sha256(), manifest_.sha256());
  EXPECT_THAT(ReadJob(server_.caller, server_.env, "nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadJob(server_.caller, server_.env, server_.ids.Next(server_.clock.Now())),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobsTest, ListsComeInPagesNewestFirst) {
  const std::string a = Create(), b = Create(), c = Create();
  v1::ListJobsRequest request;
  EXPECT_THAT(Ids(List(request).value()), ElementsAre(c, b, a));
  EXPECT_EQ(List(request)->next_page_token(), "");
  request.set_page_size(3);
  EXPECT_EQ(List(request)->next_page_token(), "");
  request.set_page_size(2);
  const auto first = List(request);
  EXPECT_THAT(Ids(first.value()), ElementsAre(c, b));
  request.set_page_token(first->next_page_token());
  const auto second = List(request);
  EXPECT_THAT(Ids(second.value()), ElementsAre(a));
  EXPECT_EQ(second->next_page_token(), "");
}

TEST_F(JobsTest, APageHasADefaultAndALargestSize) {
  for (int i = 0; i <= kDefaultPageSize; ++i) Create();
  v1::ListJobsRequest request;
  EXPECT_EQ(List(request)->jobs_size(), kDefaultPageSize);
  request.set_page_size(kMaxPageSize);
  EXPECT_EQ(List(request)->jobs_size(), kDefaultPageSize + 1);
  for (const int bad : {-1, kMaxPageSize + 1}) {
    request.set_page_size(bad);
    EXPECT_THAT(List(request),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_size")));
  }
}

TEST_F(JobsTest, ListsOfSomeStates) {
  const std::string ended = Create(), waiting = Create();
  Cancel(ended);
  v1::ListJobsRequest request;
  request.add_states(Job::CANCELLED);
  EXPECT_THAT(Ids(List(request).value()), ElementsAre(ended));
  request.add_states(Job::QUEUED);
  EXPECT_THAT(Ids(List(request).value()), ElementsAre(waiting, ended));
  for (const int bad : {0, 77}) {
    v1::ListJobsRequest other;
    other.add_states(static_cast<Job::State>(bad));
    EXPECT_THAT(List(other), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("state")));
  }
  request.set_page_token("nonsense");
  EXPECT_THAT(List(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_token")));
}

v1::CreateRunRequest TaggedRun(const v1::Digest& manifest, const std::string& request_id,
                               const std::vector<std::pair<std::string, std::string>>& tags) {
  v1::CreateRunRequest request;
  request.set_request_id(request_id);
  *request.mutable_spec()->mutable_manifest() = manifest;
  for (const auto& [key, value] : tags) {
    v1::Tag& tag = *request.add_tags();
    tag.set_key(key);
    tag.set_value(value);
  }
  return request;
}

TEST_F(JobsTest, AJobHasTheNameOfItsProgramAndItsTags) {
  v1::CreateJobResponse response;
  ASSERT_OK(CreateRun(server_.caller, server_.env,
                      TaggedRun(manifest_, "r", {{"commit", "1f"}, {"branch", "main"}}),
                      &response));
  const Job job = *ReadJob(server_.caller, server_.env, response.job_id());
  EXPECT_EQ(job.subject(), TestManifest().name());
  ASSERT_EQ(job.tags_size(), 2);
  EXPECT_EQ(job.tags(0).key(), "branch");
  EXPECT_EQ(job.tags(1).value(), "1f");

  v1::ListJobsRequest list;
  *list.add_tags() = job.tags(1);
  EXPECT_THAT(Ids(List(list).value()), ElementsAre(job.id()));
  list.mutable_tags(0)->set_value("other");
  EXPECT_EQ(List(list)->jobs_size(), 0);
}

TEST_F(JobsTest, AJobIsCalledAsItsClientCallsTheProgram) {
  v1::CreateRunRequest request = TaggedRun(manifest_, "r", {});
  request.mutable_spec()->set_name("net\n.onnx" + std::string(200, 'x'));
  v1::CreateJobResponse response;
  ASSERT_OK(CreateRun(server_.caller, server_.env, request, &response));
  EXPECT_EQ(ReadJob(server_.caller, server_.env, response.job_id())->subject(),
            "net .onnx" + std::string(kMaxSubjectBytes - 12, 'x') + "...");
  request.set_request_id("other");
  request.mutable_spec()->set_name(std::string(256, 'x'));
  EXPECT_THAT(CreateRun(server_.caller, server_.env, request, &response),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name has 256 bytes")));
}

TEST_F(JobsTest, TagsThatAreNoneAreRefusedByName) {
  v1::CreateJobResponse response;
  const auto create = [&](const std::vector<std::pair<std::string, std::string>>& tags) {
    return CreateRun(server_.caller, server_.env, TaggedRun(manifest_, "r", tags), &response);
  };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(create({{"commit", "a\nb"}}),
              StatusIs(kBad, HasSubstr("\"commit\" has the byte 0x0a")));
  EXPECT_THAT(create({{"", "x"}}), StatusIs(kBad, HasSubstr("has 0 bytes")));
  EXPECT_THAT(create({{"a", "1"}, {"a", "2"}}), StatusIs(kBad, HasSubstr("given twice")));
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 17; ++i) many.emplace_back(std::to_string(i), "v");
  EXPECT_THAT(create(many), StatusIs(kBad, HasSubstr("17 tags are given; at most 16")));
}

TEST_F(JobsTest, ListsOfWhatIsAskedFor) {
  ASSERT_OK(server_.AddDevice("board-1", "x86-64-v3-linux"));
  const std::string id = Create();  // The device has it at once.
  const auto ids = [&](const std::function<void(v1::ListJobsRequest&)>& set) {
    v1::ListJobsRequest request;
    set(request);
    return Ids(List(request).value()).size();
  };
  EXPECT_EQ(ids([](auto& r) { r.add_kinds(Job::RUN); }), 1u);
  EXPECT_EQ(ids([](auto& r) { r.add_kinds(Job::BENCHMARK); }), 0u);
  EXPECT_EQ(ids([](auto& r) { r.set_device("board-1"); }), 1u);
  EXPECT_EQ(ids([](auto& r) { r.set_device("board-2"); }), 0u);
  EXPECT_EQ(ids([](auto& r) { r.set_subject(TestManifest().name().substr(1)); }), 1u);
  EXPECT_EQ(ids([](auto& r) { r.set_subject("nothing"); }), 0u);
  EXPECT_EQ(ids([](auto& r) { r.set_owner("ann"); }), 1u);
  const int64_t now = absl::ToUnixNanos(server_.clock.Now());
  EXPECT_EQ(ids([&](auto& r) { r.set_since_ns(now); }), 1u);
  EXPECT_EQ(ids([&](auto& r) { r.set_since_ns(now + 1); }), 0u);
}

TEST_F(JobsTest, FiltersThatAreNoneAreRefused) {
  struct Case {
    std::function<void(v1::ListJobsRequest&)> set;
    absl::StatusCode code;
    std::string says;
  };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  for (const Case& c : std::vector<Case>{
           {[](auto& r) { r.add_kinds(static_cast<Job::Kind>(77)); }, kBad, "kind 77"},
           {[](auto& r) { r.add_kinds(Job::KIND_UNSPECIFIED); }, kBad, "kind 0"},
           {[](auto& r) { r.set_device("no device!"); }, kBad, "device"},
           {[](auto& r) { r.add_tags()->set_key("k"); }, kBad, "the value of tag \"k\""},
           {[](auto& r) { r.set_subject(std::string(129, 's')); }, kBad, "subject has 129 bytes"},
           {[](auto& r) { r.set_since_ns(-1); }, kBad, "since_ns is -1"},
           {[](auto& r) { r.set_owner("bob"); }, absl::StatusCode::kPermissionDenied, "not admin"},
       }) {
    v1::ListJobsRequest request;
    c.set(request);
    EXPECT_THAT(List(request), StatusIs(c.code, HasSubstr(c.says)));
  }
}

TEST_F(JobsTest, AnAdministratorListsThoseOfOneOwner) {
  const Caller root = {.owner = "root", .roles = {Role::kAdmin}};
  Create();
  const std::string bobs = Create(server_.Owner("bob"), "b");
  v1::ListJobsRequest list;
  list.set_owner("bob");
  v1::ListJobsResponse listed;
  ASSERT_OK(ListJobs(root, server_.env, list, &listed));
  EXPECT_THAT(Ids(listed), ElementsAre(bobs));
}

TEST_F(JobsTest, CancelEndsAJobOnce) {
  const std::string id = Create();
  EXPECT_EQ(Cancel(id).state(), Job::CANCELLED);
  EXPECT_EQ(Cancel(id).state(), Job::CANCELLED);
  EXPECT_EQ(ReadJob(server_.caller, server_.env, id)->state(), Job::CANCELLED);
  v1::CancelJobRequest request;
  request.set_id("nonsense");
  Job job;
  EXPECT_THAT(CancelJob(server_.caller, server_.env, request, &job),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(JobsTest, AnAdministratorSeesAndEndsEverybodys) {
  const Caller root = {.owner = "root", .roles = {Role::kAdmin}};
  const std::string mine = Create(), bobs = Create(server_.Owner("bob"), "b");
  EXPECT_EQ(ReadJob(root, server_.env, mine)->owner(), server_.caller.owner);
  v1::ListJobsRequest list;
  v1::ListJobsResponse listed;
  ASSERT_OK(ListJobs(root, server_.env, list, &listed));
  EXPECT_EQ(listed.jobs_size(), 0);  // Of his own there are none.
  list.set_of_everybody(true);
  ASSERT_OK(ListJobs(root, server_.env, list, &listed));
  EXPECT_THAT(Ids(listed), ElementsAre(bobs, mine));
  EXPECT_THAT(List(list), StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("not admin")));
  v1::CancelJobRequest cancel;
  cancel.set_id(bobs);
  Job job;
  ASSERT_OK(CancelJob(root, server_.env, cancel, &job));
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_EQ(job.owner(), "bob");
}

// As if the jobs of others did not exist.
TEST_F(JobsTest, EverybodySeesAndEndsHisOwn) {
  const Caller& ann = server_.caller;
  const Caller bob = server_.Owner("bob");
  const std::string mine = Create(ann, "same name"), his = Create(bob, "same name");
  EXPECT_NE(mine, his);
  EXPECT_EQ(Create(ann, "same name"), mine);
  EXPECT_EQ(Create(bob, "same name"), his);
  EXPECT_EQ(ReadJob(bob, server_.env, his)->owner(), "bob");

  const std::string unknown = server_.ids.Next(server_.clock.Now());
  const auto message = [&](const absl::Status& status, const std::string& id) {
    return absl::StrReplaceAll(status.ToString(), {{id, "ID"}});
  };
  v1::CancelJobRequest cancel;
  Job job;
  cancel.set_id(unknown);
  const absl::Status no_such = CancelJob(ann, server_.env, cancel, &job);
  cancel.set_id(his);
  EXPECT_EQ(message(CancelJob(ann, server_.env, cancel, &job), his), message(no_such, unknown));
  EXPECT_EQ(ReadJob(bob, server_.env, his)->state(), Job::QUEUED);
  EXPECT_EQ(message(ReadJob(ann, server_.env, his).status(), his),
            message(ReadJob(ann, server_.env, unknown).status(), unknown));

  for (const auto& [caller, id] : {std::pair(ann, mine), std::pair(bob, his)}) {
    v1::ListJobsResponse listed;
    ASSERT_OK(ListJobs(caller, server_.env, {}, &listed));
    EXPECT_THAT(Ids(listed), ElementsAre(id));
  }
  ASSERT_OK(CancelJob(bob, server_.env, cancel, &job));
  EXPECT_EQ(job.state(), Job::CANCELLED);
  // One that has ended, too.
  EXPECT_THAT(CancelJob(ann, server_.env, cancel, &job), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobsTest, WhoWaitsIsToldHisPlace) {
  const std::string first = Create(), second = Create();
  const std::string bobs = Create(server_.Owner("bob"), "b");
  EXPECT_EQ(ReadJob(server_.caller, server_.env, first)->queue_position(), 1);
  EXPECT_EQ(ReadJob(server_.caller, server_.env, second)->queue_position(), 3);
  EXPECT_EQ(ReadJob(server_.Owner("bob"), server_.env, bobs)->queue_position(), 2);
  Cancel(first);
  EXPECT_EQ(ReadJob(server_.caller, server_.env, first)->queue_position(), 0);
  EXPECT_EQ(ReadJob(server_.caller, server_.env, second)->queue_position(), 1);
}

TEST_F(JobsTest, UsersAskForPrioritiesUpToALimit) {
  v1::CreateRunRequest request;
  *request.mutable_spec()->mutable_manifest() = manifest_;
  v1::CreateJobResponse response;
  const auto create = [&](const Caller& caller, int priority) {
    request.set_request_id(absl::StrCat("priority ", priority));
    request.set_priority(priority);
    return CreateRun(caller, server_.env, request, &response);
  };
  EXPECT_OK(create(server_.caller, -1));
  EXPECT_OK(create(server_.caller, 0));
  EXPECT_THAT(create(server_.caller, 1),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("--max-user-priority")));
  server_.env.limits.max_user_priority = 5;
  EXPECT_OK(create(server_.caller, 5));
  EXPECT_THAT(create(server_.caller, 6), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_OK(create({.owner = "root", .roles = {Role::kAdmin}}, kMaxPriority));
}

TEST_F(JobsTest, HigherPrioritiesGoFirst) {
  server_.env.limits.max_user_priority = kMaxPriority;
  v1::CreateRunRequest request;
  *request.mutable_spec()->mutable_manifest() = manifest_;
  v1::CreateJobResponse response;
  const std::string normal = Create();
  for (const int priority : {kMaxPriority, -kMaxPriority}) {
    request.set_request_id(absl::StrCat("priority ", priority));
    request.set_priority(priority);
    ASSERT_OK(CreateRun(server_.caller, server_.env, request, &response));
    const Job job = *ReadJob(server_.caller, server_.env, response.job_id());
    EXPECT_EQ(job.priority(), priority);
    EXPECT_EQ(job.queue_position(), priority > 0 ? 1 : 3);
  }
  EXPECT_EQ(ReadJob(server_.caller, server_.env, normal)->queue_position(), 2);
  for (const int bad : {kMaxPriority + 1, -kMaxPriority - 1}) {
    request.set_priority(bad);
    EXPECT_THAT(CreateRun(server_.caller, server_.env, request, &response),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("priority")));
  }
}

TEST_F(JobsTest, WhoWorksOnADeviceIsHisOwnBusiness) {
  ASSERT_OK(server_.AddDevice("pc", "x86-64-v3-linux"));
  const std::string id = Create();
  for (const auto& [caller, shown] :
       {std::pair(server_.caller, id), std::pair(server_.Owner("bob"), std::string())}) {
    v1::ListDevicesResponse devices;
    ASSERT_OK(ListDevices(caller, server_.env, {}, &devices));
    EXPECT_EQ(devices.devices(0).job_id(), shown);
    EXPECT_EQ(devices.devices(0).state(), v1::Device::BUSY);
  }
}

TEST_F(JobsTest, TheFleetIsWhatReported) {
  ASSERT_OK(server_.AddDevice("pc", "x86-64-v3-linux"));
  v1::ListDevicesResponse devices;
  ASSERT_OK(ListDevices(server_.caller, server_.env, {}, &devices));
  ASSERT_EQ(devices.devices_size(), 1);
  EXPECT_EQ(devices.devices(0).description().id(), "pc");
  v1::WorkerState worker;
  worker.set_worker_id("w");
  worker.set_instance_id("i");
  worker.set_sequence(1);
  worker.set_min_protocol(1);
  worker.set_max_protocol(1);
  worker.set_capacity(1);
  worker.set_fingerprint(std::string(64, 'f'));
  ASSERT_OK(server_.dispatcher->Reported(*ReadReport(worker, "here")));
  v1::ListWorkersResponse workers;
  ASSERT_OK(ListWorkers(server_.caller, server_.env, &workers));
  ASSERT_EQ(workers.workers_size(), 1);
  EXPECT_EQ(workers.workers(0).id(), "w");
}

TEST_F(JobsTest, TheServerSaysWhatItIsAndAllows) {
  server_.env.limits = {.max_blob_bytes = 1,
                        .max_model_bytes = 2,
                        .max_input_bytes = 3,
                        .max_queued_jobs = 4,
                        .blob_quota_bytes = 5,
                        .job_retention = absl::Nanoseconds(6)};
  v1::ServerInfo info;
  ASSERT_OK(GetServerInfo(server_.caller, server_.env, &info));
  EXPECT_EQ(info.version(), kVersion);
  EXPECT_EQ(info.instance_id(), "instance");
  EXPECT_LE(info.min_protocol(), info.max_protocol());
  EXPECT_THAT(info.targets(), ::testing::Contains("x86-64-v3-linux"));
  EXPECT_EQ(info.limits().max_blob_bytes(), 1);
  EXPECT_EQ(info.limits().max_model_bytes(), 2);
  EXPECT_EQ(info.limits().max_input_bytes(), 3);
  EXPECT_EQ(info.limits().max_queued_jobs(), 4);
  EXPECT_EQ(info.limits().blob_quota_bytes(), 5);
  EXPECT_EQ(info.limits().job_retention_ns(), 6);
  EXPECT_EQ(info.counters().blobs_evicted(), 0);
  const std::atomic<int64_t> evicted = 7;
  server_.env.blobs_evicted = &evicted;
  ASSERT_OK(GetServerInfo(server_.caller, server_.env, &info));
  EXPECT_EQ(info.counters().blobs_evicted(), 7);
}

}  // namespace
}  // namespace slipway::server
