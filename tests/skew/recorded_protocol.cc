#include "tests/skew/recorded_protocol.h"

#include <google/protobuf/text_format.h>

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/check.h"
#include "core/base/files.h"

namespace slipway::testing {
namespace {

namespace pb = google::protobuf;

constexpr int64_t kMaxBytes = 1 << 20;
constexpr char kNone[] = "none";

std::string Read(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path, kMaxBytes);
  SLIPWAY_CHECK(bytes.ok(), bytes.status().ToString());
  return *std::move(bytes);
}

std::string FieldText(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) {
    return index < 0 ? reflection.GetString(message, &field)
                     : reflection.GetRepeatedString(message, &field, index);
  }
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

// Replaces in every string of the message and of those below it.
void ReplaceWords(const RecordedProtocol::Words& words, pb::Message* message) {
  const pb::Reflection& reflection = *message->GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(*message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
        ReplaceWords(words, field->is_repeated()
                                ? reflection.MutableRepeatedMessage(message, field, i)
                                : reflection.MutableMessage(message, field));
      } else if (field->type() == pb::FieldDescriptor::TYPE_STRING && !field->is_repeated()) {
        reflection.SetString(message, field,
                             absl::StrReplaceAll(reflection.GetString(*message, field), words));
      }
    }
  }
}

}  // namespace

std::string RecordedMessage::Get(absl::string_view path) const {
  const pb::Message* at = message_.get();
  const std::vector<std::string> parts = absl::StrSplit(path, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    const pb::FieldDescriptor* field = at->GetDescriptor()->FindFieldByName(parts[i]);
    SLIPWAY_CHECK(field != nullptr, absl::StrCat(at->GetTypeName(), " has no ", parts[i]));
    const pb::Reflection& reflection = *at->GetReflection();
    int index = -1;
    if (field->is_repeated()) {
      SLIPWAY_CHECK(i + 1 < parts.size() && absl::SimpleAtoi(parts[++i], &index),
                    absl::StrCat(path, " needs an index"));
      if (index >= reflection.FieldSize(*at, field)) return kNone;
    } else if (field->has_presence() && !reflection.HasField(*at, field)) {
      return kNone;
    }
    if (i + 1 == parts.size()) return FieldText(*at, *field, index);
    at = index < 0 ? &reflection.GetMessage(*at, field)
                   : &reflection.GetRepeatedMessage(*at, field, index);
  }
  return kNone;
}

std::string RecordedMessage::Text() const { return message_->DebugString(); }

RecordedProtocol::RecordedProtocol(const std::string& name)
    : folder_(JoinPath("tests/testdata/skew/messages", name)) {
  SLIPWAY_CHECK(schema_.ParseFromString(testing::Read(JoinPath(folder_, "protocol.descriptors"))),
                folder_);
  // Files come after those that they import.
  for (const pb::FileDescriptorProto& file : schema_.file()) {
    SLIPWAY_CHECK(pool_.BuildFile(file) != nullptr, file.name());
  }
}

std::unique_ptr<pb::Message> RecordedProtocol::New(const std::string& type) const {
  const pb::Descriptor* descriptor = pool_.FindMessageTypeByName("slipway.v1." + type);
  SLIPWAY_CHECK(descriptor != nullptr, type);
  return std::unique_ptr<pb::Message>(factory_.GetPrototype(descriptor)->New());
}

std::string RecordedProtocol::Bytes(const std::string& name, const Words& words) const {
  std::string bytes = testing::Read(absl::StrCat(JoinPath(folder_, name), ".binpb"));
  if (words.empty()) return bytes;
  const std::unique_ptr<pb::Message> message = New(name.substr(name.find('.') + 1));
  SLIPWAY_CHECK(message->ParseFromString(bytes), name);
  ReplaceWords(words, message.get());
  return message->SerializeAsString();
}

std::string RecordedProtocol::Make(const std::string& type, const std::string& text) const {
  const std::unique_ptr<pb::Message> message = New(type);
  SLIPWAY_CHECK(pb::TextFormat::ParseFromString(text, message.get()), text);
  return message->SerializeAsString();
}

RecordedMessage RecordedProtocol::Read(const std::string& type, absl::string_view bytes) const {
  std::unique_ptr<pb::Message> message = New(type);
  SLIPWAY_CHECK(message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())), type);
  message->DiscardUnknownFields();
  return RecordedMessage(std::move(message));
}

const pb::MethodDescriptor& RecordedProtocol::Method(const std::string& method) const {
  const std::string name = absl::StrCat("slipway.v1.", absl::StrReplaceAll(method, {{"/", "."}}));
  const pb::MethodDescriptor* found = pool_.FindMethodByName(name);
  SLIPWAY_CHECK(found != nullptr, name);
  return *found;
}

// Number 1000, 5 bytes.
std::string UnknownField() { return "\xc2\x3e\x05later"; }

}  // namespace slipway::testing
