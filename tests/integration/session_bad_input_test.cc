// What a session must stand: requests that are mistakes, clients that misbehave, limits. Each time a clear status, and the
// session lives on unless it must not. On real processes, straight and through a server. What else there is of it:
//
//   handles of another session, freed, forged   HandlesThatAreNot; client/grpc_session_test TensorsOfAnotherSession...
//   a put larger than the device                APutLargerThanTheDevice, MemoryIsOneLimitForAll
//   bytes that do not fit their type            BytesThatDoNotFit; client/grpc_session_hostile_test for the device's
//   calls with wrong count, type or shape       CallsThatDoNotFit
//   a stream that never reads                   WhoNeverReads...; device_agent/session_host_test WhoReadsNothing...
//   a stream that never writes                  WhoNeverWrites...; grpc_session_process_test ALeaseEndsWithoutHeartbeats
//   a stream that floods                        AFloodOfNews...; session_log_test for programs that flood their log
//   answers that quote, or gather               device_agent/session_host_test AnErrorQuotes..., WhoTakesNoNote...
//   what breaks the protocol                    WhatBreaksTheProtocol
//   two clients taking up one session           OfTwoClientsTheLastHasIt
//   a lease past its end                        ALeasePastItsEnd
//   an agent of an older protocol               tests/skew/grpc_old_peers_test AnAgentFromBeforeSessionsIsGivenNone
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/session.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/grpc_session_wire.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Request = v1::SessionRequest;
using Response = v1::SessionResponse;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLimitBytes = 512 * kMiB;
constexpr int64_t kMostMoreMemory = 48 * kMiB;
const TensorType kRows{DataType::kFloat32, {2, 8}};

Request Heartbeat() {
  Request request;
  request.mutable_heartbeat();
  return request;
}

enum class Way { kStraight, kThroughTheServer };

class SessionBadInputTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    const std::string limit = absl::StrCat("--runner-memory=", kLimitBytes);
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Create({.agents = 1, .agent_flags = {limit}}));
    if (is_straight()) {
      agent().options().argv = {
          AgentBinary(), "--listen", cluster_->address(), "--state-dir", cluster_->Path("agent0"),
          limit};
    } else {
      ASSERT_OK(cluster_->server().Start());
    }
    ASSERT_OK(agent().Start());
  }
  static bool is_straight() { return GetParam() == Way::kStraight; }
  ServiceProcess& agent() { return cluster_->agent(0); }

  std::unique_ptr<SessionWire> Open(absl::Duration idle = absl::Seconds(30),
                                    absl::Duration longest = absl::Hours(1)) {
    auto wire = std::make_unique<SessionWire>(cluster_->address());
    Request open = OpenFor(idle);
    open.mutable_open()->set_longest_ns(absl::ToInt64Nanoseconds(longest));
    wire->Send(open);
    Response response = wire->Next();
    while (response.has_waiting()) response = wire->Next();
    EXPECT_TRUE(response.has_opened()) << response.ShortDebugString();
    opened_ = response.opened();
    return wire;
  }
  std::unique_ptr<SessionWire> Resume() {
    auto wire = std::make_unique<SessionWire>(cluster_->address());
    Request request;
    request.mutable_resume()->set_session(opened_.session());
    request.mutable_resume()->set_ticket(opened_.ticket());
    wire->Send(request);
    return wire;
  }
  absl::StatusOr<Session> OpenSession() { return Session::Open({.address = cluster_->address()}); }
  static void Expect(Code code, const std::string& message, const Response& response) {
    EXPECT_EQ(response.code(), static_cast<int>(code)) << response.ShortDebugString();
    EXPECT_THAT(response.message(), HasSubstr(message));
  }
  static void ExpectAlive(SessionWire& wire) {
    Request facts;
    facts.mutable_get_facts();
    EXPECT_GT(wire.Do(facts).facts().limit_bytes(), 0);
  }
  // What agent and server have taken at most.
  int64_t PeakMemory() {
    int64_t bytes = 0;
    for (ServiceProcess* const process : {&agent(), &cluster_->server()}) {
      if (!process->is_running()) continue;
      const absl::StatusOr<std::string> status =
          ReadFile(absl::StrCat("/proc/", process->pid(), "/status"), 1 << 16);
      for (const absl::string_view line : absl::StrSplit(status.value_or(""), '\n')) {
        int64_t kib = 0;
        if (!absl::StartsWith(line, "VmHWM:")) continue;
        EXPECT_TRUE(absl::SimpleAtoi(line.substr(6, line.size() - 6 - 3), &kib)) << line;
        bytes += kib << 10;
      }
    }
    return bytes;
  }

  std::unique_ptr<Cluster> cluster_;
  Response::Opened opened_;
};

