// Which products a GPU multiplies on tensor cores, in fewer bits than f32 has.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_TENSOR_PRODUCTS_H_
#define SLIPWAY_CORE_BACKENDS_GPU_TENSOR_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// A pass (pass.h), behind PlaceOnDevice: gives each slipway.Fused of device 1 that the template for tensor cores serves (core/codegen/tensor_cores)
// the attribute `products`, unless it has it already, as attention does. What makes products and stays f32, and why, are notes of the context's ledger; so is a device that has no tensor cores
// for `precision`, whose products all stay.
absl::StatusOr<Graph> UseTensorCores(Graph graph, const PassContext& context,
                                     const DeviceTarget& device, Precision precision);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_TENSOR_PRODUCTS_H_
