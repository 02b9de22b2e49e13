#include "core/tensor/nd_array_file.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// MXNet's ndarray.cc: what a file and what an array begins with.
constexpr uint64_t kFileMagic = 0x112;
constexpr uint32_t kMagicV1 = 0xf993fac8;  // Extents of 64 bits.
constexpr uint32_t kMagicV2 = 0xf993fac9;  // A storage type before them.
constexpr uint32_t kMagicV3 = 0xf993faca;  // NumPy's shapes: -1 dimensions stand for nothing.
constexpr int32_t kDenseStorage = 0;
constexpr int32_t kCpu = 1;

// MXNet's numbers for element types.
struct TypeFlag {
  int32_t flag;
  DataType dtype;
};
constexpr TypeFlag kTypeFlags[] = {
    {0, DataType::kFloat32},  {1, DataType::kFloat64}, {2, DataType::kFloat16},
    {3, DataType::kUint8},    {4, DataType::kInt32},   {5, DataType::kInt8},
    {6, DataType::kInt64},    {7, DataType::kBool},    {8, DataType::kInt16},
    {9, DataType::kUint16},   {10, DataType::kUint32}, {11, DataType::kUint64},
    {12, DataType::kBfloat16}};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed parameter file: ", what, " at byte ", at_));
  }
  template <typename T>
  absl::StatusOr<T> Number(absl::string_view what) {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view bytes, Bytes(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  absl::StatusOr<absl::string_view> Bytes(uint64_t size, absl::string_view what) {
    if (size > bytes_.size() - at_) return Error(absl::StrCat(what, " is cut off"));
    const absl::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }
  // A number of things that take at least `least_bytes` each.
  absl::StatusOr<uint64_t> Count(uint64_t least_bytes, absl::string_view what) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t count, Number<uint64_t>(what));
    if (count > (bytes_.size() - at_) / least_bytes) {
      return Error(absl::StrCat(count, " ", what, " do not fit into the file"));
    }
    if (count > kMaxNdArrays) {
      return absl::ResourceExhaustedError(
          absl::StrCat(count, " ", what, ", more than the limit of ", kMaxNdArrays));
    }
    return count;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const absl::string_view bytes_;
  size_t at_ = 0;
};

template <typename T>
absl::Status ReadExtents(Reader& reader, int64_t rank, Shape& shape) {
  if (rank > kMaxRank) return reader.Error(absl::StrCat("an array of ", rank, " dimensions"));
  for (int64_t d = 0; d < rank; ++d) {
    SLIPWAY_ASSIGN_OR_RETURN(const T extent, reader.Number<T>("a shape"));
    shape.push_back(static_cast<int64_t>(extent));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadArray(Reader& reader) {
  SLIPWAY_ASSIGN_OR_RETURN(const uint32_t magic, reader.Number<uint32_t>("an array"));
  const bool has_storage = magic == kMagicV2 || magic == kMagicV3;
  TensorType type;
  if (has_storage) {
    SLIPWAY_ASSIGN_OR_RETURN(const int32_t storage, reader.Number<int32_t>("a storage type"));
    if (storage != kDenseStorage) {
      return absl::UnimplementedError("sparse arrays are not supported");
    }
  }
  bool is_none = false;
  if (has_storage || magic == kMagicV1) {
    SLIPWAY_ASSIGN_OR_RETURN(const int32_t rank, reader.Number<int32_t>("a shape"));
    is_none = magic == kMagicV3 ? rank < 0 : rank <= 0;
    SLIPWAY_RETURN_IF_ERROR(ReadExtents<int64_t>(reader, rank, type.shape));
  } else {
    // The first form has no magic number: it begins with the number of dimensions.
    is_none = magic == 0;
    SLIPWAY_RETURN_IF_ERROR(ReadExtents<uint32_t>(reader, magic, type.shape));
  }
  if (is_none) return reader.Error("an array without contents");
  SLIPWAY_RETURN_IF_ERROR(reader.Bytes(8, "a device").status());
  SLIPWAY_ASSIGN_OR_RETURN(const int32_t flag, reader.Number<int32_t>("an element type"));
  for (const TypeFlag& row : kTypeFlags) {
    if (row.flag == flag) type.dtype = row.dtype;
  }
  if (type.dtype == DataType::kInvalid) {
    return absl::UnimplementedError(absl::StrCat("element type ", flag, " is not known"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t size, CheckShape(type.shape, ByteSize(type.dtype)));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view bytes, reader.Bytes(size, "an array"));
  return Tensor::FromBytes(std::move(type), bytes);
}

template <typename T>
void Append(T value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> ParseNdArrayFile(absl::string_view bytes) {
  Reader reader(bytes);
  SLIPWAY_ASSIGN_OR_RETURN(const uint64_t magic, reader.Number<uint64_t>("the file"));
  if (magic != kFileMagic) return reader.Error("it is no file of MXNet's");
  SLIPWAY_RETURN_IF_ERROR(reader.Bytes(8, "the head").status());
  // The shortest array: dimensions, one extent, device, element type.
  SLIPWAY_ASSIGN_OR_RETURN(const uint64_t count, reader.Count(16, "arrays"));
  std::vector<NamedTensor> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, ReadArray(reader), absl::StrCat("array ", i));
    arrays.push_back({"", std::move(tensor)});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const uint64_t names, reader.Count(8, "names"));
  if (names != 0 && names != count) {
    return reader.Error(absl::StrCat(names, " names for ", count, " arrays"));
  }
  for (uint64_t i = 0; i < names; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint64_t size, reader.Number<uint64_t>("a name"));
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view name, reader.Bytes(size, "a name"));
    arrays[i].name = std::string(name);
  }
  if (!reader.at_end()) return reader.Error("something stands behind the names");
  return arrays;
}

absl::StatusOr<std::string> FormatNdArrayFile(absl::Span<const NamedTensor> arrays) {
  std::string bytes;
  Append<uint64_t>(kFileMagic, bytes);
  Append<uint64_t>(0, bytes);
  Append<uint64_t>(arrays.size(), bytes);
  for (const NamedTensor& array : arrays) {
    int32_t flag = -1;
    for (const TypeFlag& row : kTypeFlags) {
      if (row.dtype == array.tensor.dtype()) flag = row.flag;
    }
    if (flag < 0) {
      return absl::UnimplementedError(absl::StrCat("array \"", array.name, "\" is of type ",
                                                   Name(array.tensor.dtype()),
                                                   ", which MXNet lacks"));
    }
    if (array.tensor.shape().empty()) {
      return absl::UnimplementedError(
          absl::StrCat("array \"", array.name, "\" is a scalar, which this form of MXNet's lacks"));
    }
    Append<uint32_t>(kMagicV2, bytes);
    Append<int32_t>(kDenseStorage, bytes);
    Append<int32_t>(static_cast<int32_t>(array.tensor.shape().size()), bytes);
    for (const int64_t extent : array.tensor.shape()) Append<int64_t>(extent, bytes);
    Append<int32_t>(kCpu, bytes);
    Append<int32_t>(0, bytes);
    Append<int32_t>(flag, bytes);
    bytes.append(array.tensor.bytes().data(), array.tensor.bytes().size());
  }
  Append<uint64_t>(arrays.size(), bytes);
  for (const NamedTensor& array : arrays) {
    Append<uint64_t>(array.name.size(), bytes);
    bytes += array.name;
  }
  return bytes;
}

}  // namespace slipway
