#include "core/tensor/npy.h"

#include <string.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/tensor/npy_header.h"

namespace slipway {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeaderBytes = 1 << 16;
// Where NumPy lets the elements start, so that a mapped file is aligned.
constexpr size_t kDataAlignment = 64;

// NumPy's letter and size for each type a tensor can hold.
struct Descriptor {
  absl::string_view text;
  DataType dtype;
};
constexpr Descriptor kDescriptors[] = {
    {"f2", DataType::kFloat16},   {"f4", DataType::kFloat32},    {"f8", DataType::kFloat64},
    {"i1", DataType::kInt8},      {"i2", DataType::kInt16},      {"i4", DataType::kInt32},
    {"i8", DataType::kInt64},     {"u1", DataType::kUint8},      {"u2", DataType::kUint16},
    {"u4", DataType::kUint32},    {"u8", DataType::kUint64},     {"b1", DataType::kBool},
    {"c8", DataType::kComplex64}, {"c16", DataType::kComplex128}};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed .npy file: ", what));
}

absl::StatusOr<DataType> ParseDescriptor(absl::string_view text) {
  if (text.size() < 2) return Malformed("the element type is empty");
  const char byte_order = text[0];
  for (const Descriptor& descriptor : kDescriptors) {
    if (descriptor.text != text.substr(1)) continue;
    if (byte_order == '<') return descriptor.dtype;
    if (ByteSize(descriptor.dtype) == 1 && (byte_order == '|' || byte_order == '>')) {
      return descriptor.dtype;
    }
    if (byte_order == '>') {
      return absl::UnimplementedError(absl::StrCat("the .npy file's elements '", text,
                                                   "' are big-endian, save them with .astype('<",
                                                   descriptor.text, "')"));
    }
  }
  return absl::UnimplementedError(absl::StrCat("the .npy file's element type '",
                                               absl::CHexEscape(text.substr(0, 40)),
                                               "' is none that a tensor can hold"));
}

// Copies elements in column-major order to row-major order.
void TransposeToRowMajor(absl::Span<const int64_t> shape, int64_t element_bytes, const char* from,
                         char* to) {
  Shape strides(shape.size());  // In bytes, of `from`.
  int64_t stride = element_bytes;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  Shape index(shape.size(), 0);
  int64_t offset = 0;
  const int64_t count = NumElements(shape);
  for (int64_t i = 0; i < count; ++i) {
    memcpy(to + i * element_bytes, from + offset, static_cast<size_t>(element_bytes));
    for (size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

struct Framing {
  absl::string_view header;
  absl::string_view data;
};

// Takes the file apart: magic, version, length of the header, header, elements.
absl::StatusOr<Framing> SplitFile(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic)) return Malformed("it does not start with \\x93NUMPY");
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() < 2) return Malformed("it ends in the version");
  const int major = static_cast<unsigned char>(bytes[0]);
  const int minor = static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  if (major < 1 || major > 3 || minor != 0) {
    return absl::UnimplementedError(absl::StrCat(".npy version ", major, ".", minor,
                                                 " is not known, only 1.0, 2.0 and 3.0 are"));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < length_bytes) return Malformed("it ends in the header's length");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(length_bytes);
  if (length > kMaxHeaderBytes) {
    return Malformed(
        absl::StrCat("its header claims ", length, " bytes, more than ", kMaxHeaderBytes));
  }
  if (bytes.size() < length) return Malformed("it ends in the header");
  return Framing{bytes.substr(0, length), bytes.substr(length)};
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const Framing file, SplitFile(bytes));
  SLIPWAY_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(file.header));
  TensorType type;
  SLIPWAY_ASSIGN_OR_RETURN(type.dtype, ParseDescriptor(header.descriptor));
  type.shape = std::move(header.shape);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const int64_t expected,
                                CheckShape(type.shape, ByteSize(type.dtype)), ".npy file");
  if (static_cast<int64_t>(file.data.size()) != expected) {
    return Malformed(absl::StrCat("its elements ", ToString(type), " take ", expected,
                                  " bytes, but it has ", file.data.size()));
  }
  if (!header.is_column_major) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, Tensor::FromBytes(std::move(type), file.data),
                                  ".npy file");
    return tensor;
  }
  std::string row_major(file.data.size(), '\0');
  TransposeToRowMajor(type.shape, ByteSize(type.dtype), file.data.data(), row_major.data());
  SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, Tensor::FromBytes(std::move(type), row_major),
                                ".npy file");
  return tensor;
}

absl::StatusOr<std::string> FormatNpy(const Tensor& tensor) {
  const Descriptor* const descriptor =
      std::find_if(std::begin(kDescriptors), std::end(kDescriptors),
                   [&](const Descriptor& d) { return d.dtype == tensor.dtype(); });
  if (descriptor == std::end(kDescriptors)) {
    return absl::UnimplementedError(
        absl::StrCat("NumPy has no element type for ", Name(tensor.dtype())));
  }
  std::string header =
      absl::StrCat("{'descr': '", ByteSize(tensor.dtype()) == 1 ? "|" : "<", descriptor->text,
                   "', 'fortran_order': False, 'shape': (", absl::StrJoin(tensor.shape(), ", "),
                   tensor.shape().size() == 1 ? "," : "", "), }");
  // Blanks and a line feed fill up to the alignment.
  const size_t before = kMagic.size() + 2 + 2;
  const size_t unpadded = before + header.size() + 1;
  header.append((kDataAlignment - unpadded % kDataAlignment) % kDataAlignment, ' ');
  header += '\n';
  const char lead[] = {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
                       static_cast<char>(header.size() >> 8)};
  return absl::StrCat(kMagic, absl::string_view(lead, sizeof(lead)), header, tensor.bytes());
}

}  // namespace slipway
