// Expressions: the numbers that a manifest computes from its symbols.
#ifndef SLIPWAY_CORE_ARTIFACT_EXPRESSIONS_H_
#define SLIPWAY_CORE_ARTIFACT_EXPRESSIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// All integers from min to max.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 0;

  bool Meets(const IntegerRange& other) const { return min <= other.max && other.min <= max; }
  friend bool operator==(const IntegerRange&, const IntegerRange&) = default;
};

// The checked table of expressions, in a form that is quick to compute: while the symbols are within their bounds
// no expression divides by less than 1 (interval arithmetic; Moore, "Interval Analysis", 1966). Immutable and
// thread-safe.
class Expressions {
 public:
  // None.
  Expressions() = default;

  // Checks symbols and expressions of the manifest. INVALID_ARGUMENT names the one that is wrong: an index, an
  // order, bounds, a possible division; RESOURCE_EXHAUSTED names the limit.
  static absl::StatusOr<Expressions> Check(const v1::Manifest& manifest,
                                           const ReaderLimits& limits = {});

  size_t size() const { return nodes_.size(); }

  // What it can be while the symbols are within their bounds and Evaluate has a value for it.
  IntegerRange interval(uint32_t expression) const { return nodes_[expression].interval; }
  // The symbols it is computed from, ascending.
  absl::Span<const uint32_t> symbols(uint32_t expression) const {
    return nodes_[expression].symbols;
  }
  // The symbol it is, if it is exactly one; -1 otherwise.
  int64_t symbol(uint32_t expression) const {
    return nodes_[expression].kind == Kind::kSymbol ? nodes_[expression].left : -1;
  }
  // For people: "batch", "ceil((width + 2) / 4)"; "#7", its index, where that would be long.
  const std::string& text(uint32_t expression) const { return nodes_[expression].text; }

  // The expressions that computing `roots` takes, with them, ascending.
  std::vector<uint32_t> Needed(absl::Span<const uint32_t> roots) const;

  // Computes the expressions `which`, ascending, into the places in `values` that their indices name; what they
  // are computed from is among them or stands in `values` already. `symbols` are by index; those that are not
  // needed may hold anything. Allocates nothing when it succeeds. INVALID_ARGUMENT for symbols that make an
  // expression overflow 64 bits or, out of their bounds, divide by less than 1; it names the expression.
  absl::Status Evaluate(absl::Span<const uint32_t> which, absl::Span<const int64_t> symbols,
                        absl::Span<int64_t> values) const;

 private:
  enum class Kind : uint8_t {
    kConstant,
    kSymbol,
    kAdd,
    kSubtract,
    kMultiply,
    kFloorDivide,
    kCeilDivide,
    kMin,
    kMax,
  };
  struct Node {
    Kind kind;
    int64_t left;  // Or the constant, or the symbol.
    int64_t right;
    IntegerRange interval;
    absl::InlinedVector<uint32_t, 2> symbols;
    std::string text;
  };

  // left OP right; false when it overflows or divides by less than 1.
  static bool Apply(Kind kind, int64_t left, int64_t right, int64_t& result);
  // The end of the 64 bits beyond which left OP right lies. REQUIRES: it overflows.
  static int64_t End(Kind kind, int64_t left, int64_t right);
  static std::string TextOf(const Node& node, const std::string& left, const std::string& right);
  absl::Status Add(const v1::Manifest& manifest, const v1::Expression& proto,
                   const ReaderLimits& limits);
  absl::Status AddOperation(const v1::Expression::Operation& operation, const ReaderLimits& limits);

  std::vector<Node> nodes_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_EXPRESSIONS_H_
