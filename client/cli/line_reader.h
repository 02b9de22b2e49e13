// LineReader: where a person types lines.
#ifndef SLIPWAY_CLIENT_CLI_LINE_READER_H_
#define SLIPWAY_CLIENT_CLI_LINE_READER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway::cli {

// What may stand where somebody types.
struct Completion {
  size_t begin =
      0;  // Of what each candidate would replace: from this byte of the line up to the cursor.
  std::vector<std::string> candidates;  // In the order in which they are listed.
};
// Given the line up to the cursor. Called while a line is read, on the thread that reads it.
using Completer = std::function<Completion(absl::string_view before_cursor)>;

class LineReader {
 public:
  virtual ~LineReader() = default;
  // The next line, without its end. Absent at the end of what is typed, and once Stop was called. One thread at a time.
  virtual std::optional<std::string> Read(const std::string& prompt, const Completer& complete) = 0;
  // Ends a Read that waits, and those after it. On any thread.
  virtual void Stop() = 0;
  // Shows whole lines on standard error; while somebody types, above what he types. On any thread.
  virtual void Tell(absl::string_view lines) = 0;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_LINE_READER_H_
