#include "core/wire/precision_proto.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"

namespace slipway {
namespace {

struct Row {
  v1::Precision proto;
  DataType type;
};
constexpr Row kRows[] = {{v1::PRECISION_UNSPECIFIED, DataType::kFloat32},
                         {v1::PRECISION_BF16, DataType::kBfloat16},
                         {v1::PRECISION_F16, DataType::kFloat16}};

}  // namespace

v1::Precision ToProto(DataType precision) {
  for (const Row& row : kRows) {
    if (row.type == precision) return row.proto;
  }
  SLIPWAY_CHECK(false, "products are not computed in this type");
  return v1::PRECISION_UNSPECIFIED;
}

absl::StatusOr<DataType> FromProto(v1::Precision proto) {
  for (const Row& row : kRows) {
    if (row.proto == proto) return row.type;
  }
  const auto name = [](std::string* out, const Row& row) {
    absl::StrAppend(out, Name(row.type), " (", static_cast<int>(row.proto), ")");
  };
  return absl::InvalidArgumentError(absl::StrCat("precision ", static_cast<int>(proto),
                                                 " is not known; known are ",
                                                 absl::StrJoin(kRows, ", ", name)));
}

}  // namespace slipway