TEST_P(SessionBadInputTest, HandlesThatAreNot) {
  std::unique_ptr<SessionWire> wire = Open();
  EXPECT_EQ(wire->Do(AllocateOf(3, kRows)).code(), 0);
  EXPECT_EQ(wire->Do(AllocateOf(4, kRows)).code(), 0);
  Request free;
  free.mutable_free()->add_handles(3);
  EXPECT_EQ(wire->Do(free).code(), 0);
  Expect(Code::kNotFound, "freed", wire->Do(ReadOf(3, 4)));
  Expect(Code::kNotFound, "freed", wire->Do(free));
  Expect(Code::kInvalidArgument, "handle 3", wire->Do(AllocateOf(3, kRows)));
  Expect(Code::kInvalidArgument, "handle 4", wire->Do(AllocateOf(4, kRows)));
  Expect(Code::kInvalidArgument, "handle 0", wire->Do(AllocateOf(0, kRows)));
  for (const uint64_t forged : {uint64_t{0}, uint64_t{77}, UINT64_MAX}) {
    Expect(Code::kNotFound, absl::StrCat("handle ", forged), wire->Do(ReadOf(forged, 4)));
    Expect(Code::kNotFound, absl::StrCat("handle ", forged), wire->Do(WriteOf(forged, "data")));
    Expect(Code::kNotFound, absl::StrCat("handle ", forged), wire->Do(CallOf(forged, 4, 5)));
  }
  Expect(Code::kInvalidArgument, "handle 4 is no program", wire->Do(CallOf(4, 4, 5)));
  // One good handle and one that is not: the good one is freed.
  free.mutable_free()->add_handles(4);
  Expect(Code::kNotFound, "handle 3", wire->Do(free));
  Expect(Code::kNotFound, "handle 4", wire->Do(ReadOf(4, 4)));
  EXPECT_EQ(wire->Do(AllocateOf(5, kRows)).code(), 0);
  Request close;
  close.mutable_close();
  wire->Send(close);
  EXPECT_OK(wire->End());
  // What the next session on the device has is its own.
  wire = Open();
  Expect(Code::kNotFound, "handle 5", wire->Do(ReadOf(5, 4)));
  ExpectAlive(*wire);
}

TEST_P(SessionBadInputTest, APutLargerThanTheDevice) {
  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  EXPECT_THAT(session.Put(Tensor::Zeros(DataType::kUint8, {kLimitBytes + kMiB})),
              StatusIs(Code::kResourceExhausted));
  EXPECT_OK(session.Put(Tensor::Zeros(DataType::kUint8, {kMiB})));
}

TEST_P(SessionBadInputTest, MemoryIsOneLimitForAll) {
  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram eat, session.Load(TestProgram(TestKernel::kEatMemory)));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x,
                       session.Put(Tensor::Zeros(DataType::kFloat32, {2, 8})));
  const int64_t piece = 64 * kMiB;
  std::vector<RemoteTensor> tensors;
  absl::Status status;
  while (status.ok() && static_cast<int64_t>(tensors.size()) * piece <= kLimitBytes) {
    // Made of random elements, so that all of it is there.
    absl::StatusOr<RemoteTensor> made =
        session.Random({DataType::kUint8, {piece}}, 1, absl::StrCat(tensors.size()));
    status = made.status();
    if (made.ok()) tensors.push_back(*std::move(made));
  }
  EXPECT_THAT(status, StatusIs(Code::kResourceExhausted));
  EXPECT_GE(tensors.size(), 4u);
  ASSERT_OK_AND_ASSIGN(const SessionFacts facts, session.Facts());
  EXPECT_EQ(facts.limit_bytes, kLimitBytes);
  EXPECT_EQ(facts.tensor_bytes, static_cast<int64_t>(tensors.size()) * piece + 64);
  // What tensors have taken, the scratch memory of programs has not; and they keep it.
  EXPECT_THAT(eat.Call({&x}), StatusIs(Code::kResourceExhausted, HasSubstr("memory")));
  EXPECT_OK(tensors[0].Slice({0}, {64}));
  tensors.clear();
  EXPECT_OK(session.Zeros({DataType::kUint8, {4 * piece}}));
}

