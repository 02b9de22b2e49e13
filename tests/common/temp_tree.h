// TempTree: a folder of files for one test, gone after it.
#ifndef SLIPWAY_TESTS_COMMON_TEMP_TREE_H_
#define SLIPWAY_TESTS_COMMON_TEMP_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/files.h"

namespace slipway::testing {

// Paths are relative to the folder. What goes wrong ends the test with a check: in a folder of its
// own nothing should.
class TempTree {
 public:
  // Below $TEST_TMPDIR, or $TMPDIR, or /tmp.
  TempTree();

  const std::string& path() const { return folder_.path(); }
  std::string Path(absl::string_view name) const { return JoinPath(folder_.path(), name); }

  // Writes a file, making the folders that lead to it, and returns its full path.
  std::string Write(absl::string_view name, absl::string_view bytes) const;
  std::string Read(absl::string_view name) const;
  bool Exists(absl::string_view name) const;

  // The names of all files and links below the folder, sorted: {"a/b.txt", "c"}. Empty folders end
  // in a slash.
  std::vector<std::string> List() const;

  // Damages a file as a broken disk or transfer would.
  void Truncate(absl::string_view name, int64_t size_bytes) const;
  void FlipBit(absl::string_view name, int64_t offset) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_TEMP_TREE_H_
