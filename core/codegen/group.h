// Group: what one kernel computes, in the form that kernels are keyed and compiled by.
//
// A group is the body of a slipway.Fused node. Its inputs are everything that differs between two uses
// of the same kernel, weights included; constants inside the body are parameters (axes, bounds, small
// tables) and become part of the code. Shapes are static.
#ifndef SLIPWAY_CORE_CODEGEN_GROUP_H_
#define SLIPWAY_CORE_CODEGEN_GROUP_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// Whether a kernel for `body` can be generated, as far as that can be said without generating it.
// UNIMPLEMENTED names the node and operator without a lowering, or the value whose type or size no
// kernel can have; INVALID_ARGUMENT a value without type or a node that does not fit its schema.
absl::Status CheckGroup(const Graph& body, const OperatorRegistry& registry,
                        const Lowerings& lowerings);

// The body with everything removed that does not change the kernel: names, and dimensions that may be one
// (merge_dimensions.h). REQUIRES: CheckGroup.
Graph NormalizeGroup(const Graph& body, const OperatorRegistry& registry);

// What a kernel computes and for which target, in 16 hexadecimal digits: the same whatever makes it, so that what somebody has
// found out about a kernel is still found when the compiler is another. `products` is what products of f32 are made in.
std::string KernelName(const Graph& normalized_body, const DeviceTarget& target,
                       Precision products = Precision::kFloat32);

// Everything that decides over the bytes of a kernel, as a digest: the normalized body, the canonical
// target, the revisions of the body's lowerings, `generator`, which is GeneratorFingerprint(), and the schedule that a record
// gives it, as text; empty: none. `products` as of KernelName.
Digest KernelKey(const Graph& normalized_body, const DeviceTarget& target,
                 const Lowerings& lowerings, absl::string_view generator,
                 absl::string_view recorded_schedule = "",
                 Precision products = Precision::kFloat32);

// The name under which the kernel of `key` is called, as the kernel_abi.h function of a table entry.
std::string KernelSymbol(const Digest& key);
// The name it is compiled by; KernelSymbol is its wrapper.
std::string KernelFunction(const Digest& key);

// "Conv+Relu": the operators in order, without repetitions of neighbours.
std::string DescribeGroup(const Graph& body);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_GROUP_H_
