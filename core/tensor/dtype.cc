#include "core/tensor/dtype.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

struct Entry {
  DataType dtype;
  int bits;
  absl::string_view name;
};

constexpr Entry kEntries[] = {
    {DataType::kFloat32, 32, "f32"},
    {DataType::kUint8, 8, "u8"},
    {DataType::kInt8, 8, "i8"},
    {DataType::kUint16, 16, "u16"},
    {DataType::kInt16, 16, "i16"},
    {DataType::kInt32, 32, "i32"},
    {DataType::kInt64, 64, "i64"},
    {DataType::kString, 0, "string"},
    {DataType::kBool, 1, "bool"},
    {DataType::kFloat16, 16, "f16"},
    {DataType::kFloat64, 64, "f64"},
    {DataType::kUint32, 32, "u32"},
    {DataType::kUint64, 64, "u64"},
    {DataType::kComplex64, 64, "c64"},
    {DataType::kComplex128, 128, "c128"},
    {DataType::kBfloat16, 16, "bf16"},
    {DataType::kFloat8E4M3Fn, 8, "f8e4m3fn"},
    {DataType::kFloat8E4M3FnUz, 8, "f8e4m3fnuz"},
    {DataType::kFloat8E5M2, 8, "f8e5m2"},
    {DataType::kFloat8E5M2FnUz, 8, "f8e5m2fnuz"},
    {DataType::kUint4, 4, "u4"},
    {DataType::kInt4, 4, "i4"},
    {DataType::kFloat4E2M1, 4, "f4e2m1"},
    {DataType::kFloat8E8M0, 8, "f8e8m0"},
    {DataType::kUint2, 2, "u2"},
    {DataType::kInt2, 2, "i2"},
    {DataType::kFloat6E2M3, 6, "f6e2m3"},
    {DataType::kFloat6E3M2, 6, "f6e3m2"},
};

const Entry* Find(DataType dtype) {
  for (const Entry& entry : kEntries) {
    if (entry.dtype == dtype) return &entry;
  }
  return nullptr;
}

}  // namespace

int64_t ByteSize(DataType dtype) { return (BitSize(dtype) + 7) / 8; }

int BitSize(DataType dtype) {
  const Entry* const entry = Find(dtype);
  return entry == nullptr ? 0 : entry->bits;
}

bool AreElements(DataType dtype, absl::string_view bytes, int64_t* first_bad) {
  const int bits = BitSize(dtype);
  if (bits == 0 || bits >= 8) return true;
  // The lowest byte that is one, seen as a number from -128 on, and how many are.
  const bool is_signed = dtype == DataType::kInt4 || dtype == DataType::kInt2;
  const int lowest = is_signed ? -(1 << (bits - 1)) : 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int above = static_cast<signed char>(bytes[i]) - lowest;
    if (above >= 0 && above < 1 << bits) continue;
    *first_bad = static_cast<int64_t>(i);
    return false;
  }
  return true;
}

absl::string_view Name(DataType dtype) {
  const Entry* const entry = Find(dtype);
  return entry == nullptr ? "invalid" : entry->name;
}

absl::StatusOr<DataType> ParseDataType(absl::string_view name) {
  std::string known;
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.dtype;
    absl::StrAppend(&known, known.empty() ? "" : ", ", entry.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown data type '", absl::CHexEscape(name.substr(0, 40)), "', known are ", known));
}

absl::StatusOr<DataType> DataTypeFromNumber(int64_t number) {
  for (const Entry& entry : kEntries) {
    if (static_cast<int64_t>(entry.dtype) == number) return entry.dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown data type number ", number));
}

}  // namespace slipway
