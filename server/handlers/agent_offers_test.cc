#include "server/handlers/agent_offers.h"

#include <memory>
#include <string>

#include "core/rpc/agent_statement.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/identities/statement_key.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class AgentOffersHandlerTest : public ::testing::Test {
 protected:
  void SetUp() override { server_.env.statement_key = key_.get(); }

  v1::OfferAgentRequest Request() {
    v1::OfferAgentRequest request;
    *request.mutable_offer()->mutable_binary() = server_.Put("the binary");
    request.mutable_offer()->set_version("1.2.3");
    request.mutable_offer()->set_platform("arm-64-linux");
    return request;
  }
  absl::StatusOr<v1::AgentOffer> Offer(const v1::OfferAgentRequest& request) {
    v1::AgentOffer offer;
    const absl::Status status = OfferAgent(server_.caller, server_.env, request, &offer);
    if (!status.ok()) return status;
    return offer;
  }

  testing::HandlerEnvironment server_;
  const std::unique_ptr<StatementKey> key_ = *StatementKey::Open(
      server_.authority.get(), JoinPath(server_.folder.path(), "signer.pem"), server_.clock.Now());
};

TEST_F(AgentOffersHandlerTest, WhatIsOfferedIsSignedAndListedUntilItIsWithdrawn) {
  ASSERT_OK_AND_ASSIGN(const v1::AgentOffer offer, Offer(Request()));
  EXPECT_EQ(offer.by(), "ann");
  EXPECT_EQ(offer.at_once(), 1);
  EXPECT_EQ(offer.max_failures(), 1);
  v1::ListAgentOffersResponse list;
  ASSERT_OK(ListAgentOffers(server_.env, &list));
  ASSERT_EQ(list.rollouts_size(), 1);
  EXPECT_EQ(list.rollouts(0).offer().id(), offer.id());
  // What agents are told.
  v1::SignedStatement statement;
  server_.agent_offers->Follow(
      [&](const std::vector<AgentOfferRecord>& all) { statement = all.at(0).statement(); });
  ASSERT_OK_AND_ASSIGN(const OfferedBinary said,
                       CheckAgentStatement(key_->checker(), statement, "arm-64-linux"));
  EXPECT_EQ(said.binary, *FromProto(Request().offer().binary()));
  server_.agent_offers->Follow(
      [this](const std::vector<AgentOfferRecord>& all) { server_.dispatcher->SetOffers(all); });

  // Offered again, it is another offer.
  ASSERT_OK_AND_ASSIGN(const v1::AgentOffer again, Offer(Request()));
  EXPECT_NE(again.id(), offer.id());
  v1::WithdrawAgentOfferRequest request;
  request.set_platform("arm-64-linux");
  v1::AgentOffer withdrawn;
  ASSERT_OK(WithdrawAgentOffer(server_.env, request, &withdrawn));
  EXPECT_EQ(withdrawn.id(), again.id());
  EXPECT_THAT(WithdrawAgentOffer(server_.env, request, &withdrawn), StatusIs(Code::kNotFound));
  list.Clear();
  ASSERT_OK(ListAgentOffers(server_.env, &list));
  EXPECT_EQ(list.rollouts_size(), 0);
}

TEST_F(AgentOffersHandlerTest, WhatIsMalformedIsNamed) {
  const auto check = [this](auto change, const std::string& message) {
    v1::OfferAgentRequest request = Request();
    change(*request.mutable_offer());
    EXPECT_THAT(Offer(request), StatusIs(Code::kInvalidArgument, HasSubstr(message)));
  };
  check([](v1::AgentOffer& offer) { offer.clear_binary(); }, "binary");
  check([](v1::AgentOffer& offer) { offer.mutable_binary()->set_size_bytes(kMaxAgentBytes + 1); },
        "at most");
  check([](v1::AgentOffer& offer) { offer.set_version("1 2"); }, "version");
  check([](v1::AgentOffer& offer) { offer.clear_version(); }, "version");
  check([](v1::AgentOffer& offer) { offer.set_platform("../up"); }, "platform");
  check([](v1::AgentOffer& offer) { offer.set_selector("cores>>2"); }, "^");
  check([](v1::AgentOffer& offer) { offer.set_selector("No Device"); }, "");
  check([](v1::AgentOffer& offer) { offer.set_at_once(-1); }, "at_once");
  check([](v1::AgentOffer& offer) { offer.set_max_failures(10'001); }, "max_failures");
}

TEST_F(AgentOffersHandlerTest, WhatCannotBeOfferedSaysWhatToDo) {
  v1::OfferAgentRequest elsewhere = Request();
  *elsewhere.mutable_offer()->mutable_binary() = ToProto(Digest::Of("elsewhere"));
  EXPECT_THAT(Offer(elsewhere), StatusIs(Code::kFailedPrecondition, HasSubstr("send it first")));
  server_.env.statement_key = nullptr;
  EXPECT_THAT(Offer(Request()), StatusIs(Code::kFailedPrecondition, HasSubstr("over TLS")));
}

}  // namespace
}  // namespace slipway::server
