#include "core/rpc/grpc_listener.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/rpc/grpc_settings.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

// Long enough for whatever must happen, on a busy machine.
constexpr int kPatienceMillis = 30'000;

// Sends every message back.
class EchoService final : public grpc::CallbackGenericService {
 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor() { StartRead(&message_); }
    void OnReadDone(bool ok) override {
      if (ok) {
        StartWriteAndFinish(&message_, {}, grpc::Status::OK);
      } else {
        Finish(grpc::Status::OK);
      }
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer message_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Reactor;
  }
};

class GrpcListenerTest : public ::testing::Test {
 protected:
  ~GrpcListenerTest() override {
    listener_.reset();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }

  void Serve(const ListenerOptions& options, const std::string& at = "127.0.0.1:0") {
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    builder.RegisterCallbackGenericService(&echo_);
    ASSERT_OK_AND_ASSIGN(
        listener_, GrpcListener::Listen(at, options, builder, grpc::InsecureServerCredentials()));
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    listener_->Start();
  }

  // Whether a call over a new connection is answered.
  bool Call() {
    grpc::ChannelArguments arguments = ClientChannelArguments();
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channels_.push_back(grpc::CreateCustomChannel(listener_->address(),
                                                  grpc::InsecureChannelCredentials(), arguments));
    return Call(channels_.back());
  }

  static bool Call(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(kPatienceMillis));
    grpc::CompletionQueue queue;
    const grpc::Slice text("hello");
    const grpc::ByteBuffer sent(&text, 1);
    grpc::ByteBuffer answer;
    grpc::Status status;
    auto call = stub.PrepareUnaryCall(&context, "/slipway.Test/Echo", sent, &queue);
    call->StartCall();
    call->Finish(&answer, &status, &status);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status.ok() && answer.Length() == sent.Length();
  }

  // A connection that has sent nothing; not open when the process has no descriptor left.
  UniqueFd Connect() {
    int port = 0;
    const std::string& address = listener_->address();
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(port));
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0) fd.reset();
    return fd;
  }

  // Waits until the other side has closed it.
  static bool IsClosed(const UniqueFd& fd, int millis = kPatienceMillis) {
    pollfd polled = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    char byte = 0;
    return poll(&polled, 1, millis) == 1 && recv(fd.get(), &byte, 1, 0) <= 0;
  }

  EchoService echo_;
  std::unique_ptr<GrpcListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
};

ListenerOptions Few() {
  return {.connections = {.all = 3, .each_peer = 1},
          .most_silent = 4,
          .silence = absl::InfiniteDuration()};
}

TEST_F(GrpcListenerTest, CallsAreServed) {
  Serve(Few());
  EXPECT_TRUE(Call());
  EXPECT_TRUE(Call());
}

TEST_F(GrpcListenerTest, CallsAreServedOverAUnixSocket) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("listen-"));
  Serve(Few(), "unix:" + JoinPath(folder.path(), "socket"));
  EXPECT_TRUE(Call());
}

TEST_F(GrpcListenerTest, SilentOnesGiveWayToOthers) {
  Serve(Few());
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(Connect());
  EXPECT_TRUE(Call());
  // Those that came first were closed, whatever came behind them.
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(IsClosed(silent[i])) << i;
}

TEST_F(GrpcListenerTest, SilentOnesAreClosedAfterAWhile) {
  ListenerOptions options = Few();
  options.silence = absl::Milliseconds(20);
  Serve(options);
  const UniqueFd silent = Connect();
  EXPECT_TRUE(IsClosed(silent));
}

TEST_F(GrpcListenerTest, OneTooManyIsRefusedUntilAnotherHasEnded) {
  Serve(Few());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Call());
  EXPECT_FALSE(Call());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Call(channels_[i])) << i;
  channels_.clear();
  // The server notices on its own time that they were closed.
  bool is_served = false;
  for (int i = 0; i < 1000 && !is_served; ++i) is_served = Call();
  EXPECT_TRUE(is_served);
}

