#include "core/artifact/checked_manifest.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/check_manifest.h"
#include "core/artifact/check_tables.h"
#include "core/artifact/manifest.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
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

std::vector<NamedType> TypesOf(const v1::Manifest& manifest, const Expressions& expressions,
                               const google::protobuf::RepeatedPtrField<v1::Binding>& bindings) {
  std::vector<NamedType> result;
  result.reserve(static_cast<size_t>(bindings.size()));
  for (const v1::Binding& binding : bindings) {
    const v1::Value& value = manifest.values(static_cast<int>(binding.value()));
    result.push_back({binding.name(), PortTypeOf(value, expressions)});
  }
  return result;
}

std::vector<Digest> BlobsOf(const v1::Manifest& manifest) {
  std::vector<Digest> result;
  absl::flat_hash_set<Digest> seen;
  const auto add = [&](const v1::Digest& proto) {
    absl::StatusOr<Digest> digest = FromProto(proto);
    SLIPWAY_CHECK(digest.ok(), "the manifest was not checked");
    if (seen.insert(*digest).second) result.push_back(*std::move(digest));
  };
  for (const v1::Code& code : manifest.code()) add(code.blob());
  for (const v1::Constant& constant : manifest.constants()) add(constant.blob());
  return result;
}

}  // namespace

bool ProgramSpace::IsTouchedBy(uint32_t by) const {
  return by == device || std::binary_search(shared_with.begin(), shared_with.end(), by);
}

absl::StatusOr<CheckedManifest> CheckedManifest::Parse(absl::string_view bytes,
                                                       const ReaderLimits& limits) {
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
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckVersions(manifest), "manifest");
  if (const int number = FirstUnknownField(manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest has an unknown field with number ", number,
                     "; update this reader or compile the model again"));
  }
  if (SerializeManifest(manifest) != bytes) {
    return absl::InvalidArgumentError("manifest is not in canonical form; compile the model again");
  }
  return Make(std::move(manifest), std::string(bytes), limits);
}

absl::StatusOr<CheckedManifest> CheckedManifest::Check(v1::Manifest manifest,
                                                       const ReaderLimits& limits) {
  if (const int number = FirstUnknownField(manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest has an unknown field with number ", number));
  }
  std::string bytes = SerializeManifest(manifest);
  if (static_cast<int64_t>(bytes.size()) > limits.manifest_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "manifest has ", bytes.size(), " bytes, more than the limit of ", limits.manifest_bytes));
  }
  return Make(std::move(manifest), std::move(bytes), limits);
}

absl::StatusOr<CheckedManifest> CheckedManifest::Make(v1::Manifest proto, std::string bytes,
                                                      const ReaderLimits& limits) {
  auto data = std::make_shared<Data>();
  data->proto = std::move(proto);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(Tables tables, CheckManifest(data->proto, limits), "manifest");
  data->digest = Digest::Of(bytes);
  data->bytes = std::move(bytes);
  data->target = std::move(tables.target);
  data->expressions = std::move(tables.expressions);
  data->spaces = std::move(tables.spaces);
  data->blobs = BlobsOf(data->proto);
  data->artifact_bytes = data->digest.size_bytes();
  for (const Digest& digest : data->blobs) data->artifact_bytes += digest.size_bytes();
  CheckedManifest checked(data);
  data->signature = checked.SignatureOf(data->proto.entry());
  return checked;
}

const v1::Function& CheckedManifest::entry() const {
  return proto().functions(static_cast<int>(proto().entry()));
}

ProgramSignature CheckedManifest::SignatureOf(uint32_t function) const {
  const v1::Function& called = proto().functions(static_cast<int>(function));
  return {TypesOf(proto(), expressions(), called.inputs()),
          TypesOf(proto(), expressions(), called.outputs())};
}

TensorType CheckedManifest::TypeOf(uint32_t value) const {
  const v1::Value& type = proto().values(static_cast<int>(value));
  TensorType result{static_cast<DataType>(type.dtype()), {}};
  for (const v1::Dimension& dimension : type.shape()) result.shape.push_back(dimension.value());
  return result;
}

}  // namespace slipway
