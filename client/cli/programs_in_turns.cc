#include "client/cli/programs_in_turns.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

size_t Number(Side side) { return side == Side::kA ? 0 : 1; }
std::string Of(Side side) { return side == Side::kA ? "A" : "B"; }

}  // namespace

absl::Status ProgramsInTurns::PutInputs() {
  std::vector<RemoteTensor> inputs;
  for (const NamedType& input : types_) {
    const NamedTensor* found = nullptr;
    for (const NamedTensor& tensor : given_) {
      if (tensor.name == input.name) found = &tensor;
    }
    absl::StatusOr<RemoteTensor> put =
        found != nullptr ? session_.Put(found->tensor, input.name)
                         : session_.Random(input.type.Smallest(), seed_, input.name);
    SLIPWAY_RETURN_IF_ERROR_WITH(put.status(), absl::StrCat("input \"", input.name, "\""));
    inputs.push_back(*std::move(put));
  }
  inputs_ = std::move(inputs);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BenchmarkResult>> ProgramsInTurns::Time(const Digest& a, const Digest& b,
                                                                   absl::Span<const Side> order,
                                                                   const TimingOptions& options) {
  if (is_interrupted_) return absl::CancelledError("interrupted");
  if (inputs_.size() < types_.size()) SLIPWAY_RETURN_IF_ERROR(PutInputs());
  absl::StatusOr<std::vector<BenchmarkResult>> results = TimeLoaded({a, b}, order, options);
  if (!results.ok()) inputs_.clear();  // What the session had may be lost.
  return results;
}

absl::StatusOr<std::vector<BenchmarkResult>> ProgramsInTurns::TimeLoaded(
    const std::array<Digest, 2>& artifacts, absl::Span<const Side> order,
    const TimingOptions& options) {
  const Side first = order.front();
  std::array<RemoteProgram, 2> programs;
  for (const Side side : {first, first == Side::kA ? Side::kB : Side::kA}) {
    const size_t number = Number(side);
    SLIPWAY_ASSIGN_OR_RETURN_WITH(
        programs[number], session_.Load(artifacts[number], {.threads = threads_}), Of(side));
  }
  std::vector<const RemoteTensor*> inputs;
  for (const RemoteTensor& input : inputs_) inputs.push_back(&input);
  // One waits for the other on the device, so that the way there and back lies in no gap between them.
  std::vector<Future<BenchmarkResult>> timed;
  for (const Side side : order) {
    timed.push_back(programs[Number(side)].TimeAsync(inputs, options));
  }
  std::vector<BenchmarkResult> blocks;
  for (size_t i = 0; i < order.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(blocks.emplace_back(), timed[i].Get(), Of(order[i]));
  }
  return blocks;
}

}  // namespace slipway::cli
