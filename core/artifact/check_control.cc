#include "core/artifact/check_control.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using Indices = google::protobuf::RepeatedField<uint32_t>;

constexpr uint32_t kHost = 0;

// A value whose elements the host reads: this many of this type.
absl::Status CheckHostValue(const FunctionState& state, uint32_t value, v1::DataType dtype,
                            int64_t elements) {
  SLIPWAY_RETURN_IF_ERROR(state.CheckExists(value));
  SLIPWAY_RETURN_IF_ERROR(state.CheckTouches(kHost, value));
  const Tables& tables = state.tables();
  const IntegerRange bytes = tables.value_bytes[value];
  const int64_t wanted = elements * ByteSize(static_cast<DataType>(dtype));
  if (tables.value(value).dtype() == dtype && bytes.min == wanted && bytes.max == wanted) {
    return absl::OkStatus();
  }
  return InvalidArgumentError(absl::StrCat("value ", value, " is ", ToString(tables.type_of(value)),
                                           ", not ", elements, " of ",
                                           Name(static_cast<DataType>(dtype))));
}

// The function, if this one may call it.
absl::StatusOr<const v1::Function*> Callee(const FunctionState& state, uint32_t callee) {
  if (callee >= static_cast<uint32_t>(state.function())) {
    return InvalidArgumentError(absl::StrCat(
        "calls function ", callee, ", which does not come before ", "function ", state.function()));
  }
  if (state.program().functions[callee].is_entry) {
    return InvalidArgumentError(
        absl::StrCat("calls function ", callee, ", which is an entry, for callers alone"));
  }
  return &state.tables().manifest.functions(static_cast<int>(callee));
}

absl::Status CheckNumber(int64_t has, absl::string_view what, int64_t wanted, uint32_t callee) {
  if (has == wanted) return absl::OkStatus();
  return InvalidArgumentError(
      absl::StrCat("has ", has, " ", what, ", but function ", callee, " has ", wanted));
}

absl::Status CheckIndices(const FunctionState& state, std::initializer_list<const Indices*> lists) {
  for (const Indices* list : lists) {
    if (list->size() > state.tables().limits.arguments_per_step) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "has more than ", state.tables().limits.arguments_per_step, " inputs or outputs"));
    }
    for (const uint32_t value : *list) SLIPWAY_RETURN_IF_ERROR(state.CheckExists(value));
  }
  return absl::OkStatus();
}

// A value of this function against one of the callee; `sliced`: a slice of it along its outermost dimension.
absl::Status CheckMatch(const Tables& tables, uint32_t value, bool sliced,
                        const v1::Binding& binding) {
  const v1::Value& mine = tables.value(value);
  const v1::Value& its = tables.value(binding.value());
  const int skipped = sliced ? 1 : 0;
  bool fits = mine.dtype() == its.dtype() && mine.shape_size() == its.shape_size() + skipped;
  for (int i = 0; fits && i < its.shape_size(); ++i) {
    fits = tables.extent(mine.shape(i + skipped)).Meets(tables.extent(its.shape(i)));
  }
  if (!fits) {
    return InvalidArgumentError(absl::StrCat(
        "value ", value, sliced ? ", of which slices are matched," : "", " is ",
        ToString(tables.type_of(value)), ", but '", absl::Utf8SafeCEscape(binding.name()), "' is ",
        ToString(tables.type_of(binding.value()))));
  }
  const uint32_t my_space = tables.buffer_of(value).space();
  const uint32_t its_space = tables.buffer_of(binding.value()).space();
  if (my_space == its_space) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("value ", value, " lies in space ", my_space, ", but '",
                                           absl::Utf8SafeCEscape(binding.name()), "' in space ",
                                           its_space));
}

absl::Status CheckMatches(const Tables& tables, const Indices& values, bool sliced,
                          const google::protobuf::RepeatedPtrField<v1::Binding>& bindings,
                          int first) {
  for (int i = 0; i < values.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckMatch(tables, values[i], sliced, bindings[first + i]));
  }
  return absl::OkStatus();
}

void Append(const Indices& indices, std::vector<uint32_t>& to) {
  to.insert(to.end(), indices.begin(), indices.end());
}

// What the body takes and gives beside what the step's lists name.
absl::Status CheckBody(const v1::Step::Loop& loop, const v1::Function& body,
                       const FunctionState& state) {
  const int64_t inputs =
      int64_t{1} + loop.initial_size() + loop.scanned_size() + loop.captured_size();
  const int64_t outputs =
      int64_t{loop.has_condition() ? 1 : 0} + loop.initial_size() + loop.collected_size();
  SLIPWAY_RETURN_IF_ERROR(
      CheckNumber(inputs, "inputs with the turn", body.inputs_size(), loop.body()));
  SLIPWAY_RETURN_IF_ERROR(CheckNumber(outputs, "outputs", body.outputs_size(), loop.body()));
  SLIPWAY_RETURN_IF_ERROR_WITH(
      CheckHostValue(state, body.inputs(0).value(), v1::DATA_TYPE_INT64, 1), "the turn");
  if (loop.has_condition()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckHostValue(state, body.outputs(0).value(), v1::DATA_TYPE_BOOL, 1), "the condition");
  }
  const Tables& tables = state.tables();
  int input = 1;
  SLIPWAY_RETURN_IF_ERROR(CheckMatches(tables, loop.initial(), false, body.inputs(), input));
  input += loop.initial_size();
  SLIPWAY_RETURN_IF_ERROR(CheckMatches(tables, loop.scanned(), true, body.inputs(), input));
  input += loop.scanned_size();
  SLIPWAY_RETURN_IF_ERROR(CheckMatches(tables, loop.captured(), false, body.inputs(), input));
  int output = loop.has_condition() ? 1 : 0;
  SLIPWAY_RETURN_IF_ERROR(CheckMatches(tables, loop.results(), false, body.outputs(), output));
  // A carried value comes back as what the next turn takes.
  for (int i = 0; i < loop.initial_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckMatch(tables, body.outputs(output + i).value(), false, body.inputs(1 + i)),
        absl::StrCat("carried value ", i));
  }
  output += loop.initial_size();
  return CheckMatches(tables, loop.collected(), true, body.outputs(), output);
}

