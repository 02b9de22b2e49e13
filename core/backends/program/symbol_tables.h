// The manifest's tables of symbols and expressions, from a graph's. Private to this folder.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_SYMBOL_TABLES_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_SYMBOL_TABLES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/symbolic/expression.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Writes what one function asks for, once each, into a manifest. Not thread-safe.
class SymbolTables {
 public:
  // Both must outlive this.
  SymbolTables(const std::vector<Symbol>& symbols, v1::Manifest& manifest)
      : symbols_(symbols), manifest_(manifest) {}

  // An extent of an input of the function: what it is computed from is not the function's to know, so that it becomes a
  // symbol of its own unless it is one.
  absl::Status AddInputExtent(const Expression& extent);

  // The index of the symbol. INTERNAL where the graph has none of the name.
  absl::StatusOr<uint32_t> SymbolIndex(absl::string_view name);
  // Dimensions of values of this type give symbols, or this one, their values.
  void Bind(const ValueType& type);
  void Bind(absl::string_view symbol) { bound_.insert(std::string(symbol)); }
  // Whether all that the expression is computed from has a value by Bind or as an input's extent.
  bool IsBound(const Expression& expression) const;

  // The index of the expression; those it is made of are written before it. Errors of SymbolIndex.
  absl::StatusOr<uint32_t> ExpressionIndex(const Expression& expression);

 private:
  uint32_t Add(v1::Expression expression);
  uint32_t AddSymbol(const Symbol& symbol);
  absl::StatusOr<uint32_t> Fold(v1::Expression::Operation::Kind kind,
                                absl::Span<const Expression> operands);

  const std::vector<Symbol>& symbols_;
  v1::Manifest& manifest_;
  std::map<std::string, uint32_t, std::less<>> symbol_of_;
  std::map<std::string, uint32_t>
      given_;  // Extents of inputs, as written: their symbols' expressions.
  std::map<std::string, uint32_t> expression_of_;  // By its serialized form.
  std::set<std::string, std::less<>> bound_;       // Symbols that get values.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_SYMBOL_TABLES_H_
