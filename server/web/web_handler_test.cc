#include "server/web/web_handler.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/web/testing/page_under_test.h"
#include "tests/common/fake_clock.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::Json;
using ::slipway::testing::ParseJson;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

// An event stream that is read at its end, or stays until Go. Several threads send.
class KeptStream final : public HttpStream {
 public:
  bool Send(absl::string_view bytes) override {
    absl::MutexLock lock(&mutex_);
    text_.append(bytes.data(), bytes.size());
    return true;
  }
  void End() override { Go(); }
  bool is_gone() const override { return gone_; }
  void OnGone(std::function<void()> gone) override {
    if (gone_) {
      gone();
    } else {
      on_gone_ = std::move(gone);
    }
  }
  void Go() {
    gone_ = true;
    if (on_gone_) std::exchange(on_gone_, nullptr)();
  }
  std::string text() {
    absl::MutexLock lock(&mutex_);
    return text_;
  }

 private:
  absl::Mutex mutex_;
  std::string text_;
  std::atomic<bool> gone_ = false;
  std::function<void()> on_gone_;
};

class WebHandlerTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  PageUnderTest page_{&clock_};
};

TEST_F(WebHandlerTest, ShowsNothingBeforeOneSignsIn) {
  for (const char* target :
       {"/api/v1/devices", "/api/v1/jobs", "/api/v1/status", "/api/v1/identities",
        "/api/v1/events?topics=jobs", "/api/v1/history/series", "/api/v1/jobs/X/benchmark"}) {
    EXPECT_EQ(page_.Ask("GET", target).status, 401) << target;
  }
  EXPECT_EQ(page_.Ask("POST", "/api/v1/models?name=a").status, 401);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/benchmarks", "{}").status, 401);
  EXPECT_EQ(page_.Ask("GET", "/api/v1/session").body, "{}");
  EXPECT_TRUE(page_.server().calls().empty());
}

TEST_F(WebHandlerTest, GivesACookieThatScriptsCannotRead) {
  const HttpResponse signed_in = page_.SignIn(FakePageServer::kUser);
  EXPECT_EQ(signed_in.status, 200);
  EXPECT_THAT(signed_in.headers, Contains(Pair("Set-Cookie", AllOf(HasSubstr("; HttpOnly"),
                                                                   HasSubstr("; SameSite=Strict"),
                                                                   HasSubstr("; Path=/")))));
  EXPECT_EQ(page_.Ask("GET", "/api/v1/devices").status, 200);
  EXPECT_THAT(page_.Ask("DELETE", "/api/v1/session").headers,
              Contains(Pair("Set-Cookie", HasSubstr("Max-Age=0"))));
  EXPECT_EQ(page_.Ask("GET", "/api/v1/devices").status, 401);
}

TEST_F(WebHandlerTest, AWrongTokenIsRefused) {
  EXPECT_EQ(page_.SignIn("wrong").status, 401);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/session", "{\"token\":7}").status, 400);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/session", std::string(5'000, 'x')).status, 413);
  page_.SignIn("wrong");
  page_.SignIn("wrong");
  EXPECT_EQ(page_.SignIn(FakePageServer::kUser).status, 429);
}

TEST_F(WebHandlerTest, AnotherPageCannotAct) {
  page_.SignIn(FakePageServer::kUser);
  HttpRequest request = page_.Request("POST", "/api/v1/jobs/X/cancel");
  for (auto& [name, value] : request.headers) {
    if (name == "origin") value = "http://evil.example";
  }
  EXPECT_EQ(page_.Ask(request).status, 403);
  request = page_.Request("GET", "/api/v1/devices");
  for (auto& [name, value] : request.headers) {
    if (name == "host") value = "evil.example";
  }
  EXPECT_EQ(page_.Ask(request).status, 403);
}

TEST_F(WebHandlerTest, AProgramSendsItsToken) {
  HttpRequest request = {
      .method = "POST",
      .target = "/api/v1/jobs/X/cancel",
      .headers = {{"host", "whatever"},
                  {"authorization", absl::StrCat("Bearer ", FakePageServer::kUser)}}};
  EXPECT_EQ(page_.Ask(request).status, 200);
  EXPECT_THAT(page_.server().calls(), Contains("user-token slipway.v1.JobService.CancelJob"));
  request.headers.emplace_back("origin", "http://evil.example");
  EXPECT_EQ(page_.Ask(request).status, 403);
  request.headers = {{"authorization", "Bearer wrong"}};
  EXPECT_EQ(page_.Ask(request).status, 401);
}

