#include "core/tensor/dtype.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

struct Entry {
  DataType dtype;
  int64_t byte_size;
  absl::string_view name;
};

constexpr Entry kEntries[] = {
    {DataType::kFloat32, 4, "f32"},      {DataType::kUint8, 1, "u8"},
    {DataType::kInt8, 1, "i8"},          {DataType::kUint16, 2, "u16"},
    {DataType::kInt16, 2, "i16"},        {DataType::kInt32, 4, "i32"},
    {DataType::kInt64, 8, "i64"},        {DataType::kString, 0, "string"},
    {DataType::kBool, 1, "bool"},        {DataType::kFloat16, 2, "f16"},
    {DataType::kFloat64, 8, "f64"},      {DataType::kUint32, 4, "u32"},
    {DataType::kUint64, 8, "u64"},       {DataType::kComplex64, 8, "c64"},
    {DataType::kComplex128, 16, "c128"}, {DataType::kBfloat16, 2, "bf16"},
};

const Entry* Find(DataType dtype) {
  for (const Entry& entry : kEntries) {
    if (entry.dtype == dtype) return &entry;
  }
  return nullptr;
}

}  // namespace

int64_t ByteSize(DataType dtype) {
  const Entry* const entry = Find(dtype);
  return entry == nullptr ? 0 : entry->byte_size;
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
