#include "core/tensor/precision.h"

namespace slipway {
namespace {

struct Row {
  Precision precision;
  absl::string_view name;
};
constexpr Row kRows[] = {{Precision::kFloat32, "f32"},
                         {Precision::kTensorFloat32, "tf32"},
                         {Precision::kFloat16, "f16"},
                         {Precision::kBfloat16, "bf16"},
                         {Precision::kInt8, "int8"}};

}  // namespace

absl::string_view Name(Precision precision) {
  for (const Row& row : kRows) {
    if (row.precision == precision) return row.name;
  }
  return "";
}

std::optional<Precision> FindPrecision(absl::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.precision;
  }
  return std::nullopt;
}

}  // namespace slipway
