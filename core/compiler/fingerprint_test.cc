#include "core/compiler/fingerprint.h"

#include <gtest/gtest.h>

#include "gmock/gmock.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Fingerprint, NamesWhatMakesArtifacts) {
  EXPECT_THAT(FingerprintText(),
              AllOf(HasSubstr("slipway 0."), HasSubstr("passes-"), HasSubstr("cpu-"),
                    HasSubstr("halide-14"), HasSubstr("codegen-")));
}

TEST(Fingerprint, IsADigest) {
  EXPECT_EQ(WorkerFingerprint().size(), 64u);
  EXPECT_EQ(WorkerFingerprint(), WorkerFingerprint());
}

}  // namespace
}  // namespace slipway
