#include "server/web/openapi.h"

#include <google/protobuf/descriptor.h>

#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/json_writer.h"
#include "server/web/transcode.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string ReferenceTo(absl::string_view name) {
  return absl::StrCat("#/components/schemas/", name);
}

// Types of messages and enumerations, by the names that they have in the file.
struct Types {
  std::map<std::string, const Descriptor*> messages;
  std::map<std::string, const EnumDescriptor*> enumerations;
};

std::string NameOf(const std::string& full_name) {
  // "slipway.v1.Job.State" is "Job.State".
  for (const absl::string_view package : {"slipway.v1.", "slipway.web.v1."}) {
    if (absl::StartsWith(full_name, package)) return full_name.substr(package.size());
  }
  return full_name;
}

void Collect(const Descriptor& type, Types& types) {
  if (!types.messages.emplace(NameOf(type.full_name()), &type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() != nullptr) Collect(*field.message_type(), types);
    if (field.enum_type() != nullptr) {
      types.enumerations.emplace(NameOf(field.enum_type()->full_name()), field.enum_type());
    }
  }
}

// The members of the schema of one value.
void ValueSchema(JsonWriter& json, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
      json.Text("type", "integer");
      return json.Text("format", "int32");
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      // Numbers of JavaScript hold 53 bits.
      json.Text("type", "string");
      return json.Text("format", "int64");
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return json.Text("type", "number");
    case FieldDescriptor::CPPTYPE_BOOL:
      return json.Text("type", "boolean");
    case FieldDescriptor::CPPTYPE_STRING:
      json.Text("type", "string");
      if (field.type() == FieldDescriptor::TYPE_BYTES) json.Text("format", "byte");
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return json.Text("$ref", ReferenceTo(NameOf(field.enum_type()->full_name())));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return json.Text("$ref", ReferenceTo(NameOf(field.message_type()->full_name())));
  }
}

void FieldSchema(JsonWriter& json, absl::string_view name, const FieldDescriptor& field) {
  json.BeginObject(name);
  if (field.is_repeated()) {
    json.Text("type", "array");
    json.BeginObject("items");
    ValueSchema(json, field);
    json.EndObject();
  } else {
    ValueSchema(json, field);
  }
  json.EndObject();
}

void MessageSchema(JsonWriter& json, const std::string& name, const Descriptor& type) {
  json.BeginObject(name);
  json.Text("type", "object");
  json.BeginObject("properties");
  for (int i = 0; i < type.field_count(); ++i) {
    FieldSchema(json, type.field(i)->json_name(), *type.field(i));
  }
  json.EndObject();
  json.Bool("additionalProperties", false);
  json.EndObject();
}

void Content(JsonWriter& json, absl::string_view type, const Descriptor* message) {
  json.BeginObject("content");
  json.BeginObject(type);
  json.BeginObject("schema");
  if (message != nullptr) {
    json.Text("$ref", ReferenceTo(NameOf(message->full_name())));
  } else if (type == "application/json") {
    json.Text("type", "object");
  } else {
    json.Text("type", "string");
  }
  json.EndObject();
  json.EndObject();
  json.EndObject();
}

void Parameter(JsonWriter& json, absl::string_view name, absl::string_view in,
               absl::string_view type, absl::string_view description) {
  json.BeginObject();
  json.Text("name", name);
  json.Text("in", in);
  if (in == "path") json.Bool("required", true);
  if (!description.empty()) json.Text("description", description);
  json.BeginObject("schema");
  json.Text("type", type);
  json.EndObject();
  json.EndObject();
}

void Parameters(JsonWriter& json, const Route& route) {
  json.BeginArray("parameters");
  for (absl::string_view part : absl::StrSplit(route.path, '/')) {
    if (!part.empty() && part.front() == '{') {
      Parameter(json, part.substr(1, part.size() - 2), "path", "string", "");
    }
  }
  for (const QueryParameter& parameter : route.parameters) {
    Parameter(json, parameter.name, "query", parameter.type, parameter.description);
  }
  if (route.answerer == Answerer::kCall && route.verb == "GET") {
    const Descriptor& request = *route.request->GetDescriptor();
    for (int i = 0; i < request.field_count(); ++i) {
      const FieldDescriptor& field = *request.field(i);
      if (absl::StrContains(route.path, absl::StrCat("{", field.name(), "}"))) continue;
      json.BeginObject();
      json.Text("name", field.json_name());
      json.Text("in", "query");
      FieldSchema(json, "schema", field);
      json.EndObject();
    }
    Parameter(json, kFieldsParameter, "query", "string",
              "What of the answer is wanted, as paths joined by commas; all without it.");
  }
  json.EndArray();
}

