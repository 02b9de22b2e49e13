#include "core/artifact/expressions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int64_t kMaxSymbol = (int64_t{1} << 31) - 1;
constexpr size_t kMaxTextBytes = 80;

// REQUIRES: divisor >= 1.
int64_t FloorDivide(int64_t left, int64_t divisor) {
  return left / divisor - (left % divisor < 0 ? 1 : 0);
}

// REQUIRES: divisor >= 1.
int64_t CeilDivide(int64_t left, int64_t divisor) {
  return left / divisor + (left % divisor > 0 ? 1 : 0);
}

absl::Status CheckSymbol(const v1::Symbol& symbol, const ReaderLimits& limits) {
  if (symbol.name().size() > static_cast<size_t>(limits.name_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("its name has ", symbol.name().size(), " bytes; at most ", limits.name_bytes));
  }
  if (symbol.min() < 0 || symbol.min() > symbol.max() || symbol.max() > kMaxSymbol) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its bounds ", symbol.min(), " and ", symbol.max(), " are not within 0 to ", kMaxSymbol));
  }
  return absl::OkStatus();
}

}  // namespace

bool Expressions::Apply(Kind kind, int64_t left, int64_t right, int64_t& result) {
  switch (kind) {
    case Kind::kAdd:
      return !__builtin_add_overflow(left, right, &result);
    case Kind::kSubtract:
      return !__builtin_sub_overflow(left, right, &result);
    case Kind::kMultiply:
      return !__builtin_mul_overflow(left, right, &result);
    case Kind::kFloorDivide:
      if (right < 1) return false;
      result = FloorDivide(left, right);
      return true;
    case Kind::kCeilDivide:
      if (right < 1) return false;
      result = CeilDivide(left, right);
      return true;
    case Kind::kMin:
      result = std::min(left, right);
      return true;
    case Kind::kMax:
      result = std::max(left, right);
      return true;
    case Kind::kConstant:
    case Kind::kSymbol:
      break;
  }
  return false;
}

int64_t Expressions::End(Kind kind, int64_t left, int64_t right) {
  const bool is_negative = kind == Kind::kMultiply ? (left < 0) != (right < 0) : left < 0;
  return is_negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

std::string Expressions::TextOf(const Node& node, const std::string& left,
                                const std::string& right) {
  switch (node.kind) {
    case Kind::kAdd:
      return absl::StrCat("(", left, " + ", right, ")");
    case Kind::kSubtract:
      return absl::StrCat("(", left, " - ", right, ")");
    case Kind::kMultiply:
      return absl::StrCat("(", left, " * ", right, ")");
    case Kind::kFloorDivide:
      return absl::StrCat("floor(", left, " / ", right, ")");
    case Kind::kCeilDivide:
      return absl::StrCat("ceil(", left, " / ", right, ")");
    case Kind::kMin:
      return absl::StrCat("min(", left, ", ", right, ")");
    case Kind::kMax:
      return absl::StrCat("max(", left, ", ", right, ")");
    case Kind::kConstant:
    case Kind::kSymbol:
      break;
  }
  return absl::StrCat(node.left);
}

absl::Status Expressions::AddOperation(const v1::Expression::Operation& operation,
                                       const ReaderLimits& limits) {
  using Operation = v1::Expression::Operation;
  Node node{};
  switch (operation.kind()) {
    case Operation::ADD:
      node.kind = Kind::kAdd;
      break;
    case Operation::SUBTRACT:
      node.kind = Kind::kSubtract;
      break;
    case Operation::MULTIPLY:
      node.kind = Kind::kMultiply;
      break;
    case Operation::FLOOR_DIVIDE:
      node.kind = Kind::kFloorDivide;
      break;
    case Operation::CEIL_DIVIDE:
      node.kind = Kind::kCeilDivide;
      break;
    case Operation::MIN:
      node.kind = Kind::kMin;
      break;
    case Operation::MAX:
      node.kind = Kind::kMax;
      break;
    case Operation::KIND_UNSPECIFIED:
      return absl::InvalidArgumentError("operation is not set");
    default:
      return absl::UnimplementedError(
          absl::StrCat("operation ", static_cast<int>(operation.kind()), " is unknown"));
  }
  for (const uint32_t operand : {operation.left(), operation.right()}) {
    if (operand >= nodes_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("names expression ", operand, ", which does not come before it"));
    }
  }
  node.left = operation.left();
  node.right = operation.right();
  const Node& left = nodes_[operation.left()];
  const Node& right = nodes_[operation.right()];
  node.text = TextOf(node, left.text, right.text);
  if (node.text.size() > kMaxTextBytes) node.text = absl::StrCat("#", nodes_.size());
  std::set_union(left.symbols.begin(), left.symbols.end(), right.symbols.begin(),
                 right.symbols.end(), std::back_inserter(node.symbols));
  if (node.symbols.size() > static_cast<size_t>(limits.symbols_per_expression)) {
    return absl::ResourceExhaustedError(absl::StrCat("is computed from ", node.symbols.size(),
                                                     " symbols, more than the limit of ",
                                                     limits.symbols_per_expression));
  }
  if ((node.kind == Kind::kFloorDivide || node.kind == Kind::kCeilDivide) &&
      right.interval.min < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(node.text, " divides by what can be ", right.interval.min));
  }
  // Each operation is monotonic in either operand while the other stands still, so that its extremes lie in the
  // corners.
  node.interval = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const int64_t a : {left.interval.min, left.interval.max}) {
    for (const int64_t b : {right.interval.min, right.interval.max}) {
      int64_t corner = 0;
      if (!Apply(node.kind, a, b, corner)) corner = End(node.kind, a, b);
      node.interval.min = std::min(node.interval.min, corner);
      node.interval.max = std::max(node.interval.max, corner);
    }
  }
  nodes_.push_back(std::move(node));
  return absl::OkStatus();
}

