// A window as kernels read it (core/kernels/window.h). Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_WINDOW_PARAMETERS_H_
#define SLIPWAY_CORE_REFERENCE_WINDOW_PARAMETERS_H_

#include "core/operators/window.h"
#include "core/reference/callable_kernel.h"

namespace slipway {

inline void AddWindow(const Window& window, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(window.kernel.size()));
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    parameters.Add(window.kernel[d]);
    parameters.Add(window.strides[d]);
    parameters.Add(window.dilations[d]);
    parameters.Add(window.pads_begin[d]);
    parameters.Add(window.pads_end[d]);
  }
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_WINDOW_PARAMETERS_H_
