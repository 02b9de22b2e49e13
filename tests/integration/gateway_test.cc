// Sessions over two hops: client and agent each reach the server through a gateway of their own, which may die. What is
// said of gateways in deploy/README.md is tried here.
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/session.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/tcp_forwarder.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

class GatewayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.agents = 1, .tcp = true}));
    ASSERT_OK(to_server_.Start(cluster_->address()));
    ASSERT_OK(from_agent_.Start(cluster_->address()));
  }
  void TearDown() override { unsetenv("grpc_proxy"); }
  // The agent, from now on, knows the server by this address alone.
  void MoveAgent(const std::string& server,
                 const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    ServiceProcess& agent = cluster_->agent(0);
    ASSERT_OK(agent.Stop());
    for (std::string& argument : agent.options().argv) {
      if (argument == cluster_->address()) argument = server;
    }
    // It is the same server, at another address.
    agent.options().argv.insert(agent.options().argv.end(),
                                {"--identity", cluster_->Identity(Role::kAgent)});
    for (const auto& variable : environment) agent.options().environment.push_back(variable);
    ASSERT_OK(agent.Start());
  }
  ProofOptions Proof() const { return {.identity_file = cluster_->Identity(Role::kUser)}; }
  absl::StatusOr<Session> Open(const std::string& address) {
    return Session::Open({.address = address,
                          .proof = Proof(),
                          .idle = absl::Seconds(30),
                          .patience = absl::Seconds(20)});
  }
  static void ExpectAllWorks(Session& session) {
    Tensor large = Tensor::Zeros(DataType::kUint8, {(40 << 20) + 12345});
    char* const bytes = large.mutable_bytes();
    for (int64_t i = 0; i < large.byte_size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 5);
    ASSERT_OK_AND_ASSIGN(const RemoteTensor put, session.Put(large));
    ASSERT_OK_AND_ASSIGN(const Tensor back, put.Get());
    EXPECT_TRUE(back.bytes() == large.bytes());
    ASSERT_OK_AND_ASSIGN(const RemoteTensor x,
                         session.Put(Tensor::Zeros(DataType::kFloat32, {2, 8})));
    ASSERT_OK_AND_ASSIGN(const RemoteProgram loop, session.Load(TestProgram(TestKernel::kLoop)));
    EXPECT_THAT(loop.Call({&x}, {.deadline = absl::Milliseconds(300)}),
                StatusIs(Code::kDeadlineExceeded));
  }

  std::unique_ptr<Cluster> cluster_;
  TcpForwarder to_server_;
  TcpForwarder from_agent_;
};

TEST_F(GatewayTest, ASessionGoesThroughTwoForwarders) {
  MoveAgent(from_agent_.address());
  ASSERT_OK_AND_ASSIGN(Session session, Open(to_server_.address()));
  ExpectAllWorks(session);
  EXPECT_OK(session.Close());
  EXPECT_GT(to_server_.connections(), 0);
  EXPECT_GT(from_agent_.connections(), 0);
}

TEST_F(GatewayTest, AForwarderThatDiesInACallAndComesBackLosesNothing) {
  MoveAgent(from_agent_.address());
  ASSERT_OK_AND_ASSIGN(Session session, Open(to_server_.address()));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram add, session.Load(TestProgram(TestKernel::kAdd)));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram slow, session.Load(TestProgram(TestKernel::kSlow)));
  Tensor for_long = Tensor::Zeros(DataType::kFloat32, {2, 8});
  for_long.mutable_values<float>()[0] = 200;
  ASSERT_OK_AND_ASSIGN(const RemoteTensor length, session.Put(for_long));
  int calls = 0;
  ASSERT_OK_AND_ASSIGN(RemoteTensor sum, session.Put(Tensor::Zeros(DataType::kFloat32, {2, 8})));
  for (TcpForwarder* const gateway : {&to_server_, &from_agent_}) {
    // One call is under way, and others behind it.
    StartedCall under_way = slow.CallAsync({&length});
    std::vector<StartedCall> later;
    for (int i = 0; i < 10; ++i, ++calls) {
      later.push_back(add.CallAsync({i == 0 ? &sum : &later.back().outputs[0]}));
    }
    ASSERT_FALSE(under_way.done.Wait(absl::Now() + absl::Milliseconds(50)));
    gateway->Stop();
    absl::SleepFor(absl::Milliseconds(500));
    ASSERT_OK(gateway->Start(cluster_->address()));
    EXPECT_OK(under_way.done.Get());
    for (StartedCall& call : later) EXPECT_OK(call.done.Get());
    sum = std::move(later.back().outputs[0]);
  }
  ASSERT_OK_AND_ASSIGN(const Tensor last, sum.Get());
  EXPECT_EQ(last.values<float>()[7], 7.0f * static_cast<float>(calls));
}

TEST_F(GatewayTest, AForwarderThatForgetsItsConnectionsLosesNothing) {
  MoveAgent(from_agent_.address());
  // Of the usual patience.
  ASSERT_OK_AND_ASSIGN(Session session,
                       Session::Open({.address = to_server_.address(), .proof = Proof()}));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram count, session.Load(TestProgram(TestKernel::kCount)));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Zeros({DataType::kFloat32, {2, 8}}));
  float calls = 0;
  for (TcpForwarder* const gateway : {&from_agent_, &to_server_, &from_agent_}) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> y, count.Call({&x}));
      ASSERT_OK_AND_ASSIGN(const Tensor counted, y[0].Get());
      EXPECT_EQ(counted.values<float>()[0], ++calls);
      if (i == 0) gateway->Forget();
    }
  }
  // The agent tells its server, too, that the device is free.
  EXPECT_OK(session.Close());
  EXPECT_OK(Session::Open({.address = to_server_.address(), .proof = Proof()}));
}

TEST_F(GatewayTest, WhoIsBehindAForwarderThatFallsSilentIsNamedInTime) {
  MoveAgent(from_agent_.address());
  for (TcpForwarder* const gateway : {&to_server_, &from_agent_}) {
    ASSERT_OK_AND_ASSIGN(Session session,
                         Session::Open({.address = to_server_.address(), .proof = Proof()}));
    ASSERT_OK(session.Facts());
    gateway->Freeze();
    const absl::Time begin = absl::Now();
    EXPECT_THAT(session.Facts(),
                StatusIs(Code::kUnavailable,
                         HasSubstr(gateway == &to_server_ ? "the server at"
                                                          : "the agent of device \"agent0\"")));
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
    gateway->Stop();
    ASSERT_OK(gateway->Start(cluster_->address()));
  }
}

TEST_F(GatewayTest, AProxyThatIsNamedForGrpcIsUsed) {
  TcpForwarder proxy;
  ASSERT_OK(proxy.Start(""));
  MoveAgent(cluster_->address(), {{"grpc_proxy", "http://" + proxy.address()}});
  EXPECT_GT(proxy.connections(), 0);
  const int of_the_agent = proxy.connections();
  setenv("grpc_proxy", ("http://" + proxy.address()).c_str(), 1);
  ASSERT_OK_AND_ASSIGN(Session session, Open(cluster_->address()));
  EXPECT_GT(proxy.connections(), of_the_agent);
  ExpectAllWorks(session);
}

TEST_F(GatewayTest, OtherProxiesOfTheMachineAreNot) {
  TcpForwarder proxy;
  ASSERT_OK(proxy.Start(""));
  const std::string address = "http://" + proxy.address();
  MoveAgent(cluster_->address(), {{"http_proxy", address}, {"https_proxy", address}});
  EXPECT_EQ(proxy.connections(), 0);
}

}  // namespace
}  // namespace slipway::testing
