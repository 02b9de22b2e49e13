#include "tests/gpu/assembler.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

std::string FindTool(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* home = getenv("CUDA_HOME")) folders.push_back(JoinPath(home, "bin"));
  if (const char* path = getenv("PATH")) {
    for (const absl::string_view folder : absl::StrSplit(path, ':')) folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders) {
    const std::string file = JoinPath(folder, name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

CommandResult Run(std::vector<std::string> argv) {
  CommandOptions command;
  command.argv = std::move(argv);
  return RunCommand(command);
}

// How machine code multiplies on tensor cores.
constexpr char kByWarp[] = "HMMA";
constexpr char kByWarpGroup[] = "HGMMA";

std::string CodeFile(const std::string& folder) { return JoinPath(folder, "kernels.cubin"); }

// Without "@!P0 ", or "@!PT ".
absl::string_view WithoutPredicate(absl::string_view instruction) {
  if (!absl::StartsWith(instruction, "@")) return instruction;
  const size_t end = instruction.find(' ');
  if (end == absl::string_view::npos) return instruction;
  return absl::StripLeadingAsciiWhitespace(instruction.substr(end));
}

}  // namespace

std::optional<Assembler> Assembler::Find(const std::string& folder) {
  Assembler found;
  found.folder_ = folder;
  found.assembler_ = FindTool("ptxas");
  if (found.assembler_.empty()) return std::nullopt;
  found.disassembler_ = FindTool("nvdisasm");
  // "'sm_86','sm_87'," among others.
  const CommandResult help = Run({found.assembler_, "--help"});
  for (const absl::string_view word : absl::StrSplit(help.out, '\'')) {
    absl::string_view capability = word;
    if (absl::ConsumePrefix(&capability, "sm_")) found.capabilities_.emplace(capability);
  }
  return found;
}

bool Assembler::AssemblesFor(absl::string_view capability) const {
  return capabilities_.count(std::string(capability)) > 0;
}

absl::StatusOr<std::string> Assembler::Assemble(absl::string_view text,
                                                absl::string_view capability) const {
  const std::string file = JoinPath(folder_, "kernels.ptx");
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(file, text, /*durable=*/false));
  const CommandResult run =
      Run({assembler_, "-v", absl::StrCat("-arch=sm_", capability), "-o", CodeFile(folder_), file});
  if (!run.status.ok()) return absl::InvalidArgumentError(run.ToString());
  return run.ToString();
}

absl::StatusOr<InstructionMix> Assembler::MainLoop() const {
  const CommandResult run = Run({disassembler_, "-c", CodeFile(folder_)});
  if (!run.status.ok()) return absl::InternalError(run.ToString());
  return MainLoopOf(run.out);
}

absl::StatusOr<InstructionMix> MainLoopOf(absl::string_view disassembly) {
  std::vector<std::string> instructions;
  std::map<std::string, size_t> labels;
  InstructionMix most;
  for (absl::string_view line : absl::StrSplit(disassembly, '\n')) {
    // ".L_x_4:", or "        /*0010*/                   @P0 BRA `(.L_x_4) ;".
    if (absl::StartsWith(line, ".L") && absl::EndsWith(line, ":")) {
      labels[std::string(line.substr(0, line.size() - 1))] = instructions.size();
      continue;
    }
    line = absl::StripLeadingAsciiWhitespace(line);
    const size_t end = line.find("*/");
    const size_t last = line.find(';');
    if (!absl::StartsWith(line, "/*") || last == absl::string_view::npos) continue;
    instructions.emplace_back(absl::StripAsciiWhitespace(line.substr(end + 2, last - end - 2)));
    const std::string& branch = instructions.back();
    const size_t target = branch.find("`(");
    if (!absl::StrContains(branch, "BRA") || target == std::string::npos) continue;
    const auto label = labels.find(branch.substr(target + 2, branch.find(')') - target - 2));
    if (label == labels.end()) continue;  // It goes forwards.
    InstructionMix mix;
    for (size_t i = label->second; i < instructions.size(); ++i) {
      const absl::string_view name = WithoutPredicate(instructions[i]);
      ++mix[std::string(name.substr(0, name.find(' ')))];
    }
    if (CountOf(mix, kByWarp) + CountOf(mix, kByWarpGroup) >
        CountOf(most, kByWarp) + CountOf(most, kByWarpGroup)) {
      most = std::move(mix);
    }
  }
  if (most.empty()) return absl::NotFoundError("no loop multiplies on tensor cores");
  return most;
}

KernelResources ReadResources(absl::string_view said) {
  KernelResources resources;
  const std::vector<std::string> words =
      absl::StrSplit(said, absl::ByAnyChar(" \n,"), absl::SkipEmpty());
  for (size_t i = 0; i + 3 < words.size(); ++i) {
    int number = 0;
    if (!absl::SimpleAtoi(words[i], &number)) continue;
    if (words[i + 1] == "registers") resources.registers = std::max(resources.registers, number);
    if (words[i + 1] != "bytes") continue;
    if (words[i + 2] == "smem") resources.shared_bytes = std::max(resources.shared_bytes, number);
    if (words[i + 2] == "spill")
      resources.spilled_bytes = std::max(resources.spilled_bytes, number);
  }
  return resources;
}

int GroupsAtATime(const KernelResources& resources, int instances) {
  constexpr int kRegisters = 1 << 16;  // Given to warps in eights for each instance.
  constexpr int kSharedBytes = 164 << 10;
  constexpr int kSharedOfAnyGroup = 1 << 10;
  constexpr int kInstances = 2048;
  const int registers = (resources.registers + 7) / 8 * 8 * instances;
  return std::min({kRegisters / registers,
                   kSharedBytes / (resources.shared_bytes + kSharedOfAnyGroup),
                   kInstances / instances});
}

int CountOf(const InstructionMix& mix, absl::string_view prefix) {
  int count = 0;
  for (const auto& [name, times] : mix) {
    if (absl::StartsWith(name, prefix)) count += times;
  }
  return count;
}

}  // namespace slipway::testing
