// HistoryFile: lines that a person has typed, kept for the next time in a file that only he can read.
#ifndef SLIPWAY_CLIENT_TERMINAL_HISTORY_FILE_H_
#define SLIPWAY_CLIENT_TERMINAL_HISTORY_FILE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::cli {

// Several processes may have the same one: each adds its lines behind those of the others. Thread-compatible.
class HistoryFile {
 public:
  // Lines that are kept; the file is shortened to them when it is read.
  static constexpr size_t kMaxLines = 1000;

  explicit HistoryFile(std::string path) : path_(std::move(path)) {}

  // Oldest first; none where there is no file yet. What is not printable is left out. Errors of files.
  absl::StatusOr<std::vector<std::string>> Read() const;
  // Makes the file, mode 0600, and its folder, mode 0700, where they are not there. Errors of files.
  absl::Status Append(absl::string_view line) const;

 private:
  const std::string path_;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_TERMINAL_HISTORY_FILE_H_
