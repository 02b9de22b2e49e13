#include "core/runtime/program_plan.h"

#include <algorithm>

#include "core/artifact/program_steps.h"

namespace slipway {
namespace {

// Where a number becomes known: in a stage of a function.
struct Known {
  static constexpr int kAlways = -1;
  // Of symbols that nothing binds, and of what mixes those of two functions: nothing that runs needs it.
  static constexpr int kNever = -2;

  int function = kAlways;
  uint32_t stage = 0;
};

Known Later(const Known& a, const Known& b) {
  if (a.function == Known::kAlways) return b;
  if (b.function == Known::kAlways) return a;
  if (a.function != b.function) return {Known::kNever, 0};
  return {a.function, std::max(a.stage, b.stage)};
}

// Of a control step.
std::vector<uint32_t> ResultsOf(const v1::Step& step) {
  return step.has_branch() || step.has_loop() ? ValuesWrittenBy(step) : std::vector<uint32_t>();
}

// All values a step touches but the results of a control step.
std::vector<uint32_t> OperandsOf(const v1::Step& step) {
  std::vector<uint32_t> values;
  const auto add = [&values](const auto& more) {
    values.insert(values.end(), more.begin(), more.end());
  };
  switch (step.kind_case()) {
    case v1::Step::kKernel:
      add(step.kernel().inputs());
      add(step.kernel().outputs());
      break;
    case v1::Step::kCopy:
      values = {step.copy().from(), step.copy().to()};
      break;
    case v1::Step::kBindSymbols:
      values = {step.bind_symbols().value()};
      break;
    case v1::Step::kBranch:
      values = {step.branch().condition()};
      add(step.branch().inputs());
      break;
    case v1::Step::kLoop:
      if (step.loop().has_max_turns()) values.push_back(step.loop().max_turns());
      if (step.loop().has_first_condition()) values.push_back(step.loop().first_condition());
      add(step.loop().initial());
      add(step.loop().scanned());
      add(step.loop().captured());
      break;
    case v1::Step::KIND_NOT_SET:
      break;
  }
  return values;
}

bool HasFixedSizes(const v1::Step::Launch& launch) {
  return std::none_of(launch.groups().begin(), launch.groups().end(),
                      [](const v1::Size& size) { return size.has_expression(); });
}

class Planner {
 public:
  Planner(const CheckedManifest& checked, absl::Span<const bool> is_synchronous)
      : checked_(checked),
        manifest_(checked.proto()),
        is_synchronous_(is_synchronous),
        symbols_(static_cast<size_t>(manifest_.symbols_size()), Known{Known::kNever, 0}) {}

  ProgramPlan Run() {
    plan_.functions.resize(static_cast<size_t>(manifest_.functions_size()));
    for (uint32_t i = 0; i < plan_.functions.size(); ++i) {
      FunctionPlan& function = plan_.functions[i];
      function.index = i;
      function.proto = &manifest_.functions(static_cast<int>(i));
      function.inputs = PlanPorts(function.proto->inputs());
      function.outputs = PlanPorts(function.proto->outputs());
      PlanSteps(function);
      PlanSymbols(function);
      PlanDynamicBuffers(function);
      PlanOrder(function);
      for (StepPlan& step : function.steps) {
        step.is_plain_launch = step.proto->has_kernel() && step.waits.empty() && step.event < 0 &&
                               step.place.empty() && step.release.empty() &&
                               HasFixedSizes(step.proto->kernel().launch());
      }
    }
    plan_.entries = {manifest_.entry()};
    plan_.entries.insert(plan_.entries.end(), manifest_.more_entries().begin(),
                         manifest_.more_entries().end());
    for (const v1::Buffer& buffer : manifest_.buffers()) {
      plan_.buffer_classes.push_back(buffer.class_());
      plan_.buffer_spaces.push_back(buffer.space());
    }
    PlanExpressions();
    PlanValues();
    PlanConstraints();
    return std::move(plan_);
  }

