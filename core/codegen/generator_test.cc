#include "core/codegen/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <halide14/Halide.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/codegen/codegen_source_digest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(GeneratorTest, NamesSourcesHalideAndLlvm) {
  Halide::Var("x");  // So that the library is there.
  ASSERT_OK_AND_ASSIGN(const std::string fingerprint, GeneratorFingerprint());
  EXPECT_THAT(fingerprint, AllOf(HasSubstr(std::string(CodegenSourceDigest())),
                                 HasSubstr("libHalide14.so"), HasSubstr("libLLVM-14.so")));
}

TEST(GeneratorTest, KnowsTheSourcesThatDecideOverKernels) {
  ASSERT_OK_AND_ASSIGN(const std::string listing,
                       ReadFile("core/codegen/codegen_source_digest.sha256", 1 << 20));
  EXPECT_EQ(Digest::Of(listing).hex(), CodegenSourceDigest());
  std::vector<std::string> paths;
  for (const absl::string_view line : absl::StrSplit(listing, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> columns = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    ASSERT_EQ(columns.size(), 2u) << line;
    EXPECT_EQ(columns[0].size(), 64u) << line;
    EXPECT_FALSE(absl::StartsWith(columns[1], "/") || absl::StrContains(columns[1], "bazel-out"))
        << line;
    paths.push_back(columns[1]);
  }
  for (const char* path :
       {"core/codegen/group.cc", "core/codegen/kernel_compiler.cc", "core/codegen/halide_target.cc",
        "core/codegen/float_math.cc", "core/codegen/group_pipeline.cc",
        "core/codegen/lower/convolution.cc", "core/codegen/schedules/cpu/tiles.cc",
        "core/operators/convolution.cc", "core/graph/graph_digest.cc"}) {
    EXPECT_THAT(paths, Contains(path));
  }
}

}  // namespace
}  // namespace slipway