TEST_F(WebHandlerTest, CallsWithTheTokenOfWhoAsks) {
  page_.SignIn(FakePageServer::kUser);
  EXPECT_EQ(page_.Ask("GET", "/api/v1/identities").status, 403);
  EXPECT_EQ(page_.Ask("GET", "/api/v1/events?topics=everybodys-jobs").status, 403);
  page_.SignIn(FakePageServer::kAdministrator);
  EXPECT_EQ(page_.Ask("GET", "/api/v1/identities").status, 200);
}

TEST_F(WebHandlerTest, WhoseTokenWasRevokedIsSignedOut) {
  page_.SignIn(FakePageServer::kUser);
  page_.server().SetStatus(absl::UnauthenticatedError("revoked"));
  EXPECT_EQ(page_.Ask("GET", "/api/v1/jobs").status, 401);
  page_.server().SetStatus(absl::OkStatus());
  EXPECT_EQ(page_.Ask("GET", "/api/v1/session").body, "{}");
}

TEST_F(WebHandlerTest, SaysThatTheServerIsAway) {
  page_.SignIn(FakePageServer::kUser);
  page_.server().SetStatus(absl::UnavailableError("away"));
  const HttpResponse answer = page_.Ask("GET", "/api/v1/jobs");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("away")));
}

