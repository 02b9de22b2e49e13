#include "client/cli/check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_flags.h"
#include "core/artifact/constant_outputs.h"
#include "core/base/status_macros.h"
#include "core/tensor/precision.h"
#include "core/tensor/random.h"

namespace slipway::cli {
namespace {

constexpr double kMostTolerance = 1;

absl::StatusOr<double> ReadTolerance(const CheckFlags& flags, const std::string& precision) {
  if (flags.tolerance.empty()) {
    return DefaultCheckTolerance(FindPrecision(precision).value_or(Precision::kFloat32));
  }
  double tolerance = 0;
  // Written so that what is no number is refused, too.
  if (absl::SimpleAtod(flags.tolerance, &tolerance) && tolerance >= 0 &&
      tolerance <= kMostTolerance) {
    return tolerance;
  }
  return WrongCall(
      absl::StrCat("flag \"--tolerance\" takes a share of the largest magnitude such "
                   "as 1e-4, 0 to 1, not \"",
                   flags.tolerance, "\""));
}

// What the model gives, as a program without inputs.
absl::StatusOr<Artifact> Evaluate(Environment& environment, Connection& connection,
                                  const std::string& model, const ModelFlags& flags,
                                  const std::string& target, absl::Span<const NamedTensor> inputs) {
  ModelFlags evaluated = flags;
  evaluated.target = target;
  evaluated.schedules.clear();
  evaluated.optimizations = AllOptimizations();
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions options,
                           MakeCompileOptions(connection, evaluated, /*runs=*/true));
  options.evaluate.emplace(inputs.begin(), inputs.end());
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, connection, model, options));
  return connection.client().GetArtifact(job.compilation->artifact);
}

}  // namespace

void CheckFlags::AddTo(FlagSet& flags) {
  flags.Add("check", &check,
            "Compare the device's outputs with those of the model, which a worker of the server "
            "evaluates slowly and exactly.");
  flags.Add("check-against", &against, "MODEL",
            "The same for an artifact: the model that it is to compute.");
  flags.Add(
      "tolerance", &tolerance, "SHARE",
      "How far a float may be off, as a share of the largest magnitude of its output; 1e-4 by "
      "default, 0.01 with tf32 and f16, 0.05 with bf16, 0.1 with int8. All else must be equal.");
}

absl::Status CheckFlags::Check(const std::string& path, const RunFlags& run) const {
  SLIPWAY_RETURN_IF_ERROR(ReadTolerance(*this, run.model.precision).status());
  if (!IsWanted()) {
    return tolerance.empty() ? absl::OkStatus() : WrongCall("\"--tolerance\" is for \"--check\"");
  }
  if (run.detach) return WrongCall("\"--check\" waits for what it checks; leave out \"--detach\"");
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_slip, IsSlip(path));
  if (is_slip && against.empty()) {
    return WrongCall(
        absl::StrCat("\"", path,
                     "\" is compiled already, and does not tell what it is to compute: "
                     "\"--check\" needs the model: \"--check-against MODEL\""));
  }
  if (!is_slip && !against.empty()) {
    return WrongCall("\"--check-against\" is for artifacts; a model is checked against itself");
  }
  return against.empty() ? absl::OkStatus() : CheckModelAndOutput(against, "");
}

absl::StatusOr<std::vector<NamedTensor>> CompleteInputs(const ArtifactSummary& artifact,
                                                        absl::Span<const NamedTensor> given,
                                                        uint64_t seed) {
  std::vector<NamedTensor> inputs;
  for (const NamedType& input : artifact.inputs) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const NamedTensor& tensor) {
      return tensor.name == input.name;
    });
    if (found != given.end()) {
      inputs.push_back(*found);
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(input.type.Smallest(), seed, input.name));
    inputs.push_back({input.name, std::move(tensor)});
  }
  return inputs;
}

absl::StatusOr<OutputCheck> CheckAgainstModel(Environment& environment, const CheckFlags& flags,
                                              const RunFlags& run_flags, const PreparedRun& run,
                                              absl::Span<const NamedTensor> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const double tolerance, ReadTolerance(flags, run_flags.model.precision));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs,
                           CompleteInputs(run.artifact, run.inputs, run.options.seed));
  SLIPWAY_ASSIGN_OR_RETURN(
      const Artifact evaluated,
      Evaluate(environment, *run.connection, flags.against.empty() ? run.path : flags.against,
               run_flags.model, run.artifact.target, inputs));
  const absl::StatusOr<std::vector<NamedTensor>> expected = ConstantOutputs(evaluated);
  if (!expected.ok()) {
    return WithExitCode(
        absl::FailedPreconditionError(absl::StrCat(
            "the server's compiler does not evaluate models for \"--check\" yet: update the server "
            "and its workers (",
            expected.status().message(), ")")),
        ExitCode::kWorkFailed);
  }
  return CheckOutputs(outputs, *expected, tolerance);
}

absl::StatusOr<OutputCheck> RunChecked(Environment& environment, const CheckFlags& flags,
                                       const RunFlags& run_flags, PreparedRun& run) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const auto job,
      FollowRun(
          environment, run,
          [&] { return run.client().SubmitRun(run.artifact.digest, run.inputs, run.options); },
          /*detach=*/false));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs,
                           run.client().FetchOutputs(*job->run));
  SLIPWAY_ASSIGN_OR_RETURN(OutputCheck check,
                           CheckAgainstModel(environment, flags, run_flags, run, outputs));
  SLIPWAY_RETURN_IF_ERROR(RefuseWrong(check));
  run.options.device = job->run->device;
  return check;
}

absl::Status RefuseWrong(const OutputCheck& check) {
  if (check.IsPassed()) return absl::OkStatus();
  return WithExitCode(absl::FailedPreconditionError(DescribeFailure(check)), ExitCode::kWorkFailed);
}

}  // namespace slipway::cli
