#include "core/artifact/check_tables.h"

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using absl::ResourceExhaustedError;
using absl::UnimplementedError;

absl::Status CheckCount(int64_t count, int64_t limit, absl::string_view what) {
  if (count <= limit) return absl::OkStatus();
  return ResourceExhaustedError(absl::StrCat(count, " ", what, ", more than the limit of ", limit));
}

absl::Status CheckLength(absl::string_view text, int limit, absl::string_view what) {
  if (text.size() <= static_cast<size_t>(limit)) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat(what, " has ", text.size(), " bytes; at most ", limit));
}

absl::Status CheckDevices(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Target target, ParseTarget(manifest.target()), "target");
  if (target.ToString() != manifest.target()) {
    return InvalidArgumentError(absl::StrCat(
        "target '", manifest.target(), "' is not canonical; write '", target.ToString(), "'"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.devices_size(), limits.devices, "devices"));
  if (static_cast<size_t>(manifest.devices_size()) != target.devices.size()) {
    return InvalidArgumentError(
        absl::StrCat("target '", manifest.target(), "' names ", target.devices.size(),
                     " devices, but the manifest has ", manifest.devices_size()));
  }
  for (int i = 0; i < manifest.devices_size(); ++i) {
    const DeviceTarget& device = target.devices[static_cast<size_t>(i)];
    if (manifest.devices(i).target() != device.ToString()) {
      return InvalidArgumentError(absl::StrCat("device ", i, " is '",
                                               absl::Utf8SafeCEscape(manifest.devices(i).target()),
                                               "', but the target says '", device.ToString(), "'"));
    }
    const bool is_cpu =
        device.arch != Arch::kCuda && device.arch != Arch::kOpenCl && device.arch != Arch::kWasm32;
    if (i > 0 || !is_cpu) {
      return UnimplementedError(absl::StrCat("device ", i, " '", device.ToString(),
                                             "' is not supported: programs use one CPU"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBlob(const v1::Digest& proto, const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(proto), "blob");
  return CheckCount(digest.size_bytes(), limits.blob_bytes, "bytes in a blob");
}

absl::Status CheckCode(const v1::Manifest& manifest, const v1::Code& code,
                       const ReaderLimits& limits) {
  switch (code.kind()) {
    case v1::Code::KIND_ELF:
      break;
    case v1::Code::KIND_PTX:
    case v1::Code::KIND_OPENCL_SOURCE:
      return UnimplementedError(absl::StrCat("kind ", v1::Code::Kind_Name(code.kind()),
                                             " is not supported; only KIND_ELF is"));
    case v1::Code::KIND_UNSPECIFIED:
      return InvalidArgumentError("kind is not set");
    default:
      return UnimplementedError(
          absl::StrCat("kind ", static_cast<int>(code.kind()), " is unknown"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBlob(code.blob(), limits));
  if (code.blob().size_bytes() == 0) return InvalidArgumentError("is empty");
  if (code.device() >= static_cast<uint32_t>(manifest.devices_size())) {
    return InvalidArgumentError(absl::StrCat("device ", code.device(), " does not exist"));
  }
  if (code.entries_size() > 0) return UnimplementedError("code with entries is not supported");
  return CheckCount(code.kernel_count(), limits.kernels_per_code, "kernels");
}

absl::Status CheckConstant(const v1::Constant& constant, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckBlob(constant.blob(), limits));
  const int64_t blob_size = constant.blob().size_bytes();
  if (constant.offset() < 0 || constant.offset() % kBufferAlignment != 0) {
    return InvalidArgumentError(
        absl::StrCat("offset ", constant.offset(), " is not a multiple of ", kBufferAlignment));
  }
  if (constant.size_bytes() < 0 || constant.offset() > blob_size ||
      constant.size_bytes() > blob_size - constant.offset()) {
    return InvalidArgumentError(absl::StrCat("bytes ", constant.offset(), " + ",
                                             constant.size_bytes(), " are outside of its blob of ",
                                             blob_size, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckBuffer(const v1::Manifest& manifest, const v1::Buffer& buffer,
                         const ReaderLimits& limits) {
  if (buffer.space() >= static_cast<uint32_t>(manifest.devices_size())) {
    return InvalidArgumentError(absl::StrCat("space ", buffer.space(), " does not exist"));
  }
  if (buffer.size().has_expression()) {
    return UnimplementedError("sizes that depend on symbols are not supported");
  }
  const int64_t size = buffer.size().constant();
  if (size < 0) {
    return InvalidArgumentError(absl::StrCat("size ", size, " is negative"));
  }
  if (buffer.class_() != v1::Buffer::CLASS_STATIC && buffer.arena_offset() != 0) {
    return InvalidArgumentError("has an arena offset, but is not static");
  }
  if (buffer.class_() != v1::Buffer::CLASS_CONSTANT && buffer.constant() != 0) {
    return InvalidArgumentError("names a constant, but is none");
  }
  switch (buffer.class_()) {
    case v1::Buffer::CLASS_STATIC: {
      const int64_t offset = buffer.arena_offset();
      if (offset < 0 || offset % kBufferAlignment != 0 || size % kBufferAlignment != 0) {
        return InvalidArgumentError(absl::StrCat("arena offset ", offset, " and size ", size,
                                                 " must be multiples of ", kBufferAlignment));
      }
      if (offset > limits.arena_bytes || size > limits.arena_bytes - offset) {
        return ResourceExhaustedError(absl::StrCat(
            "ends at byte ", static_cast<uint64_t>(offset) + static_cast<uint64_t>(size),
            " of the arena, beyond the limit of ", limits.arena_bytes));
      }
      return absl::OkStatus();
    }
    case v1::Buffer::CLASS_EXTERNAL:
      return CheckCount(size, limits.external_bytes, "bytes in an external buffer");
    case v1::Buffer::CLASS_CONSTANT: {
      if (buffer.constant() >= static_cast<uint32_t>(manifest.constants_size())) {
        return InvalidArgumentError(
            absl::StrCat("constant ", buffer.constant(), " does not exist"));
      }
      const int64_t held = manifest.constants(static_cast<int>(buffer.constant())).size_bytes();
      if (size != held) {
        return InvalidArgumentError(absl::StrCat("size ", size, " is not that of constant ",
                                                 buffer.constant(), ", ", held));
      }
      return absl::OkStatus();
    }
    case v1::Buffer::CLASS_DYNAMIC:
      return UnimplementedError("dynamic buffers are not supported");
    case v1::Buffer::CLASS_UNSPECIFIED:
      return InvalidArgumentError("class is not set");
    default:
      return UnimplementedError(
          absl::StrCat("class ", static_cast<int>(buffer.class_()), " is unknown"));
  }
}

absl::Status CheckElementType(const v1::Value& value) {
  if (value.dtype() == v1::DATA_TYPE_UNSPECIFIED) {
    return InvalidArgumentError("element type is not set");
  }
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromNumber(value.dtype()));
  if (dtype == DataType::kString || dtype == DataType::kComplex64 ||
      dtype == DataType::kComplex128) {
    return UnimplementedError(absl::StrCat("element type '", Name(dtype), "' is not supported"));
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const v1::Manifest& manifest, const v1::Value& value,
                        const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckElementType(value));
  if (value.shape_size() > kMaxRank) {
    return InvalidArgumentError(
        absl::StrCat("has ", value.shape_size(), " dimensions; at most ", kMaxRank));
  }
  Shape shape;
  for (const v1::Dimension& dimension : value.shape()) {
    switch (dimension.kind_case()) {
      case v1::Dimension::kValue:
        shape.push_back(dimension.value());
        break;
      case v1::Dimension::kExpression:
        return UnimplementedError("symbolic dimensions are not supported");
      case v1::Dimension::KIND_NOT_SET:
        return InvalidArgumentError("a dimension is not set");
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t bytes,
                           CheckShape(shape, ByteSize(static_cast<DataType>(value.dtype()))));
  if (bytes > limits.value_bytes) {
    return UnimplementedError(absl::StrCat("has ", bytes, " bytes; tensors over ",
                                           limits.value_bytes, " bytes are not supported"));
  }
  // Strides are 32-bit as well, and an extent of 0 hides a large product.
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    stride *= shape[i] == 0 ? 1 : shape[i];
    if (stride > limits.value_bytes) {
      return UnimplementedError(
          absl::StrCat("has strides over ", limits.value_bytes, ", which are not supported"));
    }
  }
  if (value.buffer() >= static_cast<uint32_t>(manifest.buffers_size())) {
    return InvalidArgumentError(absl::StrCat("buffer ", value.buffer(), " does not exist"));
  }
  const int64_t size = manifest.buffers(static_cast<int>(value.buffer())).size().constant();
  if (value.offset() < 0 || value.offset() % kBufferAlignment != 0) {
    return InvalidArgumentError(
        absl::StrCat("offset ", value.offset(), " is not a multiple of ", kBufferAlignment));
  }
  if (value.offset() > size || bytes > size - value.offset()) {
    return InvalidArgumentError(absl::StrCat("bytes ", value.offset(), " + ", bytes,
                                             " are outside of buffer ", value.buffer(), " of ",
                                             size, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckTools(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.tools_size(), limits.tools, "tools"));
  for (int i = 0; i < manifest.tools_size(); ++i) {
    const v1::ToolVersion& tool = manifest.tools(i);
    SLIPWAY_RETURN_IF_ERROR(CheckLength(tool.name(), limits.name_bytes, "a tool's name"));
    SLIPWAY_RETURN_IF_ERROR(CheckLength(tool.version(), limits.name_bytes, "a tool's version"));
    if (i > 0 && manifest.tools(i - 1).name() >= tool.name()) {
      return InvalidArgumentError("tools are not sorted by name");
    }
  }
  if (!manifest.compile_key().empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(Digest::FromHex(manifest.compile_key(), 0).status(),
                                 "compile key");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTables(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckLength(manifest.name(), limits.name_bytes, "name"));
  SLIPWAY_RETURN_IF_ERROR(CheckDevices(manifest, limits));
  if (manifest.spaces_size() > 0 || manifest.expressions_size() > 0 ||
      manifest.more_entries_size() > 0) {
    return UnimplementedError("memory spaces, expressions and further entries are not supported");
  }
  if (manifest.symbols_size() > 0) {
    return UnimplementedError(
        absl::StrCat("symbol '", absl::Utf8SafeCEscape(manifest.symbols(0).name()),
                     "': programs with symbolic dimensions are not supported"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.code_size(), limits.codes, "pieces of code"));
  for (int i = 0; i < manifest.code_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckCode(manifest, manifest.code(i), limits),
                                 absl::StrCat("code ", i));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.constants_size(), limits.entries, "constants"));
  for (int i = 0; i < manifest.constants_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckConstant(manifest.constants(i), limits),
                                 absl::StrCat("constant ", i));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.buffers_size(), limits.entries, "buffers"));
  int64_t external_bytes = 0;
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    const v1::Buffer& buffer = manifest.buffers(i);
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckBuffer(manifest, buffer, limits), absl::StrCat("buffer ", i));
    if (buffer.class_() == v1::Buffer::CLASS_EXTERNAL) {
      external_bytes += buffer.size().constant();
      SLIPWAY_RETURN_IF_ERROR(
          CheckCount(external_bytes, limits.external_bytes, "bytes in external buffers"));
    }
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.values_size(), limits.entries, "values"));
  for (int i = 0; i < manifest.values_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckValue(manifest, manifest.values(i), limits),
                                 absl::StrCat("value ", i));
  }
  return CheckTools(manifest, limits);
}

}  // namespace slipway
