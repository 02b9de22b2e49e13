#include "core/runtime/program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/runtime/interpreter.h"
#include "core/runtime/resident_program.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<Program>> Program::Load(
    const Artifact& artifact, std::vector<std::shared_ptr<ComputeDevice>> devices) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<ResidentProgram> loaded,
                           ResidentProgram::Load(artifact, std::move(devices)));
  std::vector<StepInfo> steps = StepsOf(artifact);
  for (const ChosenStep& made : loaded->chosen_steps()) {
    const StepPlan& last = loaded->plan().functions[made.step.function].steps[made.step.end() - 1];
    StepLibrary& library = steps[last.number].library.emplace();
    library.name = made.library;
    library.is_used = made.way != nullptr;
    library.own_ns = made.times.own_ns;
    if (made.times.way.has_value()) library.library_ns = made.times.library_ns;
  }
  return std::unique_ptr<Program>(new Program(std::move(loaded), std::move(steps)));
}

Program::Program(std::unique_ptr<ResidentProgram> loaded, std::vector<StepInfo> steps)
    : loaded_(std::move(loaded)), steps_(std::move(steps)) {
  const ProgramPlan& plan = loaded_->plan();
  for (const uint32_t entry : plan.entries) {
    entries_.push_back(plan.functions[entry].proto->name());
  }
}

Program::~Program() = default;

const ProgramSignature& Program::signature() const { return loaded_->manifest().signature(); }

absl::Span<const std::shared_ptr<ComputeDevice>> Program::devices() const {
  return loaded_->devices();
}

absl::StatusOr<int> Program::FindEntry(absl::string_view name) const {
  const auto found = std::find(entries_.begin(), entries_.end(), name);
  if (found != entries_.end()) return static_cast<int>(found - entries_.begin());
  return absl::NotFoundError(
      absl::StrCat("no function '", absl::Utf8SafeCEscape(name), "' may be called; there is '",
                   absl::StrJoin(entries_, "', '",
                                 [](std::string* out, const std::string& each) {
                                   out->append(absl::Utf8SafeCEscape(each));
                                 }),
                   "'"));
}

TensorPlace Program::InputPlace(int input, int entry) const {
  const ProgramPlan& plan = loaded_->plan();
  const FunctionPlan& function = plan.functions[plan.entries[static_cast<size_t>(entry)]];
  const uint32_t space = function.inputs[static_cast<size_t>(input)].space;
  return loaded_->place_of_space(space);
}

absl::StatusOr<std::unique_ptr<ProgramContext>> Program::NewContext(
    const ProgramContextOptions& options) const {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads must be 1 to ", kMaxThreads, ", not ", options.threads));
  }
  InterpreterOptions interpreter_options;
  interpreter_options.queues = {options.threads, options.scratch_bytes, options.position,
                                options.is_timed};
  interpreter_options.dynamic_bytes = options.dynamic_bytes;
  interpreter_options.loop_turns = options.loop_turns;
  interpreter_options.position = options.position;
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<Interpreter> interpreter,
                           Interpreter::Create(*loaded_, interpreter_options));
  return std::unique_ptr<ProgramContext>(new ProgramContext(*loaded_, std::move(interpreter)));
}

}  // namespace slipway
