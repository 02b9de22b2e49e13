#include "client/convert.h"

#include <google/protobuf/text_format.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

v1::Job Proto(const std::string& text) {
  v1::Job proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

TEST(ConvertTest, FailedJobCarriesErrorAndLog) {
  ASSERT_OK_AND_ASSIGN(const Job job, JobFromProto(Proto(R"(
    id: "J" state: FAILED revision: 7 compilation { model { display_name: "m.onnx" } target { name: "t" } }
    error { code: 12 message: "no operator" log_tail: "log" } attempts: 2 create_time_ns: 5 end_time_ns: 9)")));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.kind, JobKind::kCompilation);
  EXPECT_EQ(job.model, "m.onnx");
  EXPECT_THAT(job.error, StatusIs(absl::StatusCode::kUnimplemented, "no operator"));
  EXPECT_EQ(job.error_log, "log");
  EXPECT_TRUE(job.ended());
  EXPECT_EQ(job.start_time, absl::InfinitePast());
  EXPECT_EQ(job.end_time, absl::FromUnixNanos(9));
}

TEST(ConvertTest, ALeaseSaysWhenItEnds) {
  v1::Device proto;
  proto.set_state(v1::Device::BUSY);
  proto.mutable_lease()->set_kind(v1::Lease::SESSION);
  proto.mutable_lease()->set_until_ns(9);
  proto.mutable_lease()->set_idle_ns(3);
  ASSERT_OK_AND_ASSIGN(Device device, DeviceFromProto(proto));
  EXPECT_EQ(device.lease->until, absl::FromUnixNanos(9));
  EXPECT_EQ(device.lease->idle, absl::Nanoseconds(3));
  EXPECT_EQ(device.lease->idle_until, std::nullopt);
  proto.mutable_lease()->set_idle_until_ns(7);
  ASSERT_OK_AND_ASSIGN(device, DeviceFromProto(proto));
  EXPECT_EQ(device.lease->idle_until, absl::FromUnixNanos(7));
}

TEST(ConvertTest, AnswersThatBreakTheProtocolAreRefused) {
  for (const char* text : {
           R"(id: "J" state: QUEUED)",
           R"(id: "J" compilation {})",
           R"(id: "J" state: SUCCEEDED compilation {} run_result {})",
           R"(id: "J" state: SUCCEEDED compilation {} compilation_result {})",
           R"(id: "J" state: RUNNING run { manifest { sha256: "zz" } })",
       }) {
    EXPECT_THAT(
        JobFromProto(Proto(text)),
        StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr("\"J\""), HasSubstr("malformed"))))
        << text;
  }
  v1::Device device;
  EXPECT_THAT(DeviceFromProto(device), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
