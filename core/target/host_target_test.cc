#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/target/arm64_identification.h"
#include "core/target/target.h"
#include "core/target/x86_identification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

// Registers of a processor with everything in the lexicon.
X86Identification Everything() {
  return {.leaf_1_ecx = ~0u,
          .leaf_7_ebx = ~0u,
          .leaf_7_ecx = ~0u,
          .leaf_7_edx = ~0u,
          .leaf_7_1_eax = ~0u,
          .leaf_80000001_ecx = ~0u,
          .xcr0 = 0x600e7};
}

std::string Describe(const X86Identification& id) { return TargetOfX86(id, Os::kLinux).ToString(); }

TEST(TargetOfX86Test, ReportsTheHighestLevel) {
  EXPECT_EQ(Describe(Everything()), "x86-64-v4-linux-amxbf16-amxint8-avxvnni-bf16-fp16-vbmi-vnni");
  EXPECT_EQ(Describe(X86Identification()), "x86-64-linux");
  X86Identification id = Everything();
  id.leaf_7_ebx &= ~(1u << 30);  // No avx512bw: neither level 4 nor what rests on it.
  EXPECT_EQ(Describe(id), "x86-64-v3-linux-avx512cd-avx512dq-avx512f-avx512vl-avxvnni");
}

TEST(TargetOfX86Test, BelievesTheSystemAboutVectorRegisters) {
  X86Identification id = Everything();
  id.xcr0 = 0xe7;  // AVX-512, but no tiles.
  EXPECT_EQ(Describe(id), "x86-64-v4-linux-avxvnni-bf16-fp16-vbmi-vnni");
  id.xcr0 = 0x7;  // AVX, but no AVX-512.
  EXPECT_EQ(Describe(id), "x86-64-v3-linux-avxvnni");
  id.xcr0 = 0x3;  // SSE alone. What needs no vector registers stays.
  EXPECT_EQ(Describe(id), "x86-64-v2-linux-bmi1-bmi2-lzcnt-movbe");
}

TEST(TargetOfX86Test, ClaimsNothingThatIsIncomplete) {
  X86Identification id = Everything();
  id.leaf_1_ecx &= ~(1u << 12);  // A hypervisor hides FMA: AVX-512 implies level 3, so it goes too.
  const DeviceTarget target = TargetOfX86(id, Os::kLinux);
  EXPECT_FALSE(target.Has("fma"));
  EXPECT_FALSE(target.Has("avx512f"));
  EXPECT_TRUE(target.Has("avx2"));
  EXPECT_EQ(target.level, 2);
}

TEST(TargetOfArm64Test, TellsWhatLinuxTells) {
  const auto describe = [](uint64_t hwcap, uint64_t hwcap2) {
    return TargetOfArm64({hwcap, hwcap2}, Os::kLinux).ToString();
  };
  EXPECT_EQ(describe(0, 0), "arm-64-linux");
  EXPECT_EQ(describe(1u << 20, 0), "arm-64-linux-dotprod");
  EXPECT_EQ(describe(1u << 9, 0), "arm-64-linux");  // Half precision is both kinds' or none.
  EXPECT_EQ(describe(1u << 9 | 1u << 10, 0), "arm-64-linux-fp16");
  EXPECT_EQ(describe(1u << 22, 1u << 1), "arm-64-linux");  // SVE rests on it.
  const DeviceTarget all = TargetOfArm64({~uint64_t{0}, ~uint64_t{0}}, Os::kLinux);
  for (const char* feature : {"dotprod", "fp16", "sve", "sve2", "i8mm", "bf16"}) {
    EXPECT_TRUE(all.Has(feature)) << feature;
  }
}

TEST(HostTargetTest, IsCanonicalAndRunsOnItself) {
  const Target host = HostTarget();
  ASSERT_EQ(host.devices.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const Target parsed, ParseTarget(host.ToString()));
  EXPECT_EQ(parsed, host);
  EXPECT_OK(CheckRunsOn(host, host));
}

#if defined(__x86_64__)
// The kernel's list of flags is the independent reference.
TEST(HostTargetTest, AgreesWithTheKernel) {
  ASSERT_OK_AND_ASSIGN(const std::string info, ReadFile("/proc/cpuinfo", 64 << 20));
  std::string flags = " ";
  for (const absl::string_view line : absl::StrSplit(info, '\n')) {
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StrSplit(field.first, '\t').begin()->substr(0, 5) == "flags") {
      flags = absl::StrCat(field.second, " ");
      break;
    }
  }
  const std::pair<const char*, const char*> kNames[] = {
      {"sse2", "sse2"},         {"cx16", "cx16"},         {"lahf", "lahf_lm"},
      {"popcnt", "popcnt"},     {"sse3", "pni"},          {"sse41", "sse4_1"},
      {"sse42", "sse4_2"},      {"ssse3", "ssse3"},       {"avx", "avx"},
      {"avx2", "avx2"},         {"bmi1", "bmi1"},         {"bmi2", "bmi2"},
      {"f16c", "f16c"},         {"fma", "fma"},           {"lzcnt", "abm"},
      {"movbe", "movbe"},       {"avx512bw", "avx512bw"}, {"avx512cd", "avx512cd"},
      {"avx512dq", "avx512dq"}, {"avx512f", "avx512f"},   {"avx512vl", "avx512vl"},
      {"avxvnni", "avx_vnni"},  {"bf16", "avx512_bf16"},  {"fp16", "avx512_fp16"},
      {"vbmi", "avx512vbmi"},   {"vnni", "avx512_vnni"},  {"amxbf16", "amx_bf16"},
      {"amxint8", "amx_int8"}};
  const Target target = HostTarget();
  for (const auto& [feature, flag] : kNames) {
    const bool is_listed = flags.find(absl::StrCat(" ", flag, " ")) != std::string::npos;
    EXPECT_EQ(target.host().Has(feature), is_listed) << feature;
  }
}
#endif

}  // namespace
}  // namespace slipway
