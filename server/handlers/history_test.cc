#include "server/handlers/history.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/rpc/record_statement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/runs.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/identities/statement_key.h"
#include "server/peers/sync_messages.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HistoryTest : public ::testing::Test {
 protected:
  // Measured on board-1, which takes `ns` for each of two samples; the id.
  std::string Measure(int64_t ns, const Caller& caller, const std::string& commit = "") {
    v1::CreateBenchmarkRequest request;
    request.set_request_id(absl::StrCat("r", ++requests_));
    *request.mutable_spec()->mutable_run()->mutable_manifest() = manifest_;
    request.mutable_spec()->set_samples(2);
    if (!commit.empty()) {
      request.add_tags()->set_key("commit");
      request.mutable_tags(0)->set_value(commit);
    }
    v1::CreateJobResponse created;
    EXPECT_OK(CreateBenchmark(caller, server_.env, request, &created));
    v1::AgentState state = Agent();
    const auto report = *ReadReport(state, "here");
    EXPECT_OK(server_.dispatcher->Reported(report));
    const auto desired = *server_.dispatcher->DesiredOf(report.call);
    EXPECT_EQ(desired.leases.size(), 1u);
    state.set_sequence(++sequence_);
    v1::RunAttemptState& attempt = *state.add_attempts();
    attempt.set_attempt_id(desired.leases.front()->id);
    attempt.set_state(v1::RunAttemptState::SUCCEEDED);
    v1::BenchmarkResult& result = *attempt.mutable_benchmark_result();
    result.add_samples_ns(ns);
    result.add_samples_ns(ns);
    result.set_iterations_per_sample(1);
    result.set_threads(1);
    EXPECT_OK(server_.dispatcher->Reported(*ReadReport(state, "here")));
    return created.job_id();
  }
  absl::StatusOr<v1::ListHistoryResponse> List(const Caller& caller,
                                               const v1::ListHistoryRequest& request) {
    v1::ListHistoryResponse response;
    const absl::Status status = ListHistory(caller, server_.env, request, &response);
    if (!status.ok()) return status;
    return response;
  }
  std::vector<std::string> Ids(const std::function<void(v1::ListHistoryRequest&)>& set) {
    v1::ListHistoryRequest request;
    set(request);
    std::vector<std::string> ids;
    const auto response = List(server_.caller, request);
    EXPECT_OK(response);
    for (const v1::HistoryEntry& entry : response->entries()) ids.push_back(entry.id());
    return ids;
  }

  v1::AgentState Agent() {
    v1::AgentState state;
    state.set_agent_id("board-1");
    state.set_instance_id("i");
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id("board-1");
    state.mutable_devices(0)->set_target("x86-64-v3-linux");
    return state;
  }

  testing::HandlerEnvironment server_;
  const v1::Digest manifest_ = server_.PutProgram();
  int requests_ = 0;
  int64_t sequence_ = 0;
};

TEST_F(HistoryTest, TellsAllOfAnEntry) {
  const std::string id = Measure(1'000, server_.caller, "1f");
  v1::GetHistoryEntryRequest request;
  request.set_id(id);
  v1::HistoryEntry entry;
  ASSERT_OK(GetHistoryEntry(server_.caller, server_.env, request, &entry));
  EXPECT_EQ(entry.model(), TestManifest().name());
  EXPECT_EQ(entry.manifest().sha256(), manifest_.sha256());
  EXPECT_EQ(entry.target(), "x86-64-linux");
  EXPECT_EQ(entry.device().target(), "x86-64-v3-linux");
  EXPECT_EQ(entry.compile_key(), TestManifest().compile_key());
  ASSERT_EQ(entry.tools_size(), TestManifest().tools_size());
  EXPECT_THAT(entry.result().samples_ns(), ElementsAre(1'000, 1'000));
  EXPECT_EQ(entry.tags(0).value(), "1f");

  request.set_id("nonsense");
  EXPECT_THAT(GetHistoryEntry(server_.caller, server_.env, request, &entry),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.set_id(server_.ids.Next(server_.clock.Now()));
  EXPECT_THAT(GetHistoryEntry(server_.caller, server_.env, request, &entry),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(HistoryTest, ListsWhatIsAskedFor) {
  const std::string first = Measure(1'000, server_.caller, "1f");
  server_.clock.Advance(absl::Hours(1));
  const int64_t later = absl::ToUnixNanos(server_.clock.Now());
  const std::string second = Measure(2'000, server_.caller, "2f");
  EXPECT_THAT(Ids([](auto&) {}), ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_model(TestManifest().name()); }), ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_model("other"); }), IsEmpty());
  EXPECT_THAT(Ids([](auto& r) { r.set_device("board-1"); }), ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_device("board-2"); }), IsEmpty());
  EXPECT_THAT(Ids([](auto& r) { r.set_target("x86-64-linux"); }), ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_target("x86-64-v4-linux"); }), IsEmpty());
  EXPECT_THAT(Ids([](auto& r) { r.set_threads(1); }), ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_threads(2); }), IsEmpty());
  EXPECT_THAT(Ids([&](auto& r) { r.set_artifact(manifest_.sha256()); }),
              ElementsAre(second, first));
  EXPECT_THAT(Ids([](auto& r) { r.set_artifact(std::string(64, '0')); }), IsEmpty());
  EXPECT_THAT(Ids([&](auto& r) { r.set_since_ns(later); }), ElementsAre(second));
  EXPECT_THAT(Ids([&](auto& r) { r.set_until_ns(later); }), ElementsAre(first));
  EXPECT_THAT(Ids([](auto& r) {
                r.add_tags()->set_key("commit");
                r.mutable_tags(0)->set_value("2f");
              }),
              ElementsAre(second));
  v1::ListHistoryRequest request;
  EXPECT_THAT(List(server_.caller, request)->entries(0).result().samples_ns(), IsEmpty());
  request.set_with_samples(true);
  EXPECT_EQ(List(server_.caller, request)->entries(0).result().samples_ns_size(), 2);
  request.set_page_size(1);
  request.set_page_token(List(server_.caller, request)->next_page_token());
  EXPECT_EQ(List(server_.caller, request)->entries(0).id(), first);
}

