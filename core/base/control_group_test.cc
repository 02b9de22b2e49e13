#include "core/base/control_group.h"

#include <signal.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

std::string FolderOf(const std::optional<GroupPlace>& place) {
  return place.has_value() ? place->folder : "none";
}

TEST(FindGroupPlacesTest, OfVersion1EachControllerHasItsMount) {
  const GroupPlaces places = FindGroupPlaces(
      "9:name=systemd:/a\n8:pids:/jobs/one\n4:cpu,memory:/jobs\n0::/\n",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,cpu,memory\n"
      "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:4 - cgroup cgroup rw,pids\n");
  EXPECT_EQ(FolderOf(places.tasks), "/sys/fs/cgroup/pids/jobs/one");
  EXPECT_EQ(FolderOf(places.memory), "/sys/fs/cgroup/memory/jobs");
  EXPECT_FALSE(places.tasks->is_unified);
}

class UnifiedPlacesTest : public ::testing::Test {
 protected:
  GroupPlaces Find(const std::string& controllers, const std::string& group,
                   const std::string& root = "/") {
    EXPECT_OK(MakeFolders(folder_.path() + "/a b/c"));
    for (const char* at :
         {"/cgroup.controllers", "/a b/cgroup.controllers", "/a b/c/cgroup.controllers"}) {
      EXPECT_OK(WriteFileAtomically(folder_.path() + at, controllers, false));
    }
    return FindGroupPlaces(absl::StrCat("0::", group, "\n"),
                           absl::StrCat("40 31 0:37 ", root, " ", folder_.path(),
                                        " rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"));
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("control_group_test");
};

TEST_F(UnifiedPlacesTest, OfVersion2OneFolderHasAll) {
  const GroupPlaces places = Find("cpu memory pids\n", "/a b/c");
  EXPECT_EQ(FolderOf(places.tasks), folder_.path() + "/a b/c");
  EXPECT_EQ(FolderOf(places.memory), folder_.path() + "/a b/c");
  EXPECT_TRUE(places.tasks->is_unified);
  EXPECT_EQ(FolderOf(Find("memory pids\n", "/").tasks), folder_.path());
}

TEST_F(UnifiedPlacesTest, ControllersThatAreNotGivenLimitNothing) {
  const GroupPlaces places = Find("cpu hugetlb pids\n", "/");
  EXPECT_TRUE(places.tasks.has_value());
  EXPECT_FALSE(places.memory.has_value());
}

TEST_F(UnifiedPlacesTest, AMountMayShowAPartOfTheGroups) {
  EXPECT_EQ(FolderOf(Find("pids\n", "/outer/a b", "/outer").tasks), folder_.path() + "/a b");
  EXPECT_EQ(FolderOf(Find("pids\n", "/outer", "/outer").tasks), folder_.path());
  EXPECT_EQ(FolderOf(Find("pids\n", "/outermost", "/outer").tasks), "none");
  EXPECT_EQ(FolderOf(Find("pids\n", "/../above").tasks), "none");
}

TEST(FindGroupPlacesTest, MountPointsHaveBlanksAsOctalNumbers) {
  EXPECT_EQ(
      FolderOf(
          FindGroupPlaces("3:pids:/x", "1 2 0:3 / /my\\040groups\\134 rw - cgroup c pids").tasks),
      "/my groups\\/x");
}

TEST(FindGroupPlacesTest, WhatCannotBeUnderstoodIsPassedOver) {
  for (const char* cgroup : {"", "\n", "pids", "1:pids", ":::", "8:pids:/x"}) {
    for (const char* mounts :
         {"", "\n - \n", "a b c d e f - cgroup", "1 2 0:3 / /p rw - cgroup c cpu"}) {
      EXPECT_FALSE(FindGroupPlaces(cgroup, mounts).tasks.has_value()) << cgroup << " " << mounts;
    }
  }
}

TEST(ControlGroupsTest, WithoutAPlaceThereIsNoGroupAndAReason) {
  const ControlGroups none;
  EXPECT_FALSE(none.why_not().empty());
  const auto group = none.Make({.tasks = 3, .memory_bytes = 1 << 20});
  ASSERT_OK(group);
  EXPECT_EQ(*group, nullptr);
}

// With the groups of this machine, where it has some for this process.
class RealGroupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!groups_.limits_tasks() || !groups_.limits_memory()) GTEST_SKIP() << groups_.why_not();
  }

  absl::StatusOr<std::unique_ptr<Subprocess>> Start(const std::string& script,
                                                    const ControlGroup* group) {
    return Subprocess::Start({.argv = {"/bin/sh", "-c", "read nothing; " + script},
                              .stdout_stream = ChildStream::Tail(),
                              .stderr_stream = ChildStream::Tail(),
                              .group = group,
                              .waits_for_limits = true});
  }

  const ControlGroups groups_ = ControlGroups::Prepare();
};

TEST_F(RealGroupsTest, TasksAreCountedTogetherAndWhoeverTheirUserIs) {
  const auto group = groups_.Make({.tasks = 5});
  ASSERT_OK(group);
  const auto child = Start("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait", group->get());
  ASSERT_OK(child);
  ASSERT_OK((*child)->Wait(absl::Seconds(20)));
  EXPECT_THAT((*child)->OutputTail(), ::testing::HasSubstr("ork"));  // "Cannot fork".
}

TEST_F(RealGroupsTest, MemoryIsCountedTogether) {
  const auto group = groups_.Make({.tasks = 50, .memory_bytes = 64 << 20});
  ASSERT_OK(group);
  const auto child = Start("head -c 400000000 /dev/zero | tail -n 1 | wc -c", group->get());
  ASSERT_OK(child);
  ASSERT_OK((*child)->Wait(absl::Seconds(60)));
  EXPECT_GT((*group)->OutOfMemoryKills(), 0);
}

TEST_F(RealGroupsTest, WhatIsLeftInAGroupEndsWithIt) {
  auto group = groups_.Make({.tasks = 50});
  ASSERT_OK(group);
  // In a session of its own, out of reach for its parent's signals, before that one goes on.
  const auto child =
      Start("left=$(setsid --fork sh -c 'echo $$; exec sleep 600 > /dev/null 2>&1'); echo $left",
            group->get());
  ASSERT_OK(child);
  ASSERT_OK((*child)->Wait(absl::Seconds(20)));
  const int left = std::stoi((*child)->OutputTail());
  ASSERT_EQ(kill(left, 0), 0);
  group->reset();
  // Whoever has adopted it may not have waited for it yet: of one that has ended nothing but a number is left.
  EXPECT_EQ(ReadFile(absl::StrCat("/proc/", left, "/cmdline"), 1 << 10).value_or(""), "");
}

TEST_F(RealGroupsTest, AProcessInAGroupKnowsItsLimit) {
  const auto group = groups_.Make({.tasks = 23});
  ASSERT_OK(group);
  // The kernel's own word for it, by the same files.
  const auto child = Start("sleep 60", group->get());
  ASSERT_OK(child);
  const auto read = [&](const char* name) {
    return *ReadFile(absl::StrCat("/proc/", (*child)->pid(), "/", name), 1 << 20);
  };
  const GroupPlaces places = FindGroupPlaces(read("cgroup"), read("mountinfo"));
  ASSERT_TRUE(places.tasks.has_value());
  EXPECT_EQ(*ReadFile(places.tasks->folder + "/pids.max", 100), "23\n");
}

}  // namespace
}  // namespace slipway
