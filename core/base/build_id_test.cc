#include "core/base/build_id.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

// Where this process has the C library from.
std::string PathOfLibc() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (absl::EndsWith(line, "/libc.so.6")) return line.substr(line.find('/'));
  }
  return "";
}

TEST(BuildIdTest, IsTheOneInTheLibrarysFile) {
  ASSERT_OK_AND_ASSIGN(const std::string file, ReadFile(PathOfLibc(), 100 << 20));
  // The note as ELF has it: sizes of name and contents, type 3, name, contents.
  const std::string note("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const size_t at = file.find(note);
  ASSERT_NE(at, std::string::npos);
  ASSERT_OK_AND_ASSIGN(const std::string id, LoadedLibraryId("libc.so"));
  EXPECT_EQ(id,
            absl::StrCat("libc.so.6 ", absl::BytesToHexString(file.substr(at + note.size(), 20))));
}

TEST(BuildIdTest, TellsWhatIsNotThereOrThereTwice) {
  EXPECT_THAT(LoadedLibraryId("libnonsense"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("libnonsense")));
  // libc and libm at least.
  EXPECT_THAT(LoadedLibraryId("lib"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("both")));
}

}  // namespace
}  // namespace slipway
