// Nodes that are kernels of a program.
//
// slipway.Fused: a group of nodes that becomes one kernel. Its attribute `body` is a typed graph whose
// inputs and outputs match the node's in number, order and type; constants of the body stay inside. Backends for several
// devices say with its attribute `device` which one of the target's computes it; one with `copies` is an Identity that brings its
// input into that device's memory from another's. One with `products`, a Precision's number, rounds factors of f32 to that, and sums in f32.
//
// slipway.Call: a call of a callable kernel (core/kernels). Its `body` is a typed graph of the one node that the kernel
// computes, its `kernel` the kernel's symbol. Input 0 is the kernel's parameters, i64[n]; the others are the inputs that
// the body's node has, in their order, those too that are constants of the body. The outputs match the body's; or with the
// attribute `extents` there is one, i64[as many]: those extents of these that the kernel finds.
//
// slipway.BindSymbols: gives the symbols of its attribute `symbols` the numbers that input 0, i64[as many], holds. No outputs;
// it stands before whatever needs one of them.
#ifndef SLIPWAY_CORE_OPERATORS_FUSED_H_
#define SLIPWAY_CORE_OPERATORS_FUSED_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/precision.h"

namespace slipway {

inline constexpr char kFusedOperator[] = "slipway.Fused";
inline constexpr char kCallOperator[] = "slipway.Call";
inline constexpr char kBindSymbolsOperator[] = "slipway.BindSymbols";
inline constexpr char kBoundSymbols[] = "symbols";
inline constexpr char kFusedBody[] = "body";  // Of both.
inline constexpr char kFusedDevice[] = "device";
inline constexpr char kFusedCopies[] = "copies";
inline constexpr char kFusedProducts[] = "products";
inline constexpr char kCallSymbol[] = "kernel";
inline constexpr char kCallExtents[] = "extents";

// What the body's inputs are, of a slipway.Call's inputs: by body input the place of an input of the node. REQUIRES: the
// node passed its type rule.
std::vector<int> CallInputsOfBody(const Graph& body);

// Of any node: the number of the device of the target that computes it, 0 for the host; and whether it is a copy.
int64_t DeviceNumberOf(const Node& node);
bool IsDeviceCopy(const Node& node);
// What its products of f32 are made in: kFloat32 unless it says something else.
Precision ProductsOfNode(const Node& node);

absl::Status RegisterFusedOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_FUSED_H_
