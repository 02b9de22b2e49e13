// Whatever ParseExpression accepts prints as text that parses to an equal expression, and its value
// lies within its bounds.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/symbolic/evaluation.h"
#include "core/symbolic/expression.h"

namespace {

void AddSymbols(const slipway::Expression& expression, slipway::SymbolValues& values) {
  if (expression.kind() == slipway::Expression::Kind::kSymbol) {
    values.emplace(expression.symbol(), static_cast<int64_t>(values.size() % 4));
  }
  for (const slipway::Expression& operand : expression.operands()) AddSymbols(operand, values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = slipway::ParseExpression(text);
  if (!expression.ok()) return 0;
  SLIPWAY_CHECK(expression->size() <= slipway::kMaxExpressionSize, "sizes are bounded");
  const std::string printed = slipway::ToString(*expression);
  const auto again = slipway::ParseExpression(printed);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(*again == *expression, printed);
  slipway::SymbolValues values;
  AddSymbols(*expression, values);
  std::vector<slipway::Symbol> symbols;
  for (const auto& [name, value] : values) symbols.push_back({name, 0, value + 2});
  const auto value = slipway::Evaluate(*expression, values);
  const auto bounds = slipway::BoundsOf(*expression, symbols);
  if (!bounds.ok()) return 0;
  if (absl::IsOutOfRange(value.status())) return 0;
  SLIPWAY_CHECK(value.ok(), printed);
  SLIPWAY_CHECK(bounds->min <= *value && *value <= bounds->max, printed);
  return 0;
}
