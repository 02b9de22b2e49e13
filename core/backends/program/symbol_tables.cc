#include "core/backends/program/symbol_tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

using Operation = v1::Expression::Operation;

absl::StatusOr<uint32_t> SymbolTables::SymbolIndex(absl::string_view name) {
  const auto found = symbol_of_.find(name);
  if (found != symbol_of_.end()) return found->second;
  const Symbol* symbol = FindSymbol(symbols_, name);
  if (symbol == nullptr) {
    return absl::InternalError(absl::StrCat("the graph has no symbol \"", name, "\""));
  }
  const uint32_t index = AddSymbol(*symbol);
  symbol_of_.emplace(symbol->name, index);
  return index;
}

uint32_t SymbolTables::AddSymbol(const Symbol& symbol) {
  v1::Symbol& proto = *manifest_.add_symbols();
  proto.set_name(symbol.name);
  proto.set_min(symbol.min);
  proto.set_max(symbol.max);
  return static_cast<uint32_t>(manifest_.symbols_size()) - 1;
}

absl::Status SymbolTables::AddInputExtent(const Expression& extent) {
  if (extent.kind() == Expression::Kind::kSymbol || extent.is_constant()) return absl::OkStatus();
  const std::string text = ToString(extent);
  if (given_.contains(text)) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const Interval bounds, BoundsOf(extent, symbols_));
  v1::Expression proto;
  proto.set_symbol(AddSymbol({text.substr(0, kMaxSymbolNameBytes), std::max<int64_t>(bounds.min, 0),
                              std::min(bounds.max, kMaxSymbolValue)}));
  given_[text] = Add(std::move(proto));
  return absl::OkStatus();
}

void SymbolTables::Bind(const ValueType& type) {
  for (const Dimension& dimension : type.dimensions()) {
    if (dimension.symbol() != nullptr) Bind(*dimension.symbol());
  }
}

bool SymbolTables::IsBound(const Expression& expression) const {
  if (expression.is_constant() || given_.contains(ToString(expression))) return true;
  if (expression.kind() == Expression::Kind::kSymbol) return bound_.contains(expression.symbol());
  const absl::Span<const Expression> operands = expression.operands();
  return std::all_of(operands.begin(), operands.end(),
                     [this](const Expression& operand) { return IsBound(operand); });
}

uint32_t SymbolTables::Add(v1::Expression expression) {
  const auto [entry, is_new] =
      expression_of_.try_emplace(expression.SerializeAsString(), manifest_.expressions_size());
  if (is_new) *manifest_.add_expressions() = std::move(expression);
  return entry->second;
}

absl::StatusOr<uint32_t> SymbolTables::Fold(Operation::Kind kind,
                                            absl::Span<const Expression> operands) {
  SLIPWAY_ASSIGN_OR_RETURN(uint32_t left, ExpressionIndex(operands[0]));
  for (const Expression& operand : operands.subspan(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t right, ExpressionIndex(operand));
    v1::Expression folded;
    folded.mutable_operation()->set_kind(kind);
    folded.mutable_operation()->set_left(left);
    folded.mutable_operation()->set_right(right);
    left = Add(std::move(folded));
  }
  return left;
}

absl::StatusOr<uint32_t> SymbolTables::ExpressionIndex(const Expression& expression) {
  const auto given = given_.find(ToString(expression));
  if (given != given_.end()) return given->second;
  v1::Expression proto;
  switch (expression.kind()) {
    case Expression::Kind::kConstant:
      proto.set_constant(expression.constant());
      return Add(std::move(proto));
    case Expression::Kind::kSymbol: {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t symbol, SymbolIndex(expression.symbol()));
      proto.set_symbol(symbol);
      return Add(std::move(proto));
    }
    case Expression::Kind::kSum:
      return Fold(Operation::ADD, expression.operands());
    case Expression::Kind::kProduct:
      return Fold(Operation::MULTIPLY, expression.operands());
    case Expression::Kind::kFloorDivide:
      return Fold(Operation::FLOOR_DIVIDE, expression.operands());
    case Expression::Kind::kCeilDivide:
      return Fold(Operation::CEIL_DIVIDE, expression.operands());
    case Expression::Kind::kMin:
      return Fold(Operation::MIN, expression.operands());
    case Expression::Kind::kMax:
      return Fold(Operation::MAX, expression.operands());
  }
  return absl::InternalError("an expression of no kind");
}

}  // namespace slipway
