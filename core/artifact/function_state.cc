#include "core/artifact/function_state.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;

constexpr IntegerRange kNothing{std::numeric_limits<int64_t>::max(), 0};

std::string NameOf(const v1::Manifest& manifest, uint32_t symbol) {
  return absl::StrCat("symbol ", symbol, " '",
                      absl::Utf8SafeCEscape(manifest.symbols(static_cast<int>(symbol)).name()),
                      "'");
}

}  // namespace

FunctionState::FunctionState(const Tables& tables, const StepOrder& order, int function,
                             ProgramFacts& program)
    : tables_(tables),
      function_(function),
      program_(program),
      memory_(order),
      bound_at_(static_cast<size_t>(tables.manifest.symbols_size()), kNever) {
  facts_.arena_parts.resize(tables.spaces.size(), kNothing);
}

absl::Status FunctionState::CheckExists(uint32_t value) const {
  if (value < static_cast<uint32_t>(tables_.manifest.values_size())) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("value ", value, " does not exist"));
}

std::vector<uint32_t> FunctionState::ExpressionsOf(uint32_t value) const {
  std::vector<uint32_t> expressions;
  for (const v1::Dimension& dimension : tables_.value(value).shape()) {
    if (dimension.has_expression()) expressions.push_back(dimension.expression());
  }
  const v1::Size& size = tables_.buffer_of(value).size();
  if (size.has_expression()) expressions.push_back(size.expression());
  return expressions;
}

absl::Status FunctionState::OwnSymbols(uint32_t expression) const {
  for (const uint32_t symbol : tables_.expressions.symbols(expression)) {
    int& owner = program_.symbol_owners[symbol];
    if (owner == ProgramFacts::kNobody) owner = function_;
    if (owner == function_) continue;
    return InvalidArgumentError(
        absl::StrCat(NameOf(tables_.manifest, symbol), " belongs to function ", owner));
  }
  return absl::OkStatus();
}

// Whether this function may use it at all.
absl::Status FunctionState::CheckUse(uint32_t value) {
  SLIPWAY_RETURN_IF_ERROR(CheckExists(value));
  const v1::Buffer& buffer = tables_.buffer_of(value);
  if (buffer.class_() == v1::Buffer::CLASS_EXTERNAL ||
      buffer.class_() == v1::Buffer::CLASS_DYNAMIC) {
    const uint32_t index = tables_.value(value).buffer();
    int& owner = program_.buffer_owners[index];
    if (owner == ProgramFacts::kNobody) owner = function_;
    if (owner != function_) {
      return InvalidArgumentError(absl::StrCat("value ", value, " lies in buffer ", index,
                                               ", which belongs to function ", owner));
    }
  }
  for (const uint32_t expression : ExpressionsOf(value)) {
    SLIPWAY_RETURN_IF_ERROR_WITH(OwnSymbols(expression), absl::StrCat("value ", value));
  }
  return absl::OkStatus();
}

