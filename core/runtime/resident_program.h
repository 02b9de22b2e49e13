// ResidentProgram: a program's code and constants on its devices, ready for contexts.
#ifndef SLIPWAY_CORE_RUNTIME_RESIDENT_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_RESIDENT_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/blob.h"
#include "core/runtime/choose_libraries.h"
#include "core/runtime/device.h"
#include "core/runtime/device_tensor.h"
#include "core/runtime/program_plan.h"

namespace slipway {

// Immutable and thread-safe.
class ResidentProgram {
 public:
  // `devices` are those the manifest names, in its order, and support it; the first is the host. Keeps the blobs
  // of constants that the host reads in place. INVALID_ARGUMENT and UNIMPLEMENTED say why code does not load;
  // RESOURCE_EXHAUSTED that a device has no memory for the constants.
  static absl::StatusOr<std::unique_ptr<ResidentProgram>> Load(
      const Artifact& artifact, std::vector<std::shared_ptr<ComputeDevice>> devices);
  ~ResidentProgram();
  ResidentProgram(const ResidentProgram&) = delete;
  ResidentProgram& operator=(const ResidentProgram&) = delete;

  const CheckedManifest& manifest() const { return manifest_; }
  const ProgramPlan& plan() const { return plan_; }
  const std::shared_ptr<ComputeDevice>& device(uint32_t index) const { return devices_[index]; }
  // Where memory of a space is.
  const TensorPlace& place_of_space(uint32_t space) const { return places_[space]; }
  size_t device_count() const { return devices_.size(); }
  const std::vector<std::shared_ptr<ComputeDevice>>& devices() const { return devices_; }
  const DeviceCode& code(uint32_t index) const { return *code_[index]; }
  // The memory of a buffer of class CONSTANT.
  const DeviceMemory& constant(uint32_t buffer) const { return constants_[buffer]; }
  // Its steps that libraries of its devices' vendors could make; StepPlan::chosen names those that they do.
  const std::vector<ChosenStep>& chosen_steps() const { return chosen_steps_; }

 private:
  explicit ResidentProgram(CheckedManifest manifest) : manifest_(std::move(manifest)) {}
  absl::Status LoadCode(const Artifact& artifact);
  absl::Status LoadConstants(const Artifact& artifact);
  absl::Status TakeLibraries(const Artifact& artifact);
  absl::StatusOr<DeviceMemory> Upload(const std::string& key, const Blob& blob, uint32_t space);

  const CheckedManifest manifest_;
  std::vector<std::shared_ptr<ComputeDevice>> devices_;
  std::vector<TensorPlace> places_;  // By space.
  ProgramPlan plan_;
  std::vector<std::unique_ptr<DeviceCode>> code_;
  std::vector<DeviceMemory> constants_;  // By buffer.
  std::vector<Blob> blobs_;              // Constants the host reads in place.
  struct Owned {
    ComputeDevice* device;
    DeviceMemory memory;
  };
  std::vector<Owned> uploaded_;
  std::vector<ChosenStep> chosen_steps_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_RESIDENT_PROGRAM_H_
