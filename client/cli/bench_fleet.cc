#include "client/cli/bench_fleet.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/inputs.h"
#include "client/cli/model_flags.h"
#include "client/cli/precision.h"
#include "client/cli/progress.h"
#include "client/cli/render_fan_out.h"
#include "client/run_fan_out.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// A thread waits for each.
constexpr size_t kMostDevices = 1'000;

// Those that are available.
absl::StatusOr<std::vector<Device>> ChooseDevices(Client& client, const FleetFlags& fleet) {
  absl::StatusOr<DeviceList> list =
      client.FindDevices({.selector = fleet.devices, .available = true});
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(list.status()));
  if (list->devices.empty()) {
    return WithExitCode(absl::NotFoundError(list->explanation.empty() ? "no device is available"
                                                                      : list->explanation),
                        ExitCode::kUnreachable);
  }
  const size_t count = list->devices.size();
  if (count < static_cast<size_t>(fleet.spread)) {
    return WithExitCode(
        absl::NotFoundError(absl::StrCat("\"--spread\" wants ", fleet.spread, " devices; ", count,
                                         count == 1 ? " is available" : " are available")),
        ExitCode::kUnreachable);
  }
  if (fleet.spread == 0 && count > kMostDevices) {
    return WrongCall(absl::StrCat(count, " devices match; at most ", kMostDevices,
                                  " at a time: select fewer, or give \"--spread\""));
  }
  return std::move(list->devices);
}

// Compiles a model for one target after the other, or for several at once. Its methods are thread-safe.
class TargetCompiler {
 public:
  TargetCompiler(Client& client, ModelFiles model, CompileOptions options)
      : client_(client), model_(std::move(model)), options_(std::move(options)) {}

  absl::StatusOr<Digest> Compile(const std::string& target) const {
    CompileOptions options = options_;
    options.target = target;
    SLIPWAY_ASSIGN_OR_RETURN(const std::string id, client_.SubmitCompilation(model_, options));
    const absl::StatusOr<Job> job = client_.Wait(id, nullptr);
    if (absl::IsCancelled(job.status())) client_.CancelJob(id).IgnoreError();
    SLIPWAY_RETURN_IF_ERROR(job.status());
    if (job->state == JobState::kSucceeded) return job->compilation->artifact;
    const std::string what = absl::StrCat("compiling for ", target);
    if (job->state == JobState::kCancelled) {
      return absl::AbortedError(absl::StrCat(what, ": job \"", id, "\" was cancelled"));
    }
    return Annotate(job->error, what);
  }

 private:
  Client& client_;
  const ModelFiles model_;
  const CompileOptions options_;
};

// What is to be told of a fan-out, on a terminal in one line, else a line for each change of a device.
class FleetProgress {
 public:
  FleetProgress(Environment& environment, std::string model)
      : progress_(environment),
        is_one_line_(environment.err_is_terminal),
        model_(std::move(model)) {}

  void Show(const FanOut& fan_out) {
    if (is_one_line_) return progress_.Show(DescribeAll(model_, fan_out.rows()));
    for (const FanOutRow& row : fan_out.rows()) {
      ProgressText text = DescribeRow(row);
      std::string& told = told_[row.device];
      if (told == text.stage) continue;
      told = text.stage;
      progress_.Show(text);
    }
  }

 private:
  Progress progress_;
  const bool is_one_line_;
  const std::string model_;
  std::map<std::string, std::string> told_;  // The last line of each device.
};

absl::Status Verdict(const std::vector<FanOutRow>& rows, int64_t spread) {
  const auto measured =
      absl::c_count_if(rows, [](const FanOutRow& row) { return row.result.has_value(); });
  const int64_t wanted = spread > 0 ? spread : static_cast<int64_t>(rows.size());
  if (measured >= wanted) return absl::OkStatus();
  const bool all_lost = absl::c_all_of(rows, [](const FanOutRow& row) { return row.is_lost; });
  return WithExitCode(absl::AbortedError(absl::StrCat("measured on ", measured, " of ", wanted,
                                                      wanted == 1 ? " device" : " devices")),
                      all_lost ? ExitCode::kUnreachable : ExitCode::kWorkFailed);
}

}  // namespace

