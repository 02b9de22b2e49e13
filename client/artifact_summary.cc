#include "client/artifact_summary.h"

#include "absl/strings/string_view.h"
#include "core/artifact/manifest.h"

namespace slipway {

ArtifactSummary Summarize(const v1::Manifest& manifest, const Digest& digest) {
  ArtifactSummary summary = {.digest = digest,
                             .name = manifest.name(),
                             .target = manifest.target(),
                             .compile_key = manifest.compile_key(),
                             .arena_bytes = ArenaBytes(manifest),
                             .artifact_bytes = digest.size_bytes()};
  for (const v1::ToolVersion& tool : manifest.tools()) {
    summary.tools.emplace_back(tool.name(), tool.version());
  }
  const ProgramSignature signature = SignatureOf(manifest);
  for (const NamedType& input : signature.inputs) {
    summary.inputs.push_back({input.name, input.type});
  }
  for (const NamedType& output : signature.outputs) {
    summary.outputs.push_back({output.name, output.type});
  }
  for (const v1::Step& step : manifest.functions(static_cast<int>(manifest.entry())).steps()) {
    summary.steps.push_back({step.name(), {step.operators().begin(), step.operators().end()}});
  }
  for (const v1::Code& code : manifest.code()) {
    summary.kernels += code.kernel_count();
    summary.code_bytes += code.blob().size_bytes();
  }
  for (const v1::Constant& constant : manifest.constants()) {
    summary.constant_bytes += constant.size_bytes();
  }
  for (const Digest& blob : ReferencedBlobs(manifest)) {
    summary.artifact_bytes += blob.size_bytes();
  }
  return summary;
}

}  // namespace slipway
