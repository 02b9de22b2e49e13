#include "client/cli/tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/digest.h"
#include "core/tensor/float16.h"
#include "core/tensor/small_float.h"

namespace slipway::cli {
namespace {

constexpr int64_t kShownElements = 8;
constexpr size_t kMaxFileNameBytes = 200;

// REQUIRES: T is what an element lies in memory as.
template <typename T>
std::function<double(int64_t)> Reader(const Tensor& tensor) {
  return [values = reinterpret_cast<const T*>(tensor.bytes().data())](int64_t i) {
    return static_cast<double>(values[i]);
  };
}

// Reads elements as numbers; empty for types that are none.
std::function<double(int64_t)> ElementReader(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kFloat32:
      return Reader<float>(tensor);
    case DataType::kFloat64:
      return Reader<double>(tensor);
    case DataType::kUint8:
    case DataType::kUint4:
    case DataType::kUint2:
      return Reader<uint8_t>(tensor);
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2:
      return Reader<int8_t>(tensor);
    case DataType::kUint16:
      return Reader<uint16_t>(tensor);
    case DataType::kInt16:
      return Reader<int16_t>(tensor);
    case DataType::kInt32:
      return Reader<int32_t>(tensor);
    case DataType::kInt64:
      return Reader<int64_t>(tensor);
    case DataType::kUint32:
      return Reader<uint32_t>(tensor);
    case DataType::kUint64:
      return Reader<uint64_t>(tensor);
    case DataType::kBool:
      return Reader<bool>(tensor);
    case DataType::kFloat16:
      return [bytes = tensor.bytes()](int64_t i) {
        return Float16ToFloat(reinterpret_cast<const uint16_t*>(bytes.data())[i]);
      };
    case DataType::kBfloat16:
      return [bytes = tensor.bytes()](int64_t i) {
        return Bfloat16ToFloat(reinterpret_cast<const uint16_t*>(bytes.data())[i]);
      };
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
    case DataType::kFloat8E8M0:
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2:
    case DataType::kFloat4E2M1:
      return [dtype = tensor.dtype(), bytes = tensor.bytes()](int64_t i) {
        return SmallFloatToFloat(dtype, static_cast<uint8_t>(bytes[i]));
      };
    case DataType::kInvalid:
    case DataType::kString:
    case DataType::kComplex64:
    case DataType::kComplex128:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

TensorStatistics Statistics(const Tensor& tensor) {
  TensorStatistics statistics;
  const auto read = ElementReader(tensor);
  if (!read) return statistics;
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = read(i);
    if (std::isnan(value)) {
      ++statistics.nan_count;
      continue;
    }
    if (!statistics.max.has_value() || value > *statistics.max) {
      statistics.max = value;
      statistics.largest_at = i;
    }
    statistics.min = std::min(statistics.min.value_or(value), value);
    sum += value;
    ++count;
  }
  if (count > 0) statistics.mean = sum / static_cast<double>(count);
  return statistics;
}

std::string Summary(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return "no elements";
  const TensorStatistics statistics = Statistics(tensor);
  std::string text;
  if (statistics.max.has_value()) {
    text = absl::StrFormat("min %.4g, max %.4g, mean %.4g, largest at %d", *statistics.min,
                           *statistics.max, *statistics.mean, statistics.largest_at);
  }
  if (statistics.nan_count > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", statistics.nan_count, " NaN");
  }
  const auto read = ElementReader(tensor);
  if (!read) return "not shown";
  text += ":";
  const int64_t shown = std::min(tensor.num_elements(), kShownElements);
  for (int64_t i = 0; i < shown; ++i) absl::StrAppendFormat(&text, " %.4g", read(i));
  if (shown < tensor.num_elements()) text += " ...";
  return text;
}

std::string FileNameFor(absl::string_view output) {
  std::string name;
  for (const char c : output) {
    const bool stays = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ||
                       (c == '.' && !name.empty());
    if (stays) {
      name += c;
    } else {
      absl::StrAppendFormat(&name, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  // "%" alone encodes nothing, so no other name gives it.
  if (name.empty()) return "%";
  if (name.size() > kMaxFileNameBytes) {
    name = absl::StrCat(name.substr(0, kMaxFileNameBytes - 17), "%",
                        Digest::Of(output).hex().substr(0, 16));
  }
  return name;
}

}  // namespace slipway::cli
