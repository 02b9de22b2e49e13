#include "core/artifact/check_function.h"

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/artifact/check_step.h"
#include "core/artifact/function_state.h"
#include "core/artifact/step_order.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using Bindings = google::protobuf::RepeatedPtrField<v1::Binding>;

std::string Named(absl::string_view what, absl::string_view name) {
  return absl::StrCat(what, " '", absl::Utf8SafeCEscape(name), "'");
}

bool IsExternal(const Tables& tables, uint32_t value) {
  return tables.buffer_of(value).class_() == v1::Buffer::CLASS_EXTERNAL;
}

// An input, or an output that the caller brings, fills an external buffer of its own.
absl::Status TakeBuffer(const Tables& tables, const v1::Binding& binding, int function,
                        ProgramFacts& program) {
  const v1::Value& value = tables.value(binding.value());
  if (!IsExternal(tables, binding.value()) || value.offset() != 0) {
    return InvalidArgumentError(
        absl::StrCat("value ", binding.value(), " does not begin an external buffer"));
  }
  const v1::Size& size = tables.buffer_of(binding.value()).size();
  const IntegerRange bytes = tables.value_bytes[binding.value()];
  const bool fills = size.has_expression()
                         ? tables.expressions.interval(size.expression()).Meets(bytes)
                         : bytes.min == size.constant() && bytes.max == size.constant();
  if (!fills) {
    return InvalidArgumentError(
        absl::StrCat("value ", binding.value(), " does not fill its external buffer of ",
                     size.has_expression() ? tables.expressions.text(size.expression())
                                           : absl::StrCat(size.constant()),
                     " bytes"));
  }
  int& owner = program.buffer_owners[value.buffer()];
  if (owner != ProgramFacts::kNobody) {
    return InvalidArgumentError(
        absl::StrCat("buffer ", value.buffer(), " is bound to another one as well"));
  }
  owner = function;
  return absl::OkStatus();
}

absl::Status CheckNames(const Tables& tables, const Bindings& bindings, absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckCount(bindings.size(), tables.limits.bindings, absl::StrCat(what, "s")));
  absl::flat_hash_set<absl::string_view> names;
  for (const v1::Binding& binding : bindings) {
    if (binding.name().size() > static_cast<size_t>(tables.limits.binding_name_bytes)) {
      return InvalidArgumentError(absl::StrCat(Named(what, binding.name()),
                                               ": its name has more than ",
                                               tables.limits.binding_name_bytes, " bytes"));
    }
    if (!names.insert(binding.name()).second) {
      return InvalidArgumentError(
          absl::StrCat(Named(what, binding.name()), ": its name is used twice"));
    }
    if (binding.value() >= static_cast<uint32_t>(tables.manifest.values_size())) {
      return InvalidArgumentError(absl::StrCat(Named(what, binding.name()), ": value ",
                                               binding.value(), " does not exist"));
    }
  }
  return absl::OkStatus();
}

// Names of a function, and whose the external buffers are.
absl::Status CheckBindings(const Tables& tables, int index, ProgramFacts& program) {
  const v1::Function& function = tables.manifest.functions(index);
  SLIPWAY_RETURN_IF_ERROR(CheckLength(function.name(), tables.limits.name_bytes, "its name"));
  SLIPWAY_RETURN_IF_ERROR(CheckNames(tables, function.inputs(), "input"));
  SLIPWAY_RETURN_IF_ERROR(CheckNames(tables, function.outputs(), "output"));
  for (const v1::Binding& input : function.inputs()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(TakeBuffer(tables, input, index, program),
                                 Named("input", input.name()));
  }
  if (!program.functions[static_cast<size_t>(index)].is_entry) return absl::OkStatus();
  for (const v1::Binding& output : function.outputs()) {
    if (!IsExternal(tables, output.value())) continue;
    SLIPWAY_RETURN_IF_ERROR_WITH(TakeBuffer(tables, output, index, program),
                                 Named("output", output.name()));
  }
  return absl::OkStatus();
}

// An output of an entry is brought by the caller exactly when the caller can know its size.
absl::Status CheckOutput(FunctionState& state, bool of_entry, uint32_t value) {
  SLIPWAY_RETURN_IF_ERROR(state.CheckHeld(value));
  if (!of_entry || IsExternal(state.tables(), value) == state.IsKnownToCaller(value)) {
    return absl::OkStatus();
  }
  if (state.IsKnownToCaller(value)) {
    return InvalidArgumentError(
        absl::StrCat("value ", value, " does not begin an external buffer"));
  }
  return InvalidArgumentError(absl::StrCat(
      "value ", value, " lies in an external buffer, but its size is found out by a step"));
}

