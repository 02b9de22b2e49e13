#include "client/artifact_summary.h"

namespace slipway {

ArtifactSummary Summarize(const CheckedManifest& checked) {
  const v1::Manifest& manifest = checked.proto();
  ArtifactSummary summary = {.digest = checked.digest(),
                             .name = manifest.name(),
                             .target = manifest.target(),
                             .compile_key = manifest.compile_key(),
                             .artifact_bytes = checked.artifact_bytes()};
  for (const ProgramSpace& space : checked.spaces()) summary.arena_bytes += space.arena_bytes;
  for (const v1::ToolVersion& tool : manifest.tools()) {
    summary.tools.emplace_back(tool.name(), tool.version());
  }
  summary.inputs = checked.signature().inputs;
  summary.outputs = checked.signature().outputs;
  for (const v1::Step& step : checked.entry().steps()) {
    summary.steps.push_back({step.name(), {step.operators().begin(), step.operators().end()}});
  }
  for (const v1::Code& code : manifest.code()) {
    summary.kernels += code.kernel_count();
    summary.code_bytes += code.blob().size_bytes();
  }
  for (const v1::Constant& constant : manifest.constants()) {
    summary.constant_bytes += constant.size_bytes();
  }
  return summary;
}

}  // namespace slipway
