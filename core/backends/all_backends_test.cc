#include "core/backends/all_backends.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_replace.h"
#include "core/base/clock.h"
#include "core/graph/operator_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class AllBackendsTest : public ::testing::Test {
 protected:
  absl::Status Find(const std::string& name) {
    absl::StatusOr<Target> target = ParseTarget(name);
    if (!target.ok()) return target.status();
    BackendEnvironment environment;
    environment.registry = &registry_;
    environment.clock = &clock_;
    return BackendFor(*target, environment).status();
  }

  OperatorRegistry registry_;
  SystemClock clock_;
};

TEST_F(AllBackendsTest, CompileForEveryKnownTarget) {
  for (const std::string& name : KnownTargets()) EXPECT_THAT(Find(name), IsOk()) << name;
}

TEST_F(AllBackendsTest, HaveAFingerprintForEveryFamilyTheyCompileFor) {
  const absl::StatusOr<std::map<std::string, std::string>> fingerprints = BackendFingerprints();
  ASSERT_THAT(fingerprints, IsOk());
  std::set<std::string> known;
  for (const std::string& name : KnownTargets()) known.insert(FamilyOf(*ParseTarget(name)));
  std::set<std::string> families;
  for (const auto& [family, fingerprint] : *fingerprints) {
    families.insert(family);
    // A family is a target itself, but for a capability.
    EXPECT_THAT(Find(absl::StrReplaceAll(family, {{",cuda", ",cuda-sm80"}})), IsOk());
    EXPECT_FALSE(fingerprint.empty());
  }
  EXPECT_EQ(families, known);
}

TEST_F(AllBackendsTest, TellWhyTheyDoNotCompileForOthers) {
  for (const char* name :
       {"x86-64-android", "arm-64-android", "arm-32-android", "wasm-32-wasi,opencl",
        "x86-64-v3-linux,cuda-sm91", "x86-64-v3-linux,cuda-sm90,opencl"}) {
    EXPECT_THAT(Find(name), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(name)));
  }
}

}  // namespace
}  // namespace slipway
