// CommandLine: a line of `slipway session`, taken apart. Pure.
//
//   NAME, NAME = COMMAND word word key=value   # a comment
//
// Words are parted by blanks; what stands in "quotes" is one word, in which \" and \\ stand for the sign behind the \.
#ifndef SLIPWAY_CLIENT_SHELL_COMMAND_LINE_H_
#define SLIPWAY_CLIENT_SHELL_COMMAND_LINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

inline constexpr size_t kMaxCommandBytes = 1 << 16;

struct CommandLine {
  std::vector<std::string> results;  // What stands before "=".
  std::string command;               // Empty: the line has none.
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>>
      options;  // The words of the form key=value, without quotes.

  // The value of an option, or nullptr.
  const std::string* Find(absl::string_view key) const;
  // A number in [min, max]; `otherwise` where the option is not given.
  absl::StatusOr<int64_t> Integer(absl::string_view key, int64_t otherwise, int64_t min,
                                  int64_t max) const;
  absl::StatusOr<double> Real(absl::string_view key, double otherwise) const;
};

// INVALID_ARGUMENT says what is wrong with the line.
absl::StatusOr<CommandLine> ParseCommandLine(absl::string_view line);

// "f32[1,64]"; INVALID_ARGUMENT.
absl::StatusOr<TensorType> ParseTensorType(absl::string_view text);

// A part of a dimension.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};
// "2:5" (from 2 on, before 5), "2:", ":5" or ":", of a dimension of `extent`. INVALID_ARGUMENT.
absl::StatusOr<Range> ParseRange(absl::string_view text, int64_t extent);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_SHELL_COMMAND_LINE_H_
