#include "core/tensor/strings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

template <typename String>
absl::StatusOr<Tensor> Join(absl::Span<const int64_t> shape, absl::Span<const String> strings) {
  SLIPWAY_RETURN_IF_ERROR(CheckShape(shape, kPlaceBytes).status());
  if (NumElements(shape) != static_cast<int64_t>(strings.size())) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor string", ToString(shape), " has ",
                                                   NumElements(shape), " elements, ",
                                                   strings.size(), " are given"));
  }
  int64_t size = 0;
  for (const String& string : strings) {
    size += static_cast<int64_t>(string.size());
    if (size > kMaxStringBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the strings of a tensor are longer than the limit of ", kMaxStringBytes, " bytes"));
    }
  }
  std::string bytes;
  bytes.reserve(strings.size() * kPlaceBytes + static_cast<size_t>(size));
  int64_t offset = 0;
  for (const String& string : strings) {
    const int64_t place = StringPlace(offset, static_cast<int64_t>(string.size()));
    bytes.append(reinterpret_cast<const char*>(&place), sizeof(place));
    offset += static_cast<int64_t>(string.size());
  }
  for (const String& string : strings) bytes.append(string.data(), string.size());
  return Tensor::FromBytes({DataType::kString, Shape(shape.begin(), shape.end())}, bytes);
}

}  // namespace

absl::StatusOr<Tensor> StringTensor(absl::Span<const int64_t> shape,
                                    absl::Span<const absl::string_view> strings) {
  return Join(shape, strings);
}

Tensor Strings(absl::Span<const int64_t> shape, absl::Span<const std::string> strings) {
  absl::StatusOr<Tensor> tensor = Join(shape, strings);
  SLIPWAY_CHECK(tensor.ok(), tensor.status().message());
  return *std::move(tensor);
}

std::vector<absl::string_view> StringsIn(const Tensor& tensor) {
  SLIPWAY_CHECK(tensor.dtype() == DataType::kString, ToString(tensor.type()));
  const auto* places = reinterpret_cast<const int64_t*>(tensor.bytes().data());
  const absl::string_view contents =
      tensor.bytes().substr(static_cast<size_t>(tensor.num_elements() * kPlaceBytes));
  std::vector<absl::string_view> strings;
  strings.reserve(static_cast<size_t>(tensor.num_elements()));
  // Every tensor's places were checked when it was made.
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    strings.push_back(*StringAt(places[i], contents));
  }
  return strings;
}

std::string ContentsName(absl::string_view name) { return absl::StrCat(name, " (contents)"); }

absl::StatusOr<StringParts> SplitStrings(const Tensor& tensor) {
  SLIPWAY_CHECK(tensor.dtype() == DataType::kString, ToString(tensor.type()));
  const int64_t split = tensor.num_elements() * kPlaceBytes;
  StringParts parts;
  SLIPWAY_ASSIGN_OR_RETURN(parts.places,
                           Tensor::FromBytes({DataType::kInt64, tensor.shape()},
                                             tensor.bytes().substr(0, static_cast<size_t>(split))));
  SLIPWAY_ASSIGN_OR_RETURN(parts.contents,
                           Tensor::FromBytes({DataType::kUint8, {tensor.byte_size() - split}},
                                             tensor.bytes().substr(static_cast<size_t>(split))));
  return parts;
}

absl::StatusOr<Tensor> JoinStrings(const StringParts& parts) {
  if (parts.places.dtype() != DataType::kInt64 || parts.contents.dtype() != DataType::kUint8 ||
      parts.contents.shape().size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("tensors ", ToString(parts.places.type()),
                                                   " and ", ToString(parts.contents.type()),
                                                   " are no strings"));
  }
  std::vector<absl::string_view> strings;
  strings.reserve(static_cast<size_t>(parts.places.num_elements()));
  for (const int64_t place : parts.places.values<int64_t>()) {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view string,
                             StringAt(place, parts.contents.bytes()));
    strings.push_back(string);
  }
  return Join<absl::string_view>(parts.places.shape(), strings);
}

absl::StatusOr<std::vector<NamedTensor>> SplitAllStrings(std::vector<NamedTensor> tensors) {
  std::vector<NamedTensor> split;
  for (NamedTensor& named : tensors) {
    if (named.tensor.dtype() != DataType::kString) {
      split.push_back(std::move(named));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(StringParts parts, SplitStrings(named.tensor), named.name);
    split.push_back({named.name, std::move(parts.places)});
    split.push_back({ContentsName(named.name), std::move(parts.contents)});
  }
  return split;
}

absl::StatusOr<std::vector<NamedTensor>> JoinAllStrings(std::vector<NamedTensor> tensors) {
  std::vector<NamedTensor> joined;
  for (NamedTensor& named : tensors) {
    if (joined.empty() || named.name != ContentsName(joined.back().name) ||
        named.tensor.dtype() != DataType::kUint8 ||
        joined.back().tensor.dtype() != DataType::kInt64) {
      joined.push_back(std::move(named));
      continue;
    }
    NamedTensor& places = joined.back();
    SLIPWAY_ASSIGN_OR_RETURN_WITH(places.tensor, JoinStrings({places.tensor, named.tensor}),
                                  places.name);
  }
  return joined;
}

}  // namespace slipway
