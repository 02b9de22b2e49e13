#include "server/health/blame.h"

namespace slipway::server {
namespace {

using Code = absl::StatusCode;

const BlameRow kRows[] = {
    {AttemptEnd::kSucceeded, absl::nullopt, Blame::kPraise},
    // Crashes, wrong inputs, limits: what runs elsewhere ends there alike.
    {AttemptEnd::kFailed, absl::nullopt, Blame::kNobody},
    // The runner was ended from outside: mostly by the system, for the memory that the program took.
    {AttemptEnd::kRefused, Code::kAborted, Blame::kNobody},
    // It waited for the machine, or for what others send it, for too long; or the server lacks a blob.
    {AttemptEnd::kRefused, Code::kDeadlineExceeded, Blame::kNobody},
    {AttemptEnd::kRefused, Code::kCancelled, Blame::kNobody},
    {AttemptEnd::kRefused, Code::kNotFound, Blame::kNobody},
    {AttemptEnd::kRefused, Code::kFailedPrecondition, Blame::kNobody},
    // A full or rotten disk, no runner, no way to the server, a result that is none.
    {AttemptEnd::kRefused, absl::nullopt, Blame::kDevice},
    {AttemptEnd::kLost, absl::nullopt, Blame::kDevice},
    {AttemptEnd::kStopped, absl::nullopt, Blame::kNobody},
    {AttemptEnd::kOverdue, absl::nullopt, Blame::kDevice},
};

}  // namespace

absl::Span<const BlameRow> BlameRows() { return kRows; }

Blame BlameForProbe(bool measures, absl::StatusCode code) {
  switch (code) {
    case Code::kCancelled:
    case Code::kNotFound:
    case Code::kFailedPrecondition:
    case Code::kPermissionDenied:
    case Code::kUnimplemented:
      return Blame::kNobody;
    case Code::kDeadlineExceeded:
      return measures ? Blame::kNobody : Blame::kDevice;
    default:
      return Blame::kDevice;
  }
}

Blame BlameFor(AttemptEnd end, absl::StatusCode code) {
  for (const BlameRow& row : kRows) {
    if (row.end == end && (!row.code.has_value() || *row.code == code)) return row.blame;
  }
  return Blame::kNobody;
}

}  // namespace slipway::server