TEST_P(SessionBadInputTest, BytesThatDoNotFit) {
  const std::unique_ptr<SessionWire> wire = Open();
  EXPECT_EQ(wire->Do(AllocateOf(1, kRows)).code(), 0);
  EXPECT_EQ(wire->Do(AllocateOf(2, {DataType::kBool, {4}})).code(), 0);
  Expect(Code::kInvalidArgument, "no whole elements", wire->Do(WriteOf(1, "abc")));
  Expect(Code::kOutOfRange, "do not lie in a tensor", wire->Do(WriteOf(1, std::string(68, 'x'))));
  Expect(Code::kInvalidArgument, "no element", wire->Do(WriteOf(2, std::string("\1\2", 2))));
  Request write = WriteOf(1, "abcd");
  for (const int64_t offset : {int64_t{-4}, int64_t{64}, INT64_MAX - 1}) {
    write.mutable_write()->set_offset(offset);
    Expect(Code::kOutOfRange, "do not lie in a tensor", wire->Do(write));
  }
  Expect(Code::kOutOfRange, "do not lie in a tensor", wire->Do(ReadOf(1, 68)));
  Expect(Code::kInvalidArgument, "", wire->Do(AllocateOf(3, {DataType::kString, {4}})));
  Request allocate = AllocateOf(3, kRows);
  allocate.mutable_allocate()->mutable_type()->set_dtype(static_cast<v1::DataType>(77));
  Expect(Code::kInvalidArgument, "", wire->Do(allocate));
  allocate = AllocateOf(3, kRows);
  allocate.mutable_allocate()->mutable_type()->set_shape(0, -2);
  Expect(Code::kInvalidArgument, "", wire->Do(allocate));
  Request slice;
  slice.mutable_slice()->set_from(1);
  slice.mutable_slice()->set_tensor(3);
  slice.mutable_slice()->add_begin(1);
  slice.mutable_slice()->add_shape(1);
  EXPECT_NE(wire->Do(slice).code(), 0);
  slice.mutable_slice()->add_begin(INT64_MAX);
  slice.mutable_slice()->add_shape(INT64_MAX);
  EXPECT_NE(wire->Do(slice).code(), 0);
  // Nothing of it was made.
  EXPECT_EQ(wire->Do(AllocateOf(3, kRows)).code(), 0);
  ExpectAlive(*wire);
}

