#include "core/artifact/slip_layout.h"

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Offsets in the header.
constexpr size_t kVersionAt = 8;
constexpr size_t kCountAt = 12;
constexpr size_t kFileBytesAt = 16;
constexpr size_t kReservedAt = 24;
constexpr size_t kTableHashAt = 32;
// Offsets in an entry of the table.
constexpr size_t kOffsetAt = 0;
constexpr size_t kSizeAt = 8;
constexpr size_t kHashAt = 16;
constexpr size_t kHashBytes = 32;
constexpr size_t kEntryReservedAt = kHashAt + kHashBytes;

void PutNumber(uint64_t value, size_t bytes, char* to) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<char>(value >> (8 * i) & 0xff);
  }
}

uint64_t GetNumber(absl::string_view from, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(from[at + i])} << (8 * i);
  }
  return value;
}

bool AllZero(absl::string_view bytes) {
  return bytes.find_first_not_of('\0') == absl::string_view::npos;
}

absl::Status Truncated(size_t have, uint64_t want) {
  return absl::DataLossError(
      absl::StrCat(".slip file is truncated: ", have, " of ", want, " bytes"));
}

}  // namespace

SlipLayout LayOutSlip(absl::Span<const Digest> sections) {
  SlipLayout layout;
  layout.file_bytes = static_cast<int64_t>(kSlipHeaderBytes + sections.size() * kSlipEntryBytes);
  for (const Digest& digest : sections) {
    const int64_t offset = RoundUp(layout.file_bytes, kSlipSectionAlignment);
    layout.sections.push_back({offset, digest});
    layout.file_bytes = offset + digest.size_bytes();
  }
  return layout;
}

std::string FormatSlipHead(const SlipLayout& layout) {
  std::string table(layout.sections.size() * kSlipEntryBytes, '\0');
  for (size_t i = 0; i < layout.sections.size(); ++i) {
    const SlipSection& section = layout.sections[i];
    char* entry = &table[i * kSlipEntryBytes];
    PutNumber(static_cast<uint64_t>(section.offset), 8, entry + kOffsetAt);
    PutNumber(static_cast<uint64_t>(section.digest.size_bytes()), 8, entry + kSizeAt);
    const std::string hash = absl::HexStringToBytes(section.digest.hex());
    std::memcpy(entry + kHashAt, hash.data(), kHashBytes);
  }
  std::string head(kSlipHeaderBytes, '\0');
  std::memcpy(head.data(), kSlipMagic.data(), kSlipMagic.size());
  PutNumber(kSlipVersion, 4, &head[kVersionAt]);
  PutNumber(layout.sections.size(), 4, &head[kCountAt]);
  PutNumber(static_cast<uint64_t>(layout.file_bytes), 8, &head[kFileBytesAt]);
  const std::string table_hash = absl::HexStringToBytes(Digest::Of(table).hex());
  std::memcpy(&head[kTableHashAt], table_hash.data(), kHashBytes);
  return head + table;
}

absl::StatusOr<SlipLayout> ParseSlipHead(absl::string_view file, const ReaderLimits& limits) {
  if (file.substr(0, kSlipMagic.size()) != kSlipMagic) {
    return absl::InvalidArgumentError("this is not a .slip file");
  }
  if (file.size() < kSlipHeaderBytes) {
    return Truncated(file.size(), kSlipHeaderBytes);
  }
  const uint64_t version = GetNumber(file, kVersionAt, 4);
  if (version != kSlipVersion) {
    return absl::UnimplementedError(
        absl::StrCat(".slip version ", version, " is not supported, only version ", kSlipVersion));
  }
  const uint64_t count = GetNumber(file, kCountAt, 4);
  const uint64_t file_bytes = GetNumber(file, kFileBytesAt, 8);
  if (count == 0 || !AllZero(file.substr(kReservedAt, 8))) {
    return absl::DataLossError("header of the .slip file is corrupted");
  }
  // A manifest names a code blob or a constant per section.
  if (count > static_cast<uint64_t>(limits.entries) + limits.codes + 1) {
    return absl::ResourceExhaustedError(absl::StrCat(".slip file has ", count,
                                                     " sections, more than the limit of ",
                                                     limits.entries + limits.codes + 1));
  }
  const size_t table_bytes = static_cast<size_t>(count) * kSlipEntryBytes;
  if (file.size() < kSlipHeaderBytes + table_bytes) {
    return Truncated(file.size(), file_bytes);
  }
  const absl::string_view table = file.substr(kSlipHeaderBytes, table_bytes);
  if (absl::BytesToHexString(file.substr(kTableHashAt, kHashBytes)) != Digest::Of(table).hex()) {
    return absl::DataLossError("section table of the .slip file is corrupted");
  }
  std::vector<Digest> digests;
  int64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const absl::string_view entry = table.substr(i * kSlipEntryBytes, kSlipEntryBytes);
    const uint64_t size = GetNumber(entry, kSizeAt, 8);
    const int64_t limit = i == 0 ? limits.manifest_bytes : limits.blob_bytes;
    if (size > static_cast<uint64_t>(limit)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("section ", i, " has ", size, " bytes, more than the limit of ", limit));
    }
    total += static_cast<int64_t>(size);
    if (total > limits.file_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(".slip file is over the limit of ", limits.file_bytes, " bytes"));
    }
    SLIPWAY_ASSIGN_OR_RETURN(
        Digest digest, Digest::FromHex(absl::BytesToHexString(entry.substr(kHashAt, kHashBytes)),
                                       static_cast<int64_t>(size)));
    digests.push_back(std::move(digest));
  }
  SlipLayout layout = LayOutSlip(digests);
  for (size_t i = 0; i < count; ++i) {
    const absl::string_view entry = table.substr(i * kSlipEntryBytes, kSlipEntryBytes);
    if (GetNumber(entry, kOffsetAt, 8) != static_cast<uint64_t>(layout.sections[i].offset) ||
        !AllZero(entry.substr(kEntryReservedAt))) {
      return absl::InvalidArgumentError(absl::StrCat("section ", i, " is not where it belongs"));
    }
  }
  if (file_bytes != static_cast<uint64_t>(layout.file_bytes)) {
    return absl::DataLossError("header of the .slip file is corrupted");
  }
  if (file.size() < file_bytes) return Truncated(file.size(), file_bytes);
  if (file.size() > file_bytes) {
    return absl::DataLossError(
        absl::StrCat(".slip file has ", file.size() - file_bytes, " bytes too many"));
  }
  return layout;
}

}  // namespace slipway
