// A program with a device beside the host, run in a process of its own over a libcuda without a GPU: Halide's LLVM and PoCL's are not to be in one.
#ifndef SLIPWAY_TESTS_GPU_RUN_ELSEWHERE_H_
#define SLIPWAY_TESTS_GPU_RUN_ELSEWHERE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/tensor/tensor.h"

namespace slipway::testing {

// Its so many outputs. The process runs twice what it does, and leaves a trace of its calls as "trace" in `folder`, with whatever files it needs. INTERNAL with
// all that it said where it fails. REQUIRES: //tests/gpu:run_program and //core/runtime/drivers/cuda/testing:libcuda.so.1 are data of the test.
absl::StatusOr<std::vector<Tensor>> RunElsewhere(const Artifact& artifact,
                                                 const std::vector<Tensor>& inputs, size_t outputs,
                                                 const std::string& folder);

// The same with a libcublasLt and a libcudnn over that libcuda, whose settings (fake_cublaslt.cc, fake_cudnn.cc) are given: used "always", or where it is "measured" to be faster, by times that
// are kept in `folder` from one call to the next. REQUIRES: those that are wanted, as //core/runtime/drivers/cuda/testing:libcublasLt.so.12, are data of the test, too.
struct RanWithLibraries {
  std::vector<Tensor> outputs;
  // Of each step that the library could make, in their order: "cublasLt 12.4.5: NAME" where it does, else "own: NAME".
  std::vector<std::string> steps;
  std::string trace;  // Of the libcuda, of this call.
};
absl::StatusOr<RanWithLibraries> RunWithLibraries(const Artifact& artifact,
                                                  const std::vector<Tensor>& inputs, size_t outputs,
                                                  const std::string& use,
                                                  const std::string& settings,
                                                  const std::string& folder);

// How often instances came to instructions, by the first two words of their names ("mma.sync"), in all launches of one run; otherwise the same.
absl::StatusOr<std::map<std::string, int64_t>> CountElsewhere(const Artifact& artifact,
                                                              const std::vector<Tensor>& inputs,
                                                              const std::string& folder);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_RUN_ELSEWHERE_H_
