// The control steps of the interpreter but loops (loop_runner.h).
#include <algorithm>
#include <cstdint>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/interpreter.h"

namespace slipway {

absl::Status Interpreter::RunBindSymbols(const FunctionPlan& function, const StepPlan& step) {
  const v1::Step::BindSymbols& bind = step.proto->bind_symbols();
  const DeviceMemory numbers = values_.memory(bind.value());
  for (int i = 0; i < bind.symbols_size(); ++i) {
    int64_t number;
    SLIPWAY_RETURN_IF_ERROR(
        ReadNow(space_of(bind.value()), numbers.From(i * int64_t{8}), &number, sizeof(number)));
    SLIPWAY_RETURN_IF_ERROR_WITH(symbols_.Bind(call_of(function), bind.symbols(i), number),
                                 absl::StrCat("element ", i, " of value ", bind.value()));
  }
  return BindResults(function, step, {});
}

absl::Status Interpreter::RunBranch(const FunctionPlan& function, const StepPlan& step) {
  const v1::Step::If& branch = step.proto->branch();
  uint8_t holds = 0;
  SLIPWAY_RETURN_IF_ERROR(ReadNow(space_of(branch.condition()), values_.memory(branch.condition()),
                                  &holds, sizeof(holds)));
  const FunctionPlan& callee =
      this->function(holds != 0 ? branch.then_function() : branch.else_function());
  branch_inputs_.clear();
  for (const uint32_t value : branch.inputs()) branch_inputs_.push_back(ViewOf(value));
  // The callee's outputs are its own: it must not keep blocks of the caller.
  for (TensorView& view : branch_inputs_) view.block = nullptr;
  const absl::Cleanup end = [&] { End(callee); };
  SLIPWAY_RETURN_IF_ERROR_WITH(
      Call(callee, branch_inputs_),
      absl::StrCat("function '", absl::Utf8SafeCEscape(callee.proto->name()), "'"));
  results_.clear();
  for (int i = 0; i < branch.outputs_size(); ++i) {
    results_.push_back({branch.outputs(i), ViewOf(callee.outputs[static_cast<size_t>(i)].value)});
  }
  SLIPWAY_RETURN_IF_ERROR(BindResults(function, step, results_));
  for (const Result& result : results_) {
    SLIPWAY_RETURN_IF_ERROR(StoreResult(function, step, result.value, result.view));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::BindResults(const FunctionPlan& function, const StepPlan& step,
                                      absl::Span<const Result> results) {
  const uint64_t call = call_of(function);
  for (const Result& result : results) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        symbols_.BindExtents(call, values_.proto(result.value), result.view.extents),
        absl::StrCat("result in value ", result.value));
  }
  if (step.stage != 0) SLIPWAY_RETURN_IF_ERROR(BeginStage(function, step.stage));
  for (const Result& result : results) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        symbols_.CompareExtents(values_.proto(result.value), result.view.extents),
        absl::StrCat("result in value ", result.value));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::StoreResult(const FunctionPlan& function, const StepPlan& step,
                                      uint32_t value, const TensorView& view) {
  const uint32_t buffer = values_.buffer(value);
  if (IsMadeBy(step, value)) {
    const int64_t bytes =
        symbols_.Number(program_.manifest().proto().buffers(static_cast<int>(buffer)).size());
    // Somebody else who holds the block reads it, or gets it as another result.
    if (view.block != nullptr && view.block->holders == 1 && values_.offset(value) == 0 &&
        bytes >= 0 && bytes <= view.block->memory.bytes) {
      memory_.Adopt(buffer, *view.block, bytes);
      return CheckFits(function, buffer);
    }
    SLIPWAY_RETURN_IF_ERROR(Place(function, buffer));
  }
  return CopyNow(space_of(value), view.memory, values_.memory(value), values_.bytes(value));
}

bool Interpreter::IsMadeBy(const StepPlan& step, uint32_t value) const {
  const uint32_t buffer = values_.buffer(value);
  return memory_.block(buffer) == nullptr &&
         std::find(step.made.begin(), step.made.end(), buffer) != step.made.end();
}

absl::Status Interpreter::CountTurn() {
  if (++turns_made_ <= options_.loop_turns) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("loops made more than ", options_.loop_turns,
                   " turns in this call; if they would end, allow more with --loop-turns"));
}

}  // namespace slipway
