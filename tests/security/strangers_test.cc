// A few hundred strangers of each kind, and a server over TLS that goes on serving those whom it knows. How many more it stands
// is for //tests/bench:strangers_bench to say.
#include "tests/security/strangers.h"

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/identity/role.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr int kStrangers = 300;
constexpr int kCalls = 30;
constexpr int kConnections = 3;
// ASan keeps what was freed.
#if defined(__has_feature) && __has_feature(address_sanitizer)
constexpr int64_t kMostBytes = 2'000'000'000;
#else
constexpr int64_t kMostBytes = 200'000'000;
#endif
// Longer than a server bears anybody who proves nothing; otherwise generous.
constexpr absl::Duration kWithin = absl::Seconds(60);

// Whether it becomes true of the strangers' counts in time.
template <typename Condition>
bool Await(const Strangers& strangers, const Condition& condition) {
  const absl::Time deadline = absl::Now() + kWithin;
  while (!condition(strangers.Counts())) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

class StrangersTest : public ::testing::TestWithParam<StrangerKind> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.agents = 0, .tcp = true}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  void Come(StrangerKind kind) {
    ASSERT_OK_AND_ASSIGN(strangers_, Strangers::Come({.address = cluster_->address(),
                                                      .kind = kind,
                                                      .at_a_time = kStrangers,
                                                      .in_all = kStrangers}));
  }

  void ExpectServed() {
    for (int i = 0; i < kCalls; ++i) EXPECT_OK(client_->Info());
    for (int i = 0; i < kConnections; ++i) EXPECT_OK(cluster_->Connect());
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Strangers> strangers_;
};

TEST_P(StrangersTest, CostLittleAndAreShownOut) {
  Come(GetParam());
  ExpectServed();
  ASSERT_TRUE(Await(
      *strangers_,
      [](const StrangerCounts& counts) { return counts.acted + counts.shown_out >= kStrangers; }))
      << strangers_->Counts().made << " made, " << strangers_->Counts().failed << " failed";
  ExpectServed();
  EXPECT_TRUE(Await(*strangers_,
                    [](const StrangerCounts& counts) { return counts.shown_out == kStrangers; }))
      << strangers_->Counts().shown_out << " shown out";
  const StrangerCounts counts = strangers_->Counts();
  EXPECT_EQ(counts.failed, 0);
  EXPECT_EQ(counts.let_in, 0);
  EXPECT_EQ(counts.refused > 0, GetParam() == StrangerKind::kWrongCode);
  ExpectServed();
  EXPECT_LT(PeakResidentBytes(cluster_->server().pid()), kMostBytes);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StrangersTest, ::testing::ValuesIn(kStrangerKinds),
                         [](const auto& kind) {
                           std::string name(StrangerName(kind.param));
                           absl::StrReplaceAll({{"-", "_"}}, &name);
                           return name;
                         });

// Whoever has joined gets as far as HTTP/2, and would have the server hold gigabytes.
TEST(Joined, WhoResetsCallsIsShutOutForATime) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.agents = 0, .tcp = true}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  const std::string identity = cluster->Identity(Role::kAgent);
  const auto come = [&](int count) {
    return Strangers::Come({.address = cluster->address(),
                            .kind = StrangerKind::kJoinedReset,
                            .at_a_time = count,
                            .in_all = count,
                            .identity_file = identity});
  };
  constexpr int kFlooding = 8;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Strangers> flood, come(kFlooding));
  EXPECT_TRUE(
      Await(*flood, [](const StrangerCounts& counts) { return counts.shown_out == kFlooding; }))
      << flood->Counts().shown_out << " shown out";
  // An end may throw away what the server said before.
  EXPECT_GT(flood->Counts().acted, 0);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Strangers> again, come(kFlooding));
  EXPECT_TRUE(
      Await(*again, [](const StrangerCounts& counts) { return counts.shown_out == kFlooding; }));
  EXPECT_EQ(again->Counts().let_in, 0);
  // Others, who are not the same, are served over old and new connections.
  EXPECT_OK(client->Info());
  EXPECT_OK(cluster->Connect());
  EXPECT_LT(PeakResidentBytes(cluster->server().pid()), kMostBytes + 100'000'000);
  const CommandResult audit =
      RunCommand({.argv = {ServerBinary(), "audit", "--data-dir", cluster->data_folder()}});
  EXPECT_THAT(audit.out, ::testing::HasSubstr("flood"));
}

TEST(Joined, WhoHasATokenAtMostMayNotResetCallsEither) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Cluster> cluster,
      Cluster::Start({.agents = 0, .server_flags = {"--accept-tokens"}, .tcp = true}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  constexpr int kFlooding = 8;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Strangers> flood,
                       Strangers::Come({.address = cluster->address(),
                                        .kind = StrangerKind::kJoinedReset,
                                        .at_a_time = kFlooding,
                                        .in_all = 10 * kFlooding}));
  EXPECT_TRUE(Await(
      *flood, [](const StrangerCounts& counts) { return counts.shown_out == 10 * kFlooding; }))
      << flood->Counts().shown_out << " shown out";
  // An end may throw away what the server said before.
  EXPECT_GT(flood->Counts().acted, 0);
  EXPECT_OK(client->Info());
  EXPECT_OK(cluster->Connect());
  EXPECT_LT(PeakResidentBytes(cluster->server().pid()), kMostBytes + 100'000'000);
}

// What the others are held against: where nobody is asked who he is, the same bytes are taken.
TEST(Strangers, NoticeWhenTheyAreLetIn) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.agents = 0, .server_flags = {"--insecure"}, .tcp = true}));
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Strangers> strangers,
      Strangers::Come(
          {.address = cluster->address(), .kind = StrangerKind::kRapidReset, .at_a_time = 1}));
  EXPECT_TRUE(Await(*strangers, [](const StrangerCounts& counts) { return counts.let_in > 0; }));
}

}  // namespace
}  // namespace slipway::testing
