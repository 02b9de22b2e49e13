// Steps that vendors' libraries take as they are: products by cuBLASLt, convolutions by cuDNN.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_VENDOR_STEPS_H_
#define SLIPWAY_CORE_BACKENDS_GPU_VENDOR_STEPS_H_

#include <optional>

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/precision.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// What a group computes, as its artifact describes it (core/artifact/vendor_step.h), without steps, and with numbers of tensors in place of values: the
// group's inputs, then its output. Nothing where it is neither a product of matrices nor a convolution, or does behind it what the library does not do, or not as the
// group's own kernel does. `precision` is what its own kernel multiplies in. REQUIRES: the group's types are known.
std::optional<v1::ProgramNotes::VendorStep> DescribeForLibrary(const Graph& body,
                                                               const OperatorRegistry& registry,
                                                               Precision precision);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_VENDOR_STEPS_H_
