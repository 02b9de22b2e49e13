// Any bytes as a file of a record: an error, or a record that is written as it was read, as far as its bytes are canonical.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "core/wire/record_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  // As a file, and as the contents of one.
  const std::string whole = absl::StrFormat("%s%016x\n%s", slipway::kRecordHead, size, bytes);
  for (const std::string& file : {bytes, whole}) {
    const absl::StatusOr<slipway::v1::SignedRecord> record = slipway::ParseRecord(file);
    if (!record.ok()) continue;
    const absl::StatusOr<slipway::v1::SignedRecord> again =
        slipway::ParseRecord(slipway::FormatRecord(*record));
    SLIPWAY_CHECK(again.ok(), "what was read can be written");
    SLIPWAY_CHECK(again->entry() == record->entry(), "and holds the same");
    SLIPWAY_CHECK(again->statement().SerializeAsString() == record->statement().SerializeAsString(),
                  "said by the same");
    SLIPWAY_CHECK(!slipway::ParseRecord(file + "x").ok(), "nothing lies behind its end");
  }
  return 0;
}
