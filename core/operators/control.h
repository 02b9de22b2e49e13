// Control flow: If, Loop and Scan, whose attributes are bodies. Bodies are closed: what they read from around them is
// captured (kCapturesAttribute in core/graph/operator_registry.h).
#ifndef SLIPWAY_CORE_OPERATORS_CONTROL_H_
#define SLIPWAY_CORE_OPERATORS_CONTROL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

inline constexpr char kIfOperator[] = "If";
inline constexpr char kThenBody[] = "then_branch";
inline constexpr char kElseBody[] = "else_branch";
inline constexpr char kLoopOperator[] = "Loop";
inline constexpr char kScanOperator[] = "Scan";
inline constexpr char kLoopBody[] = "body";  // Of Scan, too.

// Input 0 decides, a bool of one element; the others are captured. Both bodies take what is captured and make what
// the node makes, in the same order; the node may leave out what its last outputs are.
struct IfView {
  const Graph* then_body = nullptr;
  const Graph* else_body = nullptr;
};
// INVALID_ARGUMENT where numbers of inputs and outputs do not fit.
absl::StatusOr<IfView> DecodeIf(const NodeView& view);

// How slices of one turn each lie in a value.
struct Slices {
  int64_t axis =
      0;  // Of the whole value; a slice lacks it. Of what is collected it may count from the end.
  bool reverse = false;  // The first turn has the last slice.
};

// What Loop and Scan have in common. Inputs of the node and of its body correspond by position, but for a Loop's first
// two: the node's say how many turns there are at most (i64) and whether there is a first one (bool), one element each;
// the body's are the number of the turn, i64[] from 0 on, and true, bool[].
struct LoopView {
  const Graph* body = nullptr;
  // A turn for each slice of what is scanned. Otherwise turns are counted, and the body's output 0 says whether there is
  // another one.
  bool is_scan = false;

  // Inputs, of node and body: `carried` values from turn to turn, then a slice a turn of each of `scanned`, then `captured`.
  int first_carried = 0;
  int carried = 0;
  std::vector<Slices> scanned;
  int captured = 0;

  // Outputs of the node, which may leave out the last: what is carried after the last turn, then slices of all turns. The
  // body's stand `first_made` later.
  int first_made = 0;
  std::vector<Slices> collected;

  int first_scanned() const { return first_carried + carried; }
  int first_captured() const { return first_scanned() + static_cast<int>(scanned.size()); }
};
// Needs no types of the body. INVALID_ARGUMENT where numbers of inputs and outputs do not fit.
absl::StatusOr<LoopView> DecodeLoop(const NodeView& view);

// How many turns a Loop takes where that is known: what it is told is constant, and no turn ends it. Absent for a Scan.
std::optional<int64_t> KnownTurns(const NodeView& view, const LoopView& loop);

// What the first two inputs of a Loop say.
absl::StatusOr<int64_t> TurnsAtMost(const NodeView& view, const Tensor& input);
// One bool: a Loop's or an If's condition, or a body's.
absl::StatusOr<bool> Holds(const NodeView& view, const Tensor& condition);

absl::Status RegisterControlOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CONTROL_H_
