// slipway compare: which of two programs is faster on a device.
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/percent.h"
#include "client/cli/precision.h"
#include "client/cli/render.h"
#include "client/cli/turns.h"
#include "client/cli/verbs.h"
#include "client/comparison.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// Nothing where the help was asked for. What was found is printed.
absl::StatusOr<std::optional<ComparisonReport>> CompareTwo(Environment& environment,
                                                           Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  std::string target_a, target_b, margin = "1%";
  std::vector<std::string> input_files;
  int64_t seed = 0;
  int64_t threads = 1;
  ComparisonOptions options;
  bool json = false;
  FlagSet flags("slipway compare A B [flags]",
                "Says whether B is faster than A on a device, where A and B, models or artifacts, "
                "run in turns so that\nwhat else the machine does strikes both alike. Exit code 0: "
                "better or the same, 1: worse, 4: it could not be told.");
  flags.Add("target-a", &target_a, "TARGET", "Compile A for it; A and B may be one model.");
  flags.Add("target-b", &target_b, "TARGET", "Compile B for it.");
  flags.Add("margin", &margin, "PERCENT", "Times that differ by less are the same.");
  flags.Add("limit", &options.limit, "TIME", "Measure no longer, even if nothing is certain yet.");
  flags.Add("input", &input_files, "NAME=FILE",
            "An input of both, by its name in A, from .npy or ONNX's .pb; repeatable. Others are "
            "random.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Seed of the random inputs.");
  flags.Add("threads", &threads, 1, 1024, "N", "Threads to run on.");
  model_flags.AddTo(flags, /*runs=*/true);
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments,
                                                            {"A, MODEL.onnx or FILE.slip,", "B"}));
  if (!names.has_value()) return std::nullopt;
  SLIPWAY_ASSIGN_OR_RETURN(options.margin, ParsePercent("margin", margin, 50));
  for (const std::string& path : *names) SLIPWAY_RETURN_IF_ERROR(CheckFile(path));
  SLIPWAY_RETURN_IF_ERROR(CheckModelFlags(model_flags));

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  std::array<ArtifactSummary, 2> artifacts;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    ModelFlags compiled = model_flags;
    const std::string& target = i == 0 ? target_a : target_b;
    if (!target.empty()) compiled.target = target;
    SLIPWAY_ASSIGN_OR_RETURN(artifacts[i],
                             PrepareArtifact(environment, *connection, (*names)[i], compiled));
  }
  const auto& [a, b] = artifacts;
  if (const absl::Status same = CheckTakesTheSame(a, b); !same.ok()) {
    return WrongCall(same.message());
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> inputs, ReadInputs(input_files, a));
  SLIPWAY_ASSIGN_OR_RETURN(const TurnsResult result, RunTurns(environment, *connection,
                                                              {.a = a,
                                                               .b = b,
                                                               .inputs = std::move(inputs),
                                                               .seed = static_cast<uint64_t>(seed),
                                                               .threads = static_cast<int>(threads),
                                                               .device = model_flags.device,
                                                               .purpose = "compare",
                                                               .tags = model_flags.tags,
                                                               .priority = model_flags.priority,
                                                               .options = options}));
  const ComparisonReport report = {.a = {BaseName((*names)[0]), a.digest, a.target},
                                   .b = {BaseName((*names)[1]), b.digest, b.target},
                                   .device = result.device,
                                   .threads = static_cast<int>(threads),
                                   .margin = options.margin,
                                   .comparison = result.comparison};
  environment.out << (json ? RenderComparisonJson(report) : RenderComparison(report));
  return report;
}

}  // namespace

absl::Status Compare(Environment& environment, Arguments arguments) {
  const absl::StatusOr<std::optional<ComparisonReport>> report = CompareTwo(environment, arguments);
  if (!report.ok()) return WithoutVerdict(report.status());
  if (!report->has_value() || (*report)->comparison.verdict != Verdict::kWorse) {
    return absl::OkStatus();
  }
  return WithExitCode(
      absl::FailedPreconditionError(
          absl::StrCat("\"", (*report)->b.name, "\" is slower than \"", (*report)->a.name, "\"")),
      ExitCode::kWorkFailed);
}

}  // namespace slipway::cli
