// Every method has a seed in rpc_corpus, which the server answers.
#include <optional>
#include <string>

#include "core/base/files.h"
#include "gtest/gtest.h"
#include "server/services/access.h"
#include "tests/common/status_matchers.h"
#include "tests/fuzz/grpc_fuzzed_server.h"
#include "tests/fuzz/rpc_seeds.h"

namespace slipway::testing {
namespace {

using ::testing::AnyOf;

using server::AccessRow;
using server::kAccess;

TEST(RpcCorpus, EveryMethodHasASeed) {
  for (const AccessRow& row : kAccess) {
    const std::string path = "tests/fuzz/rpc_corpus/" + SeedName(row);
    ASSERT_NE(MethodOf(row), nullptr) << row.method << " is no method of the protocol";
    const std::optional<std::string> seed = SeedOf(row);
    if (!seed.has_value()) {
      ADD_FAILURE() << "row " << static_cast<int>(row.rpc) << " of kAccess, " << row.method
                    << ", has no seed: make a valid request in MessagesFor of "
                       "tests/fuzz/rpc_seeds.cc, then write it to "
                    << path << " with 'bazel run //tests/fuzz:write_rpc_corpus'";
      continue;
    }
    const absl::StatusOr<std::string> kept = ReadFile(path, 1 << 20);
    EXPECT_TRUE(kept.ok() && *kept == *seed)
        << path << " is not what tests/fuzz/rpc_seeds.cc makes of " << row.method
        << ": write it with 'bazel run //tests/fuzz:write_rpc_corpus -- "
           "$PWD/tests/fuzz/rpc_corpus'";
  }
}

// As a request of anybody's would be, once its names stand for something.
TEST(RpcCorpus, TheServerTakesEverySeed) {
  for (const AccessRow& row : kAccess) {
    const std::optional<std::string> seed = SeedOf(row);
    if (!seed.has_value()) continue;
    SCOPED_TRACE(SeedName(row));
    FuzzedServer server;
    const absl::Status status = server.Take(*seed);
    // What goes on until its caller leaves was taken too.
    if (row.rpc == server::Rpc::kRenew || row.rpc == server::Rpc::kVouch ||
        row.rpc == server::Rpc::kOfferAgent) {
      // Who comes over a unix socket has nothing to renew, no authority to check what is said against, and no signature to offer.
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    } else if (row.rpc == server::Rpc::kGetHistoryEntry || row.rpc == server::Rpc::kGetRecord ||
               row.rpc == server::Rpc::kWithdrawAgentOffer) {
      // Nothing has been measured or offered there.
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    } else if (!FuzzedServer::MayWait(row.rpc)) {
      EXPECT_OK(status);
    } else if (!status.ok()) {
      // A session's first client may come to it after the one that resumes it, and then has it.
      EXPECT_THAT(status, AnyOf(StatusIs(absl::StatusCode::kDeadlineExceeded),
                                StatusIs(absl::StatusCode::kAborted)));
    }
  }
}

TEST(RpcCorpus, MessagesAreSplitAsTheyWereJoined) {
  const AccessRow& stream = kAccess[static_cast<size_t>(server::Rpc::kWrite)];
  const std::vector<std::string> messages = {"", std::string(300, 'a'), "b"};
  EXPECT_EQ(SplitMessages(stream, JoinMessages(stream, messages)), messages);
  // A size is no promise.
  EXPECT_EQ(SplitMessages(stream, std::string("\xff\xff\xff\xff", 4) + "ab"),
            std::vector<std::string>{"ab"});
  EXPECT_EQ(SplitMessages(stream, "abc"), std::vector<std::string>{});
  const AccessRow& unary = kAccess[static_cast<size_t>(server::Rpc::kGetJob)];
  EXPECT_EQ(SplitMessages(unary, "abc"), std::vector<std::string>{"abc"});
}

}  // namespace
}  // namespace slipway::testing
