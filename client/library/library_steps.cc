#include "client/library/library_steps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Kind = LibraryStep::Kind;
using Indices = google::protobuf::RepeatedField<uint32_t>;

// Nobody makes so many turns, and JavaScript counts no further.
constexpr int64_t kEndless = int64_t{1} << 53;

bool IsSamePlace(const LibraryValue& a, const LibraryValue& b) {
  return a.place == b.place && a.index == b.index && a.offset == b.offset;
}

class StepLister {
 public:
  StepLister(const CheckedManifest& manifest, LibraryValues& values)
      : manifest_(manifest), values_(values) {}

  absl::Status AddFunction(const v1::Function& function, const std::string& prefix);
  std::vector<LibraryStep> Take() { return std::move(steps_); }

 private:
  // Who it is done for.
  struct Caller {
    const v1::Step& step;
    std::string name;
  };

  const v1::Value& value(uint32_t index) const {
    return manifest_.proto().values(static_cast<int>(index));
  }
  uint32_t next() const { return static_cast<uint32_t>(steps_.size()); }
  absl::Status Refuse(const Caller& caller, absl::string_view why) const {
    return absl::UnimplementedError(
        absl::StrCat("step \"", absl::Utf8SafeCEscape(caller.name), "\" ", why));
  }

  // The step's number.
  uint32_t Add(const Caller& caller, Kind kind, std::vector<uint32_t> arguments);
  void AddCopy(const Caller& caller, uint32_t from, uint32_t to, const TensorType& type);
  // Moves a value out of the way, and says where to.
  uint32_t AddCopyAside(const Caller& caller, uint32_t from);
  absl::Status AddBody(const Caller& caller, uint32_t function);
  absl::Status AddBranch(const Caller& caller);
  absl::Status AddLoop(const Caller& caller);
  absl::StatusOr<std::optional<int64_t>> TurnsOf(const Caller& caller) const;
  absl::Status BindBody(const v1::Step::Loop& loop, const v1::Function& body);
  absl::Status AddEndOfTurn(const Caller& caller, const v1::Function& body,
                            std::vector<uint32_t>& leaving);

  const CheckedManifest& manifest_;
  LibraryValues& values_;
  std::vector<LibraryStep> steps_;
  std::set<uint32_t> called_;
};

uint32_t StepLister::Add(const Caller& caller, Kind kind, std::vector<uint32_t> arguments) {
  LibraryStep step;
  step.kind = kind;
  step.arguments = std::move(arguments);
  step.name = caller.name;
  steps_.push_back(std::move(step));
  return next() - 1;
}

void StepLister::AddCopy(const Caller& caller, uint32_t from, uint32_t to, const TensorType& type) {
  steps_[Add(caller, Kind::kCopy, {from, to})].bytes = type.byte_size();
}

uint32_t StepLister::AddCopyAside(const Caller& caller, uint32_t from) {
  const TensorType type = manifest_.TypeOf(from);
  const uint32_t aside = values_.Add(values_.TakeMemory(type));
  AddCopy(caller, from, aside, type);
  return aside;
}

absl::Status StepLister::AddFunction(const v1::Function& function, const std::string& prefix) {
  for (const v1::Step& step : function.steps()) {
    const Caller caller{step, absl::StrCat(prefix, step.name())};
    switch (step.kind_case()) {
      case v1::Step::kKernel: {
        std::vector<uint32_t> arguments(step.kernel().inputs().begin(),
                                        step.kernel().inputs().end());
        arguments.insert(arguments.end(), step.kernel().outputs().begin(),
                         step.kernel().outputs().end());
        steps_[Add(caller, Kind::kKernel, std::move(arguments))].kernel = step.kernel().kernel();
        break;
      }
      case v1::Step::kCopy:
        AddCopy(caller, step.copy().from(), step.copy().to(), manifest_.TypeOf(step.copy().to()));
        break;
      case v1::Step::kBranch:
        SLIPWAY_RETURN_IF_ERROR(AddBranch(caller));
        break;
      case v1::Step::kLoop:
        SLIPWAY_RETURN_IF_ERROR(AddLoop(caller));
        break;
      default:
        return Refuse(caller, "is of a kind that exports do not have yet");
    }
  }
  return absl::OkStatus();
}

