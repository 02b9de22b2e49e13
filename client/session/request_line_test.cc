#include "client/session/request_line.h"

#include <memory>
#include <string>
#include <vector>

#include "core/wire/session_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RequestLineTest : public ::testing::Test {
 protected:
  void Open(int64_t max_requests, int64_t max_bytes) {
    line_.SetLimits({.max_requests = max_requests, .max_data_under_way_bytes = max_bytes});
    EXPECT_THAT(line_.Resume(0), IsOk());
  }
  void Facts() {
    RequestLine::Entry entry;
    entry.operation = operation_;
    entry.outgoing.request.mutable_get_facts();
    line_.Add(std::move(entry));
  }
  void Write(const std::string& bytes) {
    RequestLine::Entry entry;
    entry.operation = operation_;
    entry.outgoing.request.mutable_write();
    entry.outgoing.data = absl::Cord(bytes);
    line_.Add(std::move(entry));
  }
  void Read(int64_t size) {
    RequestLine::Entry entry;
    entry.operation = operation_;
    entry.outgoing.request.mutable_read()->set_size(size);
    entry.outgoing.asked = size;
    line_.Add(std::move(entry));
  }
  // What the next message says: ids of requests with the sizes of their data, and what steers.
  std::vector<std::string> Next() {
    std::vector<std::string> said;
    const absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(line_.NextMessage());
    EXPECT_THAT(parts, IsOk());
    if (parts->message.acked() > 0)
      said.push_back("acked " + std::to_string(parts->message.acked()));
    for (const v1::SessionRequest& request : parts->message.requests()) {
      if (request.has_heartbeat()) {
        said.push_back("heartbeat");
      } else if (request.has_close()) {
        said.push_back("close");
      } else if (request.has_cancel()) {
        said.push_back("cancel " + std::to_string(request.cancel().request()));
      } else {
        said.push_back(std::to_string(request.id()));
        if (request.has_free())
          said.back() += " frees " + std::to_string(request.free().handles_size());
      }
    }
    if (!parts->data.empty()) said.back() += " data " + std::to_string(parts->data.size());
    return said;
  }
  void Answer(uint64_t id) { EXPECT_THAT(line_.Answer(id), IsOk()); }

  const std::shared_ptr<SessionOperation> operation_ =
      std::make_shared<ValueOperation<bool>>(true, nullptr);
  RequestLine line_;
};

TEST_F(RequestLineTest, WhatHasGatheredGoesTogetherAndDataLast) {
  Open(100, 100);
  Facts();
  Facts();
  Write("abc");
  Write("de");
  Facts();
  EXPECT_THAT(Next(), ElementsAre("1", "2", "3 data 3"));
  EXPECT_TRUE(line_.is_waiting());
  EXPECT_THAT(Next(), ElementsAre("4 data 2"));
  EXPECT_THAT(Next(), ElementsAre("5"));
  EXPECT_FALSE(line_.is_waiting());
  EXPECT_THAT(Next(), IsEmpty());
}

TEST_F(RequestLineTest, NothingButHeartbeatsIsSentBeforeItIsOpen) {
  Facts();
  EXPECT_THAT(Next(), IsEmpty());
  line_.Beat();
  EXPECT_THAT(Next(), ElementsAre("heartbeat"));
  Open(1, 1);
  EXPECT_THAT(Next(), ElementsAre("1"));
  line_.Suspend();
  Facts();
  Answer(1);
  line_.Beat();
  EXPECT_THAT(Next(), ElementsAre("acked 1", "heartbeat"));
}

TEST_F(RequestLineTest, KeepsToTheNumberOfRequests) {
  Open(2, 100);
  for (int i = 0; i < 4; ++i) Facts();
  EXPECT_THAT(Next(), ElementsAre("1", "2"));
  EXPECT_THAT(Next(), IsEmpty());
  Answer(1);
  EXPECT_THAT(Next(), ElementsAre("acked 1", "3"));
  EXPECT_THAT(Next(), IsEmpty());
}

