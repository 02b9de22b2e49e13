#include "core/runtime/kernel_failure.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {

absl::Status StatusOf(const KernelFailure& failure) {
  const std::string text = absl::Utf8SafeCEscape(failure.text);
  const std::string failed =
      absl::StrCat("failed with result ", failure.result, text.empty() ? "" : ": ", text);
  if (failure.was_refused) {
    return absl::ResourceExhaustedError(
        absl::StrCat(failed, " (it may take ", failure.scratch_bytes, " bytes of scratch memory)"));
  }
  if (failure.result == SLIPWAY_INVALID_ARGUMENT && !text.empty()) {
    return absl::InvalidArgumentError(text);
  }
  return absl::InternalError(failed);
}

}  // namespace slipway
