#include "core/tensor/npz.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/tensor/npy.h"

namespace slipway {
namespace {

// PKWARE's APPNOTE: records begin with a signature, numbers are little-endian.
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr size_t kLocalBytes = 30;
constexpr size_t kEntryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kMaxCommentBytes = 0xffff;
constexpr uint32_t kIn64Bits =
    0xffffffff;  // In the place of a number that the entry's extra field has.
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
// Deflate makes no more of a byte.
constexpr uint64_t kMostOfAByte = 1032;

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

// REQUIRES: the bytes are there.
uint64_t Number(absl::string_view bytes, size_t at, size_t size) {
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) {
    number |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}
uint16_t Number16(absl::string_view bytes, size_t at) {
  return static_cast<uint16_t>(Number(bytes, at, 2));
}
uint32_t Number32(absl::string_view bytes, size_t at) {
  return static_cast<uint32_t>(Number(bytes, at, 4));
}

// What the directory at the end of an archive says of a file in it.
struct Entry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;  // Of its local header.
};

// Numbers that did not fit into the entry, in this order.
absl::Status TakeZip64(absl::string_view extra, Entry& entry) {
  uint64_t* const numbers[] = {&entry.bytes, &entry.packed_bytes, &entry.offset};
  const bool is_wanted = std::any_of(std::begin(numbers), std::end(numbers),
                                     [](const uint64_t* number) { return *number == kIn64Bits; });
  if (!is_wanted) return absl::OkStatus();
  while (extra.size() >= 4) {
    const size_t size = Number16(extra, 2);
    if (size > extra.size() - 4) break;
    absl::string_view field = extra.substr(4, size);
    if (Number16(extra, 0) != kZip64Field) {
      extra.remove_prefix(4 + size);
      continue;
    }
    for (uint64_t* const number : numbers) {
      if (*number != kIn64Bits) continue;
      if (field.size() < 8) break;
      *number = Number(field, 0, 8);
      field.remove_prefix(8);
    }
    return absl::OkStatus();
  }
  return Wrong("its sizes are missing");
}

absl::StatusOr<size_t> FindEnd(absl::string_view bytes) {
  if (bytes.size() < kEndBytes) return Wrong("the file is no ZIP archive: it is too short");
  const size_t last = bytes.size() - kEndBytes;
  const size_t first = last - std::min(last, kMaxCommentBytes);
  for (size_t at = last + 1; at-- > first;) {
    if (Number32(bytes, at) == kEndSignature) return at;
  }
  return Wrong("the file is no ZIP archive, or its end is missing");
}

absl::StatusOr<std::vector<Entry>> ReadDirectory(absl::string_view bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const size_t end, FindEnd(bytes));
  const uint64_t count = Number16(bytes, end + 10);
  const uint64_t size = Number32(bytes, end + 12);
  const uint64_t offset = Number32(bytes, end + 16);
  if (count == 0xffff || size == kIn64Bits || offset == kIn64Bits) {
    return absl::UnimplementedError("the archive's directory lies beyond 4 GiB");
  }
  if (Number16(bytes, end + 4) != 0 || Number16(bytes, end + 8) != count) {
    return absl::UnimplementedError("the archive is one of several parts");
  }
  if (offset > end || size > end - offset) return Wrong("the directory does not lie in the file");
  absl::string_view rest = bytes.substr(offset, size);
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    if (rest.size() < kEntryBytes || Number32(rest, 0) != kEntrySignature) {
      return Wrong(absl::StrCat("entry ", i, " of the directory is damaged"));
    }
    const size_t name = Number16(rest, 28);
    const size_t extra = Number16(rest, 30);
    const size_t comment = Number16(rest, 32);
    if (rest.size() - kEntryBytes < name + extra + comment) {
      return Wrong(absl::StrCat("entry ", i, " of the directory is cut off"));
    }
    Entry& entry = entries.emplace_back();
    entry.name = std::string(absl::StripSuffix(rest.substr(kEntryBytes, name), ".npy"));
    entry.flags = Number16(rest, 8);
    entry.method = Number16(rest, 10);
    entry.checksum = Number32(rest, 16);
    entry.packed_bytes = Number32(rest, 20);
    entry.bytes = Number32(rest, 24);
    entry.offset = Number32(rest, 42);
    if (!IsUtf8(entry.name)) {
      return Wrong(absl::StrCat("the name of entry ", i, " of the directory is no UTF-8"));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(TakeZip64(rest.substr(kEntryBytes + name, extra), entry),
                                 absl::StrCat("array \"", absl::Utf8SafeCEscape(entry.name), "\""));
    rest.remove_prefix(kEntryBytes + name + extra + comment);
  }
  return entries;
}

