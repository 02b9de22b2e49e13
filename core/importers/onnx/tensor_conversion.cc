#include "core/importers/onnx/tensor_conversion.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/inside_tensors.h"
#include "core/importers/onnx/limits.h"
#include "core/tensor/onnx_tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

absl::StatusOr<int64_t> ParseOffset(absl::string_view key, absl::string_view text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", key, " of external data is \"", text, "\", not a number of bytes"));
  }
  return value;
}

absl::StatusOr<Blob> FindFile(absl::string_view location, const OnnxFiles& files) {
  if (location == kInsideModel) return files.main;
  SLIPWAY_ASSIGN_OR_RETURN(const std::string name, NormalizeExternalName(location));
  const auto found = files.external.find(name);
  if (found != files.external.end()) return found->second;
  return absl::InvalidArgumentError(absl::StrCat("its data lies in the file \"", name,
                                                 "\", which was not sent along with the model"));
}

// The bytes that a tensor keeps in one of the files.
absl::StatusOr<Blob> FindExternalData(const onnx::TensorProto& proto, const OnnxFiles& files,
                                      int64_t expected) {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset") {
      SLIPWAY_ASSIGN_OR_RETURN(offset, ParseOffset("offset", entry.value()));
    } else if (entry.key() == "length") {
      SLIPWAY_ASSIGN_OR_RETURN(length, ParseOffset("length", entry.value()));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Blob file, FindFile(location, files));
  const int64_t size = file.size_bytes();
  if (length < 0) length = expected;
  if (offset > size || length > size - offset) {
    return absl::InvalidArgumentError(absl::StrCat("its data lies in bytes ", offset, " to ",
                                                   offset, " + ", length, " of the file \"",
                                                   location, "\", which has only ", size));
  }
  return file.Part(offset, length);
}

// Whether reading it later can find nothing wrong, and pays.
bool CanWait(const TensorType& type, const Blob& stored) {
  return BitSize(type.dtype) >= 8 && type.byte_size() == stored.size_bytes() &&
         stored.size_bytes() >= kLargeTensorBytes;
}

Tensor ReadLater(const TensorType& type, Blob stored) {
  return Tensor::Deferred(type, [type, stored = std::move(stored)] {
    const auto let_go = [stored](const void*) { stored.LetGo(); };
    return Tensor::Borrow(type, stored.bytes(), std::shared_ptr<const void>(&stored, let_go));
  });
}

}  // namespace

absl::StatusOr<std::string> NormalizeExternalName(absl::string_view name) {
  const auto refuse = [name](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data in \"", name, "\" is refused: ", why));
  };
  if (name.empty()) return refuse("the file has no name");
  if (name[0] == '/') return refuse("the path is absolute");
  if (name.find('\\') != absl::string_view::npos || name.find('\0') != absl::string_view::npos) {
    return refuse("the path holds a character that is not allowed");
  }
  std::vector<absl::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part == "..") return refuse("the path leaves the model's folder");
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  if (parts.empty()) return refuse("the path is a folder");
  return absl::StrJoin(parts, "/");
}

absl::StatusOr<Tensor> ConvertTensor(const onnx::TensorProto& proto, const OnnxFiles& files) {
  if (proto.has_segment()) {
    return absl::UnimplementedError("tensors in segments are not supported");
  }
  OnnxTensorFields fields;
  fields.dims = absl::MakeConstSpan(proto.dims().data(), proto.dims_size());
  fields.data_type = proto.data_type();
  fields.float_data = absl::MakeConstSpan(proto.float_data().data(), proto.float_data_size());
  fields.int32_data = absl::MakeConstSpan(proto.int32_data().data(), proto.int32_data_size());
  fields.int64_data = absl::MakeConstSpan(
      reinterpret_cast<const int64_t*>(proto.int64_data().data()), proto.int64_data_size());
  fields.double_data = absl::MakeConstSpan(proto.double_data().data(), proto.double_data_size());
  fields.uint64_data = absl::MakeConstSpan(
      reinterpret_cast<const uint64_t*>(proto.uint64_data().data()), proto.uint64_data_size());
  const std::vector<absl::string_view> strings(proto.string_data().begin(),
                                               proto.string_data().end());
  fields.string_data = strings;
  Blob stored;  // Outlives `fields`.
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromNumber(proto.data_type()));
    if (ByteSize(dtype) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("elements of type ", Name(dtype), " cannot lie in another file"));
    }
    SLIPWAY_RETURN_IF_ERROR(CheckShape(fields.dims, ByteSize(dtype)).status());
    const TensorType type{dtype, Shape(fields.dims.begin(), fields.dims.end())};
    SLIPWAY_ASSIGN_OR_RETURN(stored, FindExternalData(proto, files, OnnxByteSize(type)));
    if (CanWait(type, stored)) return ReadLater(type, std::move(stored));
    fields.raw_data = stored.bytes();
  } else if (proto.has_raw_data()) {
    fields.raw_data = proto.raw_data();
  }
  return TensorFromOnnxFields(fields);
}

absl::StatusOr<Dimension> SymbolicDimensions::Get(const std::string& name) {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  Interval bounds{1, kMostFreeExtent};
  const auto given = options_.dims.find(name);
  if (given != options_.dims.end()) bounds = given->second;
  if (bounds.min < 0 || bounds.max < bounds.min || bounds.max > kMaxSymbolValue) {
    return absl::InvalidArgumentError(
        absl::StrCat("the dimension \"", name, "\" cannot be ", bounds.min, " to ", bounds.max));
  }
  if (bounds.min == bounds.max) return known_[name] = Dimension(bounds.min);
  if (symbols_.size() >= kMaxSymbols) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the model has more than ", kMaxSymbols, " symbolic dimensions"));
  }
  const std::string unique = UniqueSymbolName(name, symbols_);
  symbols_.push_back({unique, bounds.min, bounds.max});
  SLIPWAY_ASSIGN_OR_RETURN(Expression symbol, Expression::Symbol(unique));
  return known_[name] = Dimension(std::move(symbol));
}

absl::StatusOr<ValueType> ConvertType(const onnx::ValueInfoProto& proto,
                                      SymbolicDimensions* symbolic) {
  const std::string name = absl::StrCat("\"", proto.name(), "\"");
  if (!proto.has_type() || proto.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) {
    return absl::InvalidArgumentError(absl::StrCat(name, " has no type"));
  }
  if (!proto.type().has_tensor_type()) {
    return absl::UnimplementedError(absl::StrCat(name, " is no tensor, which is not supported"));
  }
  const onnx::TypeProto::Tensor& declared = proto.type().tensor_type();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const DataType dtype, DataTypeFromNumber(declared.elem_type()),
                                name);
  if (dtype == DataType::kInvalid || !declared.has_shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is declared without its element type or shape"));
  }
  Dimensions dimensions;
  for (int d = 0; d < declared.shape().dim_size() && d <= kMaxRank; ++d) {
    const onnx::TensorShapeProto::Dimension& dim = declared.shape().dim(d);
    if (dim.has_dim_value()) {
      dimensions.emplace_back(dim.dim_value());
    } else if (symbolic == nullptr) {
      dimensions.emplace_back();
    } else {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          Dimension extent,
          symbolic->Get(dim.dim_param().empty() ? absl::StrCat(proto.name(), "[", d, "]")
                                                : dim.dim_param()),
          name);
      dimensions.push_back(std::move(extent));
    }
  }
  ValueType type(dtype, dimensions);
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckType(type), name);
  return type;
}

}  // namespace slipway
