// Cases in processes of their own, so that one that crashes or hangs is one result.
#ifndef SLIPWAY_TESTS_CONFORMANCE_RUN_CASES_H_
#define SLIPWAY_TESTS_CONFORMANCE_RUN_CASES_H_

#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/backend_case.h"

namespace slipway {

struct ProcessOptions {
  int jobs = 1;                                // Processes at a time.
  absl::Duration deadline = absl::Minutes(2);  // Of each; one that takes longer is killed.
};

// The results of all cases, in their order. `run` is called in a child process, forked off this one: the caller must have
// no other threads.
std::vector<CaseResult> RunCases(const std::vector<BackendCase>& cases,
                                 const std::function<CaseResult(const BackendCase&)>& run,
                                 const ProcessOptions& options);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_RUN_CASES_H_
