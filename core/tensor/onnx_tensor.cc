#include "core/tensor/onnx_tensor.h"

#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

// Field numbers of onnx.TensorProto.
enum Field : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("this is no ONNX tensor: ", what));
}

// Reads the protocol buffer wire format.
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  absl::StatusOr<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (bytes_.empty()) return Malformed("it ends within a number");
      const uint8_t byte = static_cast<uint8_t>(bytes_[0]);
      bytes_.remove_prefix(1);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return Malformed("a number is longer than ten bytes");
  }

  absl::StatusOr<absl::string_view> Take(uint64_t size) {
    if (size > bytes_.size()) {
      return Malformed(absl::StrCat("it ends ", size - bytes_.size(), " bytes early"));
    }
    const absl::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  absl::StatusOr<absl::string_view> Bytes() {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t size, Varint());
    return Take(size);
  }

  absl::Status Skip(uint32_t wire_type) {
    switch (wire_type) {
      case kVarint:
        return Varint().status();
      case kFixed64:
        return Take(8).status();
      case kBytes:
        return Bytes().status();
      case kFixed32:
        return Take(4).status();
      default:
        return Malformed(absl::StrCat("wire type ", wire_type));
    }
  }

 private:
  absl::string_view bytes_;
};

// Appends a repeated field's entry, or several where they are packed.
template <typename T>
absl::Status ReadVarints(WireReader& reader, uint32_t wire_type, std::vector<T>& out) {
  if (wire_type == kVarint) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t value, reader.Varint());
    out.push_back(static_cast<T>(value));
    return absl::OkStatus();
  }
  if (wire_type != kBytes) return Malformed("a field has the wrong wire type");
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view packed, reader.Bytes());
  WireReader inner(packed);
  while (!inner.at_end()) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t value, inner.Varint());
    out.push_back(static_cast<T>(value));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadFixed(WireReader& reader, uint32_t wire_type, std::vector<T>& out) {
  absl::string_view bytes;
  if (wire_type == kBytes) {
    SLIPWAY_ASSIGN_OR_RETURN(bytes, reader.Bytes());
    if (bytes.size() % sizeof(T) != 0) return Malformed("packed numbers are cut off");
  } else if (wire_type == (sizeof(T) == 4 ? kFixed32 : kFixed64)) {
    SLIPWAY_ASSIGN_OR_RETURN(bytes, reader.Take(sizeof(T)));
  } else {
    return Malformed("a field has the wrong wire type");
  }
  const size_t before = out.size();
  out.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data() + before, bytes.data(), bytes.size());
  return absl::OkStatus();
}

template <typename To, typename From>
absl::StatusOr<Tensor> FromList(const TensorType& type, absl::Span<const From> list) {
  // Complex numbers are listed as pairs.
  const int64_t expected = type.byte_size() / static_cast<int64_t>(sizeof(To));
  if (static_cast<int64_t>(list.size()) != expected) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor of ", ToString(type), " needs ",
                                                   expected, " elements, ", list.size(),
                                                   " are given"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type));
  To* to = reinterpret_cast<To*>(tensor.mutable_bytes());
  for (const From value : list) *to++ = static_cast<To>(value);
  return tensor;
}

// The bits of an element in a file; bools take a byte.
int OnnxBits(DataType dtype) { return dtype == DataType::kBool ? 8 : BitSize(dtype); }

// From elements one behind the other to one a byte. REQUIRES: `packed` has OnnxByteSize(type) bytes.
absl::StatusOr<Tensor> Unpack(const TensorType& type, absl::string_view packed) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type));
  const int bits = OnnxBits(type.dtype);
  const bool is_signed = type.dtype == DataType::kInt4 || type.dtype == DataType::kInt2;
  char* to = tensor.mutable_bytes();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t bit = i * bits;
    uint32_t window = static_cast<unsigned char>(packed[bit / 8]);
    if (bit % 8 + bits > 8) window |= static_cast<unsigned char>(packed[bit / 8 + 1]) << 8;
    uint32_t element = window >> (bit % 8) & ((1u << bits) - 1);
    if (is_signed && element >> (bits - 1) != 0) element -= 1u << bits;
    to[i] = static_cast<char>(element);
  }
  return tensor;
}

