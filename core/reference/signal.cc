#include "core/operators/signal.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/signal.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

using kernels::SignalWindow;

absl::Status Dft(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("inverse") != 0);
  parameters.Add(view.Int("onesided") != 0);
  return absl::OkStatus();
}

absl::Status Stft(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("onesided") != 0);
  return absl::OkStatus();
}

template <SignalWindow window>
absl::Status Window(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(window));
  parameters.Add(view.Int("periodic") != 0);
  return absl::OkStatus();
}

absl::Status CausalConv(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.String("activation") != "none");
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterSignalKernels(KernelColumn& kernels) {
  const auto window = [](auto parameters) {
    return CallableKernel{"slipway_SignalWindow", slipway_SignalWindow, parameters,
                          "slipway_SignalWindow_count", slipway_SignalWindow_count};
  };
  using Finds = CallableKernel::Finds;
  const std::pair<const char*, CallableKernel> rows[] = {
      {"BlackmanWindow", window(Window<SignalWindow::kBlackman>)},
      {"CausalConvWithState",
       {"slipway_CausalConvWithState", slipway_CausalConvWithState, CausalConv}},
      {"DFT",
       {"slipway_DFT", slipway_DFT, Dft, "slipway_DFT_extents", slipway_DFT_extents,
        Finds::kEvery}},
      {"HammingWindow", window(Window<SignalWindow::kHamming>)},
      {"HannWindow", window(Window<SignalWindow::kHann>)},
      {"MelWeightMatrix",
       {"slipway_MelWeightMatrix", slipway_MelWeightMatrix, nullptr,
        "slipway_MelWeightMatrix_extents", slipway_MelWeightMatrix_extents, Finds::kEvery}},
      {"STFT",
       {"slipway_STFT", slipway_STFT, Stft, "slipway_STFT_extents", slipway_STFT_extents,
        Finds::kEvery}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
