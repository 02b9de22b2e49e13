// LineEditor: lines typed at this process's terminal, which can be edited, are remembered and completed (libedit, with the
// user's ~/.editrc).
//
// While a line is read, Ctrl-C clears it and Ctrl-D ends an empty one; otherwise the terminal is as it was found, so that
// Ctrl-C is a signal.
#ifndef SLIPWAY_CLIENT_TERMINAL_LINE_EDITOR_H_
#define SLIPWAY_CLIENT_TERMINAL_LINE_EDITOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/line_reader.h"

namespace slipway::cli {

// `history_path`: where lines are kept for the next time (history_file.h). What goes wrong with it is told once, and lines
// are then remembered while this lives. REQUIRES: standard input and output are a terminal; there is one at a time.
std::unique_ptr<LineReader> MakeLineEditor(const absl::StatusOr<std::string>& history_path);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_TERMINAL_LINE_EDITOR_H_
