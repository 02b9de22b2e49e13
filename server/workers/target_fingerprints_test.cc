#include "server/workers/target_fingerprints.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

v1::WorkerState Supporting(const TargetFingerprints& targets) {
  v1::WorkerState state;
  for (const auto& [family, fingerprint] : targets) {
    v1::TargetSupport& target = *state.add_targets();
    target.set_family(family);
    target.set_fingerprint(fingerprint);
  }
  return state;
}

TEST(TargetFingerprintsTest, AreWhatAWorkerReports) {
  v1::WorkerState state = Supporting({{"x86-64-linux,cuda", kB}, {"a-family-of-next-year", kA}});
  state.set_fingerprint("is not looked at");
  EXPECT_THAT(TargetFingerprintsOf(state).value(),
              ElementsAre(Pair("a-family-of-next-year", kA), Pair("x86-64-linux,cuda", kB)));
}

TEST(TargetFingerprintsTest, OfAWorkerFromBeforeTargetsAreThoseOfItsTime) {
  v1::WorkerState state;
  state.set_fingerprint(kA);
  EXPECT_THAT(TargetFingerprintsOf(state).value(),
              ElementsAre(Pair("arm-64-linux", kA), Pair("x86-64-linux", kA)));
}

TEST(TargetFingerprintsTest, RefuseWhatIsMalformed) {
  const auto refused = [](const v1::WorkerState& state, const std::string& says) {
    EXPECT_THAT(TargetFingerprintsOf(state),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says)));
  };
  refused({}, "64 hexadecimal");
  refused(Supporting({{"", kA}}), "no family");
  refused(Supporting({{"X86", kA}}), "'X86' is no family");
  refused(Supporting({{"two\nlines", kA}}), "no family");
  refused(Supporting({{std::string(129, 'x'), kA}}), "no family");
  EXPECT_OK(TargetFingerprintsOf(Supporting({{std::string(128, 'x'), kA}})));
  for (const std::string& bad : {std::string(), kA + "a", std::string(63, 'a'),
                                 std::string(64, 'A'), std::string(64, 'g')}) {
    refused(Supporting({{"x86-64-linux", bad}}), "the fingerprint for 'x86-64-linux'");
  }
  v1::WorkerState twice = Supporting({{"x86-64-linux", kA}});
  *twice.add_targets() = twice.targets(0);
  refused(twice, "twice");
  TargetFingerprints many;
  for (int i = 0; i < 64; ++i) many[absl::StrCat("family-", i)] = kA;
  EXPECT_OK(TargetFingerprintsOf(Supporting(many)));
  many["one-more"] = kA;
  refused(Supporting(many), "more than 64");
}

TEST(TargetFingerprintsTest, AsLines) {
  const TargetFingerprints targets = {{"arm-64-linux", kA}, {"x86-64-linux", kB}};
  EXPECT_EQ(ParseTargetFingerprints(FormatTargetFingerprints(targets)).value(), targets);
  EXPECT_EQ(FormatTargetFingerprints(targets),
            "arm-64-linux " + kA + "\nx86-64-linux " + kB + "\n");
  for (const std::string& bad :
       {std::string(), kA, "x86-64-linux " + kA + " ", std::string("hello\n")}) {
    EXPECT_THAT(ParseTargetFingerprints(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace slipway::server
