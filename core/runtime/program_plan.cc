#include "core/runtime/program_plan.h"

#include <algorithm>
#include <optional>

namespace slipway {
namespace {

// Where a number becomes known: a stage of a function, or nowhere since it is constant.
struct Known {
  int function = -1;
  uint32_t stage = 0;
};

Known Later(const Known& a, const Known& b) {
  return {std::max(a.function, b.function), std::max(a.stage, b.stage)};
}

// The symbol a dimension is exactly; none where it is a number or computed.
std::optional<uint32_t> SymbolOf(const v1::Manifest& manifest, const v1::Dimension& dimension) {
  if (!dimension.has_expression()) return std::nullopt;
  const v1::Expression& expression = manifest.expressions(static_cast<int>(dimension.expression()));
  if (!expression.has_symbol()) return std::nullopt;
  return expression.symbol();
}

std::vector<uint32_t> ResultsOf(const v1::Step& step) {
  std::vector<uint32_t> results;
  if (step.has_branch()) {
    results.assign(step.branch().outputs().begin(), step.branch().outputs().end());
  } else if (step.has_loop()) {
    results.assign(step.loop().results().begin(), step.loop().results().end());
    results.insert(results.end(), step.loop().collected().begin(), step.loop().collected().end());
  }
  return results;
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
  Planner(const v1::Manifest& manifest, absl::Span<const bool> is_synchronous)
      : manifest_(manifest),
        is_synchronous_(is_synchronous),
        symbols_(static_cast<size_t>(manifest_.symbols_size())) {
    plan_.spaces = PlanSpaces(manifest);
  }

  ProgramPlan Run() {
    plan_.functions.resize(static_cast<size_t>(manifest_.functions_size()));
    for (uint32_t i = 0; i < plan_.functions.size(); ++i) {
      FunctionPlan& function = plan_.functions[i];
      function.index = i;
      function.proto = &manifest_.functions(static_cast<int>(i));
      function.inputs = PlanPorts(function.proto->inputs());
      function.outputs = PlanPorts(function.proto->outputs());
      for (PortPlan& output : function.outputs) {
        output.is_external &= !IsInput(function, output.buffer);
      }
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

  static bool IsInput(const FunctionPlan& function, uint32_t buffer) {
    return std::any_of(function.inputs.begin(), function.inputs.end(),
                       [buffer](const PortPlan& input) { return input.buffer == buffer; });
  }

  std::vector<PortPlan> PlanPorts(
      const google::protobuf::RepeatedPtrField<v1::Binding>& bindings) const {
    std::vector<PortPlan> ports;
    for (const v1::Binding& binding : bindings) {
      const v1::Buffer& buffer = BufferOf(binding.value());
      const SpacePlan& space = plan_.spaces[buffer.space()];
      ports.push_back({binding.value(), Buffer(binding.value()), buffer.space(),
                       buffer.class_() == v1::Buffer::CLASS_EXTERNAL,
                       space.device == 0 && space.kind == MemoryKind::kLocal});
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

  // Notes a dimension that may give a symbol its value; true if it does.
  bool Bind(std::optional<uint32_t> symbol, const Known& known) {
    if (!symbol.has_value() || symbols_[*symbol].function >= 0) return false;
    symbols_[*symbol] = known;
    return true;
  }

  void PlanSymbols(FunctionPlan& function) {
    const auto index = static_cast<int>(function.index);
    function.stages.emplace_back();
    for (const v1::Binding& input : function.proto->inputs()) {
      for (const auto& dimension : manifest_.values(static_cast<int>(input.value())).shape()) {
        function.has_symbolic_inputs |= dimension.has_expression();
        Bind(SymbolOf(manifest_, dimension), {index, 0});
      }
    }
    for (StepPlan& step : function.steps) {
      const Known known{index, static_cast<uint32_t>(function.stages.size())};
      bool binds = false;
      for (const uint32_t symbol : step.proto->bind_symbols().symbols())
        binds |= Bind(symbol, known);
      if (step.proto->has_loop() && step.proto->loop().has_turns()) {
        binds |= Bind(step.proto->loop().turns(), known);
      }
      for (const uint32_t value : ResultsOf(*step.proto)) {
        for (const auto& dimension : manifest_.values(static_cast<int>(value)).shape()) {
          binds |= Bind(SymbolOf(manifest_, dimension), known);
        }
      }
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
    for (const auto* ports : {&function.inputs, &function.outputs}) {
      for (const PortPlan& port : *ports) {
        if (port.is_external) function.pooled.push_back(port.buffer);
      }
    }
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
      auto& list = known.function < 0 ? plan_.constant_expressions
                                      : plan_.functions[static_cast<size_t>(known.function)]
                                            .stages[known.stage]
                                            .expressions;
      list.push_back(index);
    }
  }

  void PlanValues() {
    plan_.value_stages.resize(static_cast<size_t>(manifest_.values_size()));
    for (uint32_t i = 0; i < plan_.value_stages.size(); ++i) {
      Known known;
      for (const auto& dimension : manifest_.values(static_cast<int>(i)).shape()) {
        if (dimension.has_expression()) known = Later(known, expressions_[dimension.expression()]);
      }
      plan_.value_stages[i] = known.stage;
      if (known.function < 0) continue;
      plan_.functions[static_cast<size_t>(known.function)].stages[known.stage].values.push_back(i);
    }
  }

  const v1::Manifest& manifest_;
  const absl::Span<const bool> is_synchronous_;
  ProgramPlan plan_;
  std::vector<Known> symbols_;
  std::vector<Known> expressions_;
};

}  // namespace

std::vector<SpacePlan> PlanSpaces(const v1::Manifest& manifest) {
  std::vector<SpacePlan> spaces;
  for (const v1::MemorySpace& space : manifest.spaces()) {
    const bool is_shared = space.device() != 0 &&
                           std::find(space.shared_with().begin(), space.shared_with().end(), 0u) !=
                               space.shared_with().end();
    spaces.push_back({space.device(), is_shared ? MemoryKind::kHostVisible : MemoryKind::kLocal,
                      is_shared || space.device() == 0});
  }
  if (manifest.spaces().empty()) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(manifest.devices_size()); ++i) {
      spaces.push_back({i, MemoryKind::kLocal, i == 0});
    }
  }
  for (const v1::Buffer& buffer : manifest.buffers()) {
    if (buffer.class_() != v1::Buffer::CLASS_STATIC) continue;
    int64_t& bytes = spaces[buffer.space()].arena_bytes;
    bytes = std::max(bytes, buffer.arena_offset() + buffer.size().constant());
  }
  return spaces;
}

ProgramPlan PlanProgram(const v1::Manifest& manifest, absl::Span<const bool> is_synchronous) {
  return Planner(manifest, is_synchronous).Run();
}

}  // namespace slipway