// Its inputs have places.
absl::Status StepLister::AddBody(const Caller& caller, uint32_t function) {
  if (!called_.insert(function).second) {
    return Refuse(caller,
                  "runs a function that another one runs, too, which exports do not have yet");
  }
  const v1::Function& body = manifest_.proto().functions(static_cast<int>(function));
  return AddFunction(body, absl::StrCat(body.name(), "/"));
}

absl::Status StepLister::AddBranch(const Caller& caller) {
  const v1::Step::If& branch = caller.step.branch();
  const uint32_t unless = Add(caller, Kind::kUnless, {branch.condition()});
  uint32_t go_to = 0;
  for (const uint32_t callee : {branch.then_function(), branch.else_function()}) {
    const bool is_then = callee == branch.then_function();
    const v1::Function& body = manifest_.proto().functions(static_cast<int>(callee));
    for (int i = 0; i < branch.inputs_size(); ++i) {
      SLIPWAY_ASSIGN_OR_RETURN(LibraryValue place, values_.Of(branch.inputs(i)));
      values_.Bind(body.inputs(i).value(), std::move(place));
    }
    SLIPWAY_RETURN_IF_ERROR(AddBody(caller, callee));
    for (int i = 0; i < branch.outputs_size(); ++i) {
      AddCopy(caller, body.outputs(i).value(), branch.outputs(i),
              manifest_.TypeOf(branch.outputs(i)));
    }
    if (!is_then) break;
    go_to = Add(caller, Kind::kGoTo, {});
    steps_[unless].target = next();
  }
  steps_[go_to].target = next();
  return absl::OkStatus();
}

// At most; absent where a value says it when the program runs.
absl::StatusOr<std::optional<int64_t>> StepLister::TurnsOf(const Caller& caller) const {
  const v1::Step::Loop& loop = caller.step.loop();
  std::optional<int64_t> turns = kEndless;
  if (loop.has_max_turns()) {
    turns = values_.Number(loop.max_turns());
    if (turns.has_value()) turns = std::clamp<int64_t>(*turns, 0, kEndless);
  }
  for (const uint32_t scanned : loop.scanned()) {
    if (!turns.has_value()) {
      return Refuse(caller,
                    "scans slices of which a number that is computed says how many, which "
                    "exports do not have yet");
    }
    turns = std::min(*turns, manifest_.TypeOf(scanned).shape[0]);
  }
  for (const uint32_t collected : loop.collected()) {
    if (!turns.has_value() || *turns == kEndless || loop.has_condition()) {
      return Refuse(caller,
                    "collects slices of turns whose number is known only when it runs, "
                    "which exports do not have yet");
    }
    if (const int64_t slices = manifest_.TypeOf(collected).shape[0]; slices != *turns) {
      return absl::InvalidArgumentError(absl::StrCat("step \"", absl::Utf8SafeCEscape(caller.name),
                                                     "\" collects ", slices, " slices, but makes ",
                                                     *turns, " turns"));
    }
  }
  return turns;
}

// Carried values lie where their results will: apart from all that the step reads and the body writes.
absl::Status StepLister::BindBody(const v1::Step::Loop& loop, const v1::Function& body) {
  int input = 0;
  const auto own = [&] {
    const uint32_t value = body.inputs(input++).value();
    values_.Bind(value, values_.TakeMemory(manifest_.TypeOf(value)));
  };
  const auto shared = [&](const Indices& with) -> absl::Status {
    for (const uint32_t value : with) {
      SLIPWAY_ASSIGN_OR_RETURN(LibraryValue place, values_.Of(value));
      values_.Bind(body.inputs(input++).value(), std::move(place));
    }
    return absl::OkStatus();
  };
  own();
  SLIPWAY_RETURN_IF_ERROR(shared(loop.results()));
  for (int i = 0; i < loop.scanned_size(); ++i) own();
  return shared(loop.captured());
}