// gRPC's own listening never accepts again after this.
TEST_F(GrpcListenerTest, MoreConnectionsThanDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 128;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  Serve(ListenerOptionsFor(128, 1000));
  // Both ends are in this process, which runs out of descriptors for its own first.
  std::vector<UniqueFd> silent;
  bool has_run_out = false;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(Connect());
    has_run_out = has_run_out || !silent.back().is_open();
  }
  EXPECT_TRUE(has_run_out);
  silent.clear();
  EXPECT_TRUE(Call());
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(GrpcListenerTest, TakesNoConnectionsWhereItMayNot) {
  ListenerOptions options = Few();
  std::atomic<bool> may_take = true;
  options.may_take = [&may_take] { return may_take.load(); };
  Serve(options);
  EXPECT_TRUE(Call());
  may_take = false;
  const UniqueFd refused = Connect();
  ASSERT_EQ(send(refused.get(), "PRI", 3, MSG_NOSIGNAL), 3);
  EXPECT_TRUE(IsClosed(refused));
  // Those that are there go on.
  EXPECT_TRUE(Call(channels_.front()));
  may_take = true;
  EXPECT_TRUE(Call());
}

TEST_F(GrpcListenerTest, CountsWhatBecameOfConnections) {
  ListenerOptions options = Few();
  options.silence = absl::Milliseconds(20);
  std::atomic<bool> may_take = true;
  options.may_take = [&may_take] { return may_take.load(); };
  Serve(options);
  const UniqueFd silent = Connect();
  EXPECT_TRUE(IsClosed(silent));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Call());
  EXPECT_EQ(listener_->counts().held, 3);
  EXPECT_FALSE(Call());
  may_take = false;
  const UniqueFd refused = Connect();
  ASSERT_EQ(send(refused.get(), "PRI", 3, MSG_NOSIGNAL), 3);
  EXPECT_TRUE(IsClosed(refused));
  const ListenerCounts counts = listener_->counts();
  const auto refusals = [&counts](ListenerRefusal why) {
    return counts.refused[static_cast<size_t>(why)];
  };
  EXPECT_EQ(refusals(ListenerRefusal::kSilent), 1);
  EXPECT_EQ(refusals(ListenerRefusal::kNoMemory), 1);
  // gRPC comes again.
  EXPECT_GE(refusals(ListenerRefusal::kFull), 1);
  EXPECT_GE(counts.accepted, 6);
  channels_.clear();
  // The server notices on its own time that they were closed.
  for (int i = 0; i < kPatienceMillis && listener_->counts().held > 0; ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(listener_->counts().held, 0);
}

// Accepted connections of a listener, which knocks at itself.
class KnockTest : public GrpcListenerTest {
 protected:
  // When there are as many, or some more.
  int64_t Await(int64_t accepted) const {
    for (int i = 0; i < kPatienceMillis && listener_->accepted() < accepted; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return listener_->accepted();
  }
  void ExpectCounted() {
    EXPECT_EQ(listener_->accepted(), 0);
    listener_->Knock();
    EXPECT_EQ(Await(1), 1);
    EXPECT_TRUE(Call());
    EXPECT_EQ(Await(2), 2);
    // Nobody accepts any more.
    listener_->Stop();
    for (int i = 0; i < 100; ++i) listener_->Knock();
    EXPECT_EQ(listener_->accepted(), 2);
  }
};

TEST_F(KnockTest, Counts) {
  Serve(Few());
  ExpectCounted();
}

TEST_F(KnockTest, CountsWhereItListensAtAnyAddress) {
  Serve(Few(), "0.0.0.0:0");
  ExpectCounted();
}

TEST_F(KnockTest, CountsOverAUnixSocket) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("listen-"));
  Serve(Few(), "unix:" + JoinPath(folder.path(), "socket"));
  ExpectCounted();
}

TEST(ListenerOptionsTest, LeaveDescriptorsForFiles) {
  for (const int limit : {64, 1'024, 20'000, 1 << 20}) {
    const ListenerOptions options = ListenerOptionsFor(limit, 8'000);
    EXPECT_LT(options.most_of_identity, options.connections.all);
    EXPECT_LE(options.connections.all + options.most_silent, limit - limit / 8) << limit;
    EXPECT_LE(options.connections.all, 8'000);
    EXPECT_GE(options.connections.each_peer, 1);
    EXPECT_LT(options.connections.each_peer, options.connections.all);
  }
}

}  // namespace
}  // namespace slipway
