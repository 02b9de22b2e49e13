#include "server/web/openapi.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/web/transcode.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::slipway::testing::RunfilePath;

Json ReadFileJson() {
  const auto text = ReadFile(RunfilePath("server/web/openapi.json"), 16 << 20);
  EXPECT_OK(text.status());
  return ParseJson(*text).value();
}

// Sets every field, as deep as this.
void Fill(Message& message, int depth) {
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool repeated = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        repeated ? reflection.AddInt32(&message, field, 7)
                 : reflection.SetInt32(&message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        repeated ? reflection.AddInt64(&message, field, 7)
                 : reflection.SetInt64(&message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        repeated ? reflection.AddUInt32(&message, field, 7)
                 : reflection.SetUInt32(&message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        repeated ? reflection.AddUInt64(&message, field, 7)
                 : reflection.SetUInt64(&message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        repeated ? reflection.AddDouble(&message, field, 7.5)
                 : reflection.SetDouble(&message, field, 7.5);
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        repeated ? reflection.AddFloat(&message, field, 7.5f)
                 : reflection.SetFloat(&message, field, 7.5f);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        repeated ? reflection.AddBool(&message, field, true)
                 : reflection.SetBool(&message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        repeated ? reflection.AddString(&message, field, "x")
                 : reflection.SetString(&message, field, "x");
        break;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const auto* value = field->enum_type()->value(field->enum_type()->value_count() - 1);
        repeated ? reflection.AddEnum(&message, field, value)
                 : reflection.SetEnum(&message, field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth == 0) break;
        Fill(repeated ? *reflection.AddMessage(&message, field)
                      : *reflection.MutableMessage(&message, field),
             depth - 1);
        break;
    }
  }
}

// What a value has that its schema does not allow; empty: nothing.
std::string Violation(const Json& api, const Json& schema, const Json& value) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>();
    return Violation(api, api["components"]["schemas"].at(name.substr(name.rfind('/') + 1)), value);
  }
  const std::string type = schema.at("type");
  if (type == "object") {
    if (!value.is_object()) return absl::StrCat("no object: ", value.dump());
    for (const auto& [key, member] : value.items()) {
      if (!schema["properties"].contains(key)) return absl::StrCat("has no ", key);
      const std::string found = Violation(api, schema["properties"][key], member);
      if (!found.empty()) return absl::StrCat(key, ": ", found);
    }
    return "";
  }
  if (type == "array") {
    if (!value.is_array()) return absl::StrCat("no array: ", value.dump());
    for (const Json& item : value) {
      const std::string found = Violation(api, schema["items"], item);
      if (!found.empty()) return found;
    }
    return "";
  }
  const bool fits = type == "string"    ? value.is_string()
                    : type == "integer" ? value.is_number_integer()
                    : type == "number"  ? value.is_number()
                                        : type == "boolean" && value.is_boolean();
  if (!fits) return absl::StrCat("no ", type, ": ", value.dump());
  if (!schema.contains("enum")) return "";
  for (const Json& one : schema["enum"]) {
    if (one == value) return "";
  }
  return absl::StrCat("not among the names: ", value.dump());
}

TEST(OpenApiTest, TheFileIsWhatIsServed) {
  ASSERT_OK_AND_ASSIGN(const std::string file,
                       ReadFile(RunfilePath("server/web/openapi.json"), 16 << 20));
  EXPECT_EQ(file, OpenApiText()) << "the API has changed: bazel run //server/web:write_openapi -- "
                                    "$PWD/server/web/openapi.json";
}

TEST(OpenApiTest, EveryAnswerFitsItsSchema) {
  const Json api = ReadFileJson();
  int checked = 0;
  for (const Route& route : Routes()) {
    const Json& operation = api["paths"]
                                .at(std::string(route.path))
                                .at(route.verb == "GET"    ? "get"
                                    : route.verb == "POST" ? "post"
                                                           : "delete");
    if (route.response == nullptr) continue;
    const std::unique_ptr<Message> response(route.response->New());
    Fill(*response, 6);
    ASSERT_OK_AND_ASSIGN(const std::string text, WriteJson(*response));
    ASSERT_OK_AND_ASSIGN(const Json value, ParseJson(text));
    const Json& schema = operation["responses"]["200"]["content"]["application/json"]["schema"];
    EXPECT_EQ(Violation(api, schema, value), "") << route.verb << " " << route.path;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(OpenApiTest, ASchemaCanBeViolated) {
  const Json api = ReadFileJson();
  const Json job = Json::parse(R"({"$ref": "#/components/schemas/Job"})");
  EXPECT_EQ(Violation(api, job, Json::parse(R"({"id": "x", "state": "QUEUED"})")), "");
  EXPECT_NE(Violation(api, job, Json::parse(R"({"idd": "x"})")), "");
  EXPECT_NE(Violation(api, job, Json::parse(R"({"attempts": "1"})")), "");
  EXPECT_NE(Violation(api, job, Json::parse(R"({"revision": 1})")), "");
  EXPECT_NE(Violation(api, job, Json::parse(R"({"state": "BAD"})")), "");
}

}  // namespace
}  // namespace slipway::web
