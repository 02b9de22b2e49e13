// NVIDIA's assembler and disassembler, where a machine has them: in bin below $CUDA_HOME, in $PATH, or in /usr/local/cuda/bin.
#ifndef SLIPWAY_TESTS_GPU_ASSEMBLER_H_
#define SLIPWAY_TESTS_GPU_ASSEMBLER_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::testing {

// What a loop of machine code consists of: how many of each instruction, by its name without what it is predicated on.
using InstructionMix = std::map<std::string, int>;

class Assembler {
 public:
  // Absent where there is none; files go to the folder.
  static std::optional<Assembler> Find(const std::string& folder);

  // Whether it has code for a capability, "80": its own word, since each version drops some.
  bool AssemblesFor(absl::string_view capability) const;

  // What it says of a text: registers, spills, shared memory. An error is what it refuses.
  absl::StatusOr<std::string> Assemble(absl::string_view text, absl::string_view capability) const;

  bool can_disassemble() const { return !disassembler_.empty(); }
  // Of the loop that multiplies most on tensor cores, in what was assembled last.
  absl::StatusOr<InstructionMix> MainLoop() const;

 private:
  std::string folder_;
  std::string assembler_;
  std::string disassembler_;
  std::set<std::string> capabilities_;
};

// What one kernel takes, of what the assembler says: the most of each, where there are several.
struct KernelResources {
  int registers = 0;  // Of an instance.
  int shared_bytes = 0;
  int spilled_bytes = 0;
};
KernelResources ReadResources(absl::string_view said);

// How many groups of so many instances a multiprocessor of A100 or H100 has at a time.
int GroupsAtATime(const KernelResources& resources, int instances);

// Of a disassembly, as nvdisasm writes it: NOT_FOUND where no loop multiplies on tensor cores.
absl::StatusOr<InstructionMix> MainLoopOf(absl::string_view disassembly);

// How many of the mix have names that begin so.
int CountOf(const InstructionMix& mix, absl::string_view prefix);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_ASSEMBLER_H_
