#include <string>

#include "absl/status/status.h"
#include "core/tensor/strings.h"
#include "core/wire/digest_proto.h"
#include "core/wire/status_proto.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

absl::StatusOr<Blob> NoBlob(const Digest& digest) {
  return absl::NotFoundError("no blob " + digest.ToString());
}

TEST(DigestProto, RoundTrips) {
  const Digest digest = Digest::Of("slipway");
  EXPECT_THAT(FromProto(ToProto(digest)), IsOkAndHolds(digest));
}

TEST(DigestProto, RefusesUnsetAndMalformed) {
  v1::Digest proto;
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not set")));
  proto = ToProto(Digest::Of("x"));
  proto.set_size_bytes(-1);
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument));
  proto = ToProto(Digest::Of("x"));
  proto.mutable_sha256()->pop_back();
  EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorProto, InlineRoundTrips) {
  const Tensor tensor = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  const v1::Tensor proto = ToInlineProto("x", tensor);
  EXPECT_EQ(proto.name(), "x");
  ASSERT_OK_AND_ASSIGN(const Tensor back, FromProto(proto, NoBlob));
  EXPECT_EQ(back.type(), tensor.type());
  EXPECT_EQ(back.bytes(), tensor.bytes());
}

TEST(TensorProto, BlobRoundTrips) {
  const std::string bytes = "abcd";
  const v1::Tensor proto = ToBlobProto("x", TensorType{DataType::kUint8, {4}}, Digest::Of(bytes));
  ASSERT_OK_AND_ASSIGN(const Tensor back, FromProto(proto, [&](const Digest& digest) {
                         EXPECT_EQ(digest, Digest::Of(bytes));
                         return Blob::Own(bytes);
                       }));
  EXPECT_EQ(back.bytes(), "abcd");
  EXPECT_THAT(FromProto(proto, NoBlob), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'x'")));
}

TEST(TensorProto, RefusesWhatDoesNotFit) {
  v1::Tensor proto = ToInlineProto("x", Tensor::Scalar<float>(1));
  proto.mutable_inline_data()->push_back('\0');
  EXPECT_THAT(CheckTensorProto(proto),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tensor 'x': f32[] needs 4 bytes, but inline there are 5"));
  proto.clear_content();
  EXPECT_THAT(CheckTensorProto(proto),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("content is not set")));
  proto.clear_type();
  EXPECT_THAT(CheckTensorProto(proto),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("type is not set")));
  *proto.mutable_blob() = ToProto(Digest::Of("abc"));
  *proto.mutable_type() = ToProto(TensorType{DataType::kUint8, {4}});
  EXPECT_THAT(CheckTensorProto(proto),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its blob has 3")));
}

TEST(TensorProto, StringsTravelWithTheirPlaces) {
  const Tensor tensor = Strings({2}, {"one", ""});
  v1::Tensor proto = ToInlineProto("x", tensor);
  ASSERT_OK_AND_ASSIGN(const Tensor back, FromProto(proto, NoBlob));
  EXPECT_EQ(back.type(), tensor.type());
  EXPECT_EQ(back.bytes(), tensor.bytes());
  proto.mutable_inline_data()->resize(15);
  EXPECT_THAT(CheckTensorProto(proto),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs 16 bytes and those")));
  proto.mutable_inline_data()->resize(17);
  EXPECT_OK(CheckTensorProto(proto));
  EXPECT_THAT(FromProto(proto, NoBlob), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorProto, RefusesHostileTypes) {
  v1::TensorType type;
  EXPECT_THAT(FromProto(type), StatusIs(absl::StatusCode::kInvalidArgument));
  type.set_dtype(static_cast<v1::DataType>(99));
  EXPECT_THAT(FromProto(type), StatusIs(absl::StatusCode::kInvalidArgument));
  type.set_dtype(v1::DATA_TYPE_FLOAT32);
  type.add_shape(-1);
  EXPECT_THAT(FromProto(type), StatusIs(absl::StatusCode::kInvalidArgument));
  type.clear_shape();
  for (int i = 0; i < 3; ++i) type.add_shape(2147483647);
  EXPECT_THAT(FromProto(type), StatusIs(absl::StatusCode::kResourceExhausted));
  type.clear_shape();
  for (int i = 0; i < 17; ++i) type.add_shape(1);
  EXPECT_FALSE(FromProto(type).ok());
}

TEST(StatusProto, RoundTripsAndKeepsTheEndOfTheLog) {
  const std::string log = std::string(kMaxLogTailBytes, 'a') + "end";
  const v1::JobError error = ToProto(absl::AbortedError("died"), log);
  EXPECT_EQ(error.log_tail().size(), kMaxLogTailBytes);
  EXPECT_THAT(error.log_tail(), ::testing::EndsWith("aend"));
  EXPECT_EQ(FromProto(error), absl::AbortedError("died"));
}

TEST(StatusProto, LogsAreMadeUtf8) {
  const v1::JobError error = ToProto(
      absl::AbortedError("\xff"), "ok \xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2 \xc3( \xed\xa0\x80");
  EXPECT_EQ(error.message(), "?");
  EXPECT_EQ(error.log_tail(), "ok \xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2 ?( ???");
}

TEST(StatusProto, AFailureIsNeverOk) {
  v1::JobError error;
  EXPECT_THAT(FromProto(error), StatusIs(absl::StatusCode::kInternal));
  error.set_code(99);
  EXPECT_THAT(FromProto(error), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