std::string Pack(const Tensor& tensor) {
  const int bits = OnnxBits(tensor.dtype());
  std::string packed(OnnxByteSize(tensor.type()), '\0');
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t bit = i * bits;
    const uint32_t element = static_cast<unsigned char>(tensor.bytes()[i]) & ((1u << bits) - 1);
    const uint32_t window = element << (bit % 8);
    packed[bit / 8] = static_cast<char>(packed[bit / 8] | window);
    if (bit % 8 + bits > 8) packed[bit / 8 + 1] = static_cast<char>(window >> 8);
  }
  return packed;
}

// Listed bytes that hold two or four elements each.
absl::StatusOr<Tensor> FromPackedList(const TensorType& type, absl::Span<const int32_t> list) {
  if (static_cast<int64_t>(list.size()) != OnnxByteSize(type)) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor of ", ToString(type), " needs ",
                                                   OnnxByteSize(type), " packed bytes, ",
                                                   list.size(), " are given"));
  }
  std::string packed;
  for (const int32_t byte : list) packed += static_cast<char>(byte);
  return Unpack(type, packed);
}

// Listed elements of six bits each.
absl::StatusOr<Tensor> FromSixBitList(const TensorType& type, absl::Span<const int32_t> list) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, FromList<uint8_t>(type, list));
  for (int64_t i = 0; i < tensor.byte_size(); ++i) tensor.mutable_bytes()[i] &= 0x3f;
  return tensor;
}

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void AppendField(Field field, WireType wire_type, uint64_t value, std::string& out) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | wire_type, out);
  AppendVarint(value, out);
}

}  // namespace

int64_t OnnxByteSize(const TensorType& type) {
  if (OnnxBits(type.dtype) >= 8) return type.byte_size();
  return (type.num_elements() * OnnxBits(type.dtype) + 7) / 8;
}

absl::StatusOr<Tensor> TensorFromOnnxFields(const OnnxTensorFields& fields) {
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromNumber(fields.data_type));
  if (dtype == DataType::kString) {
    if (!fields.raw_data.has_value()) return StringTensor(fields.dims, fields.string_data);
    return absl::InvalidArgumentError("strings cannot be given as raw data");
  }
  if (dtype == DataType::kInvalid) {
    return absl::InvalidArgumentError("the tensor has no element type");
  }
  SLIPWAY_RETURN_IF_ERROR(CheckShape(fields.dims, ByteSize(dtype)).status());
  const TensorType type{dtype, Shape(fields.dims.begin(), fields.dims.end())};
  if (fields.raw_data.has_value() && OnnxBits(dtype) < 8) {
    if (static_cast<int64_t>(fields.raw_data->size()) != OnnxByteSize(type)) {
      return absl::InvalidArgumentError(absl::StrCat("a tensor ", ToString(type), " has ",
                                                     OnnxByteSize(type), " packed bytes, not ",
                                                     fields.raw_data->size()));
    }
    return Unpack(type, *fields.raw_data);
  }
  if (fields.raw_data.has_value()) return Tensor::FromBytes(type, *fields.raw_data);
  switch (dtype) {
    case DataType::kFloat32:
    case DataType::kComplex64:
      return FromList<float>(type, fields.float_data);
    case DataType::kFloat64:
    case DataType::kComplex128:
      return FromList<double>(type, fields.double_data);
    case DataType::kInt64:
      return FromList<int64_t>(type, fields.int64_data);
    case DataType::kUint64:
      return FromList<uint64_t>(type, fields.uint64_data);
    case DataType::kUint32:
      return FromList<uint32_t>(type, fields.uint64_data);
    case DataType::kInt32:
      return FromList<int32_t>(type, fields.int32_data);
    case DataType::kInt16:
      return FromList<int16_t>(type, fields.int32_data);
    case DataType::kInt8:
      return FromList<int8_t>(type, fields.int32_data);
    case DataType::kUint8:
      return FromList<uint8_t>(type, fields.int32_data);
    case DataType::kBool:
      return FromList<bool>(type, fields.int32_data);
    case DataType::kUint16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return FromList<uint16_t>(type, fields.int32_data);
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
    case DataType::kFloat8E8M0:
      return FromList<uint8_t>(type, fields.int32_data);
    case DataType::kUint4:
    case DataType::kInt4:
    case DataType::kFloat4E2M1:
    case DataType::kUint2:
    case DataType::kInt2:
      return FromPackedList(type, fields.int32_data);
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2:
      return FromSixBitList(type, fields.int32_data);
    case DataType::kString:
    case DataType::kInvalid:
      break;
  }
  return absl::InternalError("an element type is not handled");
}

