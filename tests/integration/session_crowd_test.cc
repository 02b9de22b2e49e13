// Many sessions: at once, and one after the other. What they take of the server and of agents does not grow with them.
//
//   bazel test //tests/integration:long_session_crowd_test
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/session.h"
#include "core/base/flags.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr int kCrowd = 64;
constexpr int kFew = 8;
// gRPC starts some more threads when all of its own are busy, as many as the machine has processors for.
constexpr int64_t kMoreThreads = 16;
constexpr int kUsers = 4;
// Of every ten opens, the first one warms up.
constexpr int kWarmUp = 10;
constexpr int64_t kMoreBytes = 8 << 20;

int64_t opens = 1'000;

TensorType Rows() { return {DataType::kFloat32, {2, 8}}; }

// A session whose program has been called, and will be.
struct InUse {
  Session session;
  RemoteProgram program;
  RemoteTensor x;

  static absl::StatusOr<InUse> Open(const SessionOptions& options) {
    absl::StatusOr<Session> session = Session::Open(options);
    if (!session.ok()) return session.status();
    absl::StatusOr<RemoteProgram> program = session->Load(TestProgram(TestKernel::kCount));
    if (!program.ok()) return program.status();
    absl::StatusOr<RemoteTensor> x = session->Zeros(Rows());
    if (!x.ok()) return x.status();
    return InUse{*std::move(session), *std::move(program), *std::move(x)};
  }
  // How many calls there have been, this one included.
  absl::StatusOr<float> Call() const {
    const absl::StatusOr<std::vector<RemoteTensor>> outputs = program.Call({&x});
    if (!outputs.ok()) return outputs.status();
    const absl::StatusOr<Tensor> y = (*outputs)[0].Get();
    if (!y.ok()) return y.status();
    return y->values<float>()[0];
  }
};

TEST(SessionCrowdTest, ASessionCostsTheServerNoThread) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({.agents = kCrowd}));
  const pid_t server = cluster->server().pid();
  std::vector<InUse> sessions;
  const auto open_until = [&](size_t count) {
    while (sessions.size() < count) {
      ASSERT_OK_AND_ASSIGN(InUse session, InUse::Open({.address = cluster->address()}));
      sessions.push_back(std::move(session));
    }
  };
  const auto call_all = [&](float expected) {
    for (const InUse& session : sessions) EXPECT_THAT(session.Call(), IsOkAndHolds(expected));
  };
  ASSERT_NO_FATAL_FAILURE(open_until(kFew));
  call_all(1);
  const int64_t threads = ThreadCount(server);
  EXPECT_GT(threads, 0);
  ASSERT_NO_FATAL_FAILURE(open_until(kCrowd));
  for (const InUse& session : sessions) EXPECT_OK(session.Call());
  EXPECT_LE(ThreadCount(server), threads + kMoreThreads);
  std::cout << "the server has " << threads << " threads with " << kFew << " sessions, "
            << ThreadCount(server) << " with " << kCrowd << ", and "
            << (ResidentBytes(server) >> 20) << " MiB; an agent "
            << (ResidentBytes(cluster->agent(0).pid()) >> 20) << " MiB" << std::endl;
  // Each has a device of its own.
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client->ListDevices());
  for (const Device& device : devices) EXPECT_FALSE(device.job_id.empty()) << device.id;
  for (InUse& session : sessions) EXPECT_OK(session.session.Close());
  sessions.clear();
  EXPECT_OK(cluster->StopAll());
}

TEST(SessionCrowdTest, ASessionThatHasEndedLeavesNothing) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({.agents = 2}));
  const auto use = [&](int64_t count) {
    std::atomic<int64_t> left = count;
    std::vector<std::thread> users;
    for (int i = 0; i < kUsers; ++i) {
      users.emplace_back([&] {
        while (left.fetch_sub(1) > 0) {
          const absl::StatusOr<InUse> session = InUse::Open({.address = cluster->address()});
          ASSERT_OK(session);
          ASSERT_THAT(session->Call(), IsOkAndHolds(1.0f));
        }
      });
    }
    for (std::thread& user : users) user.join();
  };
  const std::vector<std::pair<std::string, pid_t>> processes = {
      {"the server", cluster->server().pid()}, {"an agent", cluster->agent(0).pid()}};
  const absl::Time begin = absl::Now();
  use(opens / kWarmUp);
  std::vector<int64_t> before;
  for (const auto& [name, pid] : processes) before.push_back(ResidentBytes(pid));
  use(opens - opens / kWarmUp);
  for (size_t i = 0; i < processes.size(); ++i) {
    const int64_t after = ResidentBytes(processes[i].second);
    std::cout << processes[i].first << ": " << (before[i] >> 10) << " KiB after " << opens / kWarmUp
              << " sessions, " << (after >> 10) << " KiB after " << opens << std::endl;
    EXPECT_GT(after, 0);
    EXPECT_LE(after - before[i], kMoreBytes) << processes[i].first;
  }
  std::cout << absl::FormatDuration((absl::Now() - begin) / opens) << " a session" << std::endl;
  EXPECT_OK(cluster->StopAll());
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  slipway::FlagSet flags("session_crowd_test [flags]", "Many sessions.");
  flags.Add("opens", &slipway::testing::opens, 100, 1'000'000, "N",
            "Sessions that are opened one after the other.");
  const absl::Status status = flags.Parse(argc, argv).status();
  if (status.ok()) return RUN_ALL_TESTS();
  std::cerr << status.ToString() << std::endl;
  return 2;
}
