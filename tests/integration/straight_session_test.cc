// Sessions that a server opened and that go on straight to an agent that listens: real processes, and gateways that die.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/session.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/grpc_session_wire.h"
#include "tests/common/status_matchers.h"
#include "tests/common/tcp_forwarder.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

class StraightSessionTest : public ::testing::Test {
 protected:
  // `announced`: where clients are told to go; empty: where the agent listens.
  void StartCluster(const std::string& announced = "", int agents = 1) {
    Cluster::Options options;
    options.agents = agents;
    options.agent_flags = {"--listen=127.0.0.1:0"};
    if (!announced.empty()) options.agent_flags.push_back("--announce=" + announced);
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start(options));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  const std::string& agent_address(int agent = 0) { return cluster_->agent(agent).ready_line(); }
  absl::StatusOr<Session> Open(SessionOptions options = {}) {
    options.address = cluster_->address();
    return Session::Open(options);
  }
  static bool Await(const std::function<bool()>& is_so, absl::Duration within = absl::Seconds(10)) {
    for (const absl::Time until = absl::Now() + within; absl::Now() < until;) {
      if (is_so()) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return is_so();
  }
  static Tensor Rows(float value) {
    Tensor tensor = Tensor::Zeros(DataType::kFloat32, {2, 8});
    for (float& element : tensor.mutable_values<float>()) element = value;
    return tensor;
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

// Adds 7 to the last element of what is on the device, as often as it is asked to: a call that was lost, or made twice,
// shows.
class Counter {
 public:
  explicit Counter(Session& session) {
    program_ = *session.Load(TestProgram(TestKernel::kAdd));
    a_ = *session.Put(Tensor::Zeros(DataType::kFloat32, {2, 8}));
    b_ = *session.Put(Tensor::Zeros(DataType::kFloat32, {2, 8}));
  }
  absl::Status Add() {
    ++count_;
    RemoteTensor* const outputs[] = {&b_};
    const absl::Status status = program_.CallInto({&a_}, outputs).status();
    std::swap(a_, b_);
    return status;
  }
  float wanted() const { return 7.0f * static_cast<float>(count_); }
  float Get() const {
    const absl::StatusOr<Tensor> sum = a_.Get();
    return sum.ok() ? sum->values<float>()[7] : -1;
  }

 private:
  RemoteProgram program_;
  RemoteTensor a_;
  RemoteTensor b_;
  int count_ = 0;
};

TEST_F(StraightSessionTest, ItGoesPastTheServerWhichStillHasTheLease) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  Counter counter(session);
  ASSERT_OK(counter.Add());
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client_->ListJobs({.limit = 10}));
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].state, JobState::kRunning);
  EXPECT_THAT(Open({.wait = absl::ZeroDuration()}), StatusIs(Code::kDeadlineExceeded));
  // Nothing of it needs the server.
  cluster_->server().Kill();
  const absl::Time until = absl::Now() + absl::Seconds(5);
  while (absl::Now() < until) ASSERT_OK(counter.Add());
  EXPECT_EQ(counter.Get(), counter.wanted());
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK(session.Close());
  ASSERT_OK_AND_ASSIGN(const Job ended, client_->Wait(jobs[0].id, nullptr));
  EXPECT_EQ(ended.state, JobState::kSucceeded);
}

TEST_F(StraightSessionTest, OverTlsAgentsAskWhoCalls) {
  ASSERT_OK_AND_ASSIGN(
      cluster_,
      Cluster::Start({.agents = 1, .agent_flags = {"--listen=127.0.0.1:0"}, .tcp = true}));
  ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  Counter counter(session);
  ASSERT_OK(counter.Add());
  EXPECT_EQ(counter.Get(), counter.wanted());
  // In clear nobody gets there, whatever ticket he has; nor does who takes it for the server.
  EXPECT_THAT(Session::Open({.address = agent_address(), .proof = {.insecure = true}}),
              StatusIs(Code::kUnavailable));
  EXPECT_THAT(Session::Open({.address = agent_address(),
                             .proof = {.identity_file = cluster_->Identity(Role::kUser)}}),
              StatusIs(Code::kUnavailable));
  ASSERT_OK(counter.Add());
  EXPECT_OK(session.Close());
}

TEST_F(StraightSessionTest, NobodyOpensOneAtSuchAnAgent) {
  StartCluster();
  EXPECT_THAT(Session::Open({.address = agent_address(), .proof = {.insecure = true}}),
              StatusIs(Code::kFailedPrecondition, HasSubstr("from its server alone")));
}

TEST_F(StraightSessionTest, ALeaseThatIsReleasedEndsIt) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  ASSERT_OK(client_->CancelJob(session.id()));
  absl::Status ended;
  EXPECT_TRUE(Await([&] { return !(ended = session.Facts().status()).ok(); }));
  EXPECT_THAT(ended, StatusIs(Code::kCancelled));
  ASSERT_OK_AND_ASSIGN(Session next, Open());
  EXPECT_OK(next.Facts());
}

