// Sessions whose connection breaks or falls silent: nothing is lost, nothing done twice, and who went away is told.
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/session.h"
#include "client/testing/grpc_fake_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::FakeDevice;
using ::slipway::testing::FakeDeviceBehaviour;
using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

Tensor Filled(int64_t elements, float value) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {elements});
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

absl::StatusOr<Session> Open(const FakeDevice& device) {
  return Session::Open({.address = device.address(), .patience = absl::Milliseconds(300)});
}

// Uses most requests, some while others are under way.
void RunScript(const FakeDevice& device) {
  ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device.address()}));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
  StartedTensor a = session.PutAsync(Filled(300'000, 1));
  StartedTensor b = session.PutAsync(Filled(300'000, 2));
  StartedCall first = program.CallAsync({&a.tensor, &b.tensor});
  StartedCall second = program.CallAsync({&first.outputs[0], &b.tensor});
  { const RemoteTensor dropped = std::move(first.outputs[0]); }
  ASSERT_THAT(second.done.Get(), IsOk());
  ASSERT_OK_AND_ASSIGN(const Tensor sum, second.outputs[0].Get());
  EXPECT_EQ(sum.values<float>()[0], 5);
  EXPECT_EQ(sum.values<float>()[299'999], 5);
  ASSERT_OK_AND_ASSIGN(const SessionFacts facts, session.Facts());
  EXPECT_EQ(facts.tensors, 3);
  EXPECT_THAT(session.Close(), IsOk());
}

// What was carried out but for frees, which gather as time has it.
std::string Kinds(FakeDevice& device) {
  std::string kinds;
  for (const v1::SessionRequest& request : device.carried_out()) {
    if (!request.has_free()) absl::StrAppend(&kinds, request.kind_case(), " ");
  }
  return kinds;
}

TEST(SessionConnectionTest, ABreakAtAnyMessageLosesNothingAndRepeatsNothing) {
  FakeDevice whole;
  RunScript(whole);
  const std::string expected = Kinds(whole);
  int breaks = 0;
  for (const bool before : {true, false}) {
    for (int message = 0;; ++message) {
      SCOPED_TRACE(absl::StrCat("break ", before ? "before" : "after", " message ", message));
      FakeDevice device;
      device.Configure([&](FakeDeviceBehaviour& behaviour) {
        behaviour.drop_at = message;
        behaviour.drop_before = before;
      });
      RunScript(device);
      EXPECT_EQ(Kinds(device), expected);
      EXPECT_TRUE(device.is_closed());
      if (HasFatalFailure() || device.messages() <= message) break;
      EXPECT_EQ(device.connections(), 2);
      ++breaks;
    }
  }
  EXPECT_GE(breaks, 20);
}

TEST(SessionConnectionTest, AServerThatComesBackIsFoundAgain) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device.address()}));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor a, session.Put(Filled(2, 1)));
  StartedCall waiting = program.CallAsync({&a}, {.function = "wait"});
  ASSERT_FALSE(waiting.done.Wait(absl::Now() + absl::Milliseconds(20)));
  device.StopListening();
  StartedCall later = program.CallAsync({&a, &a});
  ASSERT_FALSE(waiting.done.Wait(absl::Now() + absl::Milliseconds(200)));
  device.Listen();
  device.Release();
  EXPECT_THAT(waiting.done.Get(), IsOk());
  EXPECT_THAT(later.done.Get(), IsOk());
}

TEST(SessionConnectionTest, AWaitingClientKeepsItsPlace) {
  FakeDevice device;
  device.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.let_wait = true; });
  int told = 0;
  ASSERT_OK_AND_ASSIGN(
      Session session,
      Session::Open({.address = device.address(), .on_waiting = [&](int64_t, const std::string&) {
                       if (++told == 2) {
                         device.Release();
                       } else {
                         device.EndConnections({grpc::StatusCode::UNAVAILABLE, "the test"});
                       }
                     }}));
  EXPECT_EQ(device.connections(), 2);
  EXPECT_THAT(session.Facts(), IsOk());
}

TEST(SessionConnectionTest, CancelledStaysCancelledOverABreak) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device.address()}));
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor a, session.Put(Filled(2, 1)));
  StartedCall waiting = program.CallAsync({&a}, {.function = "wait"});
  ASSERT_FALSE(waiting.done.Wait(absl::Now() + absl::Milliseconds(20)));
  // The message that cancels is lost.
  const int next = device.messages();
  device.Configure([&](FakeDeviceBehaviour& behaviour) {
    behaviour.drop_at = next;
    behaviour.drop_before = true;
  });
  waiting.done.Cancel();
  EXPECT_THAT(waiting.done.Get(), StatusIs(absl::StatusCode::kCancelled));
}