bool IsEvents(const Route& route) {
  return route.answerer == Answerer::kEvents || route.answerer == Answerer::kJobEvents ||
         route.answerer == Answerer::kAgent;
}

absl::string_view TypeOf(const Route& route) {
  if (IsEvents(route)) return "text/event-stream";
  const bool is_bytes =
      route.answerer == Answerer::kModuleFile || route.answerer == Answerer::kReadBlob;
  return is_bytes ? "application/octet-stream" : "application/json";
}

void Operation(JsonWriter& json, const Route& route) {
  json.BeginObject(absl::AsciiStrToLower(route.verb));
  json.Text("summary", route.summary);
  if (!route.method.empty()) json.Text("description", absl::StrCat("Call ", route.method, "."));
  Parameters(json, route);
  if (IsUpload(route.answerer)) {
    json.BeginObject("requestBody");
    Content(json, "application/octet-stream", nullptr);
    json.EndObject();
  } else if (route.verb == "POST") {
    json.BeginObject("requestBody");
    Content(json, "application/json", route.request->GetDescriptor());
    json.EndObject();
  }
  json.BeginObject("responses");
  json.BeginObject("200");
  json.Text("description", "Done.");
  Content(json, TypeOf(route),
          route.response == nullptr ? nullptr : route.response->GetDescriptor());
  json.EndObject();
  json.BeginObject("default");
  json.Text("description", "Not done, and why.");
  Content(json, "application/json", v1::Problem::descriptor());
  json.EndObject();
  json.EndObject();
  json.EndObject();
}

// What is deeper than a path or a schema goes on in its line: a file of a line each can be read, and compared.
std::string InLines(const std::string& json) {
  constexpr size_t kDepth = 3;
  std::string text;
  for (const absl::string_view line : absl::StrSplit(json, '\n', absl::SkipEmpty())) {
    const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
    const size_t depth = (line.size() - content.size()) / 2;
    const bool goes_on =
        depth > kDepth || (depth == kDepth && (content[0] == '}' || content[0] == ']'));
    absl::StrAppend(&text, text.empty() ? "" : goes_on ? " " : "\n", goes_on ? content : line);
  }
  return absl::StrCat(text, "\n");
}

}  // namespace

std::string MakeOpenApi(absl::Span<const Route> routes) {
  Types types;
  Collect(*v1::Problem::descriptor(), types);
  std::vector<absl::string_view> paths;  // Each once, in the order of the table.
  std::map<absl::string_view, std::vector<const Route*>> by_path;
  for (const Route& route : routes) {
    if (route.request != nullptr) Collect(*route.request->GetDescriptor(), types);
    if (route.response != nullptr) Collect(*route.response->GetDescriptor(), types);
    auto& of_path = by_path[route.path];
    if (of_path.empty()) paths.push_back(route.path);
    of_path.push_back(&route);
  }
  JsonWriter json;
  json.BeginObject();
  json.Text("openapi", "3.1.0");
  json.BeginObject("info");
  json.Text("title", "Slipway");
  json.Text("version", "1");
  json.Text("description",
            "What slipway-web serves. Bodies are messages of proto/ in protobuf's JSON mapping: "
            "what is not set is left out, numbers of 64 bits are strings. A program sends its "
            "token as a bearer's.");
  json.EndObject();
  json.BeginObject("paths");
  for (const absl::string_view path : paths) {
    json.BeginObject(path);
    for (const Route* route : by_path[path]) Operation(json, *route);
    json.EndObject();
  }
  json.EndObject();
  json.BeginObject("components");
  json.BeginObject("schemas");
  for (const auto& [name, type] : types.messages) MessageSchema(json, name, *type);
  for (const auto& [name, type] : types.enumerations) {
    json.BeginObject(name);
    json.Text("type", "string");
    json.BeginArray("enum");
    for (int i = 0; i < type->value_count(); ++i) json.Text("", type->value(i)->name());
    json.EndArray();
    json.EndObject();
  }
  json.EndObject();
  json.BeginObject("securitySchemes");
  json.BeginObject("token");
  json.Text("type", "http");
  json.Text("scheme", "bearer");
  json.EndObject();
  json.BeginObject("cookie");
  json.Text("type", "apiKey");
  json.Text("in", "cookie");
  json.Text("name", "slipway_session");
  json.EndObject();
  json.EndObject();
  json.EndObject();
  json.EndObject();
  return InLines(json.Take());
}

absl::string_view OpenApiText() {
  static const std::string& text = *new std::string(MakeOpenApi(Routes()));
  return text;
}

}  // namespace slipway::web
