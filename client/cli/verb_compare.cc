// slipway compare: which of two programs is faster on a device.
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/open_session.h"
#include "client/cli/percent.h"
#include "client/cli/precision.h"
#include "client/cli/progress.h"
#include "client/cli/render.h"
#include "client/cli/tag_flags.h"
#include "client/cli/verbs.h"
#include "client/comparison.h"
#include "core/artifact/input_match.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// Both programs on a device, with the same inputs. Not thread-safe, but for Interrupt.
class ComparedPrograms {
 public:
  ComparedPrograms(Session& session, const Digest& a, const Digest& b, int threads)
      : session_(session), artifacts_{a, b}, threads_(threads) {}

  absl::Status PutInputs(const std::vector<NamedType>& types, const std::vector<NamedTensor>& given,
                         uint64_t seed) {
    for (const NamedType& input : types) {
      const NamedTensor* found = nullptr;
      for (const NamedTensor& tensor : given) {
        if (tensor.name == input.name) found = &tensor;
      }
      absl::StatusOr<RemoteTensor> put =
          found != nullptr ? session_.Put(found->tensor, input.name)
                           : session_.Random(input.type.Smallest(), seed, input.name);
      SLIPWAY_RETURN_IF_ERROR_WITH(put.status(), absl::StrCat("input \"", input.name, "\""));
      inputs_.push_back(*std::move(put));
    }
    return absl::OkStatus();
  }

  void Interrupt() { is_interrupted_ = true; }

  // As TimeBlocks.
  absl::StatusOr<std::vector<BenchmarkResult>> Time(absl::Span<const Side> order, int samples) {
    if (is_interrupted_) return absl::CancelledError("interrupted");
    const Side first = order.front();
    std::array<RemoteProgram, 2> programs;
    for (const Side side : {first, first == Side::kA ? Side::kB : Side::kA}) {
      const size_t number = Number(side);
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          programs[number], session_.Load(artifacts_[number], {.threads = threads_}), Of(side));
    }
    std::vector<const RemoteTensor*> inputs;
    for (const RemoteTensor& input : inputs_) inputs.push_back(&input);
    // One waits for the other on the device, so that the way there and back lies in no gap between them.
    std::vector<Future<BenchmarkResult>> timed;
    for (const Side side : order) {
      timed.push_back(
          programs[Number(side)].TimeAsync(inputs, {.call = {}, .warmup = 1, .samples = samples}));
    }
    std::vector<BenchmarkResult> blocks;
    for (size_t i = 0; i < order.size(); ++i) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(blocks.emplace_back(), timed[i].Get(), Of(order[i]));
    }
    return blocks;
  }

 private:
  static size_t Number(Side side) { return side == Side::kA ? 0 : 1; }
  static std::string Of(Side side) { return side == Side::kA ? "A" : "B"; }

  Session& session_;
  const std::array<Digest, 2> artifacts_;
  const int threads_;
  std::vector<RemoteTensor> inputs_;
  std::atomic<bool> is_interrupted_ = false;
};

absl::Status CheckTakesTheSame(const ArtifactSummary& a, const ArtifactSummary& b) {
  bool is_same = a.inputs.size() == b.inputs.size();
  for (size_t i = 0; is_same && i < a.inputs.size(); ++i) {
    is_same = a.inputs[i].type == b.inputs[i].type;
  }
  if (is_same) return absl::OkStatus();
  const auto list = [](const ArtifactSummary& artifact) {
    std::string text;
    for (const NamedType& input : artifact.inputs) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", input.name, ": ", ToString(input.type));
    }
    return absl::StrCat("(", text, ")");
  };
  return WrongCall(absl::StrCat("A and B take different inputs: ", list(a), " and ", list(b)));
}

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
  SLIPWAY_RETURN_IF_ERROR(CheckPrecision(model_flags));
  SLIPWAY_RETURN_IF_ERROR(TagsOf(model_flags.tags).status());

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
  SLIPWAY_RETURN_IF_ERROR(CheckTakesTheSame(a, b));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, ReadInputs(input_files, a));
  SessionFlags session_flags;
  session_flags.device = model_flags.device;
  session_flags.target = a.target;
  session_flags.purpose = "compare";
  session_flags.tags = model_flags.tags;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, *connection, session_flags));
  ComparedPrograms programs(session, a.digest, b.digest, static_cast<int>(threads));
  SLIPWAY_RETURN_IF_ERROR(programs.PutInputs(a.inputs, inputs, static_cast<uint64_t>(seed)));

  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&programs] { programs.Interrupt(); });
  }
  ComparisonReport report = {.a = {BaseName((*names)[0]), a.digest, a.target},
                             .b = {BaseName((*names)[1]), b.digest, b.target},
                             .device = session.device(),
                             .threads = static_cast<int>(threads),
                             .margin = options.margin};
  absl::StatusOr<Comparison> comparison;
  {
    Progress progress(environment);
    const SystemClock clock;
    int64_t rounds = 0;
    comparison = ComparePrograms(
        [&](absl::Span<const Side> order, int samples) {
          progress.Show({.stage = absl::StrCat("comparing on ", session.device()),
                         .detail = absl::StrCat(rounds++, " rounds")});
          return programs.Time(order, samples);
        },
        options, clock);
  }
  if (environment.interrupts != nullptr) environment.interrupts->SetHandler(nullptr);
  SLIPWAY_RETURN_IF_ERROR(comparison.status());
  report.comparison = *comparison;
  environment.out << (json ? RenderComparisonJson(report) : RenderComparison(report));
  // What was found stands in either case.
  const absl::Status closed = session.Close();
  if (comparison->verdict != Verdict::kWorse) SLIPWAY_RETURN_IF_ERROR(closed);
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
