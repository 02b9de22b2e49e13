#include "core/wire/record_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kLost = absl::StatusCode::kDataLoss;

v1::SignedRecord Record() {
  v1::SignedRecord record;
  record.set_entry("an entry\n\0", 10);
  record.mutable_statement()->set_payload("a payload");
  record.mutable_statement()->set_time_ns(7);
  return record;
}

TEST(RecordFileTest, ReadsWhatItWrote) {
  const std::string file = FormatRecord(Record());
  EXPECT_EQ(file.substr(0, 34), "slipway record 1\n000000000000001b\n");
  ASSERT_OK_AND_ASSIGN(const v1::SignedRecord read, ParseRecord(file));
  EXPECT_EQ(read.SerializeAsString(), Record().SerializeAsString());
}

TEST(RecordFileTest, WhatWasCutOffAnywhereIsSaidToBe) {
  const std::string file = FormatRecord(Record());
  for (size_t size = 1; size < file.size(); ++size) {
    EXPECT_THAT(ParseRecord(file.substr(0, size)), StatusIs(kLost, HasSubstr("cut off"))) << size;
  }
}

TEST(RecordFileTest, SaysWhatElseIsWrong) {
  constexpr auto kNone = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseRecord(""), StatusIs(kNone, HasSubstr("it is no record")));
  EXPECT_THAT(ParseRecord("\x7f"
                          "ELF"),
              StatusIs(kNone, HasSubstr("it is no record")));
  EXPECT_THAT(ParseRecord("slipway record 2\n"), StatusIs(kNone, HasSubstr("another version")));
  const std::string file = FormatRecord(Record());
  EXPECT_THAT(ParseRecord(absl::StrCat(file, "xy")),
              StatusIs(kLost, HasSubstr("has 2 bytes behind its end")));
  EXPECT_THAT(ParseRecord(absl::StrCat("slipway record 1\n000000000000001g", file.substr(33))),
              StatusIs(kLost, HasSubstr("does not tell its size")));
  EXPECT_THAT(ParseRecord("slipway record 1\n0000000000000002\n\xff\xff"),
              StatusIs(kLost, HasSubstr("cannot be read")));
}

}  // namespace
}  // namespace slipway
