// What tests tell fakes of NVIDIA's libraries, and what these tell tests.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_SETTINGS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_SETTINGS_H_

#include <cstdint>
#include <string>

namespace slipway::fake_cuda {

// Ends the process: the caller did what no caller may.
[[noreturn]] void Violation(const std::string& what);

// $SLIPWAY_FAKE_CUDA, words with a blank between, read at each call, or without that the file "settings" beside the fake itself, for processes that no variable reaches: "devices=1 capability=90 version=11040 ptx=7.0 memory=1000000
// cuMemAlloc_v2=2" - the last one has that function give result 2. "calls=1" has each call traced, "counts=1" what kernels did, "kernels=0" launches do nothing.
// fake_cublaslt.cc and fake_cudnn.cc have some of their own.
std::string Setting(const std::string& key, const std::string& otherwise);
int64_t Number(const std::string& key, int64_t otherwise);
// A line for the file $SLIPWAY_FAKE_CUDA_TRACE, if that is set.
void Trace(const std::string& line);

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_SETTINGS_H_
