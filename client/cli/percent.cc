#include "client/cli/percent.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/exit_code.h"

namespace slipway::cli {

absl::StatusOr<double> ParsePercent(absl::string_view flag, absl::string_view text, double most) {
  absl::string_view number = text;
  double percent = 0;
  // Written so that what is no number is refused, too.
  if (absl::ConsumeSuffix(&number, "%") && absl::SimpleAtod(number, &percent) && percent > 0 &&
      percent <= most) {
    return percent / 100;
  }
  return WrongCall(absl::StrCat("flag \"--", flag, "\" takes a share such as 1% or 0.5%, at most ",
                                most, "%, not \"", text, "\""));
}

std::string FormatPercent(double share) { return absl::StrFormat("%.2g %%", share * 100); }

}  // namespace slipway::cli
