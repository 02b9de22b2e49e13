#include "core/rpc/grpc_duplex.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;

constexpr absl::Duration kSoon = absl::Seconds(10);

// Keeps what comes; reads on when it is told to.
class Recorder final : public DuplexUser {
 public:
  void OnMessage(absl::Cord message) override {
    absl::MutexLock lock(&mutex_);
    received_.Append(message);
  }
  void OnGone(const absl::Status& status) override {
    status_ = status;
    gone_.Notify();
  }

  bool AwaitReceived(const std::string& all) {
    const auto came = [&] {
      mutex_.AssertReaderHeld();
      return received_ == all;
    };
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&came), kSoon);
  }
  bool AwaitGone() { return gone_.WaitForNotificationWithTimeout(kSoon); }
  // REQUIRES: it is gone.
  const absl::Status& status() const { return status_; }

 private:
  absl::Mutex mutex_;
  absl::Cord received_ ABSL_GUARDED_BY(mutex_);
  absl::Notification gone_;
  absl::Status status_;
};

// A server whose calls a test takes one after the other.
class Service final : public grpc::CallbackGenericService {
 public:
  struct Call {
    std::shared_ptr<Recorder> user;
    std::shared_ptr<Duplex> duplex;
  };

  Service() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    channel_ =
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials());
  }
  ~Service() override { server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC)); }

  Call Make() const {
    auto user = std::make_shared<Recorder>();
    auto duplex =
        CallDuplex(user, channel_, "/a.Service/Method", std::make_unique<grpc::ClientContext>());
    return {user, duplex};
  }
  Call Take() {
    absl::MutexLock lock(&mutex_);
    const auto came = [this] {
      mutex_.AssertReaderHeld();
      return call_.duplex != nullptr;
    };
    mutex_.Await(absl::Condition(&came));
    return std::exchange(call_, {});
  }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    auto user = std::make_shared<Recorder>();
    ServedDuplex* reactor = nullptr;
    auto duplex = ServeDuplex(user, &reactor);
    absl::MutexLock lock(&mutex_);
    call_ = {user, duplex};
    return reactor;
  }

  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  absl::Mutex mutex_;
  Call call_ ABSL_GUARDED_BY(mutex_);
};

TEST(GrpcDuplexTest, MessagesGoBothWays) {
  Service service;
  const Service::Call made = service.Make();
  made.duplex->Send(absl::Cord("hello"), false);
  const Service::Call served = service.Take();
  served.duplex->ReadNext();
  EXPECT_TRUE(served.user->AwaitReceived("hello"));
  served.duplex->Send(absl::Cord("hallo"), false);
  made.duplex->ReadNext();
  EXPECT_TRUE(made.user->AwaitReceived("hallo"));
  served.duplex->End(absl::OkStatus());
  ASSERT_TRUE(served.user->AwaitGone());
  made.duplex->ReadNext();
  ASSERT_TRUE(made.user->AwaitGone());
  EXPECT_THAT(made.user->status(), IsOk());
}

TEST(GrpcDuplexTest, WhatIsSentToAnEndThatHasEndedDoesNotKeepIt) {
  Service service;
  const Service::Call made = service.Make();
  made.duplex->Send(absl::Cord("goodbye"), false);
  const Service::Call served = service.Take();
  served.duplex->ReadNext();
  ASSERT_TRUE(served.user->AwaitReceived("goodbye"));
  for (int i = 0; i < 3; ++i) served.duplex->Send(absl::Cord("wait"), true);
  served.duplex->ReadNext();
  made.duplex->End(absl::OkStatus());
  EXPECT_TRUE(served.user->AwaitGone());
  EXPECT_TRUE(made.user->AwaitGone());
}

TEST(GrpcDuplexTest, ACallThatNobodyReadsCanBeBroken) {
  Service service;
  const Service::Call made = service.Make();
  // More than the other side takes in without reading.
  while (made.duplex->Send(absl::Cord(std::string(1 << 20, 'x')), true)) {
  }
  const Service::Call served = service.Take();
  made.duplex->End(absl::OkStatus());
  made.duplex->Break();
  EXPECT_TRUE(made.user->AwaitGone());
  EXPECT_TRUE(served.user->AwaitGone());
  made.duplex->Break();
}

}  // namespace
}  // namespace slipway
