#include "core/artifact/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"

namespace slipway {
namespace {

// The number of the first field in `message`, or in a message below it, that
// this version does not know; 0 if there is none.
int FirstUnknownField(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const google::protobuf::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) return unknown.field(0).number();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const google::protobuf::Message& part = field->is_repeated()
                                                  ? reflection.GetRepeatedMessage(message, field, i)
                                                  : reflection.GetMessage(message, field);
      if (const int number = FirstUnknownField(part)) return number;
    }
  }
  return 0;
}

std::vector<NamedType> TypesOf(const v1::Manifest& manifest,
                               const google::protobuf::RepeatedPtrField<v1::Binding>& bindings) {
  std::vector<NamedType> result;
  result.reserve(static_cast<size_t>(bindings.size()));
  for (const v1::Binding& binding : bindings) {
    result.push_back({binding.name(), TypeOfValue(manifest, binding.value())});
  }
  return result;
}

}  // namespace

std::string SerializeManifest(const v1::Manifest& manifest) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    SLIPWAY_CHECK(manifest.SerializeToCodedStream(&coded), "a manifest over 2 GiB");
  }
  return bytes;
}

absl::StatusOr<v1::Manifest> ParseManifest(absl::string_view bytes, const ReaderLimits& limits) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > limits.manifest_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "manifest has ", size, " bytes, more than the limit of ", limits.manifest_bytes));
  }
  v1::Manifest manifest;
  if (!manifest.ParseFromArray(bytes.data(), static_cast<int>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest of ", size, " bytes is not a slipway.v1.Manifest message"));
  }
  // First, since the format of a newer manifest explains its unknown fields.
  if (manifest.format_version() > kManifestFormatVersion) {
    return ValidateManifest(manifest, limits);
  }
  if (const int number = FirstUnknownField(manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest has an unknown field with number ", number,
                     "; update this reader or compile the model again"));
  }
  if (SerializeManifest(manifest) != bytes) {
    return absl::InvalidArgumentError("manifest is not in canonical form; compile the model again");
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(ValidateManifest(manifest, limits), "manifest");
  return manifest;
}

ProgramSignature SignatureOf(const v1::Manifest& manifest) {
  const v1::Function& entry = manifest.functions(static_cast<int>(manifest.entry()));
  return {TypesOf(manifest, entry.inputs()), TypesOf(manifest, entry.outputs())};
}

TensorType TypeOfValue(const v1::Manifest& manifest, uint32_t value) {
  const v1::Value& proto = manifest.values(static_cast<int>(value));
  TensorType type;
  type.dtype = static_cast<DataType>(proto.dtype());
  for (const v1::Dimension& dimension : proto.shape()) {
    type.shape.push_back(dimension.value());
  }
  return type;
}

int64_t ArenaBytes(const v1::Manifest& manifest) {
  int64_t bytes = 0;
  for (const v1::Buffer& buffer : manifest.buffers()) {
    if (buffer.class_() != v1::Buffer::CLASS_STATIC) continue;
    bytes = std::max(bytes, buffer.arena_offset() + buffer.size().constant());
  }
  return bytes;
}

std::vector<Digest> ReferencedBlobs(const v1::Manifest& manifest) {
  std::vector<Digest> result;
  absl::flat_hash_set<Digest> seen;
  const auto add = [&](const v1::Digest& proto) {
    absl::StatusOr<Digest> digest = FromProto(proto);
    SLIPWAY_CHECK(digest.ok(), "the manifest was not validated");
    if (seen.insert(*digest).second) result.push_back(*std::move(digest));
  };
  for (const v1::Code& code : manifest.code()) add(code.blob());
  for (const v1::Constant& constant : manifest.constants()) {
    add(constant.blob());
  }
  return result;
}

}  // namespace slipway
