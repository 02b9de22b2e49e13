#include "core/target/target.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kBad = absl::StatusCode::kInvalidArgument;

Target Parse(absl::string_view text) {
  absl::StatusOr<Target> target = ParseTarget(text);
  EXPECT_OK(target) << text;
  return target.ok() ? *std::move(target) : Target{{DeviceTarget()}};
}

TEST(TargetTest, CanonicalTextComesBack) {
  for (const char* text :
       {"x86-64-linux", "x86-64-v2-linux", "x86-64-v3-linux", "x86-64-v4-linux",
        "x86-64-v4-linux-vnni", "x86-64-v4-linux-bf16-fp16-vnni", "x86-64-v3-android",
        "x86-64-v3-linux-avxvnni", "arm-64-linux", "arm-64-android-dotprod-fp16",
        "arm-32-linux-neon", "riscv-64-linux-v", "wasm-32-wasi-simd128-threads",
        "x86-64-v3-linux,cuda-sm90", "x86-64-v3-linux,cuda-sm90a", "arm-64-android,opencl",
        "x86-64-v4-linux,cuda-sm90,cuda-sm120"}) {
    EXPECT_EQ(Parse(text).ToString(), text);
  }
}

TEST(TargetTest, CanonicalizesOtherSpellings) {
  EXPECT_EQ(Parse("x86-64-v1-linux").ToString(), "x86-64-linux");
  EXPECT_EQ(Parse("x86-64-v4-linux-vnni-bf16-vnni").ToString(), "x86-64-v4-linux-bf16-vnni");
  EXPECT_EQ(Parse("x86-64-v3-linux-fma").ToString(), "x86-64-v3-linux");
  // A feature that implies a level, and features that make one up.
  EXPECT_EQ(Parse("x86-64-linux-vnni").ToString(), "x86-64-v4-linux-vnni");
  EXPECT_EQ(Parse("x86-64-linux-avx512f").ToString(), "x86-64-v3-linux-avx512f");
  EXPECT_EQ(Parse("x86-64-linux-cx16-lahf-popcnt-sse42").ToString(), "x86-64-v2-linux");
  EXPECT_EQ(Parse("arm-64-linux-sve2").ToString(), "arm-64-linux-fp16-sve-sve2");
}

TEST(TargetTest, LevelsImplyTheirFeatures) {
  const Target v3 = Parse("x86-64-v3-linux");
  EXPECT_EQ(v3.host().level, 3);
  EXPECT_TRUE(v3.host().Has("avx2"));
  EXPECT_TRUE(v3.host().Has("fma"));
  EXPECT_TRUE(v3.host().Has("sse42"));
  EXPECT_FALSE(v3.host().Has("avx512f"));
  EXPECT_TRUE(Parse("x86-64-v4-linux").host().Has("avx512vl"));
  EXPECT_THAT(Parse("x86-64-linux").host().features, ElementsAre("sse2"));
  EXPECT_TRUE(Parse("x86-64-linux-avx2").host().Has("sse3"));
  EXPECT_EQ(Parse("x86-64-v3-linux,cuda-sm90").devices[1].level, 90);
  EXPECT_FALSE(Parse("x86-64-v3-linux,cuda-sm90").devices[1].is_specific);
  EXPECT_EQ(Parse("x86-64-v3-linux,cuda-sm90a").devices[1].level, 90);
  EXPECT_TRUE(Parse("x86-64-v3-linux,cuda-sm90a").devices[1].is_specific);
  EXPECT_FALSE(Parse("x86-64-v3-linux,cuda-sm90a") == Parse("x86-64-v3-linux,cuda-sm90"));
}

