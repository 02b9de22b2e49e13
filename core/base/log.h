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

// "debug", "info", "warning", "error".
absl::string_view LogLevelName(LogLevel level);

// The lowest level that is shown now, and shows another from now on. Thread-safe.
LogLevel CurrentLogLevel();
void SetLogLevel(LogLevel lowest);

// While one lives, each line of its thread ends with request=ID, unless it has a field of that name: what is done for one request is found
// by its id in the logs of all processes. One that was made later comes first. An empty id is none.
class LogRequest {
 public:
  explicit LogRequest(absl::string_view id);
  ~LogRequest();
  LogRequest(const LogRequest&) = delete;
  LogRequest& operator=(const LogRequest&) = delete;

 private:
  const std::string id_;
  const LogRequest* const before_;
  friend void Log(LogLevel level, absl::string_view message,
                  std::initializer_list<LogField> fields);
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