// How many turns there can be, and who says so.
absl::Status CheckTurns(const v1::Step::Loop& loop, const FunctionState& state) {
  if (loop.has_max_turns()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckHostValue(state, loop.max_turns(), v1::DATA_TYPE_INT64, 1),
                                 "the number of turns");
  }
  if (loop.has_first_condition()) {
    if (!loop.has_condition()) {
      return InvalidArgumentError("has a first condition, but its body gives none");
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckHostValue(state, loop.first_condition(), v1::DATA_TYPE_BOOL, 1),
        "the first condition");
  }
  if (!loop.has_max_turns() && loop.scanned_size() == 0 && !loop.has_condition()) {
    return InvalidArgumentError("nothing ends it: no number of turns, scanned value or condition");
  }
  const Tables& tables = state.tables();
  for (const uint32_t scanned : loop.scanned()) {
    const IntegerRange length = tables.extent(tables.value(scanned).shape(0));
    const IntegerRange first = tables.extent(tables.value(loop.scanned(0)).shape(0));
    if (!length.Meets(first)) {
      return InvalidArgumentError(absl::StrCat("value ", scanned, " has another number of slices ",
                                               "than value ", loop.scanned(0)));
    }
  }
  for (const uint32_t collected : loop.collected()) {
    if (loop.has_condition() && tables.buffer_of(collected).class_() != v1::Buffer::CLASS_DYNAMIC) {
      return InvalidArgumentError(absl::StrCat("value ", collected,
                                               " gets as many slices as there ",
                                               "are turns, but lies in no dynamic buffer"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBindSymbols(const v1::Step::BindSymbols& bind, int index, FunctionState& state) {
  if (bind.symbols_size() == 0) return InvalidArgumentError("binds nothing");
  if (bind.symbols_size() > state.tables().limits.symbols) {
    return absl::ResourceExhaustedError(
        absl::StrCat("binds more symbols than the limit of ", state.tables().limits.symbols));
  }
  SLIPWAY_RETURN_IF_ERROR(
      CheckHostValue(state, bind.value(), v1::DATA_TYPE_INT64, bind.symbols_size()));
  FunctionState::Access access;
  access.step = index;
  access.inputs = {bind.value()};
  Append(bind.symbols(), access.binds);
  return state.Follow(access);
}

absl::Status CheckIf(const v1::Step::If& branch, int index, FunctionState& state) {
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckHostValue(state, branch.condition(), v1::DATA_TYPE_BOOL, 1),
                               "the condition");
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(state, {&branch.inputs(), &branch.outputs()}));
  FunctionState::Access access;
  access.step = index;
  access.inputs = {branch.condition()};
  Append(branch.inputs(), access.inputs);
  Append(branch.outputs(), access.outputs);
  for (const uint32_t callee : {branch.then_function(), branch.else_function()}) {
    SLIPWAY_ASSIGN_OR_RETURN(const v1::Function* function, Callee(state, callee));
    SLIPWAY_RETURN_IF_ERROR(
        CheckNumber(branch.inputs_size(), "inputs", function->inputs_size(), callee));
    SLIPWAY_RETURN_IF_ERROR(
        CheckNumber(branch.outputs_size(), "outputs", function->outputs_size(), callee));
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckMatches(state.tables(), branch.inputs(), false, function->inputs(), 0),
        absl::StrCat("function ", callee));
    SLIPWAY_RETURN_IF_ERROR_WITH(
        CheckMatches(state.tables(), branch.outputs(), false, function->outputs(), 0),
        absl::StrCat("function ", callee));
    access.calls.push_back(&state.program().functions[callee]);
  }
  return state.Follow(access);
}

absl::Status CheckLoop(const v1::Step::Loop& loop, int index, FunctionState& state) {
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(state, {&loop.initial(), &loop.scanned(), &loop.captured(),
                                               &loop.results(), &loop.collected()}));
  if (loop.results_size() != loop.initial_size()) {
    return InvalidArgumentError(absl::StrCat("begins with ", loop.initial_size(),
                                             " carried values, but ends with ",
                                             loop.results_size()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const v1::Function* body, Callee(state, loop.body()));
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckBody(loop, *body, state),
                               absl::StrCat("function ", loop.body()));
  SLIPWAY_RETURN_IF_ERROR(CheckTurns(loop, state));
  FunctionState::Access access;
  access.step = index;
  if (loop.has_max_turns()) access.inputs.push_back(loop.max_turns());
  if (loop.has_first_condition()) access.inputs.push_back(loop.first_condition());
  for (const Indices* list : {&loop.initial(), &loop.scanned(), &loop.captured()}) {
    Append(*list, access.inputs);
  }
  for (const Indices* list : {&loop.results(), &loop.collected()}) Append(*list, access.outputs);
  access.calls = {&state.program().functions[loop.body()]};
  if (loop.has_turns()) access.binds = {loop.turns()};
  return state.Follow(access);
}

}  // namespace slipway
