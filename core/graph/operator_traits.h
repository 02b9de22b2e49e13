// Traits: what passes and backends must know of an operator beyond its types. They stand in its schema;
// an operator registered from outside is treated like one of ours that has the same traits.
#ifndef SLIPWAY_CORE_GRAPH_OPERATOR_TRAITS_H_
#define SLIPWAY_CORE_GRAPH_OPERATOR_TRAITS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// How an operator may be compounded with its neighbours.
enum class Pattern {
  kElementwise,  // One element of each same-shaped input per output element: Relu.
  kBroadcast,    // The same after broadcasting: Add.
  kInjective,    // Every output element is one input element, elsewhere: Transpose, Concat.
  kReduction,  // An output element reads many of input 0, which no other reads: ReduceMean. Takes elementwise and
  // broadcast nodes before and behind it into its kernel.
  kRereading,  // The same, but elements of input 0 are read more than once: MaxPool, ArgMax. Takes them behind it.
  kOutFusable,  // Takes elementwise and broadcast nodes behind it into its kernel: Conv, Gemm.
  kOpaque,      // Never fused.
  kKernel,      // A kernel of a program, to which nothing is added: slipway.Fused, slipway.Call.
};
absl::string_view Name(Pattern pattern);

// Whether an output element is made of one element of each input.
inline bool IsElementwise(Pattern pattern) {
  return pattern == Pattern::kElementwise || pattern == Pattern::kBroadcast;
}

// What becomes of the inputs' bytes where that is known without looking at values.
enum class Movement {
  kOther,        // They are computed with, or moved in a way that nothing rests on.
  kView,         // Output 0 is input 0's bytes under another shape: needs no kernel. Further inputs
                 // say which shape.
  kPermutation,  // Output 0 has every element of input 0 once, in another place, and perhaps zeros:
                 // inlining it computes nothing twice.
  kConcat,       // Output 0 is the inputs' elements, one input behind the other along the attribute
                 // "axis" (negative: from the end). Needs no kernel where the inputs can be made in
                 // their places.
  kSplit,  // The other way round: input 0 is the outputs' elements. Further inputs say how many each has.
};

// Whether parts of a tensor and the whole are read and made.
inline bool MovesParts(Movement movement) {
  return movement == Movement::kConcat || movement == Movement::kSplit;
}

// Whether a node that is in no kernel leaves everything where it lies.
inline bool LiesInPlace(Movement movement) {
  return movement == Movement::kView || MovesParts(movement);
}

// What an operator may do over tensors of rank 4 whose channels lie in blocks (NCHW as NCHWc).
enum class LayoutRole {
  kPlain,        // Nothing: it reads and makes plain tensors.
  kConvolution,  // Has the inputs and attributes of ONNX's Conv; blocked it is another operator.
  kWindow,       // Slides a window over H and W of its one input; blocked it is another operator.
  kSpatialReduction,  // Has the inputs and attributes of ONNX's ReduceMean. Takes blocked tensors as
                      // they are when it reduces H and W alone and keeps the dimensions.
  kElementwise,       // Broadcasts as ONNX's Add does; takes blocked tensors as they are.
  kConcat,            // Joins along "axis"; takes blocked tensors as they are.
  kNormalization,  // Has the inputs and attributes of ONNX's InstanceNormalization or GroupNormalization; blocked it is
                   // several operators.
  // Have the inputs and attributes of ONNX's Slice, Split, Resize and Pad. Take blocked tensors, with what is said of
  // their dimensions, where channels move in whole blocks.
  kSlice,
  kSplit,
  kResize,
  kPad,
};

struct LayoutTrait {
  LayoutRole role = LayoutRole::kPlain;
  // kConvolution, kWindow: the operator that computes the same over blocked tensors. It has the first's
  // attributes as far as its schema names them; a convolution's weights are packed as
  // core/passes/pack_constants.h says.
  std::string blocked = {};
  // kConvolution: the same for one channel a group.
  std::string blocked_depthwise = {};
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPERATOR_TRAITS_H_
