// A machine whose GPUs are fakes: a libcuda that interprets PTX (core/runtime/drivers/cuda/testing), and what tells of them.
#ifndef SLIPWAY_TESTS_COMMON_FAKE_GPU_H_
#define SLIPWAY_TESTS_COMMON_FAKE_GPU_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway::testing {

// Puts NVIDIA's libraries where confined programs of an agent find them, below its --cache-dir, which is made; the folder
// that is returned belongs into the agent's $LD_LIBRARY_PATH. `settings` are told to the libcuda, in confined programs, too: "capability=90" (fake_settings.h there).
absl::StatusOr<std::string> PutFakeGpu(const std::string& cache, const std::string& settings = "");

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_FAKE_GPU_H_