absl::Status FunctionState::CheckKnownExpression(uint32_t expression) const {
  for (const uint32_t symbol : tables_.expressions.symbols(expression)) {
    if (bound_at_[symbol] == kNever) {
      return InvalidArgumentError(
          absl::StrCat("needs ", NameOf(tables_.manifest, symbol), ", which has no value yet"));
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionState::CheckKnown(uint32_t value) const {
  for (const uint32_t expression : ExpressionsOf(value)) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckKnownExpression(expression), absl::StrCat("value ", value));
  }
  return absl::OkStatus();
}

absl::Status FunctionState::CheckKnown(const v1::Size& size) const {
  return size.has_expression() ? CheckKnownNumber(size.expression()) : absl::OkStatus();
}

absl::Status FunctionState::CheckKnownNumber(uint32_t expression) const {
  SLIPWAY_RETURN_IF_ERROR(OwnSymbols(expression));
  return CheckKnownExpression(expression);
}

absl::Status FunctionState::Bind(uint32_t symbol, int step) {
  if (symbol >= bound_at_.size()) {
    return InvalidArgumentError(absl::StrCat("symbol ", symbol, " does not exist"));
  }
  int& owner = program_.symbol_owners[symbol];
  if (owner == ProgramFacts::kNobody) owner = function_;
  if (owner != function_) {
    return InvalidArgumentError(
        absl::StrCat(NameOf(tables_.manifest, symbol), " belongs to function ", owner));
  }
  if (bound_at_[symbol] != kNever) {
    return InvalidArgumentError(
        absl::StrCat(NameOf(tables_.manifest, symbol), " has its value already"));
  }
  bound_at_[symbol] = step;
  return absl::OkStatus();
}

absl::Status FunctionState::BindDimensions(uint32_t value, int step) {
  SLIPWAY_RETURN_IF_ERROR(CheckUse(value));
  for (const v1::Dimension& dimension : tables_.value(value).shape()) {
    if (!dimension.has_expression()) continue;
    const int64_t symbol = tables_.expressions.symbol(dimension.expression());
    if (symbol < 0 || bound_at_[static_cast<size_t>(symbol)] != kNever) continue;
    SLIPWAY_RETURN_IF_ERROR(Bind(static_cast<uint32_t>(symbol), step));
  }
  return absl::OkStatus();
}

absl::Status FunctionState::BindInput(uint32_t value) {
  SLIPWAY_RETURN_IF_ERROR(BindDimensions(value, MemoryMap::kCaller));
  input_buffers_.insert(tables_.value(value).buffer());
  memory_.Write(RangeOf(value), MemoryMap::kCaller);
  return absl::OkStatus();
}

// A dynamic buffer, or one whose size is an expression, is all there or not at all.
bool FunctionState::IsUnit(uint32_t value) const {
  const v1::Buffer& buffer = tables_.buffer_of(value);
  return buffer.class_() == v1::Buffer::CLASS_DYNAMIC || buffer.size().has_expression();
}

// Arenas come first among the pieces of memory, then buffers.
MemoryRange FunctionState::RangeOf(uint32_t value) const {
  const v1::Value& proto = tables_.value(value);
  const v1::Buffer& buffer = tables_.buffer_of(value);
  if (buffer.class_() == v1::Buffer::CLASS_STATIC) {
    const int64_t begin = buffer.arena_offset() + proto.offset();
    return {static_cast<int>(buffer.space()), begin, begin + tables_.value_bytes[value].max,
            proto.buffer()};
  }
  const int memory = static_cast<int>(tables_.spaces.size() + proto.buffer());
  if (IsUnit(value)) return {memory, 0, 1, proto.buffer()};
  const int64_t bytes =
      std::min(tables_.value_bytes[value].max, buffer.size().constant() - proto.offset());
  return {memory, proto.offset(), proto.offset() + bytes, proto.buffer()};
}

bool FunctionState::TakesThePlaceOf(uint32_t output, uint32_t input) const {
  const MemoryRange range = RangeOf(output);
  const MemoryRange other = RangeOf(input);
  if (range.memory != other.memory || range.begin != other.begin || range.end != other.end) {
    return false;
  }
  const v1::Value& a = tables_.value(output);
  const v1::Value& b = tables_.value(input);
  // Of a unit the bytes are not known.
  return !IsUnit(output) || (a.offset() == b.offset() && HaveSameType(a, b));
}

absl::Status FunctionState::CheckTouches(uint32_t device, uint32_t value) const {
  const uint32_t space = tables_.buffer_of(value).space();
  if (tables_.spaces[space].IsTouchedBy(device)) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("value ", value, " lies in space ", space,
                                           ", which device ", device, " does not touch"));
}

absl::Status FunctionState::Explain(MemoryConflict conflict, uint32_t value) const {
  switch (conflict) {
    case MemoryConflict::kNone:
      return absl::OkStatus();
    case MemoryConflict::kNotHeld:
      return InvalidArgumentError(absl::StrCat("value ", value,
                                               " is read, but has not been written or was written "
                                               "over through another buffer"));
    case MemoryConflict::kUnordered:
      break;
  }
  return InvalidArgumentError(absl::StrCat(
      "value ", value,
      " is touched by a step of another queue, which may run at the same time; wait for it"));
}

absl::Status FunctionState::CheckWork() const {
  if (memory_.visits() <= tables_.limits.memory_visits) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("memory is in more pieces than can be followed within the limit of ",
                   tables_.limits.memory_visits, " looks at them"));
}

void FunctionState::GrowArenaPart(uint32_t space, IntegerRange part) {
  IntegerRange& grown = facts_.arena_parts[space];
  grown.min = std::min(grown.min, part.min);
  grown.max = std::max(grown.max, part.max);
}

// Where two values in one buffer surely lie apart is known of units as well.
bool FunctionState::MayOverlap(uint32_t a, uint32_t b) const {
  if (!RangeOf(a).Overlaps(RangeOf(b))) return false;
  const int64_t a_begin = tables_.value(a).offset();
  const int64_t b_begin = tables_.value(b).offset();
  return !IsUnit(a) || (a_begin < b_begin + tables_.value_bytes[b].max &&
                        b_begin < a_begin + tables_.value_bytes[a].max);
}

