// Clients, an agent and the clock at the same time, on the threads that gRPC would call from.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/tensor/tensor.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/jobs.h"
#include "server/handlers/runs.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/peers/sync_messages.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using v1::Job;

constexpr int kClients = 3;
constexpr int kJobsEach = 20;

class ConcurrencyTest : public ::testing::Test {
 protected:
  ConcurrencyTest() : manifest_(server_.PutProgram()) {}

  std::string Create(const std::string& request_id) {
    v1::CreateRunRequest request;
    request.set_request_id(request_id);
    *request.mutable_spec()->mutable_manifest() = manifest_;
    v1::CreateJobResponse response;
    EXPECT_OK(CreateRun(server_.caller, server_.env, request, &response));
    return response.job_id();
  }

  // Creates jobs, twice each, cancels some of them, and looks at what is there.
  std::vector<std::string> BeClient(int client) {
    std::vector<std::string> ids;
    for (int i = 0; i < kJobsEach; ++i) {
      const std::string request = absl::StrCat("client", client, "-", i);
      const std::string id = Create(request);
      EXPECT_EQ(Create(request), id);
      EXPECT_OK(ReadJob(server_.caller, server_.env, id));
      if (i % 3 == 0) {
        v1::CancelJobRequest cancel;
        cancel.set_id(id);
        Job job;
        EXPECT_OK(CancelJob(server_.caller, server_.env, cancel, &job));
      }
      v1::ListJobsRequest list;
      v1::ListJobsResponse listed;
      EXPECT_OK(ListJobs(server_.caller, server_.env, list, &listed));
      ids.push_back(id);
    }
    return ids;
  }

  // Reports success of whatever is wanted, until told to stop.
  void BeAgent(const std::atomic<bool>& stops) {
    v1::AgentState state;
    state.set_agent_id("pc");
    state.set_instance_id("i");
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id("pc");
    state.mutable_devices(0)->set_target("x86-64-v3-linux");
    while (!stops) {
      state.set_sequence(state.sequence() + 1);
      const Report report = *ReadReport(state, "here");
      server_.dispatcher->CallBegan(report.call);
      EXPECT_OK(server_.dispatcher->Reported(report));
      const auto desired = server_.dispatcher->DesiredOf(report.call);
      server_.dispatcher->CallEnded(report.call);
      ASSERT_OK(desired);
      state.set_applied_version(desired->version);
      state.clear_attempts();
      for (const auto& lease : desired->leases) {
        v1::RunAttemptState& attempt = *state.add_attempts();
        attempt.set_attempt_id(lease->id);
        attempt.set_state(v1::RunAttemptState::SUCCEEDED);
        attempt.mutable_run_result()->set_device("pc");
        *attempt.mutable_run_result()->add_outputs() =
            ToInlineProto("y", Tensor::Zeros(DataType::kFloat32, {2, 8}));  // That of TestManifest.
      }
    }
  }

  bool AllEnded(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      const Job::State state = ReadJob(server_.caller, server_.env, id)->state();
      if (state != Job::SUCCEEDED && state != Job::CANCELLED) return false;
    }
    return true;
  }

  testing::HandlerEnvironment server_;
  const v1::Digest manifest_;
};

TEST_F(ConcurrencyTest, EveryJobEndsAndItsWatcherHearsOfIt) {
  const std::string watched = Create("watched");
  std::atomic<int> told = 0;
  const ChangeHub::Subscription subscription =
      server_.hub.Subscribe(JobKey(watched), [&told] { ++told; });
  std::atomic<bool> stops = false;
  std::thread agent([&] { BeAgent(stops); });
  std::thread clock([&] {
    while (!stops) {
      server_.clock.Advance(absl::Microseconds(10));
      server_.dispatcher->Tick();
      server_.dispatcher->Devices(server_.caller);
    }
  });
  std::vector<std::vector<std::string>> ids(kClients);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back([&, i] { ids[i] = BeClient(i); });
  for (std::thread& client : clients) client.join();
  const absl::Time end = absl::Now() + absl::Seconds(60);
  for (const std::vector<std::string>& of_client : ids) {
    while (!AllEnded(of_client) && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(AllEnded(of_client));
  }
  while (!AllEnded({watched}) && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  stops = true;
  agent.join();
  clock.join();
  EXPECT_TRUE(AllEnded({watched}));
  EXPECT_GT(told, 0);
  EXPECT_THAT(*server_.store.ListLive(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace slipway::server