TEST_F(HistoryTest, FiltersThatAreNoneAreRefused) {
  struct Case {
    std::function<void(v1::ListHistoryRequest&)> set;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {[](auto& r) { r.set_page_size(-1); }, "page_size"},
           {[](auto& r) { r.set_page_token("nonsense"); }, "page_token"},
           {[](auto& r) { r.set_model(std::string(129, 'm')); }, "model has 129 bytes"},
           {[](auto& r) { r.set_device("../d"); }, "device"},
           {[](auto& r) { r.set_target("pdp-11"); }, "target"},
           {[](auto& r) { r.add_tags()->set_key("-"); }, "the key of tag"},
           {[](auto& r) { r.set_threads(-1); }, "threads is -1"},
           {[](auto& r) { r.set_artifact("abc"); }, "artifact 'abc' is no digest"},
           {[](auto& r) { r.set_artifact(std::string(64, 'F')); }, "is no digest"},
           {[](auto& r) { r.set_since_ns(-1); }, "since_ns is -1"},
           {[](auto& r) { r.set_until_ns(-1); }, "until_ns is -1"},
       }) {
    v1::ListHistoryRequest request;
    c.set(request);
    EXPECT_THAT(List(server_.caller, request),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.says)));
  }
}

TEST_F(HistoryTest, EverybodySeesHisOwnAndAnAdministratorAll) {
  const std::string mine = Measure(1'000, server_.caller);
  const std::string bobs = Measure(1'000, server_.Owner("bob"));
  EXPECT_THAT(Ids([](auto&) {}), ElementsAre(mine));
  v1::GetHistoryEntryRequest get;
  get.set_id(bobs);
  v1::HistoryEntry entry;
  EXPECT_THAT(GetHistoryEntry(server_.caller, server_.env, get, &entry),
              StatusIs(absl::StatusCode::kNotFound));
  v1::ListHistoryRequest all;
  all.set_of_everybody(true);
  v1::ListHistoryRequest of_bob;
  of_bob.set_owner("bob");
  for (const auto& request : {all, of_bob}) {
    EXPECT_THAT(List(server_.caller, request),
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("not admin")));
  }
  const Caller root = {.owner = "root", .roles = {Role::kAdmin}};
  EXPECT_EQ(List(root, {})->entries_size(), 0);
  EXPECT_EQ(List(root, all)->entries_size(), 2);
  EXPECT_EQ(List(root, of_bob)->entries_size(), 1);
  EXPECT_OK(GetHistoryEntry(root, server_.env, get, &entry));
}

TEST_F(HistoryTest, ARecordIsSignedByTheServer) {
  v1::GetHistoryEntryRequest request;
  request.set_id(Measure(1'000, server_.caller));
  v1::SignedRecord record;
  EXPECT_THAT(GetRecord(server_.caller, server_.env, request, &record),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("without TLS")));
  const auto key = *StatementKey::Open(
      server_.authority.get(), JoinPath(server_.folder.path(), "signer.pem"), server_.clock.Now());
  server_.env.statement_key = key.get();
  ASSERT_OK(GetRecord(server_.caller, server_.env, request, &record));
  EXPECT_OK(CheckRecordStatement(key->checker(), record));
  EXPECT_EQ(record.statement().time_ns(), absl::ToUnixNanos(server_.clock.Now()));
  v1::HistoryEntry entry;
  ASSERT_TRUE(entry.ParseFromString(record.entry()));
  EXPECT_THAT(entry.result().samples_ns(), ElementsAre(1'000, 1'000));
  EXPECT_THAT(GetRecord(server_.Owner("bob"), server_.env, request, &record),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace slipway::server
