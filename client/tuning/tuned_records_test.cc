#include "client/tuning/tuned_records.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const absl::Time kNow = absl::FromCivil(absl::CivilDay(2026, 11, 29), absl::UTCTimeZone());

TunedKernel Kernel(const std::string& name, const std::string& schedule) {
  return {.kernel = name,
          .step = "Conv a",
          .steps = 1,
          .default_schedule = "convolution width=6",
          .schedule = schedule,
          .default_ns = 901'000,
          .ns = 812'000};
}

TEST(TunedRecordsTest, ANewFileHasWhatIsNotTheCompilersChoice) {
  TunedKernel often = Kernel("00000000000000a2", "convolution width=4");
  often.steps = 3;
  often.step = "a\nb";
  const std::string text =
      WithTunedRecords("",
                       {Kernel("00000000000000a1", "convolution width=8"), often,
                        Kernel("00000000000000a3", "convolution width=6")},
                       "board-1", kNow);
  EXPECT_EQ(text,
            "# Schedules that were found by measuring, for \"--schedules\"; \"--tune-on\" goes on "
            "with them.\n"
            "00000000000000a1 convolution width=8  # Conv a: 812 us, 901 us by the compiler's "
            "choice, on board-1, 2026-11-29\n"
            "00000000000000a2 convolution width=4  # a\\nb and 2 more: 812 us, 901 us by the "
            "compiler's choice, on board-1, 2026-11-29\n");
  ASSERT_OK_AND_ASSIGN(const KernelSchedules read, ReadTunedRecords(text));
  EXPECT_THAT(read, ElementsAre(Pair("00000000000000a1", "convolution width=8"),
                                Pair("00000000000000a2", "convolution width=4")));
}

TEST(TunedRecordsTest, OtherKernelsOfAFileStayAsTheyAre) {
  const std::string before =
      "# mine\n\n00000000000000a1 convolution width=7\n00000000000000b1 rows # of another model\n"
      "00000000000000a3   convolution width=5";
  const std::string text = WithTunedRecords(before,
                                            {Kernel("00000000000000a1", "convolution width=8"),
                                             Kernel("00000000000000a3", "convolution width=6")},
                                            "board-1", kNow);
  EXPECT_EQ(text,
            "# mine\n\n00000000000000b1 rows # of another model\n"
            "00000000000000a1 convolution width=8  # Conv a: 812 us, 901 us by the compiler's "
            "choice, on board-1, 2026-11-29\n");
}

TEST(TunedRecordsTest, AFileThatIsNoneIsAnError) {
  EXPECT_THAT(ReadTunedRecords("width=5"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1")));
}

}  // namespace
}  // namespace slipway