// The end of a turn. What the body gives may be what it was given, in another order: that is moved out of the way before it is written
// over.
absl::Status StepLister::AddEndOfTurn(const Caller& caller, const v1::Function& body,
                                      std::vector<uint32_t>& leaving) {
  const v1::Step::Loop& loop = caller.step.loop();
  std::set<uint32_t> carried_buffers;
  for (int i = 0; i < loop.initial_size(); ++i) {
    carried_buffers.insert(value(body.inputs(1 + i).value()).buffer());
  }
  const auto is_carried = [&](uint32_t output) {
    return carried_buffers.count(value(output).buffer()) > 0;
  };
  int output = 0;
  uint32_t condition = 0;
  if (loop.has_condition()) {
    condition = body.outputs(output++).value();
    if (is_carried(condition)) condition = AddCopyAside(caller, condition);
  }
  std::vector<std::pair<uint32_t, uint32_t>> copies;
  for (const uint32_t to : loop.results()) {
    const uint32_t from = body.outputs(output++).value();
    SLIPWAY_ASSIGN_OR_RETURN(const LibraryValue place, values_.Of(from));
    SLIPWAY_ASSIGN_OR_RETURN(const LibraryValue result, values_.Of(to));
    if (IsSamePlace(place, result)) continue;
    copies.emplace_back(is_carried(from) ? AddCopyAside(caller, from) : from, to);
  }
  for (const auto& [from, to] : copies) AddCopy(caller, from, to, manifest_.TypeOf(to));
  if (loop.has_condition()) leaving.push_back(Add(caller, Kind::kUnless, {condition}));
  return absl::OkStatus();
}

absl::Status StepLister::AddLoop(const Caller& caller) {
  const v1::Step::Loop& loop = caller.step.loop();
  const v1::Function& body = manifest_.proto().functions(static_cast<int>(loop.body()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::optional<int64_t> turns, TurnsOf(caller));
  const int64_t taken_end = values_.taken_end();
  SLIPWAY_RETURN_IF_ERROR(BindBody(loop, body));
  const uint32_t turn = body.inputs(0).value();
  std::vector<uint32_t> leaving;  // Steps that may end it.

  for (int i = 0; i < loop.initial_size(); ++i) {
    AddCopy(caller, loop.initial(i), loop.results(i), manifest_.TypeOf(loop.results(i)));
  }
  Add(caller, Kind::kBegin, {turn});
  if (loop.has_first_condition()) {
    leaving.push_back(Add(caller, Kind::kUnless, {loop.first_condition()}));
  }
  const uint32_t first = next();
  if (!turns.has_value()) {
    leaving.push_back(Add(caller, Kind::kWhile, {turn, loop.max_turns()}));
  } else if (*turns < kEndless) {
    leaving.push_back(Add(caller, Kind::kWhile, {turn}));
    steps_.back().turns = *turns;
  }
  for (int i = 0; i < loop.scanned_size(); ++i) {
    const uint32_t slice = body.inputs(1 + loop.initial_size() + i).value();
    steps_[Add(caller, Kind::kTakeSlice, {loop.scanned(i), slice, turn})].bytes =
        manifest_.TypeOf(slice).byte_size();
  }
  SLIPWAY_RETURN_IF_ERROR(AddBody(caller, loop.body()));
  const int first_collected = (loop.has_condition() ? 1 : 0) + loop.results_size();
  for (int i = 0; i < loop.collected_size(); ++i) {
    const uint32_t slice = body.outputs(first_collected + i).value();
    steps_[Add(caller, Kind::kPutSlice, {slice, loop.collected(i), turn})].bytes =
        manifest_.TypeOf(slice).byte_size();
  }
  SLIPWAY_RETURN_IF_ERROR(AddEndOfTurn(caller, body, leaving));
  Add(caller, Kind::kNext, {turn});
  steps_.back().target = first;
  for (const uint32_t step : leaving) steps_[step].target = next();
  values_.GiveBack(taken_end);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LibraryStep>> ListSteps(const CheckedManifest& manifest,
                                                   LibraryValues& values) {
  StepLister lister(manifest, values);
  SLIPWAY_RETURN_IF_ERROR(lister.AddFunction(manifest.entry(), ""));
  return lister.Take();
}

}  // namespace slipway
