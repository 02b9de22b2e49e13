// One log for every process: a line is a level, a message and key=value fields, on stderr.
#ifndef SLIPWAY_CORE_BASE_LOG_H_
#define SLIPWAY_CORE_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// One key=value of a log line. Values are quoted when they hold blanks or control characters.
struct LogField {
  LogField(absl::string_view k, const absl::AlphaNum& v) : key(k), value(v.Piece()) {}
  std::string key;
  std::string value;
};

// Sets the process's name on every line and the lowest level shown. Call once at the start of main;
// without it the level is kInfo and the name is empty. Not thread-safe against Log.
void InitLog(absl::string_view process, LogLevel lowest);

// "debug", "info", "warning" or "error" to a level. INVALID_ARGUMENT otherwise.
absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view text);

// Writes one line. Thread-safe; lines never interleave.
void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_LOG_H_
