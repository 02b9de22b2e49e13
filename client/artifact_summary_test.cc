#include "client/artifact_summary.h"

#include "core/artifact/test_manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;

TEST(ArtifactSummary, OfAStaticProgram) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest()));
  const ArtifactSummary summary = Summarize(manifest);
  EXPECT_EQ(summary.digest, manifest.digest());
  EXPECT_EQ(summary.arena_bytes, 192);
  ASSERT_EQ(summary.steps.size(), 2u);
  EXPECT_EQ(summary.steps[0].name, "Add");
  EXPECT_EQ(summary.steps[0].control, "");
  EXPECT_TRUE(summary.symbols.empty());
  EXPECT_TRUE(summary.functions.empty());
  EXPECT_EQ(summary.spaces.size(), 1u);
}

TEST(ArtifactSummary, TellsOfSymbolsFunctionsSpacesAndCode) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest2()));
  const ArtifactSummary summary = Summarize(manifest);
  ASSERT_EQ(summary.symbols.size(), 3u);
  EXPECT_EQ(summary.symbols[0].name, "batch");
  EXPECT_EQ(summary.symbols[0].max, 16);
  ASSERT_EQ(summary.code.size(), 3u);
  EXPECT_EQ(summary.code[1].kind, "PTX");
  EXPECT_EQ(summary.code[1].device, "cuda-sm90");
  EXPECT_THAT(summary.code[1].entries, ElementsAre("scale_rows"));
  ASSERT_EQ(summary.spaces.size(), 3u);
  EXPECT_THAT(summary.spaces[2].shared_with, ElementsAre("cuda-sm90", "opencl"));
  EXPECT_EQ(summary.arena_bytes, 1024);
  EXPECT_EQ(summary.steps[1].control, "bind: count");
  EXPECT_EQ(summary.steps[3].control, "if: keep, else change");
  EXPECT_EQ(summary.steps[4].control, "loop: body");
  ASSERT_EQ(summary.functions.size(), 4u);
  EXPECT_EQ(summary.functions[2].name, "body");
  EXPECT_FALSE(summary.functions[2].is_entry);
  EXPECT_TRUE(summary.functions[3].is_entry);
  EXPECT_EQ(ToString(summary.functions[2].inputs[1].type), "f32[8]");
}

}  // namespace
}  // namespace slipway
