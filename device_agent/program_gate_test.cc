#include "device_agent/program_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// A server that has an authority, and signs.
class Server {
 public:
  v1::SignedStatement Compiled(const CheckedManifest& program) const {
    return *SignCompiled(*signer_, program.digest(), program.target().ToString(), "key", "worker-1",
                         kNow);
  }
  v1::SignedStatement Brought(const CheckedManifest& program) const {
    return *SignBrought(*signer_, program.digest(), program.target().ToString(), "ada", kNow);
  }
  std::unique_ptr<ProgramGate> NewGate(bool compiled_only = false) const {
    return *ProgramGate::Create(authority_->certificate(), compiled_only);
  }

 private:
  const std::unique_ptr<CertificateAuthority> authority_ = *CertificateAuthority::Create(kNow);
  const CertificateRequest request_ = *NewCertificateRequest();
  const std::unique_ptr<StatementSigner> signer_ = *StatementSigner::Create(
      request_.key, *authority_->SignSigner(request_.request, kNow, absl::Hours(1)));
};

CheckedManifest Program(uint32_t abi = 1) {
  v1::Manifest manifest = TestManifest();
  manifest.set_compile_key(std::string(64, static_cast<char>('0' + abi)));
  return *CheckedManifest::Parse(SerializeManifest(manifest));
}

TEST(ProgramGateTest, LetsInWhatTheServerVouchesFor) {
  const Server server;
  const auto gate = server.NewGate();
  EXPECT_FALSE(gate->HasLetIn(Program().digest()));
  EXPECT_OK(gate->LetIn(Program(), server.Brought(Program())));
  EXPECT_TRUE(gate->HasLetIn(Program().digest()));
  EXPECT_OK(gate->LetIn(Program(2), server.Compiled(Program(2))));
  // From then on it is known.
  EXPECT_OK(gate->LetIn(Program(), {}));
}

TEST(ProgramGateTest, RefusesAllElse) {
  const Server server;
  const auto gate = server.NewGate();
  const std::string name = Program().digest().ToString();
  EXPECT_THAT(gate->LetIn(Program(), {}),
              StatusIs(kDenied, AllOf(HasSubstr(name), HasSubstr("without a statement"))));
  EXPECT_THAT(gate->LetIn(Program(), server.Brought(Program(2))),
              StatusIs(kDenied, AllOf(HasSubstr(name), HasSubstr("not about"))));
  EXPECT_THAT(gate->LetIn(Program(), Server().Brought(Program())),
              StatusIs(kDenied, HasSubstr("slipway-agent join")));
  v1::SignedStatement changed = server.Brought(Program());
  changed.set_time_ns(changed.time_ns() + 1);
  EXPECT_THAT(gate->LetIn(Program(), changed), StatusIs(kDenied));
  // Nothing of that has let it in.
  EXPECT_FALSE(gate->HasLetIn(Program().digest()));
}

TEST(ProgramGateTest, MayTakeWhatIsCompiledAlone) {
  const Server server;
  const auto gate = server.NewGate(/*compiled_only=*/true);
  EXPECT_THAT(gate->LetIn(Program(), server.Brought(Program())),
              StatusIs(kDenied, AllOf(HasSubstr("\"ada\""), HasSubstr("--programs compiled"))));
  EXPECT_FALSE(gate->HasLetIn(Program().digest()));
  // What somebody has brought may be compiled later.
  EXPECT_OK(gate->LetIn(Program(), server.Compiled(Program())));
  EXPECT_OK(gate->LetIn(Program(), server.Brought(Program())));
}

TEST(ProgramGateTest, WantsAnAuthority) {
  EXPECT_THAT(ProgramGate::Create("", false).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
