#include "server/artifacts/checked_manifests.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;

std::string NamedManifest(int number) {
  v1::Manifest manifest = TestManifest();
  manifest.set_name(absl::StrCat("program ", number));
  return SerializeManifest(manifest);
}

TEST(CheckedManifests, ChecksOnceWhatIsInUse) {
  CheckedManifests manifests;
  const std::string bytes = NamedManifest(1);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest first, manifests.Get(Digest::Of(bytes), bytes));
  ASSERT_OK_AND_ASSIGN(const CheckedManifest again, manifests.Get(Digest::Of(bytes), bytes));
  // Copies of one check share its data.
  EXPECT_EQ(&first.proto(), &again.proto());
}

TEST(CheckedManifests, ForgetsWhatWasNotAskedForLast) {
  const std::string one = NamedManifest(1), two = NamedManifest(2), three = NamedManifest(3);
  CheckedManifests manifests(static_cast<int64_t>(one.size() + two.size()));
  ASSERT_OK_AND_ASSIGN(const CheckedManifest first, manifests.Get(Digest::Of(one), one));
  ASSERT_OK_AND_ASSIGN(const CheckedManifest second, manifests.Get(Digest::Of(two), two));
  ASSERT_OK(manifests.Get(Digest::Of(one), one).status());
  ASSERT_OK(manifests.Get(Digest::Of(three), three).status());
  EXPECT_EQ(&manifests.Get(Digest::Of(one), one)->proto(), &first.proto());
  EXPECT_NE(&manifests.Get(Digest::Of(two), two)->proto(), &second.proto());
}

TEST(CheckedManifests, KeepsNoErrorsAndNothingTooLarge) {
  CheckedManifests manifests(10);
  EXPECT_THAT(manifests.Get(Digest::Of("x"), "x"), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string bytes = NamedManifest(1);
  ASSERT_OK_AND_ASSIGN(const CheckedManifest first, manifests.Get(Digest::Of(bytes), bytes));
  ASSERT_OK_AND_ASSIGN(const CheckedManifest again, manifests.Get(Digest::Of(bytes), bytes));
  EXPECT_NE(&first.proto(), &again.proto());
}

}  // namespace
}  // namespace slipway::server