TEST_P(SessionBadInputTest, CallsThatDoNotFit) {
  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  ASSERT_OK_AND_ASSIGN(const RemoteProgram add, session.Load(TestProgram(TestKernel::kAdd)));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor x, session.Zeros(kRows));
  ASSERT_OK_AND_ASSIGN(RemoteTensor wide, session.Zeros({DataType::kFloat32, {2, 9}}));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor flat, session.Zeros({DataType::kFloat32, {16}}));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor whole, session.Zeros({DataType::kInt32, {2, 8}}));
  EXPECT_THAT(add.Call({}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(add.Call({&x, &x}), StatusIs(Code::kInvalidArgument));
  for (const RemoteTensor* const unfit : {&std::as_const(wide), &flat, &whole}) {
    EXPECT_THAT(add.Call({unfit}), StatusIs(Code::kInvalidArgument));
    EXPECT_THAT(add.Time({unfit}), StatusIs(Code::kInvalidArgument));
  }
  EXPECT_THAT(add.Call({&x}, {.function = "subtract"}), StatusIs(Code::kNotFound));
  RemoteTensor* outputs[] = {&wide, &wide};
  EXPECT_THAT(add.CallInto({&x}, absl::MakeSpan(outputs, 1)), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(add.CallInto({&x}, outputs), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(add.CallInto({&x}, {}), StatusIs(Code::kInvalidArgument));
  EXPECT_OK(add.Call({&x}));
}

TEST_P(SessionBadInputTest, WhoNeverReadsFillsNothingAndIsGivenUp) {
  const std::unique_ptr<SessionWire> wire = Open(absl::Seconds(2));
  EXPECT_EQ(wire->Do(AllocateOf(1, {DataType::kUint8, {kMiB}})).code(), 0);
  const int64_t before = PeakMemory();
  std::thread writer([&] {
    Request facts;
    facts.mutable_get_facts();
    for (int i = 0; i < 20'000; ++i) wire->Ask(i % 10 == 0 ? ReadOf(1, kMiB) : facts);
  });
  // Nothing is acked, so that the device reads no further, and hears nothing.
  absl::SleepFor(absl::Seconds(4));
  EXPECT_LT(PeakMemory() - before, kMostMoreMemory);
  // The device is another's, though it still reads nothing.
  ExpectAlive(*Open());
  EXPECT_THAT(wire->End(), StatusIs(Code::kDeadlineExceeded));
  writer.join();
}

TEST_P(SessionBadInputTest, AFloodOfNewsIsStoodAndNotAnsweredPieceByPiece) {
  const std::unique_ptr<SessionWire> wire = Open();
  ExpectAlive(*wire);
  const int64_t before = PeakMemory();
  v1::SessionRequests many;
  for (int i = 0; i < 1000; ++i) {
    *many.add_requests() = Heartbeat();
    many.add_requests()->mutable_cancel()->set_request(static_cast<uint64_t>(i));
  }
  for (int i = 0; i < 1000; ++i) wire->Send(many);
  EXPECT_LT(PeakMemory() - before, kMostMoreMemory);
  Request facts;
  facts.mutable_get_facts();
  const uint64_t id = wire->Ask(facts);
  int heartbeats = 0;
  Response response = wire->Next();
  for (; response.has_heartbeat(); response = wire->Next()) ++heartbeats;
  EXPECT_EQ(response.id(), id);
  // A million were asked for.
  EXPECT_GT(heartbeats, 0);
  EXPECT_LT(heartbeats, 100'000);
}

TEST_P(SessionBadInputTest, WhoNeverWritesIsNotWaitedFor) {
  // Not even what it wants.
  SessionWire silent(cluster_->address());
  const absl::Time begin = absl::Now();
  EXPECT_THAT(silent.End(), StatusIs(Code::kDeadlineExceeded));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(15));
  // Nothing after it got the device.
  const std::unique_ptr<SessionWire> wire = Open(absl::Seconds(1));
  EXPECT_THAT(wire->End(), StatusIs(Code::kDeadlineExceeded, HasSubstr("nothing was heard")));
}

TEST_P(SessionBadInputTest, WhatBreaksTheProtocol) {
  std::unique_ptr<SessionWire> wire = Open();
  Request gap = AllocateOf(1, kRows);
  gap.set_id(7);
  wire->Send(gap);
  EXPECT_THAT(wire->End(), StatusIs(Code::kInvalidArgument, HasSubstr("request 7")));
  wire = Open();
  wire->Ask(WriteOf(1, std::string(2 * kMiB, 'x')));
  EXPECT_THAT(wire->End(), StatusIs(Code::kInvalidArgument));
  wire = Open();
  wire->Send(OpenFor(absl::Seconds(1)));
  EXPECT_THAT(wire->End(), StatusIs(Code::kInvalidArgument));
  wire = std::make_unique<SessionWire>(cluster_->address());
  wire->Send(AllocateOf(1, kRows));
  EXPECT_THAT(wire->End(), StatusIs(Code::kFailedPrecondition));
  ExpectAlive(*Open());
}

TEST_P(SessionBadInputTest, OfTwoClientsTheLastHasIt) {
  const std::unique_ptr<SessionWire> first = Open();
  EXPECT_EQ(first->Do(AllocateOf(1, kRows)).code(), 0);
  const std::unique_ptr<SessionWire> second = Resume();
  EXPECT_EQ(second->Next().opened().taken(), 1u);
  EXPECT_THAT(first->End(), StatusIs(Code::kAborted, HasSubstr("another connection")));
  // Its answer comes again, since the second did not say that it has it.
  EXPECT_EQ(second->Next().id(), 1u);
  second->last_ = 1;
  const std::string ticket = opened_.ticket();
  opened_.set_ticket("forged");
  EXPECT_THAT(Resume()->End(), StatusIs(Code::kPermissionDenied));
  opened_.set_ticket(ticket);
  opened_.set_session("01234567-0123456789abcdef");
  EXPECT_THAT(Resume()->End(), AnyOf(StatusIs(Code::kNotFound), StatusIs(Code::kInvalidArgument)));
  // Neither took it from the second.
  EXPECT_EQ(second->Do(ReadOf(1, 64)).code(), 0);
}

TEST_P(SessionBadInputTest, ALeasePastItsEnd) {
  const std::unique_ptr<SessionWire> wire = Open(absl::Seconds(30), absl::Seconds(1));
  EXPECT_EQ(wire->Do(AllocateOf(1, kRows)).code(), 0);
  std::atomic<bool> has_ended = false;
  std::thread lives([&] {
    while (!has_ended) {
      wire->Send(Heartbeat());
      absl::SleepFor(absl::Milliseconds(100));
    }
  });
  const absl::Time begin = absl::Now();
  absl::Status how = wire->End();
  // The agent may call again before the server has heard how its call ended; a client resumes then.
  if (!is_straight() && absl::IsUnavailable(how)) how = Resume()->End();
  EXPECT_THAT(how, StatusIs(Code::kDeadlineExceeded));
  has_ended = true;
  lives.join();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  // The server still knows why; an agent until it has let go of the session.
  const absl::Status end = Resume()->End();
  EXPECT_TRUE(absl::IsDeadlineExceeded(end) || (is_straight() && absl::IsNotFound(end))) << end;
  ExpectAlive(*Open());
}

INSTANTIATE_TEST_SUITE_P(Ways, SessionBadInputTest,
                         ::testing::Values(Way::kStraight, Way::kThroughTheServer));

}  // namespace
}  // namespace slipway::testing
