#include "core/artifact/library_name.h"

#include <gtest/gtest.h>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(LibraryName, IsWhatCAndLinkersTake) {
  for (const char* name : {"a", "digits", "resnet50", "net_2", "int"}) {
    EXPECT_OK(CheckLibraryName(name)) << name;
  }
  EXPECT_OK(CheckLibraryName(std::string(kMaxLibraryNameBytes, 'a')));
}

TEST(LibraryName, OthersAreRefused) {
  for (const char* name : {"", "_net", "2net", "Net", "net-2", "net.o", "net_", "a__b", "n\"et",
                           "net\n", "n\xC3\xA4t", "a b", "../net"}) {
    EXPECT_THAT(CheckLibraryName(name),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no name for a library")))
        << name;
  }
  EXPECT_THAT(CheckLibraryName(std::string(kMaxLibraryNameBytes + 1, 'a')),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckLibraryName(absl::string_view("a\0b", 3)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a\\000b")));
}

}  // namespace
}  // namespace slipway
