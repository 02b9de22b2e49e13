#include "core/wire/session_wish.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/wire/tag_proto.h"

namespace slipway {
namespace {

constexpr absl::Duration kDefaultIdle = absl::Seconds(10);
constexpr absl::Duration kLongestLease = absl::Hours(24);
constexpr absl::Duration kDefaultWait = absl::Hours(1);
constexpr size_t kMaxPurposeBytes = 255;

absl::StatusOr<absl::Duration> ReadTime(absl::string_view what, int64_t ns, absl::Duration least,
                                        absl::Duration most, absl::Duration otherwise) {
  if (ns == 0) return otherwise;
  const absl::Duration time = absl::Nanoseconds(ns);
  if (time >= least && time <= most) return time;
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", absl::FormatDuration(time), "; ",
                                                 absl::FormatDuration(least), " to ",
                                                 absl::FormatDuration(most), " wanted"));
}

}  // namespace

absl::StatusOr<SessionWish> ReadWish(const v1::SessionRequest::Open& open) {
  SessionWish wish;
  wish.device = open.device();
  wish.target = open.target();
  wish.purpose = open.purpose();
  wish.request_id = open.request_id();
  wish.priority = open.priority();
  if (open.purpose().size() > kMaxPurposeBytes || open.request_id().size() > kMaxPurposeBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("purpose and request_id may have ", kMaxPurposeBytes, " bytes"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(wish.tags, FromProto(open.tags()));
  SLIPWAY_ASSIGN_OR_RETURN(
      wish.idle, ReadTime("idle_ns", open.idle_ns(), kShortestIdle, kLongestIdle, kDefaultIdle));
  SLIPWAY_ASSIGN_OR_RETURN(wish.longest, ReadTime("longest_ns", open.longest_ns(), kShortestIdle,
                                                  kLongestLease, kLongestLease));
  if (open.wait_ns() == -1) {
    wish.wait = absl::ZeroDuration();
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(wish.wait, ReadTime("wait_ns", open.wait_ns(), absl::Nanoseconds(1),
                                                 kLongestLease, kDefaultWait));
  }
  return wish;
}

}  // namespace slipway
