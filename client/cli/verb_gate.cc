// slipway gate: whether a model has become slower than its baseline.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/inputs.h"
#include "client/cli/model_flags.h"
#include "client/cli/percent.h"
#include "client/cli/render_gate.h"
#include "client/cli/tag_flags.h"
#include "client/cli/turns.h"
#include "client/cli/verbs.h"
#include "client/gate.h"
#include "client/gated_results.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// The newest count.
constexpr int kMaxResults = 1000;

struct GateFlags {
  ConnectionFlags connection;
  HistoryOptions results;
  std::string model;
  std::string baseline;
  std::string candidate;
  std::string max_regression = "3%";
  std::string undecided = "fail";
  absl::Duration limit = absl::Minutes(1);
  absl::Duration since;
  std::vector<std::string> input_files;
  int64_t seed = 0;
  int64_t threads = 0;
  bool measure = true;
  bool json = false;

  void AddTo(FlagSet& flags);
};

void GateFlags::AddTo(FlagSet& flags) {
  flags.Add("baseline", &baseline, "KEY=VALUE",
            "What is held against is all results with this tag. Required.");
  flags.Add("candidate", &candidate, "KEY=VALUE",
            "What is judged is the newest program with this tag; else the newest without the "
            "baseline's.");
  flags.Add("max-regression", &max_regression, "PERCENT",
            "A candidate that takes so much longer is reported, one that takes half as much longer "
            "is not.");
  flags.Add("device", &results.device, "ID", "Results on this device; else on that of the newest.");
  flags.Add("target", &results.target, "TARGET",
            "Results for this target; else for that of the newest.");
  flags.Add("threads", &threads, 0, 1024, "N",
            "Results on so many threads; 0: on as many as the newest.");
  flags.Add("since", &since, "TIME", "Only results that are no older, such as 720h.");
  flags.Add("measure", &measure,
            "Where the results do not let pass, time both programs in turns on the device.");
  flags.Add("limit", &limit, "TIME", "Measure no longer, even if nothing is certain yet.");
  flags.Add("input", &input_files, "NAME=FILE",
            "An input for what is measured, from .npy or ONNX's .pb; repeatable. Others are "
            "random.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Seed of the random inputs.");
  flags.Add("undecided", &undecided, "pass|fail", "How it ends when nothing is certain.");
  flags.Add("json", &json, "Print JSON.");
  connection.AddTo(flags, /*can_be_local=*/false);
}

absl::StatusOr<Tag> OneTag(absl::string_view flag, const std::string& text) {
  absl::StatusOr<std::vector<Tag>> tags = ParseTags({text});
  if (!tags.ok()) {
    return WrongCall(absl::StrCat("flag \"--", flag, "\": ", tags.status().message()));
  }
  return std::move(tags->front());
}

// Every result that may count: those with the baseline's tag, and those of candidates.
absl::StatusOr<std::vector<HistoryEntry>> ListResults(Client& client, HistoryOptions options,
                                                      const GateReport& report) {
  options.limit = kMaxResults;
  options.tags = {report.baseline};
  absl::StatusOr<std::vector<HistoryEntry>> entries = client.ListHistory(options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(entries.status()));
  options.tags.clear();
  if (report.candidate.has_value()) options.tags.push_back(*report.candidate);
  absl::StatusOr<std::vector<HistoryEntry>> others = client.ListHistory(options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(others.status()));
  for (HistoryEntry& entry : *others) entries->push_back(std::move(entry));
  return entries;
}

// Both programs, as the server has them; nothing, and why in `report`, when they cannot be timed.
absl::StatusOr<std::optional<Turns>> PrepareTurns(Client& client, const GateFlags& flags,
                                                  GateReport& report) {
  if (!flags.measure) {
    report.not_timed = "--no-measure";
    return std::nullopt;
  }
  Turns turns;
  for (const auto& [role, digest, artifact] :
       {std::tuple("baseline", report.results.baseline_artifact(), &turns.a),
        std::tuple("candidate", report.results.candidate_artifact(), &turns.b)}) {
    absl::StatusOr<ArtifactSummary> found = client.DescribeArtifact(digest);
    if (absl::IsNotFound(found.status())) {
      report.not_timed = absl::StrCat("the server has the artifact of the ", role, " no more");
      return std::nullopt;
    }
    SLIPWAY_RETURN_IF_ERROR(found.status());
    *artifact = *std::move(found);
  }
  if (const absl::Status same = CheckTakesTheSame(turns.a, turns.b); !same.ok()) {
    report.not_timed = std::string(same.message());
    return std::nullopt;
  }
  SLIPWAY_ASSIGN_OR_RETURN(turns.inputs, ReadInputs(flags.input_files, turns.a));
  turns.seed = static_cast<uint64_t>(flags.seed);
  turns.threads = report.results.candidate.threads;
  turns.device = report.results.candidate.device;
  turns.purpose = "gate";
  turns.options.limit = flags.limit;
  return turns;
}

