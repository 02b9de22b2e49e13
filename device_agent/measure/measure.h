// The measurement: how fast a program is on this device.
//
// A sample is the execution of kernels with inputs resident, on the monotonic clock. Programs shorter
// than a millisecond are called several times for one sample. In order:
//   1. state of the machine, and waiting for it to cool down (settle.h)
//   2. cold load: code and constants are dropped from the page cache where the system allows it
//   3. first call
//   4. warm load: the same again, while the first program is loaded
//   5. calls until the machine holds still (settle.h), and until their number for a sample is known, then warm-up samples, which are dropped
//   6. samples, with calls as the scenario wants them (scenarios.h); what the machine does meanwhile is noted (stamps.h)
//   7. state of the machine
//   8. with `profile`, calls that time every step, apart from the samples since timing has a cost
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_MEASURE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_MEASURE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/tensor/tensor.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/attached_machine.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

struct MeasureOptions {
  ProgramContextOptions context;
  // What the drivers drive where it is another machine; null where it is this one. Samples are then calls by its own clock, as are the first
  // call and steps, machine states are its own, and the peak of memory is its runner's. By this machine's clock, with the way there, are loads
  // and queries that come at their own times. Of energy and what disturbed nothing is said.
  const AttachedMachine* attached = nullptr;
  int warmup = 10;    // 0 or more.
  int samples = 100;  // 1 or more.
  bool profile = false;
  int64_t precision_goal_ppm = 0;  // See SampleOptions.
  // With defaults filled in (core/wire/benchmark_spec.h); absent: calls follow each other, and no scenario is in the result.
  std::optional<v1::Scenario> scenario;
  uint64_t seed = 0;  // Of the moments at which queries come.
  std::optional<v1::Settling> settling;
  // All accelerators are told before and after, and those that the program runs on with the samples.
  AcceleratorLooks accelerators;
};

// Everything of the result but timings, device and its target. Errors of loading and running; UNIMPLEMENTED names what cannot be done on an
// attached device: scenarios of several instances.
absl::StatusOr<v1::BenchmarkResult> MeasureProgram(const Artifact& artifact, const Drivers& drivers,
                                                   absl::Span<const Tensor> inputs,
                                                   const MeasureOptions& options);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_MEASURE_H_
