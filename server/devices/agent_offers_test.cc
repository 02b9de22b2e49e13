#include "server/devices/agent_offers.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AgentOffersTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() { ASSERT_OK_AND_ASSIGN(offers_, AgentOffers::Open(path_)); }
  static AgentOfferRecord Record(const std::string& platform, const std::string& binary) {
    AgentOfferRecord record;
    record.mutable_offer()->set_platform(platform);
    *record.mutable_offer()->mutable_binary() = ToProto(Digest::Of(binary));
    return record;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("offers");
  const std::string path_ = JoinPath(folder_.path(), "offers");
  std::unique_ptr<AgentOffers> offers_;
};

TEST_F(AgentOffersTest, OneAPlatformIsKept) {
  std::vector<std::string> told;
  offers_->Follow([&told](const std::vector<AgentOfferRecord>& all) {
    told.clear();
    for (const AgentOfferRecord& record : all) told.push_back(record.offer().platform());
  });
  EXPECT_THAT(told, IsEmpty());
  ASSERT_OK(offers_->Put(Record("x86-64-linux", "first")));
  EXPECT_THAT(told, ElementsAre("x86-64-linux"));
  ASSERT_OK(offers_->Put(Record("arm-64-linux", "other")));
  ASSERT_OK(offers_->Put(Record("x86-64-linux", "second")));
  EXPECT_THAT(told, ElementsAre("arm-64-linux", "x86-64-linux"));
  Open();
  EXPECT_THAT(offers_->Binaries(), ElementsAre(Digest::Of("other"), Digest::Of("second")));
  ASSERT_OK_AND_ASSIGN(const AgentOfferRecord removed, offers_->Remove("arm-64-linux"));
  EXPECT_EQ(removed.offer().platform(), "arm-64-linux");
  EXPECT_THAT(offers_->Remove("arm-64-linux"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'arm-64-linux'")));
  Open();
  EXPECT_THAT(offers_->Binaries(), ElementsAre(Digest::Of("second")));
}

TEST_F(AgentOffersTest, WhatCannotBeStoredChangesNothing) {
  ASSERT_OK(offers_->Put(Record("x86-64-linux", "first")));
  ASSERT_OK(RemoveTree(folder_.path()));
  EXPECT_FALSE(offers_->Put(Record("x86-64-linux", "second")).ok());
  EXPECT_FALSE(offers_->Remove("x86-64-linux").ok());
  EXPECT_THAT(offers_->Binaries(), ElementsAre(Digest::Of("first")));
}

TEST_F(AgentOffersTest, PlatformsAreBounded) {
  for (size_t i = 0; i < kMaxAgentOffers; ++i) {
    ASSERT_OK(offers_->Put(Record(absl::StrCat("p", i), "binary")));
  }
  EXPECT_THAT(offers_->Put(Record("one-more", "binary")),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(offers_->Put(Record("p0", "another")));
}

TEST_F(AgentOffersTest, WhatIsNoFileOfOffersIsNamed) {
  AgentOfferRecords no_binary;
  no_binary.add_records()->mutable_offer()->set_platform("x86-64-linux");
  for (const std::string& bytes : {std::string("\xff"), no_binary.SerializeAsString()}) {
    ASSERT_OK(WriteFileAtomically(path_, bytes, /*durable=*/false));
    EXPECT_THAT(AgentOffers::Open(path_), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
  }
}

}  // namespace
}  // namespace slipway::server