// Nothing where the help was asked for. What was found is printed.
absl::StatusOr<std::optional<GateReport>> JudgeNewest(Environment& environment, GateFlags& options,
                                                      Arguments arguments) {
  FlagSet flags("slipway gate MODEL --baseline KEY=VALUE [flags]",
                "Says whether the newest results of a model, by the name that \"slipway history\" "
                "shows, are slower than those\nwith a tag, as far as the noise of both lets it "
                "be known; where it does not, both programs are timed\nin turns. Exit code 0: "
                "passed, 1: regressed, 4: undecided or not judged.");
  options.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"MODEL"}));
  if (!names.has_value()) return std::nullopt;
  GateReport report;
  if (options.baseline.empty()) return WrongCall("flag \"--baseline\" is required");
  SLIPWAY_ASSIGN_OR_RETURN(report.baseline, OneTag("baseline", options.baseline));
  if (!options.candidate.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(report.candidate, OneTag("candidate", options.candidate));
  }
  SLIPWAY_ASSIGN_OR_RETURN(report.max_regression,
                           ParsePercent("max-regression", options.max_regression, 50));
  if (options.undecided != "pass" && options.undecided != "fail") {
    return WrongCall(
        absl::StrCat("flag \"--undecided\" takes pass or fail, not \"", options.undecided, "\""));
  }
  if (!options.results.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(options.results.target, CanonicalTarget(options.results.target));
  }
  options.results.model = names->front();
  options.results.threads = static_cast<int>(options.threads);
  if (options.since > absl::ZeroDuration()) options.results.since = absl::Now() - options.since;

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection,
                           Connection::Open(environment, options.connection));
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries,
                           ListResults(connection->client(), options.results, report));
  absl::StatusOr<GatedResults> results =
      ChooseResults(std::move(entries), report.baseline, report.candidate);
  SLIPWAY_RETURN_IF_ERROR_WITH(
      results.status(), absl::StrCat("model \"", options.results.model,
                                     "\", of which \"slipway history\" shows what there is"));
  report.results = *std::move(results);
  const absl::StatusOr<GateFinding> finding = RunGate(
      {.baseline = TimesOf(report.results.baseline),
       .candidate = TimesOf(report.results.candidate),
       .max_regression = report.max_regression,
       .is_one_program = report.is_one_program()},
      [&](double margin) -> absl::StatusOr<std::optional<Comparison>> {
        SLIPWAY_ASSIGN_OR_RETURN(std::optional<Turns> turns,
                                 PrepareTurns(connection->client(), options, report));
        if (!turns.has_value()) return std::nullopt;
        turns->options.margin = margin;
        SLIPWAY_ASSIGN_OR_RETURN(TurnsResult result, RunTurns(environment, *connection, *turns));
        return std::move(result.comparison);
      });
  SLIPWAY_RETURN_IF_ERROR(finding.status());
  report.finding = *finding;
  environment.out << (options.json ? RenderGateJson(report) : RenderGate(report));
  return report;
}

}  // namespace

absl::Status Gate(Environment& environment, Arguments arguments) {
  GateFlags options;
  const absl::StatusOr<std::optional<GateReport>> judged =
      JudgeNewest(environment, options, arguments);
  if (!judged.ok()) return WithoutVerdict(judged.status());
  if (!judged->has_value()) return absl::OkStatus();
  const GateReport& report = **judged;
  const std::string subject = absl::StrCat("\"", report.results.candidate.model, "\" on \"",
                                           report.results.candidate.device, "\"");
  const std::string baseline = absl::StrCat("its baseline \"", ToString(report.baseline), "\"");
  switch (report.finding.verdict) {
    case GateVerdict::kPassed:
      return absl::OkStatus();
    case GateVerdict::kRegressed:
      return WithExitCode(
          absl::FailedPreconditionError(absl::StrCat(subject, " is slower than ", baseline)),
          ExitCode::kWorkFailed);
    case GateVerdict::kUndecided:
      if (options.undecided == "pass") return absl::OkStatus();
      return WithoutVerdict(absl::FailedPreconditionError(
          absl::StrCat("whether ", subject, " is slower than ", baseline, " is not known")));
  }
  return absl::OkStatus();
}

}  // namespace slipway::cli
