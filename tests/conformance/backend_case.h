// One case in ONNX's backend-test layout: a folder with model.onnx and, in test_data_set_*, inputs and
// expected outputs as input_N.pb and output_N.pb.
#ifndef SLIPWAY_TESTS_CONFORMANCE_BACKEND_CASE_H_
#define SLIPWAY_TESTS_CONFORMANCE_BACKEND_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/comparison.h"
#include "tests/conformance/engine.h"

namespace slipway {

struct BackendCase {
  std::string name;  // The folder's own name: "test_add"
  std::string folder;
};

// The cases in `folder` and below in whose names the regular expression `which` (of std::regex) finds something, all by default; sorted by
// name. NOT_FOUND when there is none.
absl::StatusOr<std::vector<BackendCase>> FindBackendCases(const std::string& folder,
                                                          const std::string& which = "");

struct CaseResult {
  // Of the last two, see run_cases.h.
  enum class Verdict { kPassed, kFailed, kUnsupported, kCrashed, kHung };
  std::string name;
  std::string op;  // The operator tested; "(several)" for models of more than one node.
  Verdict verdict = Verdict::kFailed;
  std::string reason;  // Why it did not pass.
};

// "passed", "failed", "unsupported", "crashed", "hung".
std::string Name(CaseResult::Verdict verdict);

// Runs every data set of the case. Unsupported is what the engine says is UNIMPLEMENTED.
CaseResult RunBackendCase(const BackendCase& backend_case, Engine& engine,
                          const Tolerance& tolerance);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_BACKEND_CASE_H_
