// Kernels of fakes of NVIDIA's libraries: texts of PTX, an instance an element, given to the process's libcuda, which has to be the one without a GPU.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_KERNELS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_KERNELS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway::fake_cuda {

// Those of a handle, which are there once they were looked for.
class FakeKernels {
 public:
  // Loads what of the text is not there yet, as libraries do when they look for ways.
  void Load(const std::string& text, const std::string& entry);
  // Launches it for so many elements. The setting "idle" has launches that do nothing come before it: "3,0" for the first way and the second one.
  CUresult Launch(const std::string& text, std::vector<const void*> addresses, uint64_t elements,
                  uint64_t way, CUstream stream) const;
  // Comes before the end: their context is to be current.
  void Unload();

 private:
  CUfunction Find(const std::string& text) const;

  std::map<std::string, std::pair<CUmodule, CUfunction>> loaded_;  // By text.
};

// What texts begin with: the parameters are addresses; %rd1 is the element's number, and is less than `elements` behind this. There are %p<4>, %h<2>, %r<8>, %f<8>
// and %rd<16>. They end with "DONE:\n  ret;\n}\n".
std::string BeginKernel(const std::string& entry, const std::vector<std::string>& parameters,
                        int64_t elements);
// An element of the type in a register of f32, from the address in a register; with %h1 and %r1.
enum class FakeType { kFloat32, kFloat16, kBfloat16 };
int BytesOf(FakeType type);
std::string LoadText(FakeType type, const std::string& to, const std::string& address);
// x of %f1, by the tanh, with %f2.
std::string GeluText();
std::string Text(int64_t number);

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_KERNELS_H_