absl::Status FunctionState::CheckOutputs(const Access& access) {
  std::vector<uint32_t> written;
  for (const uint32_t output : access.outputs) {
    SLIPWAY_RETURN_IF_ERROR(CheckUse(output));
    SLIPWAY_RETURN_IF_ERROR(CheckKnown(output));
    if (tables_.buffer_of(output).class_() == v1::Buffer::CLASS_CONSTANT) {
      return InvalidArgumentError(absl::StrCat("value ", output, " is constant, but written"));
    }
    if (input_buffers_.contains(tables_.value(output).buffer())) {
      return InvalidArgumentError(absl::StrCat("value ", output, " is an input, but written"));
    }
    for (const uint32_t other : written) {
      if (MayOverlap(output, other)) {
        return InvalidArgumentError(
            absl::StrCat("value ", output, " overlaps another output of the step"));
      }
    }
    for (const uint32_t input : access.inputs) {
      if (tables_.buffer_of(input).class_() == v1::Buffer::CLASS_CONSTANT) continue;
      if (!MayOverlap(output, input)) continue;
      if (access.in_place && TakesThePlaceOf(output, input)) continue;
      return InvalidArgumentError(absl::StrCat("value ", output, " overlaps ",
                                               access.in_place ? "a part of " : "",
                                               "an input of the step"));
    }
    written.push_back(output);
  }
  return absl::OkStatus();
}

// What is handed over stays as it is while the callee runs.
absl::Status FunctionState::CheckOutsideOf(const FunctionFacts& callee,
                                           const Access& access) const {
  for (const std::vector<uint32_t>* values : {&access.inputs, &access.outputs}) {
    for (const uint32_t value : *values) {
      const v1::Buffer& buffer = tables_.buffer_of(value);
      if (buffer.class_() != v1::Buffer::CLASS_STATIC) continue;
      const MemoryRange range = RangeOf(value);
      const IntegerRange& part = callee.arena_parts[buffer.space()];
      if (range.begin < part.max && part.min < range.end) {
        return InvalidArgumentError(
            absl::StrCat("value ", value, " lies in the part of the arena that the function uses, ",
                         "bytes ", part.min, " to ", part.max, " of space ", buffer.space()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FunctionState::FollowCalls(const Access& access) {
  for (const FunctionFacts* callee : access.calls) {
    SLIPWAY_RETURN_IF_ERROR(CheckOutsideOf(*callee, access));
    facts_.depth = std::max(facts_.depth, callee->depth + 1);
    for (uint32_t space = 0; space < callee->arena_parts.size(); ++space) {
      const IntegerRange& part = callee->arena_parts[space];
      if (part.min >= part.max) continue;
      // Never in conflict: a control step comes after all steps before it.
      memory_.Clobber(static_cast<int>(space), part.min, part.max, access.step);
      GrowArenaPart(space, part);
    }
  }
  if (facts_.depth <= tables_.limits.call_depth) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("functions call each other more than ", tables_.limits.call_depth, " deep"));
}

absl::Status FunctionState::Follow(const Access& access) {
  for (const uint32_t input : access.inputs) {
    SLIPWAY_RETURN_IF_ERROR(CheckUse(input));
    SLIPWAY_RETURN_IF_ERROR(CheckKnown(input));
    if (tables_.buffer_of(input).class_() == v1::Buffer::CLASS_CONSTANT) continue;
    SLIPWAY_RETURN_IF_ERROR(Explain(memory_.Read(RangeOf(input), access.step), input));
    SLIPWAY_RETURN_IF_ERROR(CheckWork());
  }
  for (const uint32_t symbol : access.binds) SLIPWAY_RETURN_IF_ERROR(Bind(symbol, access.step));
  if (!access.calls.empty()) {
    for (const uint32_t output : access.outputs) {
      SLIPWAY_RETURN_IF_ERROR(BindDimensions(output, access.step));
    }
  }
  SLIPWAY_RETURN_IF_ERROR(CheckOutputs(access));
  SLIPWAY_RETURN_IF_ERROR(FollowCalls(access));
  for (const uint32_t output : access.outputs) {
    const MemoryRange range = RangeOf(output);
    SLIPWAY_RETURN_IF_ERROR(Explain(memory_.Write(range, access.step), output));
    if (tables_.buffer_of(output).class_() == v1::Buffer::CLASS_STATIC && range.begin < range.end) {
      GrowArenaPart(static_cast<uint32_t>(range.memory), {range.begin, range.end});
    }
  }
  return CheckWork();
}

absl::Status FunctionState::CheckHeld(uint32_t value) {
  SLIPWAY_RETURN_IF_ERROR(CheckUse(value));
  SLIPWAY_RETURN_IF_ERROR(CheckKnown(value));
  if (tables_.buffer_of(value).class_() == v1::Buffer::CLASS_CONSTANT) return absl::OkStatus();
  return Explain(memory_.Read(RangeOf(value), MemoryMap::kEnd), value);
}

bool FunctionState::IsKnownToCaller(uint32_t value) const {
  for (const uint32_t expression : ExpressionsOf(value)) {
    for (const uint32_t symbol : tables_.expressions.symbols(expression)) {
      if (bound_at_[symbol] != MemoryMap::kCaller) return false;
    }
  }
  return true;
}

}  // namespace slipway