TEST(TargetTest, RefusesWithWhatIsKnown) {
  EXPECT_THAT(ParseTarget(""), StatusIs(kBad, HasSubstr("arm-64")));
  EXPECT_THAT(ParseTarget("mips-linux"),
              StatusIs(kBad, AllOf(HasSubstr("architecture 'mips-linux'"),
                                   HasSubstr("x86-64, arm-64, arm-32, riscv-64, wasm-32"))));
  EXPECT_THAT(ParseTarget("x86-64"), StatusIs(kBad, HasSubstr("operating system ''")));
  EXPECT_THAT(ParseTarget("x86-64-v5-linux"),
              StatusIs(kBad, AllOf(HasSubstr("'v5'"), HasSubstr("v2, v3, v4 and then linux"))));
  EXPECT_THAT(ParseTarget("x86-64-v3-wasi"), StatusIs(kBad, HasSubstr("linux, android")));
  EXPECT_THAT(ParseTarget("arm-64-linux-avx2"),
              StatusIs(kBad, AllOf(HasSubstr("feature 'avx2'"), HasSubstr("dotprod"))));
  EXPECT_THAT(ParseTarget("x86-64-linux-"), StatusIs(kBad, HasSubstr("ends in '-'")));
  EXPECT_THAT(ParseTarget("x86-64-linux--fma"), StatusIs(kBad, HasSubstr("feature ''")));
  EXPECT_THAT(ParseTarget("x86-64linux"), StatusIs(kBad, HasSubstr("architecture")));
  EXPECT_THAT(ParseTarget("X86-64-linux"), StatusIs(kBad));
  EXPECT_THAT(ParseTarget(" x86-64-linux"), StatusIs(kBad));
  EXPECT_THAT(ParseTarget(std::string("x86-64-linux\0", 13)), StatusIs(kBad));
  EXPECT_THAT(ParseTarget(std::string(100000, 'x')), StatusIs(kBad, HasSubstr("1024")));
}

TEST(TargetTest, RefusesHostWithAHint) {
  EXPECT_THAT(ParseTarget("host"), StatusIs(kBad, HasSubstr("slipway targets")));
  EXPECT_THAT(ParseTarget("x86-64-linux,host"), StatusIs(kBad, HasSubstr("'host'")));
}

TEST(TargetTest, WantsOneCpuAndThenItsGpus) {
  for (const char* text :
       {"cuda-sm90", "cuda-sm90,x86-64-linux", "x86-64-linux,x86-64-linux", "opencl"}) {
    EXPECT_THAT(ParseTarget(text), StatusIs(kBad, HasSubstr("one CPU"))) << text;
  }
  for (const char* text :
       {"x86-64-linux,cuda", "x86-64-linux,cuda-sm9", "x86-64-linux,cuda-sm09",
        "x86-64-linux,cuda-sm9000", "x86-64-linux,cuda-smxx", "x86-64-linux,cuda-sma",
        "x86-64-linux,cuda-sm90aa", "x86-64-linux,cuda-sm90f"}) {
    EXPECT_THAT(ParseTarget(text), StatusIs(kBad, HasSubstr("cuda-sm90'"))) << text;
  }
  EXPECT_THAT(ParseTarget("x86-64-linux,cuda-sm80a"), StatusIs(kBad, HasSubstr("'cuda-sm80a'")));
  for (const char* text : {"x86-64-linux,cuda-sm100a", "x86-64-linux,cuda-sm120a"}) {
    EXPECT_THAT(ParseTarget(text),
                StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("'cuda-sm90a' can")))
        << text;
  }
  EXPECT_THAT(ParseTarget("x86-64-linux,"), StatusIs(kBad));
  std::string many = "x86-64-linux";
  for (int i = 0; i < 16; ++i) many += ",opencl";
  EXPECT_THAT(ParseTarget(many), StatusIs(kBad, HasSubstr("more than 16")));
}

TEST(TargetTest, TellsWhatIsMissingForDevicesOfWhichItHasTheName) {
  const std::pair<const char*, const char*> missing[] = {
      {"hexagon", "FastRPC"}, {"metal", "macOS or iOS"}, {"vulkan", "SPIR-V"}, {"webgpu", "WGSL"}};
  for (const auto& [name, what] : missing) {
    for (const std::string& text :
         {std::string(name), absl::StrCat(name, "-2"), absl::StrCat("arm-64-android,", name)}) {
      EXPECT_THAT(ParseTarget(text), StatusIs(absl::StatusCode::kUnimplemented,
                                              AllOf(HasSubstr(name), HasSubstr(what))))
          << text;
    }
    EXPECT_THAT(KnownTargets(), ::testing::Not(Contains(HasSubstr(name))));
  }
  EXPECT_THAT(ParseTarget("metallic"), StatusIs(kBad, HasSubstr("metallic")));
}

TEST(TargetTest, KnownTargetsAreCanonical) {
  EXPECT_THAT(KnownTargets(), Contains("x86-64-v4-linux"));
  for (const std::string& text : KnownTargets()) EXPECT_EQ(Parse(text).ToString(), text);
}

TEST(TargetTest, FamiliesAreWithoutLevelsAndFeatures) {
  for (const char* text : {"x86-64-linux", "x86-64-v4-linux-bf16-vnni"}) {
    EXPECT_EQ(FamilyOf(Parse(text)), "x86-64-linux");
  }
  EXPECT_EQ(FamilyOf(Parse("arm-64-linux-dotprod")), "arm-64-linux");
  EXPECT_EQ(FamilyOf(Parse("arm-64-android")), "arm-64-android");
  EXPECT_EQ(FamilyOf(Parse("x86-64-v3-linux,opencl,cuda-sm90,cuda-sm80")),
            "x86-64-linux,cuda,opencl");
}