 private:
  const v1::Buffer& BufferOf(uint32_t value) const {
    return manifest_.buffers(static_cast<int>(Buffer(value)));
  }
  uint32_t Buffer(uint32_t value) const {
    return manifest_.values(static_cast<int>(value)).buffer();
  }
  bool IsDynamic(uint32_t value) const {
    return BufferOf(value).class_() == v1::Buffer::CLASS_DYNAMIC;
  }

  std::vector<PortPlan> PlanPorts(
      const google::protobuf::RepeatedPtrField<v1::Binding>& bindings) const {
    std::vector<PortPlan> ports;
    for (const v1::Binding& binding : bindings) {
      const v1::Buffer& buffer = BufferOf(binding.value());
      ports.push_back({binding.value(), Buffer(binding.value()), buffer.space(),
                       buffer.class_() == v1::Buffer::CLASS_EXTERNAL,
                       checked_.spaces()[buffer.space()].device == 0});
    }
    return ports;
  }

  void PlanSteps(FunctionPlan& function) {
    for (const v1::Step& proto : function.proto->steps()) {
      StepPlan step;
      step.proto = &proto;
      step.number = plan_.steps++;
      step.device = proto.device();
      step.queue = proto.queue();
      if (proto.has_kernel()) step.launch = plan_.launches++;
      if (proto.has_loop()) step.loop = plan_.loops++;
      function.steps.push_back(std::move(step));
    }
  }

  // Notes that a symbol may get its value; true if it does.
  bool Bind(uint32_t symbol, const Known& known) {
    if (symbols_[symbol].function >= 0) return false;
    symbols_[symbol] = known;
    return true;
  }
  // The same of the symbols that dimensions of a value are.
  bool BindExtents(uint32_t value, const Known& known) {
    bool binds = false;
    for (const v1::Dimension& dimension : manifest_.values(static_cast<int>(value)).shape()) {
      if (!dimension.has_expression()) continue;
      const int64_t symbol = checked_.expressions().symbol(dimension.expression());
      if (symbol >= 0) binds |= Bind(static_cast<uint32_t>(symbol), known);
    }
    return binds;
  }

  void PlanSymbols(FunctionPlan& function) {
    const auto index = static_cast<int>(function.index);
    function.stages.emplace_back();
    for (const v1::Binding& input : function.proto->inputs()) {
      for (const auto& dimension : manifest_.values(static_cast<int>(input.value())).shape()) {
        function.has_symbolic_inputs |= dimension.has_expression();
      }
      BindExtents(input.value(), {index, 0});
    }
    for (StepPlan& step : function.steps) {
      const Known known{index, static_cast<uint32_t>(function.stages.size())};
      bool binds = false;
      for (const uint32_t symbol : step.proto->bind_symbols().symbols())
        binds |= Bind(symbol, known);
      if (step.proto->has_loop() && step.proto->loop().has_turns()) {
        binds |= Bind(step.proto->loop().turns(), known);
      }
      for (const uint32_t value : ResultsOf(*step.proto)) binds |= BindExtents(value, known);
      if (!binds) continue;
      step.stage = known.stage;
      function.stages.emplace_back();
    }
  }

