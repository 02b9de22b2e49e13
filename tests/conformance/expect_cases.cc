#include "tests/conformance/expect_cases.h"

#include <iostream>

#include "gtest/gtest.h"

namespace slipway {

void ExpectCasesPass(const std::vector<CaseResult>& results, size_t least) {
  size_t passed = 0;
  for (const CaseResult& result : results) {
    if (result.verdict == CaseResult::Verdict::kPassed) {
      ++passed;
    } else if (result.verdict == CaseResult::Verdict::kUnsupported) {
      std::cout << "unsupported: " << result.name << ": " << result.reason << "\n";
    } else {
      ADD_FAILURE() << result.name << " " << Name(result.verdict) << ": " << result.reason;
    }
  }
  std::cout << passed << " of " << results.size() << " pass\n";
  EXPECT_GE(passed, least);
}

}  // namespace slipway