absl::Status Expressions::Add(const v1::Manifest& manifest, const v1::Expression& proto,
                              const ReaderLimits& limits) {
  switch (proto.kind_case()) {
    case v1::Expression::kConstant: {
      const int64_t value = proto.constant();
      nodes_.push_back({Kind::kConstant, value, 0, {value, value}, {}, absl::StrCat(value)});
      return absl::OkStatus();
    }
    case v1::Expression::kSymbol: {
      if (proto.symbol() >= static_cast<uint32_t>(manifest.symbols_size())) {
        return absl::InvalidArgumentError(
            absl::StrCat("symbol ", proto.symbol(), " does not exist"));
      }
      const v1::Symbol& symbol = manifest.symbols(static_cast<int>(proto.symbol()));
      nodes_.push_back({Kind::kSymbol,
                        proto.symbol(),
                        0,
                        {symbol.min(), symbol.max()},
                        {proto.symbol()},
                        symbol.name().empty() || symbol.name().size() > kMaxTextBytes
                            ? absl::StrCat("#", nodes_.size())
                            : absl::Utf8SafeCEscape(symbol.name())});
      return absl::OkStatus();
    }
    case v1::Expression::kOperation:
      return AddOperation(proto.operation(), limits);
    case v1::Expression::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("is not set");
}

absl::StatusOr<Expressions> Expressions::Check(const v1::Manifest& manifest,
                                               const ReaderLimits& limits) {
  if (manifest.symbols_size() > limits.symbols) {
    return absl::ResourceExhaustedError(
        absl::StrCat(manifest.symbols_size(), " symbols, more than the limit of ", limits.symbols));
  }
  if (manifest.expressions_size() > limits.expressions) {
    return absl::ResourceExhaustedError(absl::StrCat(
        manifest.expressions_size(), " expressions, more than the limit of ", limits.expressions));
  }
  for (int i = 0; i < manifest.symbols_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckSymbol(manifest.symbols(i), limits),
        absl::StrCat("symbol ", i, " '", absl::Utf8SafeCEscape(manifest.symbols(i).name()), "'"));
  }
  Expressions expressions;
  expressions.nodes_.reserve(static_cast<size_t>(manifest.expressions_size()));
  for (int i = 0; i < manifest.expressions_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(expressions.Add(manifest, manifest.expressions(i), limits),
                                 absl::StrCat("expression ", i));
  }
  return expressions;
}

std::vector<uint32_t> Expressions::Needed(absl::Span<const uint32_t> roots) const {
  std::vector<bool> needed(nodes_.size());
  for (const uint32_t root : roots) needed[root] = true;
  std::vector<uint32_t> result;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    result.push_back(static_cast<uint32_t>(i));
    const Node& node = nodes_[i];
    if (node.kind == Kind::kConstant || node.kind == Kind::kSymbol) continue;
    needed[static_cast<size_t>(node.left)] = true;
    needed[static_cast<size_t>(node.right)] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

absl::Status Expressions::Evaluate(absl::Span<const uint32_t> which,
                                   absl::Span<const int64_t> symbols,
                                   absl::Span<int64_t> values) const {
  for (const uint32_t i : which) {
    const Node& node = nodes_[i];
    const auto left = static_cast<size_t>(node.left);
    if (node.kind == Kind::kConstant) {
      values[i] = node.left;
    } else if (node.kind == Kind::kSymbol) {
      values[i] = symbols[left];
    } else if (!Apply(node.kind, values[left], values[static_cast<size_t>(node.right)],
                      values[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("expression ", i, ", ", node.text, ", cannot be computed from ",
                       values[left], " and ", values[static_cast<size_t>(node.right)]));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