  void PlanDynamicBuffers(FunctionPlan& function) {
    struct Life {
      StepPlan* first = nullptr;
      StepPlan* last = nullptr;
      bool is_made = false;
    };
    std::vector<Life> lives(static_cast<size_t>(manifest_.buffers_size()));
    const auto touch = [&](uint32_t value, StepPlan& step, bool is_result) {
      if (!IsDynamic(value)) return;
      Life& life = lives[Buffer(value)];
      if (life.first == nullptr) {
        life = {&step, &step, is_result};
        function.pooled.push_back(Buffer(value));
      }
      life.last = &step;
    };
    for (StepPlan& step : function.steps) {
      for (const uint32_t value : OperandsOf(*step.proto)) touch(value, step, false);
      for (const uint32_t value : ResultsOf(*step.proto)) touch(value, step, true);
    }
    for (const uint32_t buffer : function.pooled) {
      const Life& life = lives[buffer];
      (life.is_made ? life.first->made : life.first->place).push_back(buffer);
    }
    for (const v1::Binding& output : function.proto->outputs()) {
      if (IsDynamic(output.value())) lives[Buffer(output.value())].last = nullptr;
    }
    for (const uint32_t buffer : function.pooled) {
      if (lives[buffer].last != nullptr) lives[buffer].last->release.push_back(buffer);
    }
    for (const PortPlan& input : function.inputs) function.pooled.push_back(input.buffer);
  }

  // Steps whose work has ended when they return, or that run in the same queue, need no event.
  void PlanOrder(FunctionPlan& function) {
    for (StepPlan& step : function.steps) {
      if (!step.proto->has_kernel() && !step.proto->has_copy()) continue;
      if (!is_synchronous_[step.device]) function.asynchronous_devices.push_back(step.device);
      for (const uint32_t before : step.proto->after()) {
        StepPlan& producer = function.steps[before];
        const bool is_in_order = producer.device == step.device && producer.queue == step.queue;
        if (is_in_order || is_synchronous_[producer.device]) continue;
        if (producer.event < 0) producer.event = static_cast<int>(plan_.events++);
        step.waits.push_back(static_cast<uint32_t>(producer.event));
      }
    }
    auto& devices = function.asynchronous_devices;
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  }

  void PlanExpressions() {
    for (const v1::Expression& expression : manifest_.expressions()) {
      const auto index = static_cast<uint32_t>(expressions_.size());
      Known known;
      if (expression.has_symbol()) {
        known = symbols_[expression.symbol()];
      } else if (expression.has_operation()) {
        known = Later(expressions_[expression.operation().left()],
                      expressions_[expression.operation().right()]);
      }
      expressions_.push_back(known);
      if (StagePlan* const stage = StageOf(known)) stage->expressions.push_back(index);
    }
  }

  void PlanValues() {
    plan_.value_stages.resize(static_cast<size_t>(manifest_.values_size()));
    for (uint32_t i = 0; i < plan_.value_stages.size(); ++i) {
      Known known;
      bool is_number = true;
      for (const auto& dimension : manifest_.values(static_cast<int>(i)).shape()) {
        if (!dimension.has_expression()) continue;
        known = Later(known, expressions_[dimension.expression()]);
        is_number = false;
      }
      plan_.value_stages[i] = known.stage;
      if (is_number) continue;
      if (StagePlan* const stage = StageOf(known)) stage->values.push_back(i);
    }
  }

  void PlanConstraints() {
    for (const v1::Function& function : manifest_.functions()) {
      for (const v1::Constraint& constraint : function.constraints()) {
        Known known;
        for (const v1::Constraint::Equality& equality : constraint.any_of()) {
          known =
              Later(known, Later(expressions_[equality.left()], expressions_[equality.right()]));
        }
        if (StagePlan* const stage = StageOf(known)) stage->constraints.push_back(&constraint);
      }
    }
  }

  // Null for what is never known.
  StagePlan* StageOf(const Known& known) {
    if (known.function == Known::kNever) return nullptr;
    if (known.function == Known::kAlways) return &plan_.constants;
    return &plan_.functions[static_cast<size_t>(known.function)].stages[known.stage];
  }

  const CheckedManifest& checked_;
  const v1::Manifest& manifest_;
  const absl::Span<const bool> is_synchronous_;
  ProgramPlan plan_;
  std::vector<Known> symbols_;
  std::vector<Known> expressions_;
};

}  // namespace

ProgramPlan PlanProgram(const CheckedManifest& manifest, absl::Span<const bool> is_synchronous) {
  return Planner(manifest, is_synchronous).Run();
}

}  // namespace slipway