absl::Status Check(absl::string_view program, absl::string_view device) {
  return CheckRunsOn(Parse(program), Parse(device));
}

TEST(CheckRunsOnTest, FeaturesOfTheDeviceMayBeMore) {
  EXPECT_OK(Check("x86-64-v3-linux", "x86-64-v4-linux-vnni"));
  EXPECT_OK(Check("x86-64-v3-linux-avxvnni", "x86-64-v4-linux-avxvnni-vnni"));
  EXPECT_OK(Check("arm-64-linux", "arm-64-linux-dotprod"));
}

TEST(CheckRunsOnTest, NamesTheMissingFeature) {
  const absl::StatusCode no = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(Check("x86-64-v4-linux-vnni", "x86-64-v4-linux"),
              StatusIs(no,
                       "the program for 'x86-64-v4-linux-vnni' needs the feature 'vnni', which "
                       "the device 'x86-64-v4-linux' lacks"));
  EXPECT_THAT(Check("x86-64-v4-linux", "x86-64-v3-linux"),
              StatusIs(no, HasSubstr("features 'avx512bw', 'avx512cd'")));
  EXPECT_THAT(Check("x86-64-linux", "arm-64-linux"), StatusIs(no, HasSubstr("'arm-64-linux'")));
  EXPECT_THAT(Check("arm-64-android", "arm-64-linux"), StatusIs(no, HasSubstr("is for")));
  EXPECT_THAT(CheckRunsOn(Target(), Target()), StatusIs(no));
}

TEST(CheckRunsOnTest, EveryGpuNeedsOneOfItsOwn) {
  const absl::StatusCode no = absl::StatusCode::kFailedPrecondition;
  EXPECT_OK(Check("x86-64-linux", "x86-64-linux,cuda-sm90"));
  EXPECT_OK(Check("x86-64-linux,cuda-sm80", "x86-64-linux,cuda-sm90"));
  EXPECT_OK(Check("x86-64-linux,cuda-sm80,cuda-sm90", "x86-64-linux,opencl,cuda-sm90,cuda-sm80"));
  EXPECT_THAT(Check("x86-64-linux,cuda-sm90", "x86-64-linux,cuda-sm80"),
              StatusIs(no, HasSubstr("needs a 'cuda-sm90'")));
  EXPECT_THAT(Check("x86-64-linux,cuda-sm80,cuda-sm80", "x86-64-linux,cuda-sm90"), StatusIs(no));
  EXPECT_THAT(Check("x86-64-linux,opencl", "x86-64-linux,cuda-sm90"), StatusIs(no));
}

TEST(CheckRunsOnTest, CodeOfOneCapabilityRunsOnThatAlone) {
  const absl::StatusCode no = absl::StatusCode::kFailedPrecondition;
  EXPECT_OK(Check("x86-64-linux,cuda-sm90a", "x86-64-linux,cuda-sm90"));
  EXPECT_OK(Check("x86-64-linux,cuda-sm90a", "x86-64-linux,cuda-sm100,cuda-sm90"));
  for (const char* device : {"cuda-sm89", "cuda-sm100", "cuda-sm120"}) {
    EXPECT_THAT(Check("x86-64-linux,cuda-sm90a", absl::StrCat("x86-64-linux,", device)),
                StatusIs(no, AllOf(HasSubstr("needs a 'cuda-sm90a'"), HasSubstr(device))));
  }
  // Whoever runs anywhere leaves it to the one that does not.
  EXPECT_OK(Check("x86-64-linux,cuda-sm90,cuda-sm90a", "x86-64-linux,cuda-sm90,cuda-sm100"));
  EXPECT_OK(Check("x86-64-linux,cuda-sm80,cuda-sm90a", "x86-64-linux,cuda-sm90,cuda-sm80"));
  EXPECT_THAT(Check("x86-64-linux,cuda-sm90,cuda-sm90a", "x86-64-linux,cuda-sm90,cuda-sm80"),
              StatusIs(no));
}

TEST(WithoutPermissionsTest, KeepsWhatEveryProcessMayUse) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-v4-linux-amxbf16-amxint8"));
  EXPECT_EQ(WithoutPermissions(target).ToString(), "x86-64-v4-linux-bf16-vnni");
}

}  // namespace
}  // namespace slipway
