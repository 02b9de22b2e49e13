#include "tests/conformance/operators_document.h"

#include "core/base/files.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(OperatorsDocumentTest, IsTheOneThatIsKept) {
  const auto made = OperatorsDocument("core/reference/reference_corpus");
  ASSERT_OK(made.status());
  const auto kept = ReadFile("core/operators/OPERATORS.md", 1 << 20);
  ASSERT_OK(kept.status());
  EXPECT_EQ(*made, *kept) << "make it again; core/operators/README.md says how";
}

}  // namespace
}  // namespace slipway
