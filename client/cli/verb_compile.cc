// slipway compile: a model to an artifact.
#include <optional>

#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/model_flags.h"
#include "client/cli/precision.h"
#include "client/cli/render.h"
#include "client/cli/tune.h"
#include "client/cli/verbs.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Compile(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  std::string output;
  std::string print_after;
  std::string schedules;
  bool json = false;
  bool detach = false;
  FlagSet flags("slipway compile MODEL.onnx [flags]",
                "Compiles a model, and prints where the time went and what came of it.");
  flags.Add("output", &output, "FILE.slip", "Write the artifact there; -o is short for it.");
  model_flags.AddTo(flags, /*runs=*/false);
  TuneFlags tune_flags;
  tune_flags.AddTo(flags);
  flags.Add("print-after", &print_after, "PASS", "Print the graph as it is after this pass.");
  flags.Add("write-schedules", &schedules, "FILE",
            "Write how the loops of each kernel are cut, a line each, to be changed and given to "
            "\"--schedules\".");
  flags.Add("detach", &detach, "Print the job's id and do not wait.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"MODEL.onnx"}));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& path = names->front();
  SLIPWAY_RETURN_IF_ERROR(CheckModelAndOutput(path, output));
  if (detach && !(output.empty() && schedules.empty())) {
    return WrongCall("with \"--detach\" there is nothing to write yet; see \"slipway results\"");
  }
  if (detach && tune_flags.IsWanted()) {
    return WrongCall("\"--tune-on\" measures while it is waited for; leave \"--detach\" out");
  }
  std::string tuned_file;
  SLIPWAY_RETURN_IF_ERROR(tune_flags.Apply(flags, model_flags, tuned_file));
  SLIPWAY_RETURN_IF_ERROR(CheckModelFlags(model_flags));

  absl::Time start = absl::Now();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  if (detach && connection->is_local()) {
    return WrongCall("\"--detach\" needs a server that stays; name it with \"--server\"");
  }
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions options,
                           MakeCompileOptions(*connection, model_flags, tune_flags.IsWanted()));
  SLIPWAY_RETURN_IF_ERROR(ApplyPrecision(environment, *connection, path, model_flags, options));
  std::optional<TuningReport> tuning;
  if (tune_flags.IsWanted()) {
    SLIPWAY_ASSIGN_OR_RETURN(tuning, TuneModel(environment, *connection, path, tuned_file,
                                               model_flags, tune_flags, options));
    if (!json) environment.out << RenderTuning(*tuning);
    start = absl::Now();
  }
  options.print_after = print_after;
  options.print_schedules = !schedules.empty();
  if (detach) {
    SLIPWAY_ASSIGN_OR_RETURN(const ModelFiles model,
                             ReadModelFiles(path, connection->client().max_model_bytes()));
    const absl::StatusOr<std::string> id = connection->client().SubmitCompilation(model, options);
    SLIPWAY_RETURN_IF_ERROR(RefusedRequest(id.status()));
    environment.out << *id << "\n";
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, *connection, path, options));
  const absl::Duration total = absl::Now() - start;
  if (json) {
    environment.out << RenderCompilationJson(job, total, tuning);
  } else {
    environment.out << job.compilation->printed_graph << RenderCompilation(job, total);
  }
  if (!schedules.empty()) {
    const std::string& text = job.compilation->printed_schedules;
    if (text.empty()) {
      return absl::UnimplementedError(
          "the compiler does not tell how it cuts loops; it is older than this command");
    }
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(schedules, text, /*durable=*/false));
    if (!json) environment.out << "wrote " << schedules << "\n";
  }
  if (output.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(connection->client().ExportArtifact(job.compilation->artifact, output));
  if (!json) environment.out << "wrote " << output << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
