// JSON and tensors as text.
#include "client/cli/tensor_summary.h"
#include "core/base/json_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::HasSubstr;

TEST(JsonWriterTest, WritesNestedValues) {
  JsonWriter json;
  json.BeginObject();
  json.Text("text", "a\"b\\c\n\x01é");
  json.Integer("integer", -7);
  json.Real("real", 0.5);
  json.Real("nan", 0.0 / 0.0);
  json.Bool("yes", true);
  json.Integers("list", {1, 2});
  json.BeginArray("empty");
  json.EndArray();
  json.BeginArray("objects");
  json.BeginObject();
  json.Null("none");
  json.EndObject();
  json.Text("", "x");
  json.EndArray();
  json.EndObject();
  EXPECT_EQ(json.Take(),
            "{\n  \"text\": \"a\\\"b\\\\c\\n\\u0001é\",\n  \"integer\": -7,\n  \"real\": 0.5,\n"
            "  \"nan\": null,\n  \"yes\": true,\n  \"list\": [1, 2],\n  \"empty\": [],\n"
            "  \"objects\": [\n    {\n      \"none\": null\n    },\n    \"x\"\n  ]\n}\n");
}

TEST(JsonWriterTest, ObjectsInOneLine) {
  JsonWriter json;
  json.BeginArray();
  json.BeginObjectInLine();
  json.Integer("a", 1);
  json.BeginObject("b");
  json.Text("c", "d");
  json.EndObject();
  json.BeginArray("e");
  json.EndArray();
  json.EndObject();
  json.Integer("", 2);
  json.EndArray();
  EXPECT_EQ(json.Take(), "[\n  {\"a\": 1, \"b\": {\"c\": \"d\"}, \"e\": []},\n  2\n]\n");
}

TEST(JsonWriterTest, DecimalsAreExact) {
  JsonWriter json;
  json.BeginObjectInLine();
  json.Decimal("a", 1'234'567'890'123'456'789, 3);
  json.Decimal("b", -7, 2);
  json.Decimal("c", 0, 1);
  json.Decimal("d", INT64_MIN, 18);
  json.EndObject();
  EXPECT_EQ(json.Take(),
            "{\"a\": 1234567890123456.789, \"b\": -0.07, \"c\": 0.0, "
            "\"d\": -9.223372036854775808}\n");
}

TEST(JsonWriterTest, BytesThatAreNotUtf8AreReplaced) {
  for (const char* bytes : {"\xff", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80"}) {
    JsonWriter json;
    json.Text("", bytes);
    EXPECT_THAT(json.Take(), HasSubstr("\\ufffd"));
  }
}

TEST(TensorSummaryTest, SummarizesEveryKind) {
  const float values[] = {0.5f, -1, 2, 2};
  EXPECT_EQ(Summary(Tensor::Of<float>({4}, absl::MakeConstSpan(values))),
            "min -1, max 2, mean 0.875, largest at 2: 0.5 -1 2 2");
  const float with_nan[] = {1, 0.0f / 0.0f};
  EXPECT_EQ(Summary(Tensor::Of<float>({2}, absl::MakeConstSpan(with_nan))),
            "min 1, max 1, mean 1, largest at 0, 1 NaN: 1 nan");
  const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(Summary(Tensor::Of<uint8_t>({9}, absl::MakeConstSpan(bytes))),
              HasSubstr("largest at 8: 1 2 3 4 5 6 7 8 ..."));
  EXPECT_THAT(
      Summary(*Tensor::FromBytes({DataType::kFloat16, {1}}, absl::string_view("\0\x3c", 2))),
      HasSubstr("max 1,"));
  EXPECT_THAT(Summary(*Tensor::FromBytes({DataType::kBool, {2}}, absl::string_view("\0\1", 2))),
              HasSubstr("max 1,"));
  EXPECT_EQ(Summary(Tensor::Zeros(DataType::kInt64, {0, 3})), "no elements");
  EXPECT_EQ(Summary(Tensor::Zeros(DataType::kComplex64, {1})), "not shown");
}

TEST(FileNameTest, EncodesWhatFilesCannotBeCalled) {
  EXPECT_EQ(FileNameFor("scores"), "scores");
  EXPECT_EQ(FileNameFor("y/0:é"), "y%2F0%3A%C3%A9");
  EXPECT_EQ(FileNameFor(".."), "%2E.");
  EXPECT_EQ(FileNameFor("a%2Fb"), "a%252Fb");
  EXPECT_EQ(FileNameFor(""), "%");
  const std::string long_name(1000, 'a');
  EXPECT_EQ(FileNameFor(long_name).size(), 200u);
  EXPECT_NE(FileNameFor(long_name), FileNameFor(long_name + "b"));
}

}  // namespace
}  // namespace slipway::cli
