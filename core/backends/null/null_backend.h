// NullBackend: compiles any graph to a program without code, whose outputs are zeros.
//
// A backend at its smallest: it goes through every part of the interface and none of the work. Copy it to
// begin a new one (README.md); tests take it where an artifact is needed and its code does not matter.
#ifndef SLIPWAY_CORE_BACKENDS_NULL_NULL_BACKEND_H_
#define SLIPWAY_CORE_BACKENDS_NULL_NULL_BACKEND_H_

#include "core/backends/target_backend.h"

namespace slipway {

// Not in all_backends.cc: it would compile for every target.
class NullBackend final : public TargetBackend {
 public:
  // OK for every target of one device.
  absl::Status CheckTarget(const Target& target) const override;
  // Nothing: it takes the graph as it is.
  BackendPipeline PipelineFor(const Target&, Precision) const override { return {}; }
  // RESOURCE_EXHAUSTED for outputs over kMaxZeroBytes.
  absl::StatusOr<BackendResult> Compile(const BackendRequest& request) override;

  // All outputs are copies of one constant of zeros; the largest output may have this many bytes.
  static constexpr int64_t kMaxZeroBytes = int64_t{64} << 20;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_NULL_NULL_BACKEND_H_
