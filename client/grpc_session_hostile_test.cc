// Devices that break the protocol: each time a clear status, and the session lives on where that is possible.
#include <functional>

#include "absl/time/clock.h"
#include "client/session.h"
#include "client/testing/grpc_fake_device.h"
#include "core/wire/session_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::FakeDevice;
using ::slipway::testing::FakeDeviceBehaviour;
using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

using Response = v1::SessionResponse;

class HostileDeviceTest : public ::testing::Test {
 protected:
  void Open() {
    absl::StatusOr<Session> session = Session::Open({.address = device_.address()});
    ASSERT_THAT(session, IsOk());
    session_ = std::make_unique<Session>(*std::move(session));
  }
  void Tamper(std::function<void(Response&, absl::Cord&)> tamper) {
    device_.Configure(
        [&](FakeDeviceBehaviour& behaviour) { behaviour.tamper = std::move(tamper); });
  }
  void SendRaw(const absl::Cord& message) { device_.Send(message); }
  // The session has ended with this.
  void ExpectEnded(absl::StatusCode code, const std::string& message) {
    const auto expected = StatusIs(code, HasSubstr(message));
    // What is sent by itself may take a moment.
    absl::StatusOr<SessionFacts> facts = session_->Facts();
    for (int i = 0; i < 200 && facts.ok(); ++i) {
      absl::SleepFor(absl::Milliseconds(10));
      facts = session_->Facts();
    }
    EXPECT_THAT(facts, expected);
    EXPECT_THAT(session_->Put(Tensor::Zeros(DataType::kInt8, {1})), expected);
  }
  void ExpectAlive() {
    Tamper(nullptr);
    EXPECT_THAT(session_->Facts(), IsOk());
  }
  RemoteTensor Put(DataType dtype, int64_t elements) {
    absl::StatusOr<RemoteTensor> tensor = session_->Put(Tensor::Zeros(dtype, {elements}));
    EXPECT_THAT(tensor, IsOk());
    return *std::move(tensor);
  }

  FakeDevice device_;
  std::unique_ptr<Session> session_;
};

TEST_F(HostileDeviceTest, AnswersOutOfOrder) {
  Open();
  Tamper([](Response& response, absl::Cord&) {
    if (response.id() > 0) response.set_id(response.id() + 1);
  });
  ExpectEnded(absl::StatusCode::kInternal,
              "breaks the protocol: the device answers request 2 where 1 is next");
}

TEST_F(HostileDeviceTest, AnswersWhatWasNotAsked) {
  Open();
  Response response;
  response.set_id(1);
  SendRaw(WriteSessionResponse(response));
  ExpectEnded(absl::StatusCode::kInternal, "breaks the protocol");
}

TEST_F(HostileDeviceTest, SendsWhatIsNoMessage) {
  Open();
  SendRaw(absl::Cord("\xff\xff\xff"));
  ExpectEnded(absl::StatusCode::kInternal, "no message of a session");
}

TEST_F(HostileDeviceTest, SendsTooMuchData) {
  Open();
  Response response;
  response.set_id(1);
  SendRaw(WriteSessionResponse(response, absl::Cord(std::string((1 << 20) + 1, 'x'))));
  ExpectEnded(absl::StatusCode::kInternal, "over the limit");
}

TEST_F(HostileDeviceTest, SendsTooLargeAMessage) {
  Open();
  SendRaw(absl::Cord(std::string(20 << 20, '\0')));
  ExpectEnded(absl::StatusCode::kInternal, "over the limit");
}

TEST_F(HostileDeviceTest, NewsThatNobodyKnowsIsPassedOver) {
  Open();
  Response nothing;
  SendRaw(WriteSessionResponse(nothing));
  Response loaded;
  loaded.mutable_loaded();
  SendRaw(WriteSessionResponse(loaded));
  ExpectAlive();
}

TEST_F(HostileDeviceTest, OpensTwiceOrLetsAnOpenSessionWait) {
  Open();
  Response opened;
  opened.mutable_opened()->set_session("s1");
  opened.mutable_opened()->set_max_requests(1);
  SendRaw(WriteSessionResponse(opened));
  ExpectEnded(absl::StatusCode::kInternal, "another session");
  Open();
  Response waiting;
  waiting.mutable_waiting()->set_session("s1");
  SendRaw(WriteSessionResponse(waiting));
  ExpectEnded(absl::StatusCode::kInternal, "none to wait for");
}

