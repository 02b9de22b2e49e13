// CpuProgram: an artifact's code and constants in memory, ready for contexts.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/blob.h"
#include "core/runtime/code_module.h"
#include "core/runtime/program.h"

namespace slipway {

class CpuProgram final : public Program {
 public:
  // Errors as of Driver::Load.
  static absl::StatusOr<std::unique_ptr<CpuProgram>> Load(const Artifact& artifact);

  const ProgramSignature& signature() const override { return manifest_.signature(); }
  const std::vector<StepInfo>& steps() const override { return steps_; }
  absl::StatusOr<std::unique_ptr<ProgramContext>> NewContext(
      const ProgramContextOptions& options) const override;

  const CheckedManifest& manifest() const { return manifest_; }
  const CodeModule& code(uint32_t index) const { return *code_[index]; }
  // The first byte of a constant; 64-byte aligned.
  const char* constant(uint32_t index) const { return constants_[index].bytes().data(); }

 private:
  explicit CpuProgram(CheckedManifest manifest) : manifest_(std::move(manifest)) {}
  absl::Status LoadCode(const Artifact& artifact);
  absl::Status LoadConstants(const Artifact& artifact);

  const CheckedManifest manifest_;
  std::vector<StepInfo> steps_;
  std::vector<std::unique_ptr<CodeModule>> code_;
  std::vector<Blob> constants_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_PROGRAM_H_
