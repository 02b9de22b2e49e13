// The limits of passes.
#ifndef SLIPWAY_CORE_PASSES_LIMITS_H_
#define SLIPWAY_CORE_PASSES_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace slipway {

// Shapes are computed from tensors at most this large while types are inferred.
inline constexpr int64_t kMaxShapeArithmeticBytes = 64 << 10;
// After as many rounds no extent of what a loop carries counts as known.
inline constexpr int kMaxWideningRounds = 4;
// Nodes of bodies that are looked at while types are inferred, each as often as it is.
inline constexpr int64_t kMaxInferredBodyNodes = 400'000;
// Constants that FoldConstant may make of one graph, in all. Weights written as ConstantOfShape count.
inline constexpr int64_t kMaxFoldedBytes = int64_t{2} << 30;
// Work (core/reference/work.h) that FoldConstant may do for one node, and for a graph with its bodies: seconds, after which
// the worker is others'. What is left is computed in each call.
inline constexpr int64_t kMaxFoldWork = int64_t{1} << 31;
inline constexpr int64_t kMaxFoldedWork = int64_t{1} << 32;
// More for each element of constants that the graph has already: large models have large weights to be turned around.
inline constexpr int64_t kFoldedWorkAnElement = 16;
// Work that InferType may do for the shapes of one graph.
inline constexpr int64_t kMaxShapeArithmeticWork = int64_t{1} << 26;
// Elements of a mask that ExpandOps writes out.
inline constexpr int64_t kMaxWrittenMaskElements = int64_t{16} << 20;
// Constants of as many bytes are computed when their bytes are asked for.
inline constexpr int64_t kLargeConstantBytes = 64 << 10;
// A constant with as many elements of an integer type becomes part of a fusion group's body (it says
// how to compute: axes, pads); a larger one is an input of the group (it is data).
inline constexpr int64_t kMaxBodyIntegers = 64;
// Nodes of one fusion group. core/codegen refuses more than 256.
inline constexpr int kMaxFusedNodes = 32;
// Inputs of one fusion group.
inline constexpr int kMaxFusedInputs = 64;

// Names that passes make are cut to this, so that theirs, with what they are made longer by, stay within
// kMaxNameBytes.
inline constexpr int kMaxMadeNameBytes = 1024;

// Nodes that loops over sequences may become in a graph, and elements that are known of a sequence.
inline constexpr int64_t kMaxUnrolledNodes = 20'000;
inline constexpr int64_t kMaxKnownElements = 1'024;

// Turns of a loop that Gradient derives: what each began with is kept, and their numbers are a constant.
inline constexpr int64_t kMaxDerivedTurns = 1 << 20;
// Nodes of a graph, or body, whose gradients are written out: gradients of gradients have several times as many.
inline constexpr size_t kMaxDerivedNodes = 50'000;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_LIMITS_H_
