#include "core/schedules/kernel_schedule.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kKernel[] = "3f0c9a4410be72d1";

TEST(KernelScheduleTest, ComesBackAsItWas) {
  const KernelSchedule schedule = {{"convolution", {{"width", 6}, {"keeps-weights", 0}}},
                                   {"rows", {}},
                                   {"expression", {{"tasks", -1}}}};
  EXPECT_EQ(ToString(schedule), "convolution width=6 keeps-weights=0; rows; expression tasks=-1");
  ASSERT_OK_AND_ASSIGN(const ScheduleRecords records,
                       ParseScheduleRecords(absl::StrCat(kKernel, " ", ToString(schedule))));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records.at(kKernel).schedule, schedule);
}

TEST(KernelScheduleTest, CommentsAndEmptyLinesCountAsLinesAlone) {
  ASSERT_OK_AND_ASSIGN(const ScheduleRecords none, ParseScheduleRecords("# of this machine\n \n"));
  EXPECT_THAT(none, IsEmpty());
  ASSERT_OK_AND_ASSIGN(
      const ScheduleRecords records,
      ParseScheduleRecords("# resnet50\r\n\n  3f0c9a4410be72d1\tproduct  rows=4  # Gemm; fc\r\n"
                           "0000000000000000 join\n"));
  EXPECT_EQ(records.at(kKernel).schedule, (KernelSchedule{{"product", {{"rows", 4}}}}));
  EXPECT_EQ(records.at(kKernel).line, 3);
  EXPECT_EQ(records.at("0000000000000000").line, 4);
}

TEST(KernelScheduleTest, WhatIsNoRecordIsRefusedWithItsLine) {
  const std::string good = absl::StrCat(kKernel, " product rows=1");
  const std::vector<std::pair<std::string, const char*>> wrongs = {
      {"3F0c9a4410be72d1 product", "\"3F0c9a4410be72d1\" is no kernel's name"},
      {"3f0c product", "is no kernel's name"},
      {kKernel, "does not begin with a kind"},
      {absl::StrCat(kKernel, " product; "), "does not begin with a kind"},
      {absl::StrCat(kKernel, " rows=1"), "\"rows=1\" does not begin with a kind"},
      {absl::StrCat(kKernel, " product rows"), "\"rows\" is not NAME=NUMBER"},
      {absl::StrCat(kKernel, " product rows="), "\"rows=\" is not"},
      {absl::StrCat(kKernel, " product rows=4x"), "\"rows=4x\" is not"},
      {absl::StrCat(kKernel, " product rows=4294967296"), "is not NAME=NUMBER"},
      {absl::StrCat(kKernel, " product Rows=4"), "is not NAME=NUMBER"},
      {absl::StrCat(kKernel, " product rows=4 rows=4"), "\"rows\" is given twice"},
      {absl::StrCat(kKernel, " ", std::string(kMaxScheduleNameBytes + 1, 'a')), "a kind"},
      {absl::StrCat("\x1b[2J", std::string(99, 'x')), "\"\\033[2J"},
      {good, "line 1 already"},
  };
  for (const auto& [line, why] : wrongs) {
    EXPECT_THAT(ParseScheduleRecords(absl::StrCat(good, "\n", line, "\n")),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::AllOf(HasSubstr("schedules, line 2: "), HasSubstr(why))))
        << line;
  }
}

TEST(KernelScheduleTest, WhatIsTooMuchIsRefused) {
  std::string numbers;
  for (int i = 0; i <= kMaxNumbersOfStage; ++i) {
    absl::StrAppend(&numbers, " ", std::string(static_cast<size_t>(i) + 1, 'a').substr(0, 32),
                    "=1");
  }
  EXPECT_THAT(ParseScheduleRecords(absl::StrCat(kKernel, " product", numbers)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("33 numbers")));
  std::string stages = "rows";
  for (int i = 0; i < kMaxStagesOfKernel; ++i) absl::StrAppend(&stages, "; rows");
  EXPECT_THAT(ParseScheduleRecords(absl::StrCat(kKernel, " ", stages)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("257 stages")));
  EXPECT_OK(ParseScheduleRecords(std::string(kMaxSchedulesBytes, '\n')));
  EXPECT_THAT(ParseScheduleRecords(std::string(kMaxSchedulesBytes + 1, '\n')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 1048576")));
}

}  // namespace
}  // namespace slipway