TEST(SessionConnectionTest, AConnectionThatIsRefusedEndsTheSession) {
  for (const grpc::StatusCode code :
       {grpc::StatusCode::NOT_FOUND, grpc::StatusCode::ABORTED, grpc::StatusCode::PERMISSION_DENIED,
        grpc::StatusCode::DEADLINE_EXCEEDED}) {
    FakeDevice device;
    ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device.address()}));
    ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
    ASSERT_OK_AND_ASSIGN(const RemoteTensor a, session.Put(Filled(2, 1)));
    StartedCall waiting = program.CallAsync({&a}, {.function = "wait"});
    device.Configure([&](FakeDeviceBehaviour& behaviour) {
      behaviour.refusal = grpc::Status(code, "refused by the test");
    });
    device.EndConnections({grpc::StatusCode::UNAVAILABLE, "the test"});
    const auto expected =
        StatusIs(static_cast<absl::StatusCode>(code), HasSubstr("refused by the test"));
    EXPECT_THAT(waiting.done.Get(), expected);
    EXPECT_THAT(session.Put(Filled(1, 1)), expected);
    EXPECT_THAT(session.Close(), expected);
  }
}

TEST(SessionConnectionTest, AnEndWithoutAReasonIsAnError) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Session::Open({.address = device.address()}));
  device.EndConnections(grpc::Status::OK);
  EXPECT_THAT(session.Facts(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("without a reason")));
}

// Calls fail with who went away, and soon.
void ExpectGone(Session& session, FakeDevice& device, const std::string& who,
                const std::function<void()>& take_away) {
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor a, session.Put(Filled(2, 1)));
  StartedCall waits = program.CallAsync({&a}, {.function = "wait"});
  StartedCall calls_back = program.CallAsync({&a, &a});
  absl::Notification called_back;
  const auto expected = StatusIs(absl::StatusCode::kUnavailable,
                                 AllOf(HasSubstr(who), HasSubstr("nothing has come for")));
  calls_back.done.Then([&](absl::StatusOr<CallReport> report) {
    EXPECT_THAT(report, expected);
    called_back.Notify();
  });
  const absl::Time start = absl::Now();
  take_away();
  EXPECT_THAT(waits.done.Get(), expected);
  called_back.WaitForNotification();
  // 0.3 s of patience, and 1 s for the question.
  EXPECT_LT(absl::Now() - start, absl::Seconds(4));
  EXPECT_THAT(a.Get(), expected);
  device.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.is_mute = false; });
  EXPECT_THAT(session.Close(), expected);
}

TEST(SessionConnectionTest, ASilentAgentIsTold) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Open(device));
  ExpectGone(session, device, "the agent of device \"board-1\" does not answer", [&] {
    device.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.is_mute = true; });
  });
}

TEST(SessionConnectionTest, ASilentServerIsTold) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Open(device));
  ExpectGone(session, device, "the server at \"" + device.address() + "\" does not answer", [&] {
    device.Configure([](FakeDeviceBehaviour& behaviour) {
      behaviour.is_mute = true;
      behaviour.server_lives = false;
    });
  });
}

TEST(SessionConnectionTest, AServerThatIsGoneIsTold) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Open(device));
  ExpectGone(session, device, "the server at \"" + device.address() + "\" does not answer",
             [&] { device.StopListening(); });
}

TEST(SessionConnectionTest, AnAgentThatStaysAwayIsToldWithTheServersReason) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Open(device));
  ExpectGone(session, device, "(its agent is away)", [&] {
    const grpc::Status away(grpc::StatusCode::UNAVAILABLE, "its agent is away");
    device.Configure([&](FakeDeviceBehaviour& behaviour) { behaviour.refusal = away; });
    device.EndConnections(away);
  });
}

TEST(SessionConnectionTest, ASessionThatIsOnlyHeldStaysAlive) {
  FakeDevice device;
  ASSERT_OK_AND_ASSIGN(Session session, Open(device));
  const int before = device.messages();
  // Several times its patience, with nobody waiting for anything.
  absl::SleepFor(absl::Seconds(1));
  EXPECT_GE(device.messages() - before, 5);
  EXPECT_THAT(session.Facts(), IsOk());
  EXPECT_EQ(device.connections(), 1);
}

TEST(SessionConnectionTest, OpeningFallsSilentToo) {
  FakeDevice device;
  device.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.is_mute = true; });
  EXPECT_THAT(Open(device), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("does not answer")));
}

}  // namespace
}  // namespace slipway
