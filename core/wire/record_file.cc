#include "core/wire/record_file.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace slipway {
namespace {

constexpr absl::string_view kAnyHead = "slipway record ";
constexpr size_t kSizeDigits = 16;

}  // namespace

std::string FormatRecord(const v1::SignedRecord& record) {
  const std::string bytes = record.SerializeAsString();
  return absl::StrFormat("%s%016x\n%s", kRecordHead, bytes.size(), bytes);
}

absl::StatusOr<v1::SignedRecord> ParseRecord(absl::string_view bytes) {
  const absl::string_view head = kRecordHead;
  if (!absl::StartsWith(bytes, head)) {
    if (!bytes.empty() && absl::StartsWith(head, bytes)) {
      return absl::DataLossError("the record is cut off in its first line");
    }
    return absl::InvalidArgumentError(
        absl::StartsWith(bytes, kAnyHead)
            ? "the record is of another version than 1: a later slipway may read it"
            : "it is no record: it does not begin with \"slipway record 1\"");
  }
  bytes.remove_prefix(head.size());
  if (bytes.size() <= kSizeDigits) {
    return absl::DataLossError("the record is cut off before its contents");
  }
  uint64_t size = 0;
  if (!absl::SimpleHexAtoi(bytes.substr(0, kSizeDigits), &size) || bytes[kSizeDigits] != '\n') {
    return absl::DataLossError("the record is damaged: it does not tell its size");
  }
  bytes.remove_prefix(kSizeDigits + 1);
  if (bytes.size() < size) {
    return absl::DataLossError(
        absl::StrCat("the record is cut off: ", bytes.size(), " bytes are there of ", size));
  }
  if (bytes.size() > size) {
    return absl::DataLossError(
        absl::StrCat("the record has ", bytes.size() - size, " bytes behind its end"));
  }
  v1::SignedRecord record;
  if (bytes.size() > static_cast<size_t>(kMaxRecordBytes) ||
      !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("the record is damaged: its contents cannot be read");
  }
  return record;
}

}  // namespace slipway
