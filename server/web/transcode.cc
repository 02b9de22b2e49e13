#include "server/web/transcode.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/request_id.h"
#include "core/base/status_macros.h"

namespace slipway::web {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMostFields = 64;

absl::Status Wrong(const FieldDescriptor& field, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("\"", field.json_name(), "\" is to be ", wanted));
}

// A field of a plain kind, set or added to.
template <typename Value, typename Set, typename Add>
absl::Status Put(Message& message, const FieldDescriptor& field, Value value, Set set, Add add) {
  const Reflection& reflection = *message.GetReflection();
  field.is_repeated() ? (reflection.*add)(&message, &field, std::move(value))
                      : (reflection.*set)(&message, &field, std::move(value));
  return absl::OkStatus();
}

absl::Status PutText(Message& message, const FieldDescriptor& field, const std::string& text) {
  const auto integer = [&](auto value, auto set, auto add) {
    if (!absl::SimpleAtoi(text, &value)) return Wrong(field, "a whole number");
    return Put(message, field, value, set, add);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return integer(int32_t{}, &Reflection::SetInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return integer(int64_t{}, &Reflection::SetInt64, &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return integer(uint32_t{}, &Reflection::SetUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return integer(uint64_t{}, &Reflection::SetUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") return Wrong(field, "\"true\" or \"false\"");
      return Put(message, field, text == "true", &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_STRING:
      if (field.type() == FieldDescriptor::TYPE_BYTES) return Wrong(field, "in a body");
      return Put(message, field, text, &Reflection::SetString, &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field.enum_type()->FindValueByName(text);
      if (value == nullptr) return Wrong(field, absl::StrCat("a ", field.enum_type()->name()));
      return Put(message, field, value, &Reflection::SetEnum, &Reflection::AddEnum);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Reflection& reflection = *message.GetReflection();
      return Annotate(
          ReadJson(text, field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                             : *reflection.MutableMessage(&message, &field)),
          field.json_name());
    }
    default:
      return Wrong(field, "in a body");
  }
}

const FieldDescriptor* FindByJsonName(const Descriptor& type, const std::string& name) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->json_name() == name) return type.field(i);
  }
  return nullptr;
}

// Which fields are wanted, and of those that are messages which of theirs; none: all.
struct WantedFields {
  std::map<const FieldDescriptor*, WantedFields> fields;
};

absl::StatusOr<WantedFields> ParseFields(const Descriptor& type, absl::string_view text) {
  WantedFields wanted;
  size_t paths = 0;
  for (const absl::string_view path : absl::StrSplit(text, ',')) {
    if (++paths > kMostFields) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMostFields, " fields"));
    }
    const Descriptor* within = &type;
    WantedFields* at = &wanted;
    for (const absl::string_view part : absl::StrSplit(path, '.')) {
      const FieldDescriptor* field =
          within == nullptr ? nullptr : FindByJsonName(*within, std::string(part));
      if (field == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("there is no field \"", path, "\""));
      }
      at = &at->fields[field];
      within = field->message_type();
    }
  }
  return wanted;
}

// As deep as a path of ParseFields.
void KeepOnly(const WantedFields& wanted, Message& message) {
  if (wanted.fields.empty()) return;
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    const auto found = wanted.fields.find(field);
    if (found == wanted.fields.end()) {
      reflection.ClearField(&message, field);
    } else if (field->message_type() != nullptr && field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        KeepOnly(found->second, *reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else if (field->message_type() != nullptr) {
      KeepOnly(found->second, *reflection.MutableMessage(&message, field));
    }
  }
}

}  // namespace

absl::Status ReadJson(absl::string_view json, Message& message) {
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the JSON is none of a ", message.GetDescriptor()->name(), ": ", status.message().data()));
}

absl::StatusOr<std::unique_ptr<Message>> ReadRequest(const RoutedRequest& routed, const Url& url,
                                                     absl::string_view body) {
  std::unique_ptr<Message> request(routed.route->request->New());
  const Descriptor& type = *request->GetDescriptor();
  if (routed.route->verb == "GET") {
    for (const auto& [name, value] : url.query) {
      if (name == kFieldsParameter) continue;
      const FieldDescriptor* field = FindByJsonName(type, name);
      if (field == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("there is no parameter \"", name, "\""));
      }
      SLIPWAY_RETURN_IF_ERROR(PutText(*request, *field, value));
    }
  } else if (!body.empty()) {
    SLIPWAY_RETURN_IF_ERROR(ReadJson(body, *request));
  }
  for (const auto& [name, value] : routed.path_fields) {
    const FieldDescriptor* field = type.FindFieldByName(name);
    if (field == nullptr) continue;  // Of slipway-web's own.
    SLIPWAY_RETURN_IF_ERROR(PutText(*request, *field, value));
  }
  const FieldDescriptor* id = type.FindFieldByName("request_id");
  if (id != nullptr && request->GetReflection()->GetString(*request, id).empty()) {
    request->GetReflection()->SetString(request.get(), id, NewRequestId());
  }
  return request;
}

absl::StatusOr<std::string> WriteJson(Message& message, absl::string_view fields) {
  if (!fields.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const WantedFields wanted,
                             ParseFields(*message.GetDescriptor(), fields));
    KeepOnly(wanted, message);
  }
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json);
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat("the answer is no JSON: ", status.message().data()));
  }
  return json;
}

std::string QueryValue(const Url& url, absl::string_view name) {
  for (const auto& [key, value] : url.query) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace slipway::web