TEST_F(RequestLineTest, KeepsToTheBytesSentAndAskedFor) {
  Open(100, 10);
  Read(6);
  Write("abcd");
  Read(1);
  EXPECT_THAT(Next(), ElementsAre("1", "2 data 4"));
  EXPECT_THAT(Next(), IsEmpty());
  Answer(1);
  EXPECT_THAT(Next(), ElementsAre("acked 1", "3"));
}

TEST_F(RequestLineTest, OneRequestThatIsOverTheLimitsGoesAlone) {
  Open(100, 10);
  Read(60);
  Facts();
  EXPECT_THAT(Next(), ElementsAre("1"));
  Answer(1);
  EXPECT_THAT(Next(), ElementsAre("acked 1", "2"));
}

TEST_F(RequestLineTest, AcksAloneWhenHalfOfALimitIsNotAcked) {
  Open(4, 100);
  for (int i = 0; i < 4; ++i) Facts();
  EXPECT_THAT(Next(), ElementsAre("1", "2", "3", "4"));
  Answer(1);
  EXPECT_THAT(Next(), IsEmpty());
  Answer(2);
  EXPECT_THAT(Next(), ElementsAre("acked 2"));
  EXPECT_THAT(Next(), IsEmpty());
  Answer(3);
  Answer(4);
  EXPECT_THAT(Next(), ElementsAre("acked 4"));
  Read(50);
  EXPECT_THAT(Next(), ElementsAre("5"));
  Answer(5);
  EXPECT_THAT(Next(), ElementsAre("acked 5"));
}

TEST_F(RequestLineTest, FreesGatherBehindWhatUsesThem) {
  Open(100, 100);
  Facts();
  line_.Free(1);
  line_.Free(2);
  EXPECT_THAT(Next(), ElementsAre("1", "2 frees 2"));
  line_.Free(3);
  EXPECT_FALSE(line_.is_waiting());
  Facts();
  line_.Free(4);
  EXPECT_THAT(Next(), ElementsAre("3 frees 1", "4", "5 frees 1"));
}

TEST_F(RequestLineTest, AnswersComeInOrder) {
  Open(100, 100);
  EXPECT_THAT(line_.Answer(1),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("none is under way")));
  Facts();
  EXPECT_THAT(line_.Answer(1), StatusIs(absl::StatusCode::kInternal));
  Facts();
  Next();
  EXPECT_THAT(line_.Answer(2), StatusIs(absl::StatusCode::kInternal, HasSubstr("1 is next")));
  EXPECT_THAT(line_.Answer(0), StatusIs(absl::StatusCode::kInternal));
  Answer(1);
  EXPECT_THAT(line_.Answer(1), StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(line_.received(), 1u);
}

TEST_F(RequestLineTest, SendsAgainWhatWasNotTaken) {
  Open(100, 100);
  Facts();
  Write("ab");
  Facts();
  Next();
  Next();
  Answer(1);
  line_.Suspend();
  Facts();
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(line_.Resume(2), IsOk());
  EXPECT_THAT(Next(), ElementsAre("3", "4"));
  Answer(2);
  line_.Suspend();
  EXPECT_THAT(line_.Resume(2), IsOk());
  EXPECT_THAT(Next(), ElementsAre("3", "4"));
}

