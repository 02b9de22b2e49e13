// Sessions that are left, and taken up by another client.
#include <thread>

#include "absl/time/clock.h"
#include "client/session.h"
#include "client/testing/grpc_fake_device.h"
#include "core/base/digest.h"
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Vector(std::vector<float> values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values));
}

std::vector<float> Values(const absl::StatusOr<Tensor>& tensor) {
  EXPECT_THAT(tensor, IsOk());
  if (!tensor.ok()) return {};
  return {tensor->values<float>().begin(), tensor->values<float>().end()};
}

class SessionResumeTest : public ::testing::Test {
 protected:
  absl::StatusOr<Session> Open() { return Session::Open({.address = device_.address()}); }
  absl::StatusOr<ResumedSession> Resume(const std::string& ticket = "t1") {
    return Session::Resume({.address = device_.address()}, "s1", ticket);
  }

  FakeDevice device_;
};

TEST_F(SessionResumeTest, WhatIsLeftIsTakenUpWithWhatItHas) {
  {
    ASSERT_OK_AND_ASSIGN(Session session, Open());
    EXPECT_EQ(session.ticket(), "t1");
    ASSERT_OK_AND_ASSIGN(const RemoteProgram program,
                         session.Load(Digest::Of("toy"), {.name = "net"}));
    ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Vector({1, 2}), "x"));
    { ASSERT_OK_AND_ASSIGN(const RemoteTensor gone, session.Put(Vector({3}), "gone")); }
    ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs,
                         program.Call({&x, &x}, {.output_names = {"sum"}}));
    EXPECT_EQ(outputs[0].name(), "sum");
    EXPECT_THAT(session.Detach(), IsOk());
    EXPECT_THAT(session.Facts(),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("left")));
    EXPECT_THAT(session.Detach(), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  EXPECT_FALSE(device_.is_closed());
  EXPECT_EQ(device_.tensors(), 2);
  ASSERT_OK_AND_ASSIGN(ResumedSession resumed, Resume());
  ASSERT_EQ(resumed.programs.size(), 1u);
  EXPECT_EQ(resumed.programs[0].name(), "net");
  EXPECT_EQ(resumed.programs[0].functions()[0].inputs[1].name, "b");
  ASSERT_EQ(resumed.tensors.size(), 2u);
  EXPECT_EQ(resumed.tensors[0].name(), "x");
  EXPECT_EQ(resumed.tensors[1].name(), "sum");
  EXPECT_THAT(Values(resumed.tensors[1].Get()), ElementsAre(2, 4));
  // New handles are none of the old ones.
  ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs,
                       resumed.programs[0].Call({&resumed.tensors[0], &resumed.tensors[1]}));
  EXPECT_THAT(Values(outputs[0].Get()), ElementsAre(3, 6));
  EXPECT_THAT(Values(resumed.tensors[0].Get()), ElementsAre(1, 2));
  // It owns what it took.
  resumed.tensors.clear();
  ASSERT_OK_AND_ASSIGN(const SessionFacts facts, resumed.session.Facts());
  EXPECT_EQ(facts.tensors, 1);
  EXPECT_THAT(resumed.session.Close(), IsOk());
}

TEST_F(SessionResumeTest, OfTwoClientsTheEarlierEnds) {
  ASSERT_OK_AND_ASSIGN(Session first, Open());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, first.Load(Digest::Of("toy")));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, first.Put(Vector({1})));
  StartedCall waiting = program.CallAsync({&x}, {.function = "wait"});
  ASSERT_FALSE(waiting.done.Wait(absl::Now() + absl::Milliseconds(50)));
  // Its list comes behind the call, whose answer is for nobody.
  absl::StatusOr<ResumedSession> second;
  std::thread taker([&] { second = Resume(); });
  EXPECT_THAT(waiting.done.Get(), StatusIs(absl::StatusCode::kAborted));
  device_.Release();
  taker.join();
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->tensors.size(), 2u);
  EXPECT_THAT(first.Facts(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(second->session.Facts(), IsOk());
}

TEST_F(SessionResumeTest, LeavingWaitsForWhatIsUnderWay) {
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(Digest::Of("toy")));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Vector({1})));
  StartedCall waiting = program.CallAsync({&x}, {.function = "wait"});
  std::thread leaver([&] { EXPECT_THAT(session.Detach(), IsOk()); });
  EXPECT_FALSE(waiting.done.Wait(absl::Now() + absl::Milliseconds(50)));
  device_.Release();
  EXPECT_THAT(waiting.done.Get(), IsOk());
  leaver.join();
}

TEST_F(SessionResumeTest, ABreakAfterwardsLosesNothing) {
  {
    ASSERT_OK_AND_ASSIGN(Session session, Open());
    ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Vector({1, 2}), "x"));
    ASSERT_THAT(session.Detach(), IsOk());
  }
  const int before = device_.messages();
  for (int later = 0; later < 4; ++later) {
    const int drop_at = device_.messages() + later;
    device_.Configure([&](FakeDeviceBehaviour& behaviour) { behaviour.drop_at = drop_at; });
    ASSERT_OK_AND_ASSIGN(ResumedSession resumed, Resume());
    ASSERT_EQ(resumed.tensors.size(), 1u);
    EXPECT_THAT(Values(resumed.tensors[0].Get()), ElementsAre(1, 2));
    EXPECT_THAT(resumed.session.Detach(), IsOk());
  }
  EXPECT_GT(device_.messages(), before);
}

TEST_F(SessionResumeTest, WhatCannotBeTakenUpGoesOn) {
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  EXPECT_THAT(Resume("forged"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(session.Facts(), IsOk());
  ASSERT_THAT(session.Detach(), IsOk());
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.tells_handles = false; });
  EXPECT_THAT(Resume(), StatusIs(absl::StatusCode::kUnimplemented,
                                 AllOf(HasSubstr("board-1"), HasSubstr("update"))));
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.tells_handles = true; });
  EXPECT_THAT(Resume(), IsOk());
}

TEST_F(SessionResumeTest, AServerThatIsNotThereIsToldAtOnce) {
  device_.StopListening();
  const absl::Time begin = absl::Now();
  EXPECT_THAT(Resume(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot be reached")));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(2));
}

TEST_F(SessionResumeTest, AListThatLiesIsRefused) {
  ASSERT_OK_AND_ASSIGN(Session session, Open());
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Put(Vector({1}), "x"));
  ASSERT_THAT(session.Detach(), IsOk());
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.tamper = [](v1::SessionResponse& response, absl::Cord&) {
      if (response.has_listed()) response.mutable_listed()->set_more_after(1);
    };
  });
  EXPECT_THAT(Resume(), StatusIs(absl::StatusCode::kInternal, HasSubstr("in circles")));
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.tamper = [](v1::SessionResponse& response, absl::Cord&) {
      if (response.listed().tensors_size() > 0) {
        response.mutable_listed()->mutable_tensors(0)->clear_type();
      }
    };
  });
  EXPECT_THAT(Resume(), StatusIs(absl::StatusCode::kInternal, HasSubstr("without a type")));
}

}  // namespace
}  // namespace slipway