absl::StatusOr<NamedTensor> ParseOnnxTensor(absl::string_view bytes) {
  if (bytes.empty()) return Malformed("it is empty");
  NamedTensor result;
  OnnxTensorFields fields;
  std::vector<int64_t> dims;
  std::vector<float> floats;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<double> doubles;
  std::vector<uint64_t> uint64s;
  std::vector<absl::string_view> strings;
  WireReader reader(bytes);
  while (!reader.at_end()) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t tag, reader.Varint());
    const uint32_t wire_type = tag & 7;
    switch (tag >> 3) {
      case kDims:
        SLIPWAY_RETURN_IF_ERROR(ReadVarints(reader, wire_type, dims));
        break;
      case kFloatData:
        SLIPWAY_RETURN_IF_ERROR(ReadFixed(reader, wire_type, floats));
        break;
      case kInt32Data:
        SLIPWAY_RETURN_IF_ERROR(ReadVarints(reader, wire_type, int32s));
        break;
      case kInt64Data:
        SLIPWAY_RETURN_IF_ERROR(ReadVarints(reader, wire_type, int64s));
        break;
      case kDoubleData:
        SLIPWAY_RETURN_IF_ERROR(ReadFixed(reader, wire_type, doubles));
        break;
      case kUint64Data:
        SLIPWAY_RETURN_IF_ERROR(ReadVarints(reader, wire_type, uint64s));
        break;
      case kStringData: {
        if (wire_type != kBytes) return Malformed("a string is no text");
        SLIPWAY_ASSIGN_OR_RETURN(strings.emplace_back(), reader.Bytes());
        break;
      }
      case kDataType: {
        if (wire_type != kVarint) return Malformed("the element type is no number");
        SLIPWAY_ASSIGN_OR_RETURN(const uint64_t number, reader.Varint());
        fields.data_type = static_cast<int64_t>(number);
        break;
      }
      case kName: {
        if (wire_type != kBytes) return Malformed("the name is no text");
        SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view name, reader.Bytes());
        result.name = std::string(name);
        break;
      }
      case kRawData: {
        if (wire_type != kBytes) return Malformed("the raw data is a number");
        SLIPWAY_ASSIGN_OR_RETURN(fields.raw_data, reader.Bytes());
        break;
      }
      case kDataLocation: {
        if (wire_type != kVarint) return Malformed("the data location is no number");
        SLIPWAY_ASSIGN_OR_RETURN(const uint64_t location, reader.Varint());
        if (location != 0) {
          return absl::UnimplementedError("the tensor's data lies in another file");
        }
        break;
      }
      case kSegment:
        return absl::UnimplementedError("tensors in segments are not supported");
      default:
        SLIPWAY_RETURN_IF_ERROR(reader.Skip(wire_type));
    }
  }
  fields.dims = dims;
  fields.float_data = floats;
  fields.int32_data = int32s;
  fields.int64_data = int64s;
  fields.double_data = doubles;
  fields.uint64_data = uint64s;
  fields.string_data = strings;
  SLIPWAY_ASSIGN_OR_RETURN(result.tensor, TensorFromOnnxFields(fields));
  return result;
}

std::string FormatOnnxTensor(const Tensor& tensor, absl::string_view name) {
  std::string out;
  for (const int64_t extent : tensor.shape()) AppendField(kDims, kVarint, extent, out);
  AppendField(kDataType, kVarint, static_cast<uint64_t>(tensor.dtype()), out);
  if (!name.empty()) {
    AppendField(kName, kBytes, name.size(), out);
    absl::StrAppend(&out, name);
  }
  if (tensor.dtype() == DataType::kString) {
    for (const absl::string_view string : StringsIn(tensor)) {
      AppendField(kStringData, kBytes, string.size(), out);
      absl::StrAppend(&out, string);
    }
    return out;
  }
  AppendField(kRawData, kBytes, OnnxByteSize(tensor.type()), out);
  if (OnnxBits(tensor.dtype()) < 8) {
    absl::StrAppend(&out, Pack(tensor));
  } else {
    absl::StrAppend(&out, tensor.bytes());
  }
  return out;
}

}  // namespace slipway
