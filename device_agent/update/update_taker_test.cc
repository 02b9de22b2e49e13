#include "device_agent/update/update_taker.h"

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/base/agent_stamp.h"
#include "core/base/files.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/store/memory_blob_store.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class UpdateTakerTest : public ::testing::Test {
 protected:
  struct Server {
    std::unique_ptr<CertificateAuthority> authority = *CertificateAuthority::Create(kNow);
    CertificateRequest request = *NewCertificateRequest();
    std::unique_ptr<StatementSigner> signer = *StatementSigner::Create(
        request.key, *authority->SignSigner(request.request, kNow, absl::Hours(1)));
  };

  void SetUp() override { Start(); }
  void Start() {
    ASSERT_OK_AND_ASSIGN(taker_,
                         UpdateTaker::Create(folder_.path(), server_.authority->certificate(),
                                             /*is_supervised=*/false));
  }
  v1::OfferedAgent Offer(const Server& server, const Digest& binary,
                         const std::string& platform = OwnAgentStamp().platform) {
    v1::OfferedAgent offer;
    offer.set_id("offer");
    *offer.mutable_statement() = *SignAgent(
        *server.signer, {.binary = binary, .version = "2.0.0", .platform = platform}, kNow);
    return offer;
  }
  v1::OfferedAgent Offer() { return Offer(server_, Digest::Of(kBytes)); }
  absl::Status Fetch(const v1::OfferedAgent& offer) {
    return taker_->Fetch(offer, store_, [this](const Digest& binary) {
      ++fetched_;
      return fetch_.ok() ? store_.Put(binary, bytes_) : fetch_;
    });
  }
  std::optional<agent::UpdateState> State() { return UpdateFolder(folder_.path()).Load(); }

  static constexpr char kBytes[] = "a binary";
  const TemporaryFolder folder_ = *TemporaryFolder::Create("taker");
  Server server_;
  FakeClock clock_;
  MemoryBlobStore store_{&clock_};
  std::unique_ptr<UpdateTaker> taker_;
  std::string bytes_ = kBytes;
  absl::Status fetch_;
  int fetched_ = 0;
};

TEST_F(UpdateTakerTest, KeepsWhatTheServerHasSignedAndHasItTried) {
  EXPECT_EQ(taker_->Told().binary().sha256(), OwnBinary()->hex());
  EXPECT_EQ(taker_->Told().platform(), OwnAgentStamp().platform);
  ASSERT_OK(Fetch(Offer()));
  EXPECT_FALSE(State().has_value());
  struct stat file;
  ASSERT_EQ(stat(UpdateFolder(folder_.path()).PathOf(Digest::Of(kBytes)).c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0111, 0100u);
  ASSERT_OK(taker_->Take(Offer()));
  EXPECT_EQ(State()->trial().offer(), "offer");
  EXPECT_EQ(State()->trial().version(), "2.0.0");
  EXPECT_EQ(State()->installed().sha256(), OwnBinary()->hex());
  EXPECT_OK(UpdateFolder(folder_.path()).Check(Digest::Of(kBytes)));
}

TEST_F(UpdateTakerTest, WhatTheServerHasNotSignedIsNotEvenFetched) {
  const v1::OfferedAgent foreign = Offer(Server(), Digest::Of(kBytes));
  EXPECT_THAT(Fetch(foreign), StatusIs(absl::StatusCode::kPermissionDenied,
                                       HasSubstr("the server that the agent has joined")));
  v1::OfferedAgent changed = Offer();
  changed.mutable_statement()->mutable_signature()->back() ^= 1;
  EXPECT_THAT(Fetch(changed), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Fetch(Offer(server_, Digest::Of(kBytes), "arm-32-other")),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("arm-32-other")));
  EXPECT_EQ(fetched_, 0);
  // It is remembered, and told after a restart too.
  Start();
  EXPECT_EQ(taker_->Told().failed(), "offer");
  EXPECT_THAT(taker_->Told().failure(), HasSubstr("arm-32-other"));
}

TEST_F(UpdateTakerTest, WhatHasOtherBytesIsNotTaken) {
  bytes_ = "other bytes";
  EXPECT_FALSE(Fetch(Offer()).ok());
  EXPECT_EQ(taker_->Told().failed(), "offer");
  EXPECT_THAT(UpdateFolder(folder_.path()).Check(Digest::Of(kBytes)),
              StatusIs(absl::StatusCode::kNotFound));
  // Nor is what became another one on the disk since.
  bytes_ = kBytes;
  ASSERT_OK(Fetch(Offer()));
  ASSERT_OK(WriteFileAtomically(UpdateFolder(folder_.path()).PathOf(Digest::Of(kBytes)), "rotten",
                                /*durable=*/false));
  EXPECT_THAT(taker_->Take(Offer()), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_FALSE(State()->has_trial());
}

TEST_F(UpdateTakerTest, WhatWasInterruptedIsNotGivenUp) {
  fetch_ = absl::CancelledError("the agent stops");
  EXPECT_THAT(Fetch(Offer()), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(taker_->Told().failed(), "");
  fetch_ = absl::NotFoundError("no such blob");
  EXPECT_THAT(Fetch(Offer()), StatusIs(absl::StatusCode::kNotFound, HasSubstr("fetching")));
  EXPECT_EQ(taker_->Told().failed(), "offer");
}

TEST_F(UpdateTakerTest, WhatRunsAlreadyIsNotTaken) {
  EXPECT_THAT(Fetch(Offer(server_, *OwnBinary())),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("runs already")));
}

TEST_F(UpdateTakerTest, AStateThatCannotBeReadIsNone) {
  ASSERT_OK(Fetch(Offer()));
  ASSERT_OK(taker_->Take(Offer()));
  ASSERT_OK(WriteFileAtomically(JoinPath(folder_.path(), "update/state"), "\xff", false));
  EXPECT_FALSE(State().has_value());
  Start();
  EXPECT_EQ(taker_->Told().failed(), "");
}

}  // namespace
}  // namespace slipway