TEST_F(WebHandlerTest, CutsDevicesIntoPages) {
  page_.SignIn(FakePageServer::kUser);
  page_.server().On<slipway::v1::ListDevicesRequest, slipway::v1::ListDevicesResponse>(
      "slipway.v1.FleetService.ListDevices", [](const auto&, auto& list) {
        for (int i = 0; i < 1'000; ++i) {
          auto& device = *list.add_devices();
          device.mutable_description()->set_id(absl::StrCat("board-", 1'000 + i));
          device.set_state(i % 2 == 0 ? slipway::v1::Device::IDLE : slipway::v1::Device::LOST);
        }
        return absl::OkStatus();
      });
  std::string token;
  int seen = 0;
  do {
    const HttpResponse answer = page_.Ask(
        "GET", absl::StrCat("/api/v1/devices?pageSize=300&fields=devices.description.id,total,"
                            "nextPageToken,idle&pageToken=",
                            token));
    ASSERT_OK_AND_ASSIGN(const Json page, ParseJson(answer.body));
    EXPECT_EQ(page["total"], 1'000);
    EXPECT_EQ(page["idle"], 500);
    seen += static_cast<int>(page["devices"].size());
    token = page.value("nextPageToken", "");
  } while (!token.empty());
  EXPECT_EQ(seen, 1'000);
  EXPECT_EQ(page_.Ask("GET", "/api/v1/devices?pageSize=0").status, 400);
}

TEST_F(WebHandlerTest, KeepsAModelAsABlob) {
  page_.SignIn(FakePageServer::kUser);
  const HttpResponse sent = page_.Ask("POST", "/api/v1/models?name=net.onnx", "a model");
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(sent.body));
  EXPECT_EQ(json["digest"]["sha256"], Digest::Of("a model").hex());
  EXPECT_EQ(json["digest"]["sizeBytes"], "7");
  EXPECT_TRUE(page_.server().HasBlob(Digest::Of("a model")));
  EXPECT_EQ(page_.Ask("POST", "/api/v1/models?name=a", std::string(1'001, 'x')).status, 413);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/models?name=a").status, 400);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/models?name=../a", "x").status, 400);
}

TEST_F(WebHandlerTest, StreamsAJobToItsEnd) {
  page_.SignIn(FakePageServer::kUser);
  HttpRequest request = page_.Request("GET", "/api/v1/jobs/JOB/events");
  request.headers.emplace_back("last-event-id", "41");
  const HttpResponse answer = page_.Ask(request);
  ASSERT_TRUE(answer.stream != nullptr);
  EXPECT_THAT(answer.headers, Contains(Pair("Content-Type", "text/event-stream")));
  const auto stream = std::make_shared<KeptStream>();
  answer.stream(stream);
  EXPECT_THAT(stream->text(), AllOf(StartsWith("retry: 1000\n\n"),
                                    HasSubstr("event: job\nid: 42\ndata: {\"id\":\"JOB\""),
                                    HasSubstr("event: end\n")));
  EXPECT_TRUE(stream->is_gone());
  request.headers.back().second = "nonsense";
  EXPECT_EQ(page_.Ask(request).status, 400);
}

TEST_F(WebHandlerTest, ABenchmarkOfAForgottenJobIsThatOfTheHistory) {
  page_.SignIn(FakePageServer::kUser);
  page_.server().On<slipway::v1::GetJobRequest, slipway::v1::Job>(
      "slipway.v1.JobService.GetJob",
      [](const auto&, auto&) { return absl::NotFoundError("forgotten"); });
  page_.server().On<slipway::v1::GetHistoryEntryRequest, slipway::v1::HistoryEntry>(
      "slipway.v1.HistoryService.GetHistoryEntry", [](const auto& request, auto& entry) {
        entry.set_id(request.id());
        entry.set_model("net.onnx");
        entry.mutable_manifest()->set_sha256(Digest::Of("gone").hex());
        entry.mutable_manifest()->set_size_bytes(4);
        for (int i = 1; i <= 100; ++i) entry.mutable_result()->add_samples_ns(i * 1'000);
        entry.mutable_result()->set_iterations_per_sample(1);
        entry.mutable_result()->set_threads(1);
        entry.mutable_summary()->set_count(100);
        entry.mutable_summary()->set_min_ns(1'000);
        entry.mutable_summary()->set_p50_ns(50'000);
        entry.mutable_summary()->set_p90_ns(90'000);
        entry.mutable_summary()->set_max_ns(100'000);
        return absl::OkStatus();
      });
  const HttpResponse answer = page_.Ask("GET", "/api/v1/jobs/01M87E2F79P2GK6ZM16VNHREQ8/benchmark");
  EXPECT_EQ(answer.status, 200) << answer.body;
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(answer.body));
  EXPECT_EQ(json["model"], "net.onnx");
  EXPECT_EQ(json["min_ns"], 1'000);
  EXPECT_EQ(json["samples_ns"].size(), 100u);
}

TEST_F(WebHandlerTest, GivesTheGraphThatACompilationPrinted) {
  page_.SignIn(FakePageServer::kUser);
  std::string text;
  page_.server().On<slipway::v1::GetJobRequest, slipway::v1::Job>(
      "slipway.v1.JobService.GetJob", [&text](const auto&, auto& job) {
        job.mutable_compilation()->mutable_options()->set_print_after("InferType");
        job.mutable_compilation_result()->mutable_report()->set_printed_graph(text);
        return absl::OkStatus();
      });
  EXPECT_THAT(page_.Ask("GET", "/api/v1/jobs/J/graph").body, HasSubstr("job J printed no graph"));
  text = "nonsense";
  const HttpResponse refused = page_.Ask("GET", "/api/v1/jobs/J/graph");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("what job J printed after InferType: is not one graph"));
  text = "graph \"g\" (%x: f32[2]) -> (%y) {\n %y = Relu(%x)\n}";
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(page_.Ask("GET", "/api/v1/jobs/J/graph").body));
  EXPECT_EQ(json["after"], "InferType");
  EXPECT_EQ(json["nodes"][0]["op"], "Relu");
}

TEST_F(WebHandlerTest, EveryAnswerSaysWhatABrowserMayDoWithIt) {
  page_.SignIn(FakePageServer::kUser);
  for (const char* target :
       {"/", "/jobs/X", "/assets/app.js", "/api/v1/jobs", "/nothing", "/api/v1/nothing", "/%zz"}) {
    const HttpResponse answer = page_.Ask("GET", target);
    EXPECT_THAT(
        answer.headers,
        AllOf(Contains(Pair("Content-Security-Policy",
                            AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'self'"),
                                  Not(HasSubstr("unsafe")), HasSubstr("frame-ancestors 'none'")))),
              Contains(Pair("X-Content-Type-Options", "nosniff")),
              Contains(Pair("Referrer-Policy", "no-referrer"))))
        << target;
  }
}

TEST_F(WebHandlerTest, WebAssemblyIsForThePageThatIsADevice) {
  for (const char* target : {"/device", "/assets/device_agent.js", "/assets/device_program.js"}) {
    const HttpResponse answer = page_.Ask("GET", target);
    EXPECT_EQ(answer.status, 200) << target;
    EXPECT_THAT(answer.headers,
                Contains(Pair("Content-Security-Policy",
                              AllOf(HasSubstr("default-src 'none'"),
                                    HasSubstr("script-src 'self' 'wasm-unsafe-eval';"),
                                    Not(HasSubstr("'unsafe")), HasSubstr("connect-src 'self'")))))
        << target;
  }
  EXPECT_THAT(page_.Ask("GET", "/device").body,
              AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("style=")), Not(HasSubstr("://"))));
  EXPECT_EQ(page_.Ask("GET", "/device/x").status, 404);
}

TEST_F(WebHandlerTest, BlobsComeAndGoByTheirNames) {
  page_.SignIn(FakePageServer::kUser);
  const HttpResponse sent = page_.Ask("POST", "/api/v1/blobs", "elements");
  ASSERT_EQ(sent.status, 200) << sent.body;
  ASSERT_OK_AND_ASSIGN(const Json digest, ParseJson(sent.body));
  EXPECT_EQ(digest["sha256"], Digest::Of("elements").hex());
  const std::string address = absl::StrCat("/api/v1/blobs/", Digest::Of("elements").hex(), "/", 8);
  const HttpResponse read = page_.Ask("GET", address);
  EXPECT_EQ(read.body, "elements");
  EXPECT_THAT(read.headers, Contains(Pair("Content-Type", "application/octet-stream")));
  EXPECT_EQ(page_.Ask("GET", "/api/v1/blobs/nothing/8").status, 400);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/blobs", std::string(1'001, 'x')).status, 413);
}

TEST_F(WebHandlerTest, AnAgentIsThereForAsLongAsItsStream) {
  const std::string first = R"({"agentId":"page-1","instanceId":"i"})";
  EXPECT_EQ(page_.Ask("POST", "/api/v1/agents", first).status, 401);
  page_.SignIn(FakePageServer::kUser);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/agents", "{}").status, 400);
  EXPECT_EQ(page_.Ask("POST", "/api/v1/agents/i/state", first).status, 404);
  page_.server().On<slipway::v1::AgentState, slipway::v1::DesiredAgentState>(
      "slipway.v1.AgentService.Sync",
      [](const slipway::v1::AgentState& state, slipway::v1::DesiredAgentState& wanted) {
        wanted.set_version(absl::StrCat("after ", state.sequence()));
        return absl::OkStatus();
      });
  const HttpResponse begun = page_.Ask("POST", "/api/v1/agents", first);
  ASSERT_EQ(begun.status, 200) << begun.body;
  ASSERT_NE(begun.stream, nullptr);
  const auto stream = std::make_shared<KeptStream>();
  begun.stream(stream);
  EXPECT_THAT(stream->text(), HasSubstr("event: wanted"));
  EXPECT_EQ(page_.Ask("POST", "/api/v1/agents/i/state", "{\"instanceId\":\"another\"}").status,
            200);
  ASSERT_OK_AND_ASSIGN(const Json wanted,
                       ParseJson(page_.Ask("GET", "/api/v1/agents/i/wanted").body));
  EXPECT_EQ(wanted["version"], "after 2");
  stream->Go();
  EXPECT_EQ(page_.Ask("POST", "/api/v1/agents/i/state", first).status, 404);
}

TEST_F(WebHandlerTest, ServesThePageForItsViewsAlone) {
  const HttpResponse page = page_.Ask("GET", "/jobs/01M87E2F79P2GK6ZM16VNHREQ8");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("<!doctype html>"), Not(HasSubstr("<script>")),
                               Not(HasSubstr("style=")), Not(HasSubstr("://"))));
  EXPECT_EQ(page_.Ask("GET", "/nothing").status, 404);
  EXPECT_EQ(page_.Ask("GET", "/assets/..%2fapp.js").status, 404);
  EXPECT_EQ(page_.Ask("GET", "/assets/").status, 404);
  HttpRequest again = page_.Request("GET", "/assets/app.js");
  const HttpResponse first = page_.Ask(again);
  for (const auto& [name, value] : first.headers) {
    if (name == "ETag") again.headers.emplace_back("if-none-match", value);
  }
  EXPECT_EQ(page_.Ask(again).status, 304);
  HttpRequest posted = page_.Request("POST", "/jobs");
  EXPECT_EQ(page_.Ask(posted).status, 405);
}

}  // namespace
}  // namespace slipway::web
