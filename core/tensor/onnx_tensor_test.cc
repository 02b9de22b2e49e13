#include "core/tensor/onnx_tensor.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "core/tensor/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(const char* hex) { return absl::HexStringToBytes(hex); }

// The bytes below were written by hand from the wire format's specification.
TEST(OnnxTensorTest, ReadsRawData) {
  // dims: 2; data_type: 1; name: "x"; raw_data: 1.0f 2.0f
  const auto parsed =
      ParseOnnxTensor(Bytes("08021001420178"
                            "4a080000803f00000040"));
  ASSERT_OK(parsed.status());
  EXPECT_EQ(parsed->name, "x");
  EXPECT_EQ(ToString(parsed->tensor.type()), "f32[2]");
  EXPECT_THAT(parsed->tensor.values<float>(), ElementsAre(1.0f, 2.0f));
}

TEST(OnnxTensorTest, ReadsPackedAndUnpackedLists) {
  // dims packed [1, 2]; data_type: 7; int64_data packed: 3, -1
  const auto packed =
      ParseOnnxTensor(Bytes("0a0201021007"
                            "3a0b03ffffffffffffffffff01"));
  ASSERT_OK(packed.status());
  EXPECT_THAT(packed->tensor.values<int64_t>(), ElementsAre(3, -1));
  // dims 2; data_type: 9 (bool); int32_data unpacked: 1, 0
  const auto unpacked =
      ParseOnnxTensor(Bytes("08021009"
                            "28012800"));
  ASSERT_OK(unpacked.status());
  EXPECT_THAT(unpacked->tensor.values<bool>(), ElementsAre(true, false));
}

std::string HexOf(const Tensor& tensor) { return absl::BytesToHexString(tensor.bytes()); }

// The packing is worked out by hand from onnx.proto.
TEST(OnnxTensorTest, UnpacksElementsSmallerThanAByte) {
  const struct {
    const char* bytes;
    const char* type;
    const char* elements;
  } cases[] = {
      // dims 3, data_type, raw_data: 3, -1, -8 as nibbles, the first one low
      {"08031016"
       "4a02f308",
       "i4[3]", "03fff8"},
      {"08031015"
       "4a02f308",
       "u4[3]", "030f08"},
      {"08031017"
       "4a02f308",
       "f4e2m1[3]", "030f08"},
      // 1, -2, -1, 0, 1
      {"0805101a"
       "4a023901",
       "i2[5]", "01feff0001"},
      {"08051019"
       "4a023901",
       "u2[5]", "0102030001"},
      // 6-bit elements 1, 63, 32, 3, 5: a stream of bits
      {"0805101b"
       "4a04c10f0e05",
       "f6e2m3[5]", "013f200305"},
      // The same in int32_data, each entry a byte of the packed form.
      {"08031016"
       "2a03f30108",
       "i4[3]", "03fff8"},
      // f6e3m2 lists its elements, f8e5m2 too.
      {"0802101c"
       "2a02013f",
       "f6e3m2[2]", "013f"},
      {"08021013"
       "2a037cfc01",
       "f8e5m2[2]", "7cfc"},
  };
  for (const auto& c : cases) {
    ASSERT_OK_AND_ASSIGN(const NamedTensor parsed, ParseOnnxTensor(Bytes(c.bytes)));
    EXPECT_EQ(ToString(parsed.tensor.type()), c.type);
    EXPECT_EQ(HexOf(parsed.tensor), c.elements) << c.type;
    ASSERT_OK_AND_ASSIGN(const NamedTensor again,
                         ParseOnnxTensor(FormatOnnxTensor(parsed.tensor, "again")));
    EXPECT_EQ(HexOf(again.tensor), c.elements) << c.type;
  }
}

TEST(OnnxTensorTest, RefusesPackedDataOfTheWrongSize) {
  for (const char* bytes : {"080310164a01f3", "080310164a03f30801", "080310162a02f301"}) {
    EXPECT_THAT(ParseOnnxTensor(Bytes(bytes)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 packed bytes")));
  }
}

TEST(OnnxTensorTest, AScalarHasNoDims) {
  const auto parsed =
      ParseOnnxTensor(Bytes("1001"
                            "25000080bf"));
  ASSERT_OK(parsed.status());
  EXPECT_EQ(ToString(parsed->tensor.type()), "f32[]");
  EXPECT_EQ(parsed->tensor.values<float>()[0], -1.0f);
}

TEST(OnnxTensorTest, WhatIsWrittenReadsBack) {
  const Tensor tensor = Tensor::Of<int32_t>({2, 2}, std::vector<int32_t>{1, -2, 3, 1 << 30});
  const auto parsed = ParseOnnxTensor(FormatOnnxTensor(tensor, "weights"));
  ASSERT_OK(parsed.status());
  EXPECT_EQ(parsed->name, "weights");
  EXPECT_EQ(parsed->tensor.type(), tensor.type());
  EXPECT_EQ(parsed->tensor.bytes(), tensor.bytes());
}

TEST(OnnxTensorTest, StringsReadBack) {
  const Tensor tensor = Strings({2, 1}, {"", std::string("a\0b", 3)});
  ASSERT_OK_AND_ASSIGN(const NamedTensor read, ParseOnnxTensor(FormatOnnxTensor(tensor, "x")));
  EXPECT_EQ(read.name, "x");
  EXPECT_EQ(read.tensor.type(), tensor.type());
  EXPECT_EQ(read.tensor.bytes(), tensor.bytes());
  OnnxTensorFields fields;
  fields.data_type = static_cast<int64_t>(DataType::kString);
  const int64_t dims[] = {int64_t{1} << 30, int64_t{1} << 30};
  fields.dims = dims;
  EXPECT_THAT(TensorFromOnnxFields(fields), StatusIs(absl::StatusCode::kResourceExhausted));
  fields.raw_data = "a";
  EXPECT_THAT(TensorFromOnnxFields(fields), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(OnnxTensorTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ParseOnnxTensor("").status().message(), HasSubstr("it is empty"));
  // Four bytes too few.
  EXPECT_THAT(ParseOnnxTensor(Bytes("080210014a040000803f")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  // Cut off in the middle of the raw data.
  EXPECT_THAT(ParseOnnxTensor(Bytes("080210014a080000803f")).status().message(),
              HasSubstr("ends 4 bytes early"));
  // 2^40 elements of which none is there.
  EXPECT_FALSE(ParseOnnxTensor(Bytes("08ffffff7f08ffffff7f1001")).ok());
  // No such element type.
  EXPECT_FALSE(ParseOnnxTensor(Bytes("08011063")).ok());
  // data_location: EXTERNAL
  EXPECT_THAT(ParseOnnxTensor(Bytes("080110017001")), StatusIs(absl::StatusCode::kUnimplemented));
  // One string, of which there is none.
  EXPECT_THAT(ParseOnnxTensor(Bytes("08011008")), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
