#include "core/artifact/program_steps.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace slipway {

namespace {

bool IsOfHost(const v1::Manifest& manifest, uint32_t value) {
  const auto buffer = static_cast<int>(manifest.values(static_cast<int>(value)).buffer());
  const uint32_t space = manifest.buffers(buffer).space();
  if (manifest.spaces().empty()) return space == 0;  // One for each device.
  const v1::MemorySpace& memory = manifest.spaces(static_cast<int>(space));
  return memory.device() == 0 || std::find(memory.shared_with().begin(), memory.shared_with().end(),
                                           0u) != memory.shared_with().end();
}

StepInfo::Copied WayOf(const v1::Manifest& manifest, const v1::Step::Copy& copy) {
  const bool from_host = IsOfHost(manifest, copy.from());
  if (from_host == IsOfHost(manifest, copy.to())) return StepInfo::Copied::kWithin;
  return from_host ? StepInfo::Copied::kFromHost : StepInfo::Copied::kToHost;
}

}  // namespace

std::vector<StepInfo> StepsOf(const CheckedManifest& manifest) {
  const v1::Manifest& proto = manifest.proto();
  std::vector<StepInfo> steps;
  for (int f = 0; f < proto.functions_size(); ++f) {
    const v1::Function& function = proto.functions(f);
    const auto index = static_cast<uint32_t>(f);
    const bool is_entry = index == proto.entry() ||
                          std::find(proto.more_entries().begin(), proto.more_entries().end(),
                                    index) != proto.more_entries().end();
    for (const v1::Step& step : function.steps()) {
      StepInfo& info = steps.emplace_back();
      info.name = is_entry ? step.name() : absl::StrCat(function.name(), "/", step.name());
      info.operators.assign(step.operators().begin(), step.operators().end());
      info.device = step.device();
      if (step.has_copy()) info.copied = WayOf(proto, step.copy());
      if (!step.has_kernel()) continue;
      const v1::Step::Kernel& kernel = step.kernel();
      const v1::Code& code = proto.code(static_cast<int>(kernel.code()));
      info.kernel = {kernel.code(), kernel.kernel(),
                     code.entries().empty() ? "" : code.entries(static_cast<int>(kernel.kernel()))};
    }
  }
  return steps;
}

std::vector<StepInfo> StepsOf(const Artifact& artifact) {
  std::vector<StepInfo> steps = StepsOf(artifact.manifest());
  const std::vector<std::optional<StepCost>> costs = CostsOf(artifact);
  for (size_t i = 0; i < costs.size(); ++i) steps[i].cost = costs[i];
  return steps;
}

std::string DescribeStep(absl::Span<const StepInfo> steps, uint32_t number) {
  if (number >= steps.size()) return "no step of the program";
  const StepInfo& step = steps[number];
  std::string text = absl::StrCat("step ", number, " '", absl::Utf8SafeCEscape(step.name), "'");
  if (!step.kernel.has_value()) return text;
  absl::StrAppend(&text, ", kernel ", step.kernel->kernel, " of code ", step.kernel->code);
  if (!step.kernel->entry.empty()) {
    absl::StrAppend(&text, " '", absl::Utf8SafeCEscape(step.kernel->entry), "'");
  }
  return text;
}

std::vector<uint32_t> ValuesWrittenBy(const v1::Step& step) {
  std::vector<uint32_t> values;
  const auto add = [&values](const auto& more) {
    values.insert(values.end(), more.begin(), more.end());
  };
  switch (step.kind_case()) {
    case v1::Step::kKernel:
      add(step.kernel().outputs());
      break;
    case v1::Step::kCopy:
      values.push_back(step.copy().to());
      break;
    case v1::Step::kBranch:
      add(step.branch().outputs());
      break;
    case v1::Step::kLoop:
      add(step.loop().results());
      add(step.loop().collected());
      break;
    case v1::Step::kBindSymbols:
    case v1::Step::KIND_NOT_SET:
      break;
  }
  return values;
}

std::vector<int> OutputsAsComputed(const v1::Manifest& manifest, const v1::Function& function) {
  // By buffer: the step whose result it holds.
  std::vector<int> made_by(static_cast<size_t>(manifest.buffers_size()), -1);
  const auto buffer_of = [&manifest](uint32_t value) {
    return manifest.values(static_cast<int>(value)).buffer();
  };
  for (int i = 0; i < function.steps_size(); ++i) {
    const v1::Step& step = function.steps(i);
    const int maker = step.has_copy() ? made_by[buffer_of(step.copy().from())] : i;
    for (const uint32_t value : ValuesWrittenBy(step)) made_by[buffer_of(value)] = maker;
  }
  std::vector<int> order(static_cast<size_t>(function.outputs_size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return made_by[buffer_of(function.outputs(a).value())] <
           made_by[buffer_of(function.outputs(b).value())];
  });
  return order;
}

}  // namespace slipway
