// SuiteCase: a program for a machine with a GPU, and what it is to compute there, as lines of a file.
//
// A suite is a folder: cases/NAME/case and the tensors beside it, and blobs/ with what manifests name, by digest. Constants
// that were made from a seed are made again on that machine.
#ifndef SLIPWAY_TESTS_GPU_SUITE_SUITE_CASE_H_
#define SLIPWAY_TESTS_GPU_SUITE_SUITE_CASE_H_

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/base/digest.h"
#include "core/codegen/tensor_cores/weight_layout.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"
#include "tests/common/seeded_tensor.h"

namespace slipway::testing {

struct SuiteCase {
  std::string kind;               // A word: what people look for it under.
  std::string like;               // What PyTorch's counterpart is called; empty for none.
  std::string precision = "f32";  // What products were asked for in.
  Digest manifest;
  Tolerance tolerance;
  // A .npy file's name, or how it is made.
  std::vector<std::variant<std::string, SeededNormal>> inputs;
  struct Output {
    std::string file;    // .npy; flat where there is a stride above 1.
    int64_t stride = 1;  // Of the elements that are in the file.
  };
  std::vector<Output> outputs;
  // Constants of seeds, as a program for tensor cores has them, if `layout` says how.
  struct Constant {
    SeededNormal seeded;
    std::optional<WeightLayout> layout;
  };
  std::map<Digest, Constant> constants;
};

// The bytes of a constant are those of this.
Tensor MakeConstant(const SuiteCase::Constant& constant);

std::string FormatSuiteCase(const SuiteCase& suite_case);
// INVALID_ARGUMENT names the line.
absl::StatusOr<SuiteCase> ParseSuiteCase(absl::string_view text);

std::string BlobPath(const std::string& suite, const Digest& digest);
std::string CaseFolder(const std::string& suite, absl::string_view name);

// Every `stride`th element, as f32[n] or what the type is, where the stride is not 1.
Tensor Sampled(const Tensor& tensor, int64_t stride);

// Blobs are verified, those of seeds as well: DATA_LOSS.
absl::StatusOr<Artifact> LoadSuiteProgram(const std::string& suite, const SuiteCase& suite_case);
absl::StatusOr<std::vector<Tensor>> LoadSuiteInputs(const std::string& folder,
                                                    const SuiteCase& suite_case);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_SUITE_SUITE_CASE_H_