void FleetFlags::AddTo(FlagSet& flags) {
  flags.Add("devices", &devices, "SELECTOR",
            "Measure on each device that matches and is available, at once; compiled once a "
            "target.");
  flags.Add("each", &each, "The same on each device there is.");
  flags.Add("spread", &spread, 0, 1'000, "N",
            "The same on N of the devices that match, or of all; others take the place of those "
            "that are lost.");
}

absl::Status CheckFleet(const FleetFlags& fleet, const RunFlags& run, bool wants_more) {
  if (!fleet.is_set()) return absl::OkStatus();
  if (fleet.each && (!fleet.devices.empty() || fleet.spread > 0)) {
    return WrongCall("\"--each\" is every device: not together with \"--devices\" or \"--spread\"");
  }
  if (!run.model.device.empty() || run.detach || wants_more) {
    return WrongCall(
        "many devices are not together with \"--device\", \"--detach\", \"--profile\", "
        "\"--check\", "
        "\"--trace\" or \"--scenario\"");
  }
  return absl::OkStatus();
}

absl::Status BenchFleet(Environment& environment, const RunFlags& run, const FleetFlags& fleet,
                        const BenchmarkOptions& options, const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, run.connection));
  SLIPWAY_RETURN_IF_ERROR(connection->EnsureDevice(run.model.target));
  Client& client = connection->client();
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Device> devices, ChooseDevices(client, fleet));
  FanOut::Options fan_out_options = {.spread = static_cast<int>(fleet.spread)};
  std::unique_ptr<TargetCompiler> compiler;
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_slip, IsSlip(path));
  if (is_slip) {
    SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary artifact,
                             PrepareArtifact(environment, *connection, path, run.model));
    fan_out_options.target = artifact.target;
    fan_out_options.artifact = artifact.digest;
  } else {
    ModelFlags model_flags = run.model;
    if (model_flags.target.empty()) {
      model_flags.target = devices.front().target;
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(fan_out_options.target, CanonicalTarget(model_flags.target));
    }
    SLIPWAY_ASSIGN_OR_RETURN(CompileOptions compile_options,
                             MakeCompileOptions(*connection, model_flags, /*runs=*/true));
    SLIPWAY_RETURN_IF_ERROR(
        ApplyPrecision(environment, *connection, path, model_flags, compile_options));
    SLIPWAY_ASSIGN_OR_RETURN(ModelFiles model, ReadModelFiles(path, client.max_model_bytes()));
    compiler = std::make_unique<TargetCompiler>(client, std::move(model), compile_options);
  }
  const FanOutWork work = {
      .compile = [&](const std::string& target) { return compiler->Compile(target); },
      .submit = [&](const std::string& device,
                    const Digest& artifact) -> absl::StatusOr<std::string> {
        std::vector<NamedTensor> inputs;
        if (!run.inputs.empty()) {
          SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary program,
                                   client.DescribeArtifact(artifact));
          SLIPWAY_ASSIGN_OR_RETURN(inputs, ReadInputs(run.inputs, program));
        }
        BenchmarkOptions on_device = options;
        on_device.run.name = BaseName(path);
        on_device.run.device = device;
        return client.SubmitBenchmark(artifact, inputs, on_device);
      }};
  FanOut fan_out(std::move(devices), std::move(fan_out_options));
  const std::string subject = BaseName(path);
  {
    FleetProgress progress(environment, subject);
    SLIPWAY_RETURN_IF_ERROR(
        RunFanOut(client, fan_out, work, [&progress](const FanOut& now) { progress.Show(now); }));
  }
  environment.out << (run.json ? RenderFanOutJson(subject, fan_out.rows())
                               : RenderFanOut(subject, fan_out.rows()));
  return Verdict(fan_out.rows(), fleet.spread);
}

}  // namespace slipway::cli
