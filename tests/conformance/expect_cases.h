// What a test expects of cases that were run.
#ifndef SLIPWAY_TESTS_CONFORMANCE_EXPECT_CASES_H_
#define SLIPWAY_TESTS_CONFORMANCE_EXPECT_CASES_H_

#include <cstddef>
#include <vector>

#include "tests/conformance/backend_case.h"

namespace slipway {

// At least `least` pass, and of the others each is unsupported. Prints how many passed, and why which are unsupported.
void ExpectCasesPass(const std::vector<CaseResult>& results, size_t least);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_EXPECT_CASES_H_
