#include "server/web/transcode.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::IsJson;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<google::protobuf::Message>> Read(absl::string_view verb,
                                                                absl::string_view target,
                                                                absl::string_view body = "") {
  const absl::StatusOr<Url> url = ParseUrl(target);
  if (!url.ok()) return url.status();
  const absl::StatusOr<RoutedRequest> routed = FindRoute(verb, *url);
  if (!routed.ok()) return routed.status();
  return ReadRequest(*routed, *url, body);
}

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

TEST(TranscodeTest, AQueryIsARequest) {
  ASSERT_OK_AND_ASSIGN(
      const auto message,
      Read("GET",
           "/api/v1/jobs?pageSize=7&states=RUNNING&states=FAILED&ofEverybody=true&sinceNs="
           "9007199254740993&subject=a%20b&tags=%7B%22key%22:%22k%22,%22value%22:%22v%22%7D&fields="
           "x"));
  const auto& request = dynamic_cast<const slipway::v1::ListJobsRequest&>(*message);
  EXPECT_EQ(request.page_size(), 7);
  EXPECT_THAT(request.states(), ElementsAre(slipway::v1::Job::RUNNING, slipway::v1::Job::FAILED));
  EXPECT_TRUE(request.of_everybody());
  EXPECT_EQ(request.since_ns(), 9007199254740993);
  EXPECT_EQ(request.subject(), "a b");
  ASSERT_EQ(request.tags_size(), 1);
  EXPECT_EQ(request.tags(0).value(), "v");
}

TEST(TranscodeTest, NamesWhatIsWrongInAQuery) {
  EXPECT_THAT(Read("GET", "/api/v1/jobs?pageSize=x"), StatusIs(kInvalid, HasSubstr("pageSize")));
  EXPECT_THAT(Read("GET", "/api/v1/jobs?pageSize=99999999999"), StatusIs(kInvalid));
  EXPECT_THAT(Read("GET", "/api/v1/jobs?states=BAD"), StatusIs(kInvalid, HasSubstr("State")));
  EXPECT_THAT(Read("GET", "/api/v1/jobs?ofEverybody=1"), StatusIs(kInvalid));
  EXPECT_THAT(Read("GET", "/api/v1/jobs?page_size=1"), StatusIs(kInvalid, HasSubstr("page_size")));
  EXPECT_THAT(Read("GET", "/api/v1/jobs?tags=%7B%22kee%22:1%7D"),
              StatusIs(kInvalid, HasSubstr("tags")));
}

TEST(TranscodeTest, TheAddressWinsOverTheBody) {
  ASSERT_OK_AND_ASSIGN(const auto message,
                       Read("POST", "/api/v1/jobs/JOB/cancel", "{\"id\":\"other\"}"));
  EXPECT_EQ(dynamic_cast<const slipway::v1::CancelJobRequest&>(*message).id(), "JOB");
}

TEST(TranscodeTest, WorkThatIsMadeHasARequestId) {
  ASSERT_OK_AND_ASSIGN(const auto made, Read("POST", "/api/v1/compilations", "{}"));
  EXPECT_NE(dynamic_cast<const slipway::v1::CreateCompilationRequest&>(*made).request_id(), "");
  ASSERT_OK_AND_ASSIGN(const auto given,
                       Read("POST", "/api/v1/compilations", "{\"requestId\":\"mine\"}"));
  EXPECT_EQ(dynamic_cast<const slipway::v1::CreateCompilationRequest&>(*given).request_id(),
            "mine");
}

TEST(TranscodeTest, RefusesBodiesThatAreNone) {
  for (const char* body : {"{", "[]", "{\"unknown\":1}", "{\"spec\":7}", "\xff"}) {
    EXPECT_THAT(Read("POST", "/api/v1/benchmarks", body), StatusIs(kInvalid)) << body;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"spec\":";
  EXPECT_THAT(Read("POST", "/api/v1/benchmarks", deep), StatusIs(kInvalid));
}

TEST(TranscodeTest, FindsNoOtherAddresses) {
  EXPECT_THAT(Read("GET", "/api/v1/nothing"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Read("GET", "/api/v1/jobs/"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Read("POST", "/api/v1/jobs"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("GET")));
}

slipway::v1::ListDevicesResponse TwoDevices() {
  slipway::v1::ListDevicesResponse list;
  for (const char* id : {"a", "b"}) {
    auto& device = *list.add_devices();
    device.mutable_description()->set_id(id);
    device.mutable_description()->set_cores(4);
    device.set_state(slipway::v1::Device::IDLE);
  }
  list.set_explanation("none");
  return list;
}

TEST(TranscodeTest, GivesWhatIsWantedAlone) {
  auto list = TwoDevices();
  ASSERT_OK_AND_ASSIGN(const std::string json,
                       WriteJson(list, "devices.description.id,devices.state"));
  EXPECT_THAT(json, IsJson(R"({"devices":[{"description":{"id":"a"},"state":"IDLE"},
                               {"description":{"id":"b"},"state":"IDLE"}]})"));
  auto whole = TwoDevices();
  ASSERT_OK_AND_ASSIGN(const std::string all, WriteJson(whole, "explanation,devices"));
  EXPECT_THAT(all, HasSubstr("\"cores\":4"));
}

TEST(TranscodeTest, NamesAFieldThatThereIsNot) {
  auto list = TwoDevices();
  EXPECT_THAT(WriteJson(list, "devices.nothing"), StatusIs(kInvalid, HasSubstr("nothing")));
  EXPECT_THAT(WriteJson(list, "explanation.x"), StatusIs(kInvalid));
  EXPECT_THAT(WriteJson(list, ","), StatusIs(kInvalid));
  std::string many = "explanation";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&many, ",explanation");
  EXPECT_THAT(WriteJson(list, many), StatusIs(kInvalid, HasSubstr("64")));
}

}  // namespace
}  // namespace slipway::web
