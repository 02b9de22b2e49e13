#include "core/wire/precision_proto.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"

namespace slipway {
namespace {

struct Row {
  v1::Precision proto;
  Precision precision;
};
constexpr Row kRows[] = {{v1::PRECISION_UNSPECIFIED, Precision::kFloat32},
                         {v1::PRECISION_BF16, Precision::kBfloat16},
                         {v1::PRECISION_F16, Precision::kFloat16},
                         {v1::PRECISION_TF32, Precision::kTensorFloat32}};

}  // namespace

v1::Precision ToProto(Precision precision) {
  for (const Row& row : kRows) {
    if (row.precision == precision) return row.proto;
  }
  SLIPWAY_CHECK(false, "int8 is said by ranges");
  return v1::PRECISION_UNSPECIFIED;
}

absl::StatusOr<Precision> FromProto(v1::Precision proto) {
  for (const Row& row : kRows) {
    if (row.proto == proto) return row.precision;
  }
  const auto name = [](std::string* out, const Row& row) {
    absl::StrAppend(out, Name(row.precision), " (", static_cast<int>(row.proto), ")");
  };
  return absl::InvalidArgumentError(absl::StrCat("precision ", static_cast<int>(proto),
                                                 " is not known; known are ",
                                                 absl::StrJoin(kRows, ", ", name)));
}

}  // namespace slipway
