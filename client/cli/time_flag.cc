#include "client/cli/time_flag.h"

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"

namespace slipway::cli {

absl::StatusOr<absl::Time> ParseTime(absl::string_view flag, const std::string& text,
                                     absl::Time now) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  absl::Time time;
  absl::Duration later;
  std::string error;
  if (text == "now") return now;
  if (!text.empty() && text.front() == '+' && absl::ParseDuration(text.substr(1), &later) &&
      later >= absl::ZeroDuration() && later < absl::InfiniteDuration()) {
    return now + later;
  }
  for (const char* format : {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"}) {
    if (absl::ParseTime(format, text, utc, &time, &error)) return time;
  }
  // Of a time of the day alone, the next.
  const std::string day = absl::FormatTime("%Y-%m-%d ", now, utc);
  if (absl::ParseTime("%Y-%m-%d %H:%M", day + text, utc, &time, &error)) {
    return time >= now ? time : time + absl::Hours(24);
  }
  return WrongCall(absl::StrCat("flag \"--", flag,
                                "\" takes now, +30m, 15:00, \"2026-11-24 15:00\" "
                                "or 2026-11-24T15:00:00+01:00, not \"",
                                text, "\""));
}

}  // namespace slipway::cli