TEST_F(HostileDeviceTest, LimitsThatAllowNothing) {
  for (const auto& tamper : std::vector<std::function<void(Response::Opened&)>>{
           [](Response::Opened& opened) { opened.set_max_data_bytes(0); },
           [](Response::Opened& opened) { opened.set_max_requests(-1); },
           [](Response::Opened& opened) { opened.set_max_data_under_way_bytes(0); }}) {
    Tamper([&](Response& response, absl::Cord&) {
      if (response.has_opened()) tamper(*response.mutable_opened());
    });
    EXPECT_THAT(Session::Open({.address = device_.address()}),
                StatusIs(absl::StatusCode::kInternal, HasSubstr("limits allow nothing")));
  }
}

TEST_F(HostileDeviceTest, LimitsThatAreTooLargeAreNotUsed) {
  Tamper([](Response& response, absl::Cord&) {
    if (response.has_opened()) response.mutable_opened()->set_max_data_bytes(1 << 30);
  });
  Open();
  EXPECT_THAT(session_->Put(Tensor::Zeros(DataType::kInt8, {3 << 20})), IsOk());
}

TEST_F(HostileDeviceTest, ResumesWithOtherNumbers) {
  for (const auto& tamper : std::vector<std::function<void(Response::Opened&)>>{
           [](Response::Opened& opened) { opened.set_taken(77); },
           [](Response::Opened& opened) { opened.set_taken(0); },
           [](Response::Opened& opened) { opened.set_session("s2"); }}) {
    Tamper(nullptr);
    Open();
    ASSERT_THAT(session_->Facts(), IsOk());
    Tamper([&](Response& response, absl::Cord&) {
      if (response.has_opened()) tamper(*response.mutable_opened());
    });
    device_.EndConnections({grpc::StatusCode::UNAVAILABLE, "the test"});
    ExpectEnded(absl::StatusCode::kInternal, "breaks the protocol");
  }
}

TEST_F(HostileDeviceTest, DataOfAnotherSizeOrOfNoElements) {
  Open();
  const RemoteTensor flags = Put(DataType::kBool, 100);
  Tamper([](Response&, absl::Cord& data) { data.RemoveSuffix(data.empty() ? 0 : 1); });
  EXPECT_THAT(flags.Get(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("99 bytes of a tensor where 100")));
  Tamper([](Response&, absl::Cord& data) {
    if (!data.empty()) data.Append("x");
  });
  EXPECT_THAT(flags.Get(), StatusIs(absl::StatusCode::kInternal, HasSubstr("101 bytes")));
  Tamper([](Response&, absl::Cord& data) { data = absl::Cord(std::string(data.size(), '\2')); });
  EXPECT_THAT(flags.Get(), StatusIs(absl::StatusCode::kInternal, HasSubstr("no element of bool")));
  ExpectAlive();
}

TEST_F(HostileDeviceTest, CodesThatNobodyKnows) {
  Open();
  Tamper([](Response& response, absl::Cord&) {
    if (response.id() > 0) response.set_code(999);
  });
  EXPECT_THAT(session_->Facts(), StatusIs(absl::StatusCode::kInternal));
  ExpectAlive();
}

TEST_F(HostileDeviceTest, ResultsThatAreNone) {
  Open();
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session_->Load(Digest::Of("toy")));
  const RemoteTensor a = Put(DataType::kFloat32, 2);
  Tamper([](Response& response, absl::Cord&) {
    if (response.id() > 0) response.clear_kind();
  });
  EXPECT_THAT(program.Call({&a, &a}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("0 outputs of a call that has 1")));
  EXPECT_THAT(program.Time({&a, &a}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no samples")));
  EXPECT_THAT(session_->Load(Digest::Of("toy")),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("without functions")));
  Tamper([](Response& response, absl::Cord&) {
    if (response.has_called())
      response.mutable_called()->mutable_outputs(0)->set_dtype(v1::DataType(77));
  });
  EXPECT_THAT(program.Call({&a, &a}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("the type of output 0")));
  Tamper([](Response& response, absl::Cord&) {
    if (!response.has_loaded()) return;
    response.set_code(static_cast<int>(absl::StatusCode::kFailedPrecondition));
    response.mutable_loaded()->add_missing()->set_sha256("no digest");
  });
  EXPECT_THAT(session_->Load(Digest::Of("toy")),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("what is no blob")));
  ExpectAlive();
}

}  // namespace
}  // namespace slipway
