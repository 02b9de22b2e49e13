// A server behind HAProxy with the configuration in deploy/haproxy, as whole processes. Where HAProxy is not installed, nothing is
// tested.
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/security/strangers.h"

namespace slipway::testing {
namespace {

constexpr char kHaproxy[] = "/usr/sbin/haproxy";
constexpr absl::Duration kPatience = absl::Seconds(60);
// Of one address, as deploy/haproxy/haproxy.cfg has it.
constexpr int kMostAtATime = 64;
constexpr int kFlood = 150;

int FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
  EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
  return ntohs(name.sin_port);
}

template <typename Condition>
bool Await(const Condition& condition, absl::Duration patience = kPatience) {
  for (const absl::Time end = absl::Now() + patience; absl::Now() < end;) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return false;
}

class HaproxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(kHaproxy, X_OK) != 0) GTEST_SKIP() << "there is no " << kHaproxy;
    front_ = absl::StrCat("127.0.0.1:", FreePort());
    const std::string server = absl::StrCat("127.0.0.1:", FreePort());
    ASSERT_OK_AND_ASSIGN(
        cluster_,
        Cluster::Start({.agents = 1, .server_flags = {"--proxied-listen", server}, .tcp = true}));
    SubprocessOptions options;
    options.argv = {kHaproxy, "-db", "-f", RunfilePath("deploy/haproxy/haproxy.cfg")};
    options.environment = {{"SLIPWAY_FRONT", front_}, {"SLIPWAY_SERVER", server}};
    ASSERT_OK_AND_ASSIGN(haproxy_, Subprocess::Start(options));
    ASSERT_TRUE(Await([this] { return Slipway({"devices"}).status.ok(); }));
  }
  void TearDown() override {
    if (haproxy_ != nullptr) haproxy_->Kill();
  }

  CommandResult Run(std::vector<std::string> argv, const std::string& home = "") const {
    CommandOptions options;
    options.argv = std::move(argv);
    options.environment = cluster_->environment();
    for (auto& [name, value] : options.environment) {
      if (name == "XDG_CONFIG_HOME" && !home.empty()) value = cluster_->Path(home);
    }
    return RunCommand(options);
  }
  // As the server's own user, through the front.
  CommandResult Slipway(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), CommandBinary());
    arguments.insert(arguments.end(),
                     {"--server", front_, "--identity", cluster_->Identity(Role::kUser)});
    return Run(std::move(arguments));
  }
  std::string Audit() const {
    return Run({ServerBinary(), "audit", "--data-dir", cluster_->data_folder()}).out;
  }

  std::string front_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Subprocess> haproxy_;
};

TEST_F(HaproxyTest, WhoIsInvitedJoinsAndRunsThroughIt) {
  const CommandResult invited =
      Run({ServerBinary(), "invite", "user", "ada", "--server", cluster_->address()});
  const std::string code(absl::StripAsciiWhitespace(invited.out));
  const CommandResult joined = Run({CommandBinary(), "join", front_, code}, "ada");
  ASSERT_TRUE(joined.status.ok()) << joined.ToString();
  const std::string program = cluster_->Path("program.slip");
  ASSERT_OK(WriteSlip(TestProgram(TestKernel::kAdd), program));
  const CommandResult ran = Run({CommandBinary(), "run", program, "--server", front_}, "ada");
  EXPECT_TRUE(ran.status.ok()) << ran.ToString();
}

TEST_F(HaproxyTest, TheServerKnowsWhereEverybodyComesFrom) {
  // Strangers come from 127.0.0.2 and up, the front calls from 127.0.0.1.
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Strangers> strangers,
      Strangers::Come(
          {.address = front_, .kind = StrangerKind::kWrongCode, .at_a_time = 1, .in_all = 1}));
  EXPECT_TRUE(Await([&] { return strangers->Counts().refused == 1; }));
  EXPECT_THAT(Audit(), ::testing::ContainsRegex("127[.]0[.]0[.][2-9][0-9]*:[0-9]+ +join"));
}

TEST_F(HaproxyTest, AFloodFromOneAddressIsCutOff) {
  std::vector<UniqueFd> flood;
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  for (int i = 0; i < kFlood; ++i) {
    const UniqueFd& fd = flood.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    name.sin_addr.s_addr = htonl(0x7f000009);
    name.sin_port = 0;
    ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(std::stoi(front_.substr(front_.rfind(':') + 1))));
    ASSERT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  }
  // All but so many are ended at once, whatever others have to send until then; in which order they come is for its threads to say.
  const auto has_ended = [](const UniqueFd& fd) {
    char byte = 0;
    const ssize_t count = recv(fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN);
  };
  EXPECT_TRUE(Await(
      [&] { return std::count_if(flood.begin(), flood.end(), has_ended) >= kFlood - kMostAtATime; },
      absl::Seconds(4)));
  const CommandResult meanwhile = Slipway({"devices"});
  EXPECT_TRUE(meanwhile.status.ok()) << meanwhile.ToString();
}

}  // namespace
}  // namespace slipway::testing
