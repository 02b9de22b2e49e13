// A server with certificates of a company's authority beside its own, as whole processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/company.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kAda[] = "URI:urn:slipway:user:ada";

class GivenCertificatesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteServers(company_.Certificate("IP:127.0.0.1"));
    ASSERT_OK_AND_ASSIGN(
        cluster_,
        Cluster::Start({.agents = 0,
                        .server_flags = {"--certificate", Path("server"), "--client-authority",
                                         Write("ca", company_.authority())},
                        .tcp = true}));
  }

  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }
  std::string Write(const std::string& name, const std::string& text) const {
    EXPECT_OK(WriteFileAtomically(Path(name), text, /*durable=*/false, 0600));
    return Path(name);
  }
  void WriteServers(const std::string& pem) const { Write("server", pem); }
  CommandResult Slipway(const std::string& names) const {
    return cluster_->Slipway({"devices", "--authority", Path("ca"), "--identity",
                              Write("caller", company_.Certificate(names))});
  }
  CommandResult Administer(std::vector<std::string> arguments) const {
    CommandOptions options;
    options.argv = {ServerBinary()};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.argv.insert(options.argv.end(), {"--server", cluster_->address()});
    options.environment = cluster_->environment();
    return RunCommand(options);
  }
  // Starts the server with another file in place of one; tells what it says.
  std::string WhyNot(const std::string& flag, const std::string& file) const {
    CommandOptions options;
    options.argv = {ServerBinary(),  "--listen=127.0.0.1:0", "--data-dir", Path("data"),
                    "--certificate", Path("server"),         flag,         file};
    options.environment = cluster_->environment();
    const CommandResult result = RunCommand(options);
    EXPECT_FALSE(result.status.ok()) << result.ToString();
    return result.err;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("slipway-given");
  const Company company_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(GivenCertificatesTest, TheCompanysPeopleAreKnownAndCanBeRevoked) {
  EXPECT_TRUE(Slipway(kAda).status.ok()) << Slipway(kAda).ToString();
  EXPECT_FALSE(Slipway("DNS:ada.example").status.ok());
  // Those of the server's own go on as if there were no other authority.
  EXPECT_TRUE(cluster_->Slipway({"devices"}).status.ok());
  const CommandResult listed = Administer({"identities"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("ada"), HasSubstr("given"))) << listed.ToString();
  EXPECT_TRUE(Administer({"revoke", "ada"}).status.ok());
  EXPECT_FALSE(Slipway(kAda).status.ok());
  EXPECT_TRUE(Slipway("URI:urn:slipway:user:bob").status.ok());
}

TEST_F(GivenCertificatesTest, RolesAreThoseOfTheCertificate) {
  const auto identities = [this](const std::string& names) {
    return Administer({"identities", "--authority", Path("ca"), "--identity",
                       Write("caller", company_.Certificate(names))});
  };
  EXPECT_FALSE(identities(kAda).status.ok());
  const CommandResult listed = identities("URI:urn:slipway:admin:ada");
  EXPECT_TRUE(listed.status.ok()) << listed.ToString();
}

TEST_F(GivenCertificatesTest, ReplacedFilesAreTakenWhileTheServerRuns) {
  ASSERT_TRUE(Slipway(kAda).status.ok());
  // A name that is not its address: callers notice which one it shows.
  WriteServers(company_.Certificate("DNS:elsewhere.example"));
  const absl::Time end = absl::Now() + absl::Minutes(1);
  CommandResult result;
  do {
    result = Slipway(kAda);
  } while (result.status.ok() && absl::Now() < end);
  EXPECT_THAT(result.err, HasSubstr("not the server")) << result.ToString();
}

// Of an agent that runs, whose file somebody renews: here for another authority, so that the one from before is of no use.
TEST(RenewedGivenCertificatesTest, AreTakenWhileAnAgentRuns) {
  const TemporaryFolder folder = *TemporaryFolder::Create("slipway-given");
  const auto path = [&](const std::string& name) { return JoinPath(folder.path(), name); };
  const auto write = [&](const Company& company) {
    const auto file = [&](const std::string& name, const std::string& text) {
      ASSERT_OK(WriteFileAtomically(path(name), text, /*durable=*/false, 0600));
    };
    file("ca", company.authority());
    file("server", company.Certificate("IP:127.0.0.1"));
    file("agent", company.Certificate("URI:urn:slipway:agent:agent0"));
  };
  write(Company());
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Cluster> cluster,
      Cluster::Start(
          {.agents = 1,
           .server_flags = {"--certificate", path("server"), "--client-authority", path("ca")},
           .agent_flags = {"--authority", path("ca"), "--identity", path("agent")},
           .tcp = true}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster->Connect());
  const absl::Time begin = absl::Now();
  const auto last_seen = [&]() -> absl::StatusOr<absl::Time> {
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Device> devices, client->ListDevices());
    return devices.empty() ? absl::InfinitePast() : devices.front().last_seen;
  };
  ASSERT_OK_AND_ASSIGN(absl::Time seen, last_seen());
  ASSERT_GT(seen, begin - absl::Minutes(1));

  cluster->server().Kill();
  write(Company());
  const absl::Time restart = absl::Now();
  ASSERT_OK(cluster->server().Start());
  const absl::Time end = restart + absl::Minutes(1);
  while (seen < restart && absl::Now() < end) {
    ASSERT_OK_AND_ASSIGN(seen, last_seen());
  }
  EXPECT_GE(seen, restart) << "the agent has not come back";
}

TEST_F(GivenCertificatesTest, WhatCannotBeUsedIsRefusedAtTheStart) {
  const std::string key = "--key";
  EXPECT_THAT(WhyNot(key, Write("other", Company().Certificate("IP:127.0.0.1"))),
              HasSubstr("not that of the certificate"));
  EXPECT_EQ(chmod(Write("loose", "x").c_str(), 0644), 0);
  EXPECT_THAT(WhyNot(key, Path("loose")), HasSubstr("chmod 600"));
  EXPECT_THAT(
      WhyNot("--certificate",
             Write("old", company_.Certificate("IP:127.0.0.1", absl::Now() - absl::Hours(3)))),
      AllOf(HasSubstr("--certificate"), HasSubstr("expired"), HasSubstr("put a new one there")));
  EXPECT_THAT(WhyNot("--client-authority", Path("server")),
              AllOf(HasSubstr("--client-authority"), HasSubstr("not that of an authority")));
  EXPECT_THAT(WhyNot("--insecure", "--log-level=info"), HasSubstr("--certificate is for TLS"));
}

}  // namespace
}  // namespace slipway::testing
