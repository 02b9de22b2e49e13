// What an artifact tells of its program beside all that running it needs: v1::ProgramNotes.
#ifndef SLIPWAY_CORE_ARTIFACT_PROGRAM_NOTES_H_
#define SLIPWAY_CORE_ARTIFACT_PROGRAM_NOTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/kernel_abi/kernel_scratch.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Of one run of a step; as in ProgramNotes::StepCost. None is negative, and constants are at most all bytes.
struct StepCost {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t constant_bytes = 0;
  v1::DataType product_type = v1::DATA_TYPE_UNSPECIFIED;
  v1::Precision product_precision = v1::PRECISION_UNSPECIFIED;

  friend bool operator==(const StepCost&, const StepCost&) = default;
};

// One for each step of all functions, in their order, unset where it is not known; empty where the artifact has no notes,
// or none that fit it.
std::vector<std::optional<StepCost>> CostsOf(const Artifact& artifact);

// Scratch memory of each kernel of the first piece of code; empty as CostsOf.
std::vector<KernelScratch> KernelScratchOf(const Artifact& artifact);

// Whether that tells of tasks: where it does not, in artifacts of older compilers, two threads may not work on one call in memory that
// each has of its own.
bool TellsTaskScratch(const Artifact& artifact);

// All of them, unchecked; empty where the artifact has none.
v1::ProgramNotes NotesOf(const Artifact& artifact);

// Adds the notes to a manifest that has all its constants, and returns the bytes of the blob that they are.
std::string AddNotes(const v1::ProgramNotes& notes, v1::Manifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_PROGRAM_NOTES_H_