absl::StatusOr<std::string> Inflate(absl::string_view packed, uint64_t size) {
  std::string bytes(size, '\0');
  z_stream stream = {};
  // Without a header of zlib's.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return absl::ResourceExhaustedError("there is no memory to unpack it");
  }
  size_t taken = 0;
  size_t made = 0;
  int result = Z_OK;
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  // One byte more than there should be would show.
  char surplus = 0;
  while (result == Z_OK) {
    const size_t in = std::min(packed.size() - taken, kMost);
    const size_t out = std::min(bytes.size() - made, kMost);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out > 0 ? bytes.data() + made : &surplus);
    stream.avail_out = static_cast<uInt>(out > 0 ? out : 1);
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    if (out == 0 && stream.avail_out == 0) result = Z_DATA_ERROR;
    made += out > 0 ? out - stream.avail_out : 0;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || made != size) return Wrong("its compressed bytes are damaged");
  return bytes;
}

absl::StatusOr<Tensor> ReadArray(absl::string_view bytes, const Entry& entry) {
  if ((entry.flags & kEncrypted) != 0) return absl::UnimplementedError("it is encrypted");
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < kLocalBytes ||
      Number32(bytes, entry.offset) != kLocalSignature) {
    return Wrong("it does not lie where the directory says");
  }
  absl::string_view rest = bytes.substr(entry.offset);
  const size_t header = kLocalBytes + Number16(rest, 26) + size_t{Number16(rest, 28)};
  if (rest.size() < header || rest.size() - header < entry.packed_bytes) {
    return Wrong("it is cut off");
  }
  const absl::string_view packed = rest.substr(header, entry.packed_bytes);
  std::string unpacked;
  absl::string_view contents = packed;
  if (entry.method == kDeflated) {
    if (entry.bytes / kMostOfAByte > entry.packed_bytes) {
      return Wrong("it cannot be unpacked to the size that it says");
    }
    SLIPWAY_ASSIGN_OR_RETURN(unpacked, Inflate(packed, entry.bytes));
    contents = unpacked;
  } else if (entry.method != kStored) {
    return absl::UnimplementedError(
        absl::StrCat("it is compressed by method ", entry.method, ", and not by deflate"));
  }
  if (contents.size() != entry.bytes) return Wrong("its sizes do not agree");
  const uLong checksum = crc32_z(crc32(0, Z_NULL, 0),
                                 reinterpret_cast<const Bytef*>(contents.data()), contents.size());
  if (checksum != entry.checksum) return absl::DataLossError("its checksum is another");
  return ParseNpy(contents);
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> ParseNpz(absl::string_view bytes, int64_t max_bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadDirectory(bytes));
  std::vector<NamedTensor> arrays;
  absl::flat_hash_set<absl::string_view> names;
  uint64_t left = static_cast<uint64_t>(max_bytes);
  for (const Entry& entry : entries) {
    const std::string which = absl::StrCat("array \"", absl::Utf8SafeCEscape(entry.name), "\"");
    // Before memory is taken for it.
    if (entry.bytes > left) {
      return absl::ResourceExhaustedError(
          absl::StrCat(which, ": the arrays have more than ", max_bytes, " bytes together"));
    }
    left -= entry.bytes;
    if (!names.insert(entry.name).second) return Wrong(absl::StrCat(which, " is there twice"));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, ReadArray(bytes, entry), which);
    arrays.push_back({entry.name, std::move(tensor)});
  }
  return arrays;
}

}  // namespace slipway
