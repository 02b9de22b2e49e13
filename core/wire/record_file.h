// Files of records: kRecordHead, the number of bytes behind it as 16 hexadecimal digits and an end of line, and a serialized v1::SignedRecord.
#ifndef SLIPWAY_CORE_WIRE_RECORD_FILE_H_
#define SLIPWAY_CORE_WIRE_RECORD_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/history.pb.h"

namespace slipway {

inline constexpr char kRecordHead[] = "slipway record 1\n";
// Largest file: a million samples of an hour each take a fifth of it.
inline constexpr int64_t kMaxRecordBytes = int64_t{64} << 20;

std::string FormatRecord(const v1::SignedRecord& record);

// INVALID_ARGUMENT for what is no record, or one of another version; DATA_LOSS for one that was cut off, has something behind its end, or
// is damaged; each says which. What is in it may be anything still.
absl::StatusOr<v1::SignedRecord> ParseRecord(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_RECORD_FILE_H_
