// slipway inspect: what is in an artifact.
#include "absl/strings/str_cat.h"
#include "client/artifact_summary.h"
#include "client/cli/arguments.h"
#include "client/cli/model_flags.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/artifact/slip_file.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Inspect(Environment& environment, Arguments arguments) {
  bool json = false;
  FlagSet flags("slipway inspect FILE.slip [flags]",
                "Checks every byte of an artifact and shows what is in it. Runs nothing.");
  flags.Add("json", &json, "Print JSON.");
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"FILE.slip"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckFile(names->front()));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Artifact artifact, ReadSlip(names->front()),
                                absl::StrCat("\"", names->front(), "\""));
  const ArtifactSummary summary = Summarize(artifact.manifest());
  environment.out << (json ? RenderArtifactJson(summary) : RenderArtifact(summary));
  return absl::OkStatus();
}

}  // namespace slipway::cli
