#include "core/tensor/random.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/split_mix.h"
#include "core/base/status_macros.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

float UnitFloat(uint64_t r) { return static_cast<float>(r >> 40) * 0x1p-24f; }

template <typename T, typename F>
void Fill(Tensor& tensor, SplitMix64& random, F make) {
  T* elements = reinterpret_cast<T*>(tensor.mutable_bytes());
  const int64_t count = tensor.num_elements();
  for (int64_t i = 0; i < count; ++i) elements[i] = static_cast<T>(make(random.Next()));
}

uint64_t StateOf(uint64_t seed, absl::string_view name) {
  const std::string hash = absl::HexStringToBytes(Digest::Of(name).hex());
  uint64_t state = 0;
  for (int i = 7; i >= 0; --i) state = state << 8 | static_cast<unsigned char>(hash[i]);
  return seed + state;
}

}  // namespace

absl::StatusOr<Tensor> RandomTensor(const TensorType& type, uint64_t seed, absl::string_view name) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type));
  SplitMix64 random(StateOf(seed, name));
  const auto small = [](uint64_t r) { return r >> 61; };
  switch (type.dtype) {
    case DataType::kFloat32:
      Fill<float>(tensor, random, UnitFloat);
      return tensor;
    case DataType::kFloat64:
      Fill<double>(tensor, random,
                   [](uint64_t r) { return static_cast<double>(r >> 11) * 0x1p-53; });
      return tensor;
    case DataType::kFloat16:
      Fill<uint16_t>(tensor, random, [](uint64_t r) { return FloatToFloat16(UnitFloat(r)); });
      return tensor;
    case DataType::kBfloat16:
      Fill<uint16_t>(tensor, random, [](uint64_t r) { return FloatToBfloat16(UnitFloat(r)); });
      return tensor;
    case DataType::kBool:
    case DataType::kInt2:
    case DataType::kUint2:
      Fill<uint8_t>(tensor, random, [](uint64_t r) { return r >> 63; });
      return tensor;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt4:
    case DataType::kUint4:
      Fill<uint8_t>(tensor, random, small);
      return tensor;
    case DataType::kInt16:
    case DataType::kUint16:
      Fill<uint16_t>(tensor, random, small);
      return tensor;
    case DataType::kInt32:
    case DataType::kUint32:
      Fill<uint32_t>(tensor, random, small);
      return tensor;
    case DataType::kInt64:
    case DataType::kUint64:
      Fill<uint64_t>(tensor, random, small);
      return tensor;
    default:
      return absl::UnimplementedError(
          absl::StrCat("random tensors of type '", Name(type.dtype), "' are not supported"));
  }
}

}  // namespace slipway
