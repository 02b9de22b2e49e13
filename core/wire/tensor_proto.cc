#include "core/wire/tensor_proto.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/tensor/string_layout.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

std::string Subject(const v1::Tensor& proto) {
  return absl::StrCat("tensor '", absl::Utf8SafeCEscape(proto.name()), "'");
}

// Whether so many bytes may be a tensor of the type. `what` they are.
absl::Status CheckSize(const TensorType& type, int64_t size, absl::string_view what) {
  if (type.dtype == DataType::kString) {
    const int64_t least = type.num_elements() * kPlaceBytes;
    if (size >= least && size - least <= kMaxStringBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(ToString(type), " needs ", least,
                                                   " bytes and those of its strings, but ", what,
                                                   " ", size));
  }
  if (size == type.byte_size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ToString(type), " needs ", type.byte_size(), " bytes, but ", what, " ", size));
}

absl::StatusOr<TensorType> CheckedType(const v1::Tensor& proto) {
  if (!proto.has_type()) return absl::InvalidArgumentError("type is not set");
  SLIPWAY_ASSIGN_OR_RETURN(TensorType type, FromProto(proto.type()));
  switch (proto.content_case()) {
    case v1::Tensor::kInlineData: {
      const int64_t size = static_cast<int64_t>(proto.inline_data().size());
      if (size > kMaxInlineTensorBytes) {
        return absl::ResourceExhaustedError(absl::StrCat(size, " bytes inline, more than ",
                                                         kMaxInlineTensorBytes,
                                                         "; send larger tensors as blobs"));
      }
      SLIPWAY_RETURN_IF_ERROR(CheckSize(type, size, "inline there are"));
      return type;
    }
    case v1::Tensor::kBlob: {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(proto.blob()));
      SLIPWAY_RETURN_IF_ERROR(CheckSize(type, digest.size_bytes(), "its blob has"));
      return type;
    }
    case v1::Tensor::CONTENT_NOT_SET:
      return absl::InvalidArgumentError("content is not set");
  }
  return absl::InvalidArgumentError("content is of an unknown kind");
}

}  // namespace

v1::TensorType ToProto(const TensorType& type) {
  v1::TensorType proto;
  proto.set_dtype(static_cast<v1::DataType>(type.dtype));
  for (const int64_t extent : type.shape) proto.add_shape(extent);
  return proto;
}

absl::StatusOr<TensorType> FromProto(const v1::TensorType& proto) {
  if (proto.dtype() == v1::DATA_TYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError("element type is not set");
  }
  TensorType type;
  SLIPWAY_ASSIGN_OR_RETURN(type.dtype, DataTypeFromNumber(proto.dtype()));
  type.shape.assign(proto.shape().begin(), proto.shape().end());
  const bool is_string = type.dtype == DataType::kString;
  SLIPWAY_RETURN_IF_ERROR(
      CheckShape(type.shape, is_string ? kPlaceBytes : ByteSize(type.dtype)).status());
  return type;
}

v1::Tensor ToInlineProto(absl::string_view name, const Tensor& tensor) {
  SLIPWAY_CHECK(tensor.byte_size() <= kMaxInlineTensorBytes, "tensor too large to be sent inline");
  v1::Tensor proto;
  proto.set_name(std::string(name));
  *proto.mutable_type() = ToProto(tensor.type());
  proto.set_inline_data(std::string(tensor.bytes()));
  return proto;
}

v1::Tensor ToBlobProto(absl::string_view name, const TensorType& type, const Digest& digest) {
  v1::Tensor proto;
  proto.set_name(std::string(name));
  *proto.mutable_type() = ToProto(type);
  *proto.mutable_blob() = ToProto(digest);
  return proto;
}

absl::Status CheckTensorProto(const v1::Tensor& proto) {
  return Annotate(CheckedType(proto).status(), Subject(proto));
}

absl::StatusOr<Tensor> FromProto(const v1::Tensor& proto,
                                 absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)> get_blob) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(TensorType type, CheckedType(proto), Subject(proto));
  if (proto.has_inline_data()) return Tensor::FromBytes(std::move(type), proto.inline_data());
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(proto.blob()), Subject(proto));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Blob blob, get_blob(digest), Subject(proto));
  return Tensor::Borrow(std::move(type), blob.bytes(), blob.owner());
}

}  // namespace slipway
