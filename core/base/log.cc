#include "core/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"

namespace slipway {
namespace {

// Made at first use and never destroyed, so that the last destructors of a process can still log.
// spdlog's own registry of loggers is not used: it is a singleton with settings from outside.
struct LogState {
  LogState() : logger("", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc));
    logger.set_level(spdlog::level::info);
  }
  std::string process;
  spdlog::logger logger;
};

LogState& State() {
  static LogState* const state = new LogState();
  return *state;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

LogLevel FromSpdlog(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    case spdlog::level::warn:
      return LogLevel::kWarning;
    default:
      return LogLevel::kError;
  }
}

absl::string_view UpperName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "ERROR";
}

constexpr absl::string_view kRequestKey = "request";

thread_local const LogRequest* current_request = nullptr;

bool NeedsQuotes(absl::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (u <= ' ' || u == 0x7f || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

void AppendField(absl::string_view key, absl::string_view value, std::string& line) {
  absl::StrAppend(&line, " ", key, "=");
  if (NeedsQuotes(value)) {
    absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(value), "\"");
  } else {
    absl::StrAppend(&line, value);
  }
}

}  // namespace

LogRequest::LogRequest(absl::string_view id)
    : id_(id), before_(std::exchange(current_request, this)) {}

LogRequest::~LogRequest() { current_request = before_; }

absl::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

LogLevel CurrentLogLevel() { return FromSpdlog(State().logger.level()); }

void SetLogLevel(LogLevel lowest) { State().logger.set_level(ToSpdlog(lowest)); }

void InitLog(absl::string_view process, LogLevel lowest) {
  State().process = std::string(process);
  SetLogLevel(lowest);
}

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  return absl::InvalidArgumentError(absl::StrCat("unknown log level '", absl::CHexEscape(text),
                                                 "', use one of debug, info, warning, error"));
}

void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields) {
  LogState& state = State();
  if (!state.logger.should_log(ToSpdlog(level))) return;
  std::string line(UpperName(level));
  if (!state.process.empty()) absl::StrAppend(&line, " ", state.process);
  // UTF-8 passes, control characters do not: one record stays one line and cannot steer a terminal.
  absl::StrAppend(&line, " ", absl::Utf8SafeCEscape(message));
  bool names_request = false;
  for (const LogField& field : fields) {
    AppendField(field.key, field.value, line);
    names_request = names_request || field.key == kRequestKey;
  }
  if (!names_request && current_request != nullptr && !current_request->id_.empty()) {
    AppendField(kRequestKey, current_request->id_, line);
  }
  state.logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace slipway
