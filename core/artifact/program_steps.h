// The steps of a program, for people: what an error, a profile or a value in between came from.
#ifndef SLIPWAY_CORE_ARTIFACT_PROGRAM_STEPS_H_
#define SLIPWAY_CORE_ARTIFACT_PROGRAM_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/program_notes.h"

namespace slipway {

// A library of a device's vendor that could make a product in place of a step, and of those before it that belong to it: what was measured, and which of them
// makes it.
struct StepLibrary {
  std::string name;  // "cublasLt 12.4.5".
  bool is_used = false;
  int64_t own_ns = 0;
  std::optional<int64_t> library_ns;  // Unset where what it made was not right.
};

struct StepInfo {
  // A kernel of the manifest's code.
  struct Kernel {
    uint32_t code = 0;
    uint32_t kernel = 0;
    // Of code that has entries; empty for a kernel of a table.
    std::string entry;
  };

  // With the name of its function in front of it where that is no entry.
  std::string name;
  std::vector<std::string> operators;
  // The device of the program whose step it is.
  uint32_t device = 0;
  // Of a copy: whether it crosses from memory of the host to that of a device, or back. Memory of a device that the host may touch is the host's.
  enum class Copied { kWithin, kFromHost, kToHost };
  Copied copied = Copied::kWithin;
  // What a kernel step calls.
  std::optional<Kernel> kernel;
  // Where the artifact tells it; see StepsOf.
  std::optional<StepCost> cost;
  // Of a loaded program (Program::steps), where there is such a library.
  std::optional<StepLibrary> library;
};

// The steps of all functions, those of the first one first: what Program::steps are, without loading it. Without costs,
// which are not in a manifest.
std::vector<StepInfo> StepsOf(const CheckedManifest& manifest);
// The same with costs.
std::vector<StepInfo> StepsOf(const Artifact& artifact);

// "step 3 'Conv+Relu stem', kernel 2 of code 0", for messages. `number` may come from a process that was not well:
// any is answered.
std::string DescribeStep(absl::Span<const StepInfo> steps, uint32_t number);

// The outputs of a function, as indices of v1::Function::outputs, in the order in which its steps compute them: what is
// copied counts as made with what it was copied from; outputs that are inputs or constants come first. Equals keep their
// order. For who asks which of two programs' values differs first.
std::vector<int> OutputsAsComputed(const v1::Manifest& manifest, const v1::Function& function);

// The values that a step writes, as indices of the manifest: a kernel's outputs, what a copy copies to, the results
// of a control step.
std::vector<uint32_t> ValuesWrittenBy(const v1::Step& step);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_PROGRAM_STEPS_H_
