#include "core/operators/recurrent.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/recurrent.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
  parameters.Add(recurrent.batch_first);
  parameters.Add(recurrent.option);
  parameters.Add(recurrent.clip.has_value());
  parameters.Add(static_cast<int64_t>(recurrent.reverse.size()));
  parameters.AddReal(recurrent.clip.value_or(0));
  const size_t each = recurrent.activations.size() / recurrent.reverse.size();
  for (size_t d = 0; d < recurrent.reverse.size(); ++d) {
    parameters.Add(recurrent.reverse[d]);
    for (size_t a = d * each; a < (d + 1) * each; ++a) {
      parameters.Add(static_cast<int64_t>(recurrent.activations[a].kind));
      parameters.AddReal(recurrent.activations[a].alpha);
      parameters.AddReal(recurrent.activations[a].beta);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterRecurrentKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"RNN", {"slipway_RNN", slipway_RNN, Parameters}},
      {"GRU", {"slipway_GRU", slipway_GRU, Parameters}},
      {"LSTM", {"slipway_LSTM", slipway_LSTM, Parameters}},
      {"slipway.RNNSteps", {"slipway_RNNSteps", slipway_RNNSteps, Parameters}},
      {"slipway.GRUSteps", {"slipway_GRUSteps", slipway_GRUSteps, Parameters}},
      {"slipway.LSTMSteps", {"slipway_LSTMSteps", slipway_LSTMSteps, Parameters}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