// Its numbers are known once all steps have ended, and belong to the function.
absl::Status CheckConstraint(const v1::Constraint& constraint, FunctionState& state) {
  const ReaderLimits& limits = state.tables().limits;
  SLIPWAY_RETURN_IF_ERROR(
      CheckLength(constraint.user(), limits.step_name_bytes, "its user's name"));
  SLIPWAY_RETURN_IF_ERROR(
      CheckCount(constraint.any_of_size(), limits.equalities_per_constraint, "equalities"));
  if (constraint.any_of_size() == 0) return InvalidArgumentError("it has no equality");
  for (const v1::Constraint::Equality& equality : constraint.any_of()) {
    for (const uint32_t side : {equality.left(), equality.right()}) {
      if (side >= state.tables().expressions.size()) {
        return InvalidArgumentError(absl::StrCat("expression ", side, " does not exist"));
      }
      SLIPWAY_RETURN_IF_ERROR(state.CheckKnownNumber(side));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSteps(const Tables& tables, int index, ProgramFacts& program) {
  const v1::Function& function = tables.manifest.functions(index);
  FunctionFacts& facts = program.functions[static_cast<size_t>(index)];
  SLIPWAY_RETURN_IF_ERROR(CheckCount(function.steps_size(), tables.limits.entries, "steps"));
  SLIPWAY_ASSIGN_OR_RETURN(const StepOrder order,
                           StepOrder::Of(tables.manifest, function, tables.limits));
  FunctionState state(tables, order, index, program);
  for (const v1::Binding& input : function.inputs()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(state.BindInput(input.value()), Named("input", input.name()));
  }
  for (const v1::Binding& input : function.inputs()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(state.CheckInput(input.value()), Named("input", input.name()));
  }
  for (int i = 0; i < function.steps_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckStep(function.steps(i), i, state),
                                 Named(absl::StrCat("step ", i), function.steps(i).name()));
  }
  for (const v1::Binding& output : function.outputs()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckOutput(state, facts.is_entry, output.value()),
                                 Named("output", output.name()));
  }
  SLIPWAY_RETURN_IF_ERROR(
      CheckCount(function.constraints_size(), tables.limits.constraints, "constraints"));
  for (int i = 0; i < function.constraints_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckConstraint(function.constraints(i), state),
                                 absl::StrCat("constraint ", i));
  }
  const bool is_entry = facts.is_entry;
  facts = state.facts();
  facts.is_entry = is_entry;
  return absl::OkStatus();
}

absl::Status CheckEntries(const v1::Manifest& manifest, ProgramFacts& program) {
  if (manifest.entry() >= program.functions.size()) {
    return InvalidArgumentError(
        absl::StrCat("entry function ", manifest.entry(), " does not exist"));
  }
  program.functions[manifest.entry()].is_entry = true;
  for (int i = 0; i < manifest.more_entries_size(); ++i) {
    const uint32_t entry = manifest.more_entries(i);
    if (entry >= program.functions.size()) {
      return InvalidArgumentError(absl::StrCat("entry function ", entry, " does not exist"));
    }
    if (entry == manifest.entry() || (i > 0 && entry <= manifest.more_entries(i - 1))) {
      return InvalidArgumentError("further entries are not ascending, or name the entry again");
    }
    program.functions[entry].is_entry = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFunctions(const Tables& tables) {
  const v1::Manifest& manifest = tables.manifest;
  SLIPWAY_RETURN_IF_ERROR(
      CheckCount(manifest.functions_size(), tables.limits.functions, "functions"));
  ProgramFacts program;
  program.symbol_owners.assign(static_cast<size_t>(manifest.symbols_size()), ProgramFacts::kNobody);
  program.buffer_owners.assign(static_cast<size_t>(manifest.buffers_size()), ProgramFacts::kNobody);
  program.functions.resize(static_cast<size_t>(manifest.functions_size()));
  SLIPWAY_RETURN_IF_ERROR(CheckEntries(manifest, program));
  for (int i = 0; i < manifest.functions_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckBindings(tables, i, program),
                                 Named("function", manifest.functions(i).name()));
  }
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    if (manifest.buffers(i).class_() == v1::Buffer::CLASS_EXTERNAL &&
        program.buffer_owners[static_cast<size_t>(i)] == ProgramFacts::kNobody) {
      return InvalidArgumentError(
          absl::StrCat("external buffer ", i, " is no input and no output"));
    }
  }
  for (int i = 0; i < manifest.functions_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckSteps(tables, i, program),
                                 Named("function", manifest.functions(i).name()));
  }
  return absl::OkStatus();
}

}  // namespace slipway
