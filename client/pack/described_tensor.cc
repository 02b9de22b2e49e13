#include "client/pack/described_tensor.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

bool IsSymbol(absl::string_view text) {
  return !text.empty() && (absl::ascii_isalpha(text[0]) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; });
}

absl::StatusOr<DescribedExtent> ParseExtent(absl::string_view text) {
  if (IsSymbol(text)) return DescribedExtent{0, std::string(text)};
  DescribedExtent extent;
  if (absl::SimpleAtoi(text, &extent.value) && extent.value >= 0 &&
      extent.value <= std::numeric_limits<int32_t>::max()) {
    return extent;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("extent \"", text, "\" is no number from 0 to 2147483647 and no name"));
}

}  // namespace

absl::StatusOr<DescribedTensor> ParseDescribedTensor(absl::string_view text) {
  const size_t equals = text.rfind('=');
  const size_t bracket = text.rfind('[');
  if (equals == absl::string_view::npos || equals == 0 || bracket == absl::string_view::npos ||
      bracket < equals || text.back() != ']') {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no tensor; write NAME=TYPE[EXTENT,...], for example x=f32[1,64]"));
  }
  DescribedTensor tensor;
  tensor.name = std::string(text.substr(0, equals));
  SLIPWAY_ASSIGN_OR_RETURN(tensor.dtype,
                           ParseDataType(text.substr(equals + 1, bracket - equals - 1)));
  if (ByteSize(tensor.dtype) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\": kernels take tensors of numbers only"));
  }
  const absl::string_view extents = text.substr(bracket + 1, text.size() - bracket - 2);
  if (absl::StripAsciiWhitespace(extents).empty()) return tensor;
  for (const absl::string_view extent : absl::StrSplit(extents, ',')) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(tensor.extents.emplace_back(),
                                  ParseExtent(absl::StripAsciiWhitespace(extent)),
                                  absl::StrCat("\"", text, "\""));
  }
  if (tensor.extents.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" has ", tensor.extents.size(), " extents; at most ", kMaxRank));
  }
  return tensor;
}

}  // namespace slipway
