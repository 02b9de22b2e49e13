#include "core/codegen/schedules/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/codegen/schedules/parameters.h"
#include "core/schedules/kernel_schedule.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A schedule whose later numbers depend on those before them, as those of real kinds do.
struct Cut {
  int width = 6;
  int blocks = 2;
  int chunk = 4;
  int parallel_bands = 0;

  Parameters Numbers() {
    return {{"width", &width, 1, 16},
            {"blocks", &blocks, 1, 8, 8},
            {"chunk", &chunk, 1, 8, 8, blocks},
            {"parallel-bands", &parallel_bands, 0, 1}};
  }
};

std::vector<std::string> Texts(const std::vector<StageSchedule>& stages) {
  std::vector<std::string> texts;
  for (const StageSchedule& stage : stages) texts.push_back(ToString({stage}));
  return texts;
}

std::vector<StageSchedule> CandidatesOf(const std::string& kind, Cut& cut) {
  return CandidatesNear({kind, NumbersOf(cut.Numbers())}, [&] { return cut.Numbers(); });
}

TEST(CandidatesTest, MoveOneNumberOrTwoAgainstEachOther) {
  Cut cut;
  EXPECT_THAT(Texts(CandidatesOf("winograd-convolution", cut)),
              ElementsAre("winograd-convolution width=6 blocks=2 chunk=8 parallel-bands=0",
                          "winograd-convolution width=6 blocks=2 chunk=2 parallel-bands=0",
                          "winograd-convolution width=5 blocks=2 chunk=4 parallel-bands=0",
                          "winograd-convolution width=7 blocks=2 chunk=4 parallel-bands=0",
                          "winograd-convolution width=3 blocks=4 chunk=4 parallel-bands=0",
                          "winograd-convolution width=12 blocks=1 chunk=4 parallel-bands=0",
                          "winograd-convolution width=6 blocks=2 chunk=4 parallel-bands=1"));
  EXPECT_EQ(cut.width, 6) << "as before";
  EXPECT_EQ(cut.chunk, 4) << "as before";
}

TEST(CandidatesTest, NumbersThatNoMoreFitGoWithTheOneThatWasMoved) {
  Cut cut{.width = 2, .blocks = 4, .chunk = 4};
  // A chunk of 4 blocks is no multiple of 8.
  EXPECT_THAT(Texts(CandidatesOf("winograd-convolution", cut)),
              Contains("winograd-convolution width=1 blocks=8 chunk=8 parallel-bands=0"));
}

TEST(CandidatesTest, AreNoneBeyondTheBounds) {
  Cut cut{.width = 1, .blocks = 8, .chunk = 8, .parallel_bands = 1};
  EXPECT_THAT(Texts(CandidatesOf("winograd-convolution", cut)),
              ElementsAre("winograd-convolution width=2 blocks=8 chunk=8 parallel-bands=1",
                          "winograd-convolution width=2 blocks=4 chunk=8 parallel-bands=1",
                          "winograd-convolution width=1 blocks=8 chunk=8 parallel-bands=0"));
}

TEST(CandidatesTest, AreNoneOfWhatHasNothingToMove) {
  Cut cut;
  EXPECT_THAT(CandidatesOf("of another machine", cut), IsEmpty());
  EXPECT_THAT(CandidatesNear({"rows", {}}, [] { return Parameters(); }), IsEmpty());
}

TEST(CandidatesTest, ParametersTakeEachOfThem) {
  for (const char* kind : {"convolution", "depthwise-convolution", "winograd-convolution",
                           "product", "strassen-product", "expression"}) {
    for (int width = 1; width <= 16; ++width) {
      for (const int blocks : {1, 2, 4, 8}) {
        for (const int chunk : {1, 2, 4, 8}) {
          if (chunk % blocks != 0) continue;
          Cut cut{.width = width, .blocks = blocks, .chunk = chunk};
          for (const StageSchedule& candidate : CandidatesOf(kind, cut)) {
            Cut taken;
            EXPECT_OK(SetParameters(candidate, [&] { return taken.Numbers(); }));
            EXPECT_EQ(NumbersOf(taken.Numbers()), candidate.numbers);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipway
