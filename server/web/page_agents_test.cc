#include "server/web/page_agents.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::StatusIs;
using ::slipway::v1::AgentState;
using ::slipway::v1::DesiredAgentState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A server that answers reports when a test says so.
class HeldServer final : public Upstream {
 public:
  struct Sync {
    AgentState state;
    std::function<void(absl::StatusOr<DesiredAgentState>)> ended;
    bool is_stopped = false;
  };

  absl::Status Call(absl::string_view, const google::protobuf::Message&,
                    google::protobuf::Message&) override {
    return absl::UnimplementedError("only reports");
  }
  absl::StatusOr<Blob> ReadBlob(const Digest&, int64_t) override {
    return absl::UnimplementedError("only reports");
  }
  absl::Status SendBlob(const Digest&, const Blob&) override {
    return absl::UnimplementedError("only reports");
  }
  std::shared_ptr<RunningCall> WatchJob(const std::string&, int64_t,
                                        std::function<void(const slipway::v1::Job&)>,
                                        std::function<void(const absl::Status&)>) override {
    return nullptr;
  }
  std::shared_ptr<RunningCall> BeginSync(
      AgentState state, absl::Duration,
      std::function<void(absl::StatusOr<DesiredAgentState>)> ended) override {
    auto sync = std::make_shared<Sync>(Sync{std::move(state), std::move(ended)});
    syncs.push_back(sync);
    return std::make_shared<Handle>(sync);
  }

  std::vector<std::shared_ptr<Sync>> syncs;

 private:
  class Handle final : public RunningCall {
   public:
    explicit Handle(std::shared_ptr<Sync> sync) : sync_(std::move(sync)) {}
    void Stop() override { sync_->is_stopped = true; }

   private:
    const std::shared_ptr<Sync> sync_;
  };
};

// Of a page that is there until it goes.
class PageStream final : public HttpStream {
 public:
  bool Send(absl::string_view bytes) override {
    text.append(bytes.data(), bytes.size());
    return true;
  }
  void End() override { Go(); }
  bool is_gone() const override { return gone_; }
  void OnGone(std::function<void()> gone) override { on_gone_ = std::move(gone); }
  void Go() {
    gone_ = true;
    if (on_gone_) std::exchange(on_gone_, nullptr)();
  }
  std::string text;

 private:
  bool gone_ = false;
  std::function<void()> on_gone_;
};

AgentState StateOf(const std::string& instance) {
  AgentState state;
  state.set_agent_id("page-1");
  state.set_instance_id(instance);
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.add_devices()->set_id("page-1");
  return state;
}

class PageAgentsTest : public ::testing::Test {
 protected:
  // What is held of calls holds agents, and they the server.
  void TearDown() override {
    for (const auto& sync : server_->syncs) sync->ended = nullptr;
  }

  std::shared_ptr<const SignedIn> SignIn(const std::string& key) {
    auto signed_in = std::make_shared<SignedIn>();
    signed_in->key = key;
    signed_in->upstream = server_;
    return signed_in;
  }
  std::shared_ptr<PageStream> Begin(const std::shared_ptr<const SignedIn>& who,
                                    const AgentState& state) {
    EXPECT_OK(agents_.CheckPlace(*who, state));
    auto stream = std::make_shared<PageStream>();
    agents_.Add(who, state, stream);
    return stream;
  }

  const std::shared_ptr<HeldServer> server_ = std::make_shared<HeldServer>();
  std::vector<std::string> forgotten_;
  PageAgents agents_{{.most = 3, .most_of_one = 2},
                     [this](const SignedIn& who) { forgotten_.push_back(who.key); }};
  const std::shared_ptr<const SignedIn> ada_ = SignIn("ada");
};

TEST_F(PageAgentsTest, PassesReportsOnAndTellsOfTheirAnswers) {
  const auto stream = Begin(ada_, StateOf("i"));
  ASSERT_EQ(server_->syncs.size(), 1);
  EXPECT_EQ(server_->syncs[0]->state.agent_id(), "page-1");
  EXPECT_EQ(stream->text, "");
  DesiredAgentState wanted;
  wanted.set_version("v1");
  wanted.add_attempts()->set_attempt_id("a");
  wanted.mutable_attempts(0)->set_manifest("bytes that no page reads");
  server_->syncs[0]->ended(wanted);
  EXPECT_EQ(stream->text, "event: wanted\ndata: {}\n\n");
  ASSERT_OK_AND_ASSIGN(const DesiredAgentState told, agents_.Wanted(*ada_, "i"));
  EXPECT_EQ(told.version(), "v1");
  EXPECT_EQ(told.attempts(0).attempt_id(), "a");
  EXPECT_EQ(told.attempts(0).manifest(), "");

  AgentState next = StateOf("i");
  next.set_applied_version("v1");
  ASSERT_OK(agents_.Report(*ada_, next));
  ASSERT_EQ(server_->syncs.size(), 2);
  EXPECT_EQ(server_->syncs[1]->state.applied_version(), "v1");
  EXPECT_GT(server_->syncs[1]->state.sequence(), server_->syncs[0]->state.sequence());
}

TEST_F(PageAgentsTest, AReportTakesThePlaceOfTheOneBefore) {
  const auto stream = Begin(ada_, StateOf("i"));
  ASSERT_OK(agents_.Report(*ada_, StateOf("i")));
  EXPECT_TRUE(server_->syncs[0]->is_stopped);
  EXPECT_FALSE(server_->syncs[1]->is_stopped);
  server_->syncs[0]->ended(absl::CancelledError("stopped"));
  EXPECT_EQ(stream->text, "");
}

TEST_F(PageAgentsTest, APageSaysNothingOfWhatThisProcessAnswersFor) {
  AgentState state = StateOf("i");
  state.set_version("99");
  state.set_sequence(1'000'000);
  state.set_max_abi(99);
  state.set_max_format(99);
  state.set_max_session(99);
  state.set_max_benchmark(99);
  state.set_leaving(true);
  state.mutable_update()->set_platform("linux");
  state.set_park_ns(absl::ToInt64Nanoseconds(absl::Hours(5)));
  const auto stream = Begin(ada_, state);
  const AgentState& reported = server_->syncs[0]->state;
  EXPECT_NE(reported.version(), "99");
  EXPECT_EQ(reported.sequence(), 1);
  EXPECT_LT(reported.max_abi(), 99);
  EXPECT_LT(reported.max_format(), 99);
  EXPECT_EQ(reported.max_session(), 0);
  EXPECT_EQ(reported.max_benchmark(), 0);
  EXPECT_FALSE(reported.leaving());
  EXPECT_FALSE(reported.has_update());
  EXPECT_LE(reported.park_ns(), absl::ToInt64Nanoseconds(absl::Seconds(30)));
}

TEST_F(PageAgentsTest, WhenAPageIsGoneTheServerIsTold) {
  const auto stream = Begin(ada_, StateOf("i"));
  stream->Go();
  ASSERT_EQ(server_->syncs.size(), 2);
  EXPECT_TRUE(server_->syncs[0]->is_stopped);
  EXPECT_TRUE(server_->syncs[1]->state.leaving());
  EXPECT_EQ(server_->syncs[1]->state.park_ns(), 0);
  EXPECT_GT(server_->syncs[1]->state.sequence(), server_->syncs[0]->state.sequence());
  EXPECT_THAT(agents_.Report(*ada_, StateOf("i")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(agents_.Wanted(*ada_, "i").status(), StatusIs(absl::StatusCode::kNotFound));
  // Whatever comes late is nobody's.
  server_->syncs[0]->ended(DesiredAgentState());
  server_->syncs[1]->ended(DesiredAgentState());
  EXPECT_EQ(stream->text, "");
}

TEST_F(PageAgentsTest, WhoLeavesByHimselfIsGone) {
  const auto stream = Begin(ada_, StateOf("i"));
  EXPECT_THAT(agents_.End(*SignIn("bob"), "i"), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK(agents_.End(*ada_, "i"));
  EXPECT_TRUE(stream->is_gone());
  ASSERT_EQ(server_->syncs.size(), 2);
  EXPECT_TRUE(server_->syncs[1]->state.leaving());
  server_->syncs[1]->ended(DesiredAgentState());
  EXPECT_THAT(agents_.End(*ada_, "i"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(PageAgentsTest, OthersReachNothingOfIt) {
  const auto stream = Begin(ada_, StateOf("i"));
  const auto bob = SignIn("bob");
  EXPECT_THAT(agents_.Report(*bob, StateOf("i")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(agents_.Wanted(*bob, "i").status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(server_->syncs.size(), 1);
}

TEST_F(PageAgentsTest, RefusalsAreToldAsTheyAre) {
  const auto stream = Begin(ada_, StateOf("i"));
  server_->syncs[0]->ended(absl::PermissionDeniedError("'ada' is not agent"));
  EXPECT_THAT(stream->text, HasSubstr("event: problem"));
  EXPECT_THAT(stream->text, HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(stream->text, HasSubstr("is not agent"));
  EXPECT_TRUE(forgotten_.empty());
  ASSERT_OK(agents_.Report(*ada_, StateOf("i")));
  server_->syncs[1]->ended(absl::UnauthenticatedError("revoked"));
  EXPECT_THAT(forgotten_, ElementsAre("ada"));
}

TEST_F(PageAgentsTest, ThereIsRoomForSoMany) {
  const auto one = Begin(ada_, StateOf("1"));
  EXPECT_THAT(agents_.CheckPlace(*ada_, StateOf("1")), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(agents_.CheckPlace(*ada_, StateOf("")), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(agents_.CheckPlace(*ada_, StateOf(std::string(65, 'i'))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const auto two = Begin(ada_, StateOf("2"));
  EXPECT_THAT(agents_.CheckPlace(*ada_, StateOf("3")),
              StatusIs(absl::StatusCode::kResourceExhausted));
  const auto three = Begin(SignIn("bob"), StateOf("3"));
  EXPECT_THAT(agents_.CheckPlace(*SignIn("eve"), StateOf("4")),
              StatusIs(absl::StatusCode::kResourceExhausted));
  two->Go();
  EXPECT_OK(agents_.CheckPlace(*ada_, StateOf("3")));
  server_->syncs.back()->ended(DesiredAgentState());
}

}  // namespace
}  // namespace slipway::web
