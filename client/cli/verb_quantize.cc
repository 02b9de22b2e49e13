// slipway quantize: a model to an artifact that computes in 8 bits, and what that changes.
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/device_program.h"
#include "client/cli/examples.h"
#include "client/cli/exit_code.h"
#include "client/cli/open_session.h"
#include "client/cli/precision.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "client/output_accuracy.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// The first reason stands for all.
absl::Status CheckProducts(const Compilation& compilation, const std::string& model) {
  if (compilation.integer_products > 0 || compilation.cached) return absl::OkStatus();
  if (compilation.float_products.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("\"", model, "\" has no products that could be computed in 8 bits"));
  }
  const FloatProduct& first = compilation.float_products.front();
  return absl::FailedPreconditionError(absl::StrCat(
      "none of the ", compilation.float_products.size(), " products of \"", model,
      "\" can be computed in 8 bits; the first, \"", first.node, "\": ", first.reason));
}

// Both programs on one device: what they give for the examples, and how long the last of these takes.
absl::Status MeasureBoth(Environment& environment, Connection& connection, const ModelFlags& flags,
                         const CompileOptions& options, absl::Span<const std::string> files,
                         QuantizationReport& report) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary artifact,
                           connection.client().DescribeArtifact(report.floats.artifact));
  SessionFlags session_flags;
  session_flags.device = flags.device;
  session_flags.target = options.target;
  session_flags.purpose = "quantize";
  session_flags.tags = flags.tags;
  session_flags.priority = flags.priority;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, connection, session_flags));
  report.device = session.device();
  SLIPWAY_ASSIGN_OR_RETURN(DeviceProgram floats,
                           DeviceProgram::Load(session, report.floats.artifact, report.threads));
  SLIPWAY_ASSIGN_OR_RETURN(DeviceProgram integers,
                           DeviceProgram::Load(session, report.integers.artifact, report.threads));
  std::vector<AccuracyObserver> observers(artifact.outputs.size());
  std::vector<Tensor> inputs;
  for (const std::string& file : files) {
    SLIPWAY_ASSIGN_OR_RETURN(inputs, ReadExample(file, artifact.inputs));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> expected, floats.Call(inputs));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> actual, integers.Call(inputs));
    for (size_t i = 0; i < observers.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          observers[i].Add(expected[i].tensor, actual[i].tensor),
          absl::StrCat("example \"", file, "\", output \"", expected[i].name, "\" in 8 bits"));
    }
  }
  for (size_t i = 0; i < observers.size(); ++i) {
    report.outputs.push_back(observers[i].Result(artifact.outputs[i].name));
  }
  SLIPWAY_ASSIGN_OR_RETURN(report.float_time, floats.Time(inputs));
  SLIPWAY_ASSIGN_OR_RETURN(report.integer_time, integers.Time(inputs));
  return session.Close();
}

}  // namespace

absl::Status Quantize(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  model_flags.precision = "int8";
  std::string output;
  int64_t threads = 1;
  bool json = false;
  FlagSet flags("slipway quantize MODEL.onnx --examples FILE|DIR [flags]",
                "Compiles a model so that products of weights are computed in 8 bits, with the "
                "ranges that values have\nin the examples, and compares it with the model in f32 "
                "on these.");
  flags.Add("output", &output, "FILE.slip", "Write the artifact there; -o is short for it.");
  flags.Add("threads", &threads, 1, 1024, "N", "Threads to run on.");
  model_flags.AddTo(flags, /*runs=*/true);
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"MODEL.onnx"}));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& path = names->front();
  SLIPWAY_RETURN_IF_ERROR(CheckModelAndOutput(path, output));
  SLIPWAY_RETURN_IF_ERROR(CheckModelFlags(model_flags));
  if (model_flags.precision == "f32") return WrongCall("in f32 there is nothing to quantize");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                           ListExamples(model_flags.examples));

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions options,
                           MakeCompileOptions(*connection, OnDevice(model_flags),
                                              /*runs=*/true));
  QuantizationReport report;
  report.model = BaseName(path);
  report.examples = static_cast<int64_t>(files.size());
  report.threads = static_cast<int>(threads);
  SLIPWAY_ASSIGN_OR_RETURN(const Job floats, CompileModel(environment, *connection, path, options));
  report.floats = *floats.compilation;
  SLIPWAY_RETURN_IF_ERROR(ApplyPrecision(environment, *connection, path, model_flags, options));
  SLIPWAY_ASSIGN_OR_RETURN(const Job integers,
                           CompileModel(environment, *connection, path, options));
  report.integers = *integers.compilation;
  SLIPWAY_RETURN_IF_ERROR(CheckProducts(report.integers, report.model));
  SLIPWAY_RETURN_IF_ERROR(
      MeasureBoth(environment, *connection, model_flags, options, files, report));
  if (!output.empty()) {
    Digest artifact = report.integers.artifact;
    if (!model_flags.target.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(CompileOptions wanted,
                               MakeCompileOptions(*connection, model_flags, /*runs=*/true));
      wanted.ranges = options.ranges;
      SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, *connection, path, wanted));
      artifact = job.compilation->artifact;
    }
    SLIPWAY_RETURN_IF_ERROR(connection->client().ExportArtifact(artifact, output));
    report.file = output;
  }
  environment.out << (json ? RenderQuantizationJson(report) : RenderQuantization(report));
  return absl::OkStatus();
}

}  // namespace slipway::cli
