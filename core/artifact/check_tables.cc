#include "core/artifact/check_tables.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using absl::UnimplementedError;

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

absl::Status CheckBlob(const v1::Digest& proto, const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest digest, FromProto(proto), "blob");
  return CheckCount(digest.size_bytes(), limits.blob_bytes, "bytes in a blob");
}

bool IsGpu(const DeviceTarget& device) {
  return device.arch == Arch::kCuda || device.arch == Arch::kOpenCl;
}

// Whether a device of this kind could ever run code of the kind.
absl::Status CheckKind(v1::Code::Kind kind, const DeviceTarget& device) {
  bool fits = false;
  switch (kind) {
    case v1::Code::KIND_ELF:
    case v1::Code::KIND_ELF_OBJECT:
      fits = !IsGpu(device);
      break;
    case v1::Code::KIND_PTX:
      fits = device.arch == Arch::kCuda;
      break;
    case v1::Code::KIND_OPENCL_SOURCE:
      fits = device.arch == Arch::kOpenCl;
      break;
    case v1::Code::KIND_UNSPECIFIED:
      return InvalidArgumentError("kind is not set");
    default:
      return UnimplementedError(absl::StrCat("kind ", static_cast<int>(kind), " is unknown"));
  }
  if (fits) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("kind ", v1::Code::Kind_Name(kind), " is nothing for '",
                                           device.ToString(), "'"));
}

bool IsIdentifier(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char c : name) {
    if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

absl::Status CheckEntries(const v1::Code& code, const ReaderLimits& limits) {
  if (code.kind() == v1::Code::KIND_ELF || code.kind() == v1::Code::KIND_ELF_OBJECT) {
    if (code.entries_size() == 0) return absl::OkStatus();
    return InvalidArgumentError("has entries beside a table of kernels");
  }
  if (static_cast<uint32_t>(code.entries_size()) != code.kernel_count()) {
    return InvalidArgumentError(absl::StrCat("has ", code.entries_size(), " entries, but ",
                                             code.kernel_count(), " kernels"));
  }
  absl::flat_hash_set<absl::string_view> names;
  for (const std::string& entry : code.entries()) {
    SLIPWAY_RETURN_IF_ERROR(CheckLength(entry, limits.name_bytes, "the name of an entry"));
    if (!IsIdentifier(entry)) {
      return InvalidArgumentError(
          absl::StrCat("entry '", absl::Utf8SafeCEscape(entry), "' is no C identifier"));
    }
    if (!names.insert(entry).second) {
      return InvalidArgumentError(absl::StrCat("has entry '", entry, "' twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCode(const Target& target, const v1::Code& code, const ReaderLimits& limits) {
  if (code.device() >= target.devices.size()) {
    return InvalidArgumentError(absl::StrCat("device ", code.device(), " does not exist"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckKind(code.kind(), target.devices[code.device()]));
  SLIPWAY_RETURN_IF_ERROR(CheckBlob(code.blob(), limits));
  if (code.blob().size_bytes() == 0) return InvalidArgumentError("is empty");
  SLIPWAY_RETURN_IF_ERROR(CheckCount(code.kernel_count(), limits.kernels_per_code, "kernels"));
  return CheckEntries(code, limits);
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

}  // namespace

absl::Status CheckCount(int64_t count, int64_t limit, absl::string_view what) {
  if (count <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(count, " ", what, ", more than the limit of ", limit));
}

absl::Status CheckLength(absl::string_view text, int limit, absl::string_view what) {
  if (text.size() <= static_cast<size_t>(limit)) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat(what, " has ", text.size(), " bytes; at most ", limit));
}

absl::StatusOr<Target> CheckHeader(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckLength(manifest.name(), limits.name_bytes, "name"));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(Target target, ParseTarget(manifest.target()), "target");
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
  }
  SLIPWAY_RETURN_IF_ERROR(CheckTools(manifest, limits));
  return target;
}

absl::Status CheckCodeAndConstants(const v1::Manifest& manifest, const Target& target,
                                   const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.code_size(), limits.codes, "pieces of code"));
  for (int i = 0; i < manifest.code_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckCode(target, manifest.code(i), limits),
                                 absl::StrCat("code ", i));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.constants_size(), limits.entries, "constants"));
  for (int i = 0; i < manifest.constants_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckConstant(manifest.constants(i), limits),
                                 absl::StrCat("constant ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tables> CheckTables(const v1::Manifest& manifest, const ReaderLimits& limits) {
  Tables tables{manifest, limits, {}, {}, {}, {}};
  SLIPWAY_ASSIGN_OR_RETURN(tables.target, CheckHeader(manifest, limits));
  SLIPWAY_ASSIGN_OR_RETURN(tables.expressions, Expressions::Check(manifest, limits));
  SLIPWAY_RETURN_IF_ERROR(CheckCodeAndConstants(manifest, tables.target, limits));
  SLIPWAY_RETURN_IF_ERROR(CheckMemory(tables));
  return tables;
}

}  // namespace slipway
