// What a conformance run found, for people and as JSON.
#ifndef SLIPWAY_TESTS_CONFORMANCE_REPORT_H_
#define SLIPWAY_TESTS_CONFORMANCE_REPORT_H_

#include <string>
#include <vector>

#include "tests/conformance/backend_case.h"

namespace slipway {

// What crashed or hung counts as failed in both; the verdict in JSON tells which.
//
// A table with a line an operator that has a case that passed or failed, the reasons of what failed,
// the operators without support, and counts on the last line.
std::string FormatTable(const std::vector<CaseResult>& results);

// {"passed": N, "failed": N, "unsupported": N, "cases": [{"name", "operator", "verdict", "reason"}]}
std::string FormatJson(const std::vector<CaseResult>& results);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_REPORT_H_
