#include "client/cli/turns.h"

#include <array>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/open_session.h"
#include "client/cli/progress.h"
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

}  // namespace

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
  return absl::InvalidArgumentError(
      absl::StrCat("A and B take different inputs: ", list(a), " and ", list(b)));
}

absl::StatusOr<TurnsResult> RunTurns(Environment& environment, Connection& connection,
                                     const Turns& turns) {
  SessionFlags session_flags;
  session_flags.device = turns.device;
  session_flags.target = turns.a.target;
  session_flags.purpose = turns.purpose;
  session_flags.tags = turns.tags;
  session_flags.priority = turns.priority;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, connection, session_flags));
  ComparedPrograms programs(session, turns.a.digest, turns.b.digest, turns.threads);
  SLIPWAY_RETURN_IF_ERROR(programs.PutInputs(turns.a.inputs, turns.inputs, turns.seed));
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&programs] { programs.Interrupt(); });
  }
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
        turns.options, clock);
  }
  if (environment.interrupts != nullptr) environment.interrupts->SetHandler(nullptr);
  SLIPWAY_RETURN_IF_ERROR(comparison.status());
  TurnsResult result = {.comparison = *std::move(comparison), .device = session.device()};
  // What was measured stands, even if the server is gone by now.
  session.Close().IgnoreError();
  return result;
}

}  // namespace slipway::cli
