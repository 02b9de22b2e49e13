#include "server/health/blame.h"

#include <set>

#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using Code = absl::StatusCode;

// Each row by itself, as somebody who does not know the table would say it.
TEST(BlameTest, Table) {
  struct Case {
    const char* what;
    AttemptEnd end;
    Code code;
    Blame blame;
  };
  const Case cases[] = {
      {"a result", AttemptEnd::kSucceeded, Code::kOk, Blame::kPraise},
      {"a program that crashes", AttemptEnd::kFailed, Code::kAborted, Blame::kNobody},
      {"a program that loops", AttemptEnd::kFailed, Code::kDeadlineExceeded, Blame::kNobody},
      {"too much memory", AttemptEnd::kFailed, Code::kResourceExhausted, Blame::kNobody},
      {"a program for another device", AttemptEnd::kFailed, Code::kFailedPrecondition,
       Blame::kNobody},
      {"killed for memory", AttemptEnd::kRefused, Code::kAborted, Blame::kNobody},
      {"a machine that others had", AttemptEnd::kRefused, Code::kDeadlineExceeded, Blame::kNobody},
      {"somebody gave up", AttemptEnd::kRefused, Code::kCancelled, Blame::kNobody},
      {"a blob that was evicted", AttemptEnd::kRefused, Code::kNotFound, Blame::kNobody},
      {"a blob that the server lacks", AttemptEnd::kRefused, Code::kFailedPrecondition,
       Blame::kNobody},
      {"a rotten disk", AttemptEnd::kRefused, Code::kDataLoss, Blame::kDevice},
      {"a full disk", AttemptEnd::kRefused, Code::kResourceExhausted, Blame::kDevice},
      {"no runner", AttemptEnd::kRefused, Code::kInternal, Blame::kDevice},
      {"no way to the server", AttemptEnd::kRefused, Code::kUnavailable, Blame::kDevice},
      {"an agent that vanished", AttemptEnd::kLost, Code::kAborted, Blame::kDevice},
      {"an agent that left", AttemptEnd::kStopped, Code::kAborted, Blame::kNobody},
      {"an agent that hangs", AttemptEnd::kOverdue, Code::kDeadlineExceeded, Blame::kDevice},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(BlameFor(each.end, each.code), each.blame) << each.what;
  }
  // A row behind one that takes everything would say nothing.
  std::set<AttemptEnd> closed;
  for (const BlameRow& row : BlameRows()) {
    EXPECT_FALSE(closed.contains(row.end));
    if (!row.code.has_value()) closed.insert(row.end);
  }
  EXPECT_EQ(closed.size(), 6u);
}

TEST(BlameTest, OfAProbe) {
  for (const Code code : {Code::kAborted, Code::kInternal, Code::kDataLoss, Code::kInvalidArgument,
                          Code::kResourceExhausted}) {
    EXPECT_EQ(BlameForProbe(false, code), Blame::kDevice);
    EXPECT_EQ(BlameForProbe(true, code), Blame::kDevice);
  }
  // What the agent takes no program for, or the server does not have.
  for (const Code code : {Code::kPermissionDenied, Code::kFailedPrecondition, Code::kNotFound,
                          Code::kUnimplemented, Code::kCancelled}) {
    EXPECT_EQ(BlameForProbe(false, code), Blame::kNobody);
  }
  EXPECT_EQ(BlameForProbe(false, Code::kDeadlineExceeded), Blame::kDevice);
  EXPECT_EQ(BlameForProbe(true, Code::kDeadlineExceeded), Blame::kNobody);
}

}  // namespace
}  // namespace slipway::server