TEST_F(StraightSessionTest, AnAgentThatDiesIsNamed) {
  StartCluster();
  for (const int how : {SIGSTOP, SIGKILL}) {
    ASSERT_OK_AND_ASSIGN(Session session, Open());
    ASSERT_TRUE(Await([&] { return session.is_straight(); }));
    const absl::Time begin = absl::Now();
    kill(cluster_->agent(0).pid(), how);
    absl::Status ended;
    EXPECT_TRUE(Await([&] { return !(ended = session.Facts().status()).ok(); }));
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
    EXPECT_THAT(ended, StatusIs(Code::kUnavailable, HasSubstr("agent")));
    if (how == SIGSTOP) kill(cluster_->agent(0).pid(), SIGCONT);
  }
}

TEST_F(StraightSessionTest, AnAgentThatGoesAwaySaysSo) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  ASSERT_OK(cluster_->agent(0).Stop());
  EXPECT_THAT(session.Facts(), StatusIs(Code::kUnavailable, HasSubstr("\"agent0\" is going away")));
}

TEST_F(StraightSessionTest, WhereTheAgentIsNotReachedTheServerPassesOn) {
  StartCluster("127.0.0.1:1");
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  Counter counter(session);
  ASSERT_OK(counter.Add());
  EXPECT_EQ(counter.Get(), counter.wanted());
  EXPECT_FALSE(session.is_straight());
}

TEST_F(StraightSessionTest, WhatNeverAnswersHoldsUpNothing) {
  // One that takes connections, as firewalls do, and says nothing.
  const UniqueFd silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  auto* const generic = reinterpret_cast<sockaddr*>(&name);
  ASSERT_EQ(bind(silent.get(), generic, size), 0);
  ASSERT_EQ(listen(silent.get(), 8), 0);
  ASSERT_EQ(getsockname(silent.get(), generic, &size), 0);
  StartCluster(absl::StrCat("127.0.0.1:", ntohs(name.sin_port)));
  const absl::Time begin = absl::Now();
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  Counter counter(session);
  ASSERT_OK(counter.Add());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(1));
  while (absl::Now() < begin + absl::Seconds(2)) ASSERT_OK(counter.Add());
  EXPECT_EQ(counter.Get(), counter.wanted());
  EXPECT_FALSE(session.is_straight());
}

TEST_F(StraightSessionTest, AnotherAgentThereDoesNotKnowTheSession) {
  // Both announce the address of the first.
  TcpForwarder to_first;
  ASSERT_OK(to_first.Start("127.0.0.1:1"));
  StartCluster(to_first.address(), 2);
  to_first.Stop();
  ASSERT_OK(to_first.Start(agent_address(0)));
  ASSERT_OK_AND_ASSIGN(Session session, Open({.device = "agent1"}));
  // It is asked, resumed at, and left again.
  ASSERT_TRUE(Await([&] { return to_first.connections() > 0; }));
  Counter counter(session);
  for (int i = 0; i < 100; ++i) ASSERT_OK(counter.Add());
  EXPECT_EQ(counter.Get(), counter.wanted());
  EXPECT_FALSE(session.is_straight());
  EXPECT_EQ(session.device(), "agent1");
}

TEST_F(StraightSessionTest, AConnectionThatBreaksIsTakenUpAgainByEitherWay) {
  TcpForwarder gateway;
  ASSERT_OK(gateway.Start("127.0.0.1:1"));
  StartCluster(gateway.address());
  gateway.Stop();
  ASSERT_OK(gateway.Start(agent_address()));
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  Counter counter(session);
  ASSERT_OK(counter.Add());
  // Without its gateway, the server passes on.
  gateway.Stop();
  for (int i = 0; i < 50; ++i) ASSERT_OK(counter.Add());
  EXPECT_FALSE(session.is_straight());
  ASSERT_OK(gateway.Start(agent_address()));
  // Without the server, the gateway does.
  cluster_->server().Kill();
  for (int i = 0; i < 50; ++i) ASSERT_OK(counter.Add());
  EXPECT_TRUE(session.is_straight());
  EXPECT_EQ(counter.Get(), counter.wanted());
}

TEST_F(StraightSessionTest, AConnectionThatFallsSilentIsTakenUpAgainByTheServer) {
  TcpForwarder gateway;
  ASSERT_OK(gateway.Start("127.0.0.1:1"));
  StartCluster(gateway.address());
  gateway.Stop();
  ASSERT_OK(gateway.Start(agent_address()));
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_TRUE(Await([&] { return session.is_straight(); }));
  Counter counter(session);
  ASSERT_OK(counter.Add());
  gateway.Freeze();
  const absl::Time begin = absl::Now();
  ASSERT_OK(counter.Add());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  EXPECT_EQ(counter.Get(), counter.wanted());
  EXPECT_FALSE(session.is_straight());
}

TEST_F(StraightSessionTest, WhoDoesNotWantItStaysWithTheServer) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(Session session, Open({.may_go_straight = false}));
  EXPECT_FALSE(Await([&] { return session.is_straight(); }, absl::Milliseconds(500)));
}

}  // namespace
}  // namespace slipway::testing
