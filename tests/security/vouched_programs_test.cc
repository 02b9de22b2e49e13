// Programs that a server vouches for, and others: what agents that have joined it take, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/session.h"
#include "core/artifact/artifact.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/security/grpc_swapping_relay.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr char kModel[] = R"(graph "tiny" (%x: f32[1, 8]) -> (%y) {
  %y = Relu(%x)
}
)";

class VouchedProgramsTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> agent_flags = {}) {
    ASSERT_OK_AND_ASSIGN(
        cluster_,
        Cluster::Start({.agents = 1, .agent_flags = std::move(agent_flags), .tcp = true}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  // From now on the agent calls a relay that it takes for its server.
  void PutRelayBetween() {
    const std::string identity = cluster_->Identity(Role::kAgent);
    relay_ = std::make_unique<SwappingRelay>(
        SwappingRelay::Options{.server = cluster_->address(),
                               .server_identity = cluster_->data_folder() + "/server.pem",
                               .agent_identity = identity});
    ServiceProcess& agent = cluster_->agent(0);
    agent.Kill();
    std::vector<std::string>& argv = agent.options().argv;
    ASSERT_EQ(argv[1], "--server");
    argv[2] = relay_->address();
    argv.insert(argv.end(), {"--identity", identity});
    ASSERT_OK(agent.Start());
  }
  // The error of the job, if it is accepted.
  absl::Status Run(const Artifact& program) {
    const absl::Status put = client_->PutArtifact(program);
    if (!put.ok()) return put;
    return client_->Run(program.digest(), {}, {}).status();
  }
  absl::StatusOr<Session> OpenSession() { return Session::Open({.address = cluster_->address()}); }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<SwappingRelay> relay_;
};

const Artifact& Sound() {
  static const Artifact& program = *new Artifact(TestProgram(TestKernel::kAdd));
  return program;
}

// Makes an assignment one of another program, whole and sound in itself.
void SwapProgram(v1::RunAssignment& assignment, const Artifact& other) {
  const std::string& manifest = other.manifest().bytes();
  assignment.set_manifest(manifest);
  *assignment.mutable_run()->mutable_manifest() = ToProto(Digest::Of(manifest));
  assignment.clear_blobs();
  for (const Digest& digest : other.manifest().blobs()) {
    v1::InlineBlob& blob = *assignment.add_blobs();
    *blob.mutable_digest() = ToProto(digest);
    blob.set_data(std::string(GetTestProgramBlob(digest)->bytes()));
  }
}

TEST_F(VouchedProgramsTest, WhoStandsBetweenSwapsNothing) {
  Start();
  PutRelayBetween();
  const Artifact another = TestProgram(TestKernel::kCount);
  relay_->Change({.assignment = [&](v1::RunAssignment& sent) { SwapProgram(sent, another); }});
  EXPECT_THAT(Run(Sound()),
              StatusIs(Code::kPermissionDenied,
                       AllOf(HasSubstr(another.digest().ToString()), HasSubstr("not about"))));
  relay_->Change({.assignment = [](v1::RunAssignment& sent) { sent.clear_statement(); }});
  EXPECT_THAT(Run(Sound()),
              StatusIs(Code::kPermissionDenied, AllOf(HasSubstr(Sound().digest().ToString()),
                                                      HasSubstr("without a statement"))));
  relay_->Change({.assignment = [](v1::RunAssignment& sent) {
    std::string& said = *sent.mutable_statement()->mutable_payload();
    said[said.size() - 1] ^= 1;
  }});
  EXPECT_THAT(Run(Sound()),
              StatusIs(Code::kPermissionDenied, HasSubstr("not that of what is said")));
  // Signed by an authority of his own.
  ASSERT_OK_AND_ASSIGN(const auto authority, CertificateAuthority::Create(absl::Now()));
  ASSERT_OK_AND_ASSIGN(const CertificateRequest request, NewCertificateRequest());
  ASSERT_OK_AND_ASSIGN(const std::string certificate,
                       authority->SignSigner(request.request, absl::Now(), absl::Hours(1)));
  ASSERT_OK_AND_ASSIGN(const auto signer, StatementSigner::Create(request.key, certificate));
  relay_->Change({.assignment = [&](v1::RunAssignment& sent) {
    SwapProgram(sent, another);
    *sent.mutable_statement() = *SignCompiled(
        *signer, another.digest(), another.manifest().target().ToString(), "", "", absl::Now());
  }});
  EXPECT_THAT(Run(Sound()), StatusIs(Code::kPermissionDenied, HasSubstr("another authority")));
  // What he leaves as it is runs, and so it did not before.
  relay_->Change({});
  EXPECT_OK(Run(Sound()));
}

TEST_F(VouchedProgramsTest, WhoStandsBetweenChangesNoBlob) {
  Start();
  PutRelayBetween();
  relay_->Change({.assignment = [](v1::RunAssignment& sent) {
    ASSERT_GT(sent.blobs_size(), 0);
    (*sent.mutable_blobs(0)->mutable_data())[100] ^= 1;
  }});
  EXPECT_FALSE(Run(Sound()).ok());
  // Fetched, not sent along: the attempt is made three times.
  relay_->Change({.assignment = [](v1::RunAssignment& sent) { sent.clear_blobs(); },
                  .blob = [](std::string& piece) { piece[0] ^= 1; }});
  EXPECT_FALSE(Run(Sound()).ok());
  relay_->Change({.assignment = [](v1::RunAssignment& sent) { sent.clear_blobs(); }});
  EXPECT_OK(Run(Sound()));
}

// A client whose session goes to the device sends it programs that the server has never seen.
TEST_F(VouchedProgramsTest, ASessionsProgramsAreVouchedForToo) {
  Start();
  PutRelayBetween();
  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  relay_->Change({.statement = [](v1::SignedStatement& said) { said.Clear(); }});
  EXPECT_THAT(session.Load(Sound()).status(),
              StatusIs(Code::kPermissionDenied, HasSubstr("without a statement")));
  relay_->Change({});
  EXPECT_OK(session.Load(Sound()).status());
  // That the server vouches for it is known from now on.
  relay_->Change({.statement = [](v1::SignedStatement& said) { said.Clear(); }});
  EXPECT_OK(session.Load(Sound()).status());
  EXPECT_OK(session.Close());
}

TEST_F(VouchedProgramsTest, ADeviceMayTakeWhatItsServerHasCompiledAlone) {
  Start({"--programs", "compiled"});
  // It is refused before it waits for anybody.
  EXPECT_THAT(Run(Sound()), StatusIs(Code::kFailedPrecondition, HasSubstr("--programs compiled")));
  const TempTree tree;
  const std::string model = tree.Write("model.graph", kModel);
  ASSERT_OK_AND_ASSIGN(const Compilation made, client_->Compile(model, {.target = "host"}));
  EXPECT_OK(client_->Run(made.artifact, {}, {}).status());
  // The same from the cache, and after a restart.
  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const Compilation again, client_->Compile(model, {.target = "host"}));
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.artifact, made.artifact);
  EXPECT_OK(client_->Run(made.artifact, {}, {}).status());

  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  EXPECT_THAT(session.Load(Sound()).status(),
              StatusIs(Code::kPermissionDenied, HasSubstr("--programs compiled")));
  EXPECT_OK(session.Load(made.artifact).status());
  EXPECT_OK(session.Close());
  EXPECT_THAT(cluster_->Slipway({"devices", "--long"}).out,
              HasSubstr("takes only programs compiled by this server"));
}

TEST_F(VouchedProgramsTest, WithoutTlsThereIsNobodyToVouch) {
  ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.agents = 1}));
  ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  EXPECT_OK(Run(Sound()));
  ASSERT_OK_AND_ASSIGN(Session session, OpenSession());
  EXPECT_OK(session.Load(Sound()).status());
}

}  // namespace
}  // namespace slipway::testing
