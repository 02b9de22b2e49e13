#include "core/base/beneath.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMax = 1 << 20;

class MapBeneathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("beneath_test"));
    ASSERT_OK(MakeFolders(Path("models/weights")));
    ASSERT_OK(WriteFileAtomically(Path("secret"), "secret", false));
    ASSERT_OK(WriteFileAtomically(Path("models/weights/w"), "abc", false));
  }
  std::string Path(absl::string_view name) const { return JoinPath(folder_.path(), name); }
  void Link(const char* to, absl::string_view name) const {
    ASSERT_EQ(symlink(to, Path(name).c_str()), 0);
  }
  TemporaryFolder folder_;
};

TEST_F(MapBeneathTest, MapsAFile) {
  ASSERT_OK_AND_ASSIGN(const MappedFile file, MapBeneath(Path("models"), "weights/w", kMax));
  EXPECT_EQ(file.bytes(), "abc");
  EXPECT_THAT(MapBeneath(Path("models"), "weights/w", 2),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("models/weights/w")));
}

TEST_F(MapBeneathTest, FollowsNoLinkBelowTheFolder) {
  Link("../secret", "models/link");
  Link("weights/w", "models/inside");
  Link("nowhere", "models/dangling");
  Link("..", "models/up");
  for (const std::string name :
       {"link", "inside", "dangling", "up/secret", "up/models/up/secret"}) {
    EXPECT_THAT(MapBeneath(Path("models"), name, kMax),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("symbolic link"), HasSubstr("cp -L"))))
        << name;
  }
}

TEST_F(MapBeneathTest, TheFolderMayBeALink) {
  Link("models", "also");
  EXPECT_OK(MapBeneath(Path("also"), "weights/w", kMax));
}

TEST_F(MapBeneathTest, RefusesNamesThatLeadElsewhere) {
  for (const std::string name : {"", "/etc/passwd", "../secret", "weights/../../secret",
                                 "./weights/w", "weights//w", "weights/"}) {
    EXPECT_THAT(MapBeneath(Path("models"), name, kMax),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no name of a file")))
        << name;
  }
}

TEST_F(MapBeneathTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(mkfifo(Path("models/pipe").c_str(), 0600), 0);
  EXPECT_THAT(MapBeneath(Path("models"), "pipe", kMax),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a file")));
  EXPECT_THAT(MapBeneath(Path("models"), "weights", kMax),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a folder")));
  EXPECT_THAT(MapBeneath(Path("models"), "none/w", kMax),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(MapBeneath(Path("none"), "w", kMax), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace slipway
