// Numbers as tensor cores take them, from their bits.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_NUMBERS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_NUMBERS_H_

#include <cstdint>
#include <cstring>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/tensor/float16.h"

namespace slipway::fake_cuda {

// Ends the process where the bits below those of tf32 are set: devices would cut them off, which nobody asks for.
inline float FromTf32(uint32_t bits) {
  if ((bits & 0x1FFF) != 0) Violation("a product of a number that is no tf32");
  float value = 0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
inline float FromF16(uint32_t bits) { return Float16ToFloat(static_cast<uint16_t>(bits)); }
inline float FromBf16(uint32_t bits) { return Bfloat16ToFloat(static_cast<uint16_t>(bits)); }

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_NUMBERS_H_
