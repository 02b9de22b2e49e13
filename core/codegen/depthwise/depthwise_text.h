// The kernel of a convolution whose channels have a window each: a text of PTX from a template, in f32.
#ifndef SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TEXT_H_

#include <cstddef>
#include <string>

#include "core/codegen/depthwise/depthwise_tile.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/tensor_cores/matrix_product.h"

namespace slipway {

// A kernel of one launch, of a group of so many inputs and one output. An instance loads each element that its windows see once, row by row, four neighbours at a time where rows are whole vectors and tensors begin at such addresses, which running
// finds out; what neighbouring instances see, too, comes from the first cache. `entry` is a C identifier; the text has no preamble. REQUIRES: `product` is
// DecodeDepthwise's, of kMostDepthwiseElements in a window at most; the device is of 8.0 or later.
DeviceKernel DepthwiseKernel(const MatrixProduct& product, size_t inputs, const DepthwiseTile& tile,
                             const std::string& entry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TEXT_H_
