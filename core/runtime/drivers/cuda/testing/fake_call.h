// What calls of fakes of NVIDIA's libraries have in common.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_CALL_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_CALL_H_

#include <mutex>
#include <set>
#include <string>

#include "core/runtime/drivers/cuda/testing/fake_settings.h"

namespace slipway::fake_cuda {

// One at a time in a library. `result` is 0, or what a setting of the function's name says.
struct Call {
  explicit Call(const char* function)
      : lock(Mutex()), result(static_cast<int>(Number(function, 0))) {
    if (Number("calls", 0) != 0) Trace(std::string("call ") + function);
  }
  static std::recursive_mutex& Mutex() {
    static auto& mutex = *new std::recursive_mutex;
    return mutex;
  }

  const std::lock_guard<std::recursive_mutex> lock;
  const int result;
};

template <typename T>
void CheckAlive(const std::set<T*>& alive, T* object, const char* function) {
  if (alive.count(object) == 0) Violation(std::string(function) + " of what is not there");
}

template <typename T>
int Destroy(std::set<T*>& alive, T* object, const Call& call, const char* function) {
  CheckAlive(alive, object, function);
  alive.erase(object);
  delete object;
  return call.result;
}

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_CALL_H_
