// SymbolTable: the values of a program's symbols and expressions during a call.
#ifndef SLIPWAY_CORE_RUNTIME_SYMBOL_TABLE_H_
#define SLIPWAY_CORE_RUNTIME_SYMBOL_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/artifact/checked_manifest.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// An extent that is not known: of slices that no turn of a loop collected.
inline constexpr int64_t kUnknownExtent = -1;

// Symbols get their values from extents of tensors and from steps; expressions are computed from them. After
// construction nothing is allocated. Not thread-safe.
class SymbolTable {
 public:
  explicit SymbolTable(CheckedManifest manifest);

  // A call of some function begins: symbols bound from now on belong to it. Calls are numbered, so that a symbol
  // knows whether this call has bound it.
  uint64_t BeginCall() { return ++calls_; }

  // Gives a symbol its value, or compares where the call bound it before. INVALID_ARGUMENT names symbol and
  // number when it is out of the symbol's bounds or another one.
  absl::Status Bind(uint64_t call, uint32_t symbol, int64_t number);

  // The extents of a tensor against the shape of a value, in two steps: dimensions that are numbers or symbols
  // first, binding symbols; those that are computed once the expressions were evaluated. INVALID_ARGUMENT names the
  // dimension.
  absl::Status BindExtents(uint64_t call, const v1::Value& value,
                           absl::Span<const int64_t> extents);
  absl::Status CompareExtents(const v1::Value& value, absl::Span<const int64_t> extents) const;

  // Computes these expressions, ascending; what they are computed from is known. Errors as of
  // Expressions::Evaluate.
  absl::Status Evaluate(absl::Span<const uint32_t> expressions);

  // INVALID_ARGUMENT says what does not hold, and what the numbers are. REQUIRES: its expressions were evaluated.
  absl::Status CheckHolds(const v1::Constraint& constraint) const;

  // By index; of use once they were evaluated.
  absl::Span<const int64_t> expressions() const { return expressions_; }
  // A size in terms of them.
  int64_t Number(const v1::Size& size) const {
    return size.has_expression() ? expressions_[size.expression()] : size.constant();
  }

  // Raised whenever a symbol changes its value.
  uint64_t changes() const { return changes_; }

 private:
  const CheckedManifest manifest_;
  // By symbol: its number, and the call that bound it last; 0 before any.
  std::vector<int64_t> numbers_;
  std::vector<uint64_t> bound_by_;
  std::vector<int64_t> expressions_;
  uint64_t calls_ = 0;
  uint64_t changes_ = 1;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_SYMBOL_TABLE_H_
