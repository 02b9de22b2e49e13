#include "server/handlers/queue.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/runs.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() { EXPECT_OK(server_.AddDevice("board", "x86-64-v3-linux")); }

  v1::ReserveRequest Request(const std::string& id = "r") {
    v1::ReserveRequest request;
    request.set_request_id(id);
    request.set_device("board");
    request.set_length_ns(absl::ToInt64Nanoseconds(absl::Hours(2)));
    return request;
  }
  absl::StatusOr<v1::Reservation> Make(const v1::ReserveRequest& request) {
    return Make(server_.caller, request);
  }
  absl::StatusOr<v1::Reservation> Make(const Caller& caller, const v1::ReserveRequest& request) {
    v1::Reservation made;
    const absl::Status status = Reserve(caller, server_.env, request, &made);
    if (!status.ok()) return status;
    return made;
  }
  absl::Status Set(v1::SetAvailabilityRequest::Action action, const std::string& device = "board",
                   const std::string& reason = "") {
    v1::SetAvailabilityRequest request;
    request.set_device(device);
    request.set_action(action);
    request.set_reason(reason);
    return SetAvailability(server_.caller, server_.env, request, &device_);
  }

  testing::HandlerEnvironment server_;
  v1::Device device_;
  const Caller admin_{.owner = "root", .roles = {Role::kAdmin, Role::kUser}};
};

TEST_F(QueueTest, AReservationBeginsNowUnlessItSays) {
  const v1::Reservation now = *Make(Request());
  EXPECT_EQ(now.owner(), "ann");
  EXPECT_EQ(absl::FromUnixNanos(now.from_ns()), server_.clock.Now());
  EXPECT_EQ(absl::FromUnixNanos(now.until_ns()), server_.clock.Now() + absl::Hours(2));
  v1::ReserveRequest later = Request("later");
  later.set_from_ns(now.until_ns());
  later.set_purpose("a try");
  EXPECT_EQ(Make(later)->purpose(), "a try");
  v1::ListReservationsResponse list;
  ASSERT_OK(ListReservations(server_.Owner("bob"), server_.env, {}, &list));
  EXPECT_EQ(list.reservations_size(), 2);
  EXPECT_EQ(list.reservations(0).id(), "");
  v1::UnreserveRequest end;
  end.set_id(now.id());
  v1::Reservation ended;
  EXPECT_THAT(Unreserve(server_.Owner("bob"), server_.env, end, &ended),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK(Unreserve(server_.caller, server_.env, end, &ended));
  EXPECT_EQ(ended.id(), now.id());
  end.set_id("no id");
  EXPECT_THAT(Unreserve(server_.caller, server_.env, end, &ended),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// An answer that was lost: the begin has passed when it is asked for again.
TEST_F(QueueTest, ARequestThatIsRepeatedLateIsTheSame) {
  v1::ReserveRequest request = Request();
  request.set_from_ns(absl::ToUnixNanos(server_.clock.Now() + absl::Seconds(1)));
  const v1::Reservation made = *Make(request);
  server_.clock.Advance(absl::Seconds(30));
  EXPECT_EQ(Make(request)->id(), made.id());
  request.set_length_ns(request.length_ns() + 1);
  EXPECT_THAT(Make(request), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(QueueTest, TimesOutOfBoundsAreRefused) {
  const auto with = [&](int64_t from, int64_t length) {
    v1::ReserveRequest request = Request();
    request.set_from_ns(from);
    request.set_length_ns(length);
    return Make(request);
  };
  const int64_t now = absl::ToUnixNanos(server_.clock.Now());
  const int64_t hour = absl::ToInt64Nanoseconds(absl::Hours(1));
  const int64_t ahead = absl::ToInt64Nanoseconds(kMaxReservationAhead);
  const int64_t longest = absl::ToInt64Nanoseconds(kDefaultMaxReservation);
  for (const auto& [from, length] :
       {std::pair<int64_t, int64_t>{now - 1, hour},
        {-1, hour},
        {kNever, hour},
        {now, kNever},
        {now, 0},
        {now, -hour},
        {now, 1},
        {now, longest + 1},
        {now + ahead + 1, hour},
        {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min()},
        {kNever, kNever}}) {
    EXPECT_THAT(with(from, length), StatusIs(absl::StatusCode::kInvalidArgument))
        << from << " " << length;
  }
  EXPECT_OK(with(now + ahead, longest));
}

TEST_F(QueueTest, AdministratorsReserveForLonger) {
  v1::ReserveRequest request = Request();
  request.set_length_ns(absl::ToInt64Nanoseconds(kMaxReservation));
  EXPECT_THAT(Make(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--max-reservation")));
  EXPECT_OK(Make(admin_, request));
  request = Request("2");
  request.set_length_ns(absl::ToInt64Nanoseconds(kMaxReservation) + 1);
  EXPECT_THAT(Make(admin_, request), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(QueueTest, WhatIsMalformedIsRefused) {
  v1::ReserveRequest request = Request("");
  EXPECT_THAT(Make(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  request.set_device("../board");
  EXPECT_THAT(Make(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Request();
  request.set_purpose(std::string(kMaxPurposeBytes + 1, 'p'));
  EXPECT_THAT(Make(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("purpose")));
  request.set_purpose(std::string(kMaxPurposeBytes, 'p'));
  EXPECT_OK(Make(request));
  using Action = v1::SetAvailabilityRequest;
  EXPECT_THAT(Set(Action::ACTION_UNSPECIFIED), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Set(static_cast<Action::Action>(99)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Set(Action::DRAIN, ""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Set(Action::DRAIN, "no"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Set(Action::DRAIN, "board", std::string(kMaxPurposeBytes + 1, 'r')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("reason")));
  v1::ListQueueRequest list;
  v1::ListQueueResponse response;
  for (const int bad : {-1, kMaxPageSize + 1}) {
    list.set_limit(bad);
    EXPECT_THAT(ListQueue(server_.caller, server_.env, list, &response),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(QueueTest, EachActionDoesWhatItSays) {
  using Action = v1::SetAvailabilityRequest;
  using Availability = v1::Availability;
  for (const auto& [action, state] : {std::pair(Action::DRAIN, Availability::DRAINED),
                                      {Action::UNDRAIN, Availability::AVAILABLE},
                                      {Action::QUARANTINE, Availability::QUARANTINED},
                                      {Action::UNQUARANTINE, Availability::AVAILABLE}}) {
    ASSERT_OK(Set(action, "board", "why"));
    EXPECT_EQ(device_.availability().state(), state);
  }
  ASSERT_OK(Set(Action::DRAIN, "board", "why"));
  EXPECT_EQ(device_.availability().by(), "ann");
  EXPECT_EQ(device_.availability().reason(), "why");
  EXPECT_THAT(Set(Action::UNQUARANTINE), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(QueueTest, ThereAreSoManyRowsByDefault) {
  ASSERT_OK(Set(v1::SetAvailabilityRequest::DRAIN));
  v1::CreateRunRequest run;
  *run.mutable_spec()->mutable_manifest() = server_.PutProgram();
  v1::CreateJobResponse created;
  for (int i = 0; i <= kDefaultPageSize; ++i) {
    run.set_request_id(absl::StrCat(i));
    ASSERT_OK(CreateRun(server_.caller, server_.env, run, &created));
  }
  v1::ListQueueResponse response;
  ASSERT_OK(ListQueue(server_.caller, server_.env, {}, &response));
  EXPECT_EQ(response.jobs_size(), kDefaultPageSize);
  EXPECT_EQ(response.waiting(), kDefaultPageSize + 1);
}

}  // namespace
}  // namespace slipway::server
