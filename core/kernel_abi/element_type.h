// Element types of the core in the words of kernel_abi.h.
#ifndef SLIPWAY_CORE_KERNEL_ABI_ELEMENT_TYPE_H_
#define SLIPWAY_CORE_KERNEL_ABI_ELEMENT_TYPE_H_

#include "core/kernel_abi/kernel_abi.h"
#include "core/tensor/dtype.h"

namespace slipway {

// What slipway_buffer says of tensors of `dtype`. REQUIRES: dtype has a fixed size.
slipway_element_type ElementType(DataType dtype);

}  // namespace slipway

#endif  // SLIPWAY_CORE_KERNEL_ABI_ELEMENT_TYPE_H_
