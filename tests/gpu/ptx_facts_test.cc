#include "tests/gpu/ptx_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/files.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

TEST(PtxFacts, AreAsRecorded) {
  ASSERT_OK_AND_ASSIGN(const std::string recorded,
                       ReadFile(RunfilePath("tests/gpu/ptx_facts.txt"), 1 << 20));
  ASSERT_OK_AND_ASSIGN(const std::string facts, PtxFacts());
  EXPECT_EQ(facts, recorded)
      << "what shall change: bazel run //tests/gpu:write_ptx_facts -- $PWD/tests/gpu/ptx_facts.txt";
}

}  // namespace
}  // namespace slipway::testing
