#include "core/rpc/proof_files.h"

#include <string>

#include "core/base/files.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(ProofFilesTest, AReplacedFileIsNoticedOnce) {
  const TemporaryFolder folder = *TemporaryFolder::Create("proof_files_test");
  const CallerProof proof = {.identity_file = JoinPath(folder.path(), "identity"),
                             .authority_file = JoinPath(folder.path(), "authority")};
  ProofFiles files(proof);
  EXPECT_FALSE(files.HaveChanged());
  for (const std::string& path : {proof.identity_file, proof.authority_file}) {
    for (const char* text : {"one", "two"}) {
      ASSERT_OK(WriteFileAtomically(path, text, /*durable=*/false));
      EXPECT_TRUE(files.HaveChanged()) << path << " " << text;
      EXPECT_FALSE(files.HaveChanged()) << path << " " << text;
    }
  }
}

TEST(ProofFilesTest, WithoutFilesNothingChanges) {
  ProofFiles files(CallerProof{.authority = "a certificate"});
  EXPECT_FALSE(files.HaveChanged());
}

}  // namespace
}  // namespace slipway
