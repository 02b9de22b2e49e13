// Progress: what the command is at, on a terminal in one line that changes, else line by line.
#ifndef SLIPWAY_CLIENT_CLI_PROGRESS_H_
#define SLIPWAY_CLIENT_CLI_PROGRESS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/environment.h"
#include "client/types.h"

namespace slipway::cli {

// What a job is at, in two parts: what only changes with its stage, and the rest.
struct ProgressText {
  std::string stage;   // "compile resnet50.onnx: compile kernels"
  std::string detail;  // "12 of 53"
};
// `subject` is what the job works on.
ProgressText Describe(const Job& job, absl::string_view subject, absl::Time now);

// Not thread-safe.
class Progress {
 public:
  explicit Progress(Environment& environment)
      : err_(environment.err), is_terminal_(environment.err_is_terminal) {}
  ~Progress() { Clear(); }

  // On a terminal replaces the line; else writes one if the stage is new.
  void Show(const ProgressText& text);
  // Removes the line, before something else is written.
  void Clear();

 private:
  std::ostream& err_;
  const bool is_terminal_;
  std::string stage_;
  bool is_shown_ = false;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_PROGRESS_H_
