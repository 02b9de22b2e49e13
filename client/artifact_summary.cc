#include "client/artifact_summary.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace slipway {
namespace {

std::string NameOfFunction(const v1::Manifest& manifest, uint32_t function) {
  return manifest.functions(static_cast<int>(function)).name();
}

std::string ControlOf(const v1::Manifest& manifest, const v1::Step& step) {
  switch (step.kind_case()) {
    case v1::Step::kBindSymbols:
      return absl::StrCat(
          "bind: ", absl::StrJoin(step.bind_symbols().symbols(), ", ",
                                  [&](std::string* out, uint32_t symbol) {
                                    out->append(manifest.symbols(static_cast<int>(symbol)).name());
                                  }));
    case v1::Step::kBranch:
      return absl::StrCat("if: ", NameOfFunction(manifest, step.branch().then_function()),
                          ", else ", NameOfFunction(manifest, step.branch().else_function()));
    case v1::Step::kLoop:
      return absl::StrCat("loop: ", NameOfFunction(manifest, step.loop().body()));
    default:
      return "";
  }
}

std::vector<ArtifactSummary::Step> StepsOf(const v1::Manifest& manifest,
                                           const v1::Function& function) {
  std::vector<ArtifactSummary::Step> steps;
  for (const v1::Step& step : function.steps()) {
    ArtifactSummary::Step& added = steps.emplace_back();
    added.name = step.name();
    added.operators.assign(step.operators().begin(), step.operators().end());
    added.control = ControlOf(manifest, step);
    if (step.has_kernel()) added.kernel = {step.kernel().code(), step.kernel().kernel()};
    if (step.has_branch()) {
      added.runs = {step.branch().then_function(), step.branch().else_function()};
    }
    if (step.has_loop()) added.runs = {step.loop().body()};
  }
  return steps;
}

std::string NameOfDevice(const v1::Manifest& manifest, uint32_t device) {
  return manifest.devices(static_cast<int>(device)).target();
}

void AddFunctions(const CheckedManifest& checked, ArtifactSummary& summary) {
  const v1::Manifest& manifest = checked.proto();
  for (int i = 0; i < manifest.functions_size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    if (index == manifest.entry()) continue;
    ProgramSignature signature = checked.SignatureOf(index);
    const auto& entries = manifest.more_entries();
    summary.functions.push_back({manifest.functions(i).name(),
                                 std::find(entries.begin(), entries.end(), index) != entries.end(),
                                 std::move(signature.inputs), std::move(signature.outputs),
                                 StepsOf(manifest, manifest.functions(i))});
  }
}

}  // namespace

ArtifactSummary Summarize(const CheckedManifest& checked) {
  const v1::Manifest& manifest = checked.proto();
  ArtifactSummary summary = {.digest = checked.digest(),
                             .name = manifest.name(),
                             .target = manifest.target(),
                             .compile_key = manifest.compile_key(),
                             .artifact_bytes = checked.artifact_bytes()};
  for (const ProgramSpace& space : checked.spaces()) {
    summary.arena_bytes += space.arena_bytes;
    summary.spaces.push_back({NameOfDevice(manifest, space.device), {}, space.arena_bytes});
    for (const uint32_t device : space.shared_with) {
      summary.spaces.back().shared_with.push_back(NameOfDevice(manifest, device));
    }
  }
  for (const v1::Symbol& symbol : manifest.symbols()) {
    summary.symbols.push_back({symbol.name(), symbol.min(), symbol.max()});
  }
  for (const v1::ToolVersion& tool : manifest.tools()) {
    summary.tools.emplace_back(tool.name(), tool.version());
  }
  summary.inputs = checked.signature().inputs;
  summary.outputs = checked.signature().outputs;
  summary.steps = StepsOf(manifest, checked.entry());
  summary.entry = manifest.entry();
  AddFunctions(checked, summary);
  for (const v1::Code& code : manifest.code()) {
    summary.kernels += code.kernel_count();
    summary.code_bytes += code.blob().size_bytes();
    summary.code.push_back(
        {std::string(absl::StripPrefix(v1::Code::Kind_Name(code.kind()), "KIND_")),
         NameOfDevice(manifest, code.device()),
         code.blob().size_bytes(),
         code.kernel_count(),
         {code.entries().begin(), code.entries().end()}});
  }
  for (const v1::Constant& constant : manifest.constants()) {
    summary.constant_bytes += constant.size_bytes();
  }
  return summary;
}

}  // namespace slipway