TEST_F(RequestLineTest, ADeviceCannotHaveTakenWhatWasNotSentNorLoseWhatItAnswered) {
  Open(100, 100);
  Facts();
  Facts();
  Next();
  Answer(1);
  line_.Suspend();
  EXPECT_THAT(line_.Resume(3), StatusIs(absl::StatusCode::kInternal, HasSubstr("1 to 2")));
  EXPECT_THAT(line_.Resume(0), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(RequestLineTest, CancelsWhatIsSentAndTakesOutWhatIsNot) {
  Open(2, 100);
  const auto other = std::make_shared<ValueOperation<bool>>(true, nullptr);
  Facts();
  Facts();
  Facts();
  RequestLine::Entry entry;
  entry.operation = other;
  entry.outgoing.request.mutable_get_facts();
  line_.Add(std::move(entry));
  Next();
  EXPECT_EQ(line_.TakeUnsent(*operation_).size(), 1u);
  EXPECT_THAT(Next(), IsEmpty());
  line_.Cancel(*operation_);
  EXPECT_THAT(Next(), ElementsAre("cancel 1", "cancel 2"));
  EXPECT_THAT(line_.TakeUnsent(*operation_), IsEmpty());
  line_.Cancel(*operation_);
  EXPECT_THAT(Next(), IsEmpty());
  Answer(1);
  EXPECT_THAT(Next(), ElementsAre("acked 1", "3"));

  // What is cancelled stays so on another connection: 2 was taken, 3 was not.
  EXPECT_THAT(line_.TakeUnsent(*other), IsEmpty());
  line_.Cancel(*other);
  line_.Suspend();
  EXPECT_THAT(line_.Resume(2), IsOk());
  EXPECT_THAT(Next(), ElementsAre("cancel 2", "3"));
  EXPECT_THAT(Next(), ElementsAre("cancel 3"));
}

TEST_F(RequestLineTest, CancelsAgainOverAnotherConnection) {
  Open(100, 100);
  for (int i = 0; i < 3; ++i) Facts();
  Next();
  line_.Cancel(*operation_);
  EXPECT_THAT(Next(), ElementsAre("cancel 1", "cancel 2", "cancel 3"));
  line_.Suspend();
  EXPECT_THAT(line_.Resume(3), IsOk());
  EXPECT_THAT(Next(), ElementsAre("cancel 1", "cancel 2", "cancel 3"));
}

TEST_F(RequestLineTest, ClosesAfterTheLastRequest) {
  Open(100, 100);
  Write("ab");
  line_.Close();
  EXPECT_THAT(Next(), ElementsAre("1 data 2"));
  EXPECT_TRUE(line_.is_waiting());
  EXPECT_THAT(Next(), ElementsAre("close"));
  EXPECT_FALSE(line_.is_waiting());
  EXPECT_THAT(Next(), IsEmpty());
  line_.Suspend();
  EXPECT_THAT(line_.Resume(0), IsOk());
  EXPECT_THAT(Next(), ElementsAre("1 data 2"));
  EXPECT_THAT(Next(), ElementsAre("close"));
}

TEST_F(RequestLineTest, ClosesAnewOnceItIsKnownWhatIsToBeSentAgain) {
  Open(10, 1000);
  Facts();
  EXPECT_THAT(Next(), ElementsAre("1"));
  line_.Suspend();
  line_.Close();
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_THAT(line_.Resume(0), IsOk());
  EXPECT_THAT(Next(), ElementsAre("1", "close"));
}

TEST_F(RequestLineTest, ClosesWhatIsNotOpenYet) {
  line_.Close();
  EXPECT_THAT(Next(), ElementsAre("close"));
}

TEST_F(RequestLineTest, TakesAllInOrder) {
  Open(1, 100);
  Facts();
  Write("ab");
  Next();
  const std::vector<RequestLine::Entry> all = line_.TakeAll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].outgoing.request.has_get_facts());
  EXPECT_TRUE(all[1].outgoing.request.has_write());
  EXPECT_FALSE(line_.is_waiting());
  EXPECT_THAT(Next(), IsEmpty());
}

TEST_F(RequestLineTest, WhoComesFromElsewhereGoesOnBehindWhatWasAsked) {
  line_.SetLimits({.max_requests = 100, .max_data_under_way_bytes = 100});
  line_.BeginElsewhere();
  EXPECT_EQ(line_.received(), UINT64_MAX);
  Facts();
  ASSERT_THAT(line_.Resume(7), IsOk());
  EXPECT_EQ(line_.received(), 7u);
  EXPECT_THAT(Next(), ElementsAre("8"));
  // What was asked before is nobody's here.
  const absl::StatusOr<RequestLine::Entry> others = line_.Answer(6);
  ASSERT_THAT(others, IsOk());
  EXPECT_EQ(others->operation, nullptr);
  Answer(7);
  EXPECT_THAT(line_.Answer(9), StatusIs(absl::StatusCode::kInternal));
  Answer(8);
  EXPECT_TRUE(line_.is_empty());
  // From then on it is a line like others.
  Facts();
  EXPECT_THAT(Next(), ElementsAre("acked 8", "9"));
  ASSERT_THAT(line_.Resume(8), IsOk());
  EXPECT_THAT(Next(), ElementsAre("9"));
  EXPECT_THAT(line_.Resume(7), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
