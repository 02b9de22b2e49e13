#include "device_agent/attached/bare_runners.h"

#include <elf.h>

#include <cstdint>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "device_agent/attached/bare_runner_files.h"
#include "device_agent/attached/file_for_machine.h"

namespace slipway {
namespace {

// A machine that bare runners are written for; several of one number run the same file.
struct Machine {
  const char* architecture;  // Of targets.
  const char* name;          // As `uname -m` has it.
  uint16_t number;           // As e_machine of ELF.
};

constexpr Machine kMachines[] = {{"x86-64", "x86_64", EM_X86_64},
                                 {"arm-64", "aarch64", EM_AARCH64},
                                 {"arm-32", "armv7l", EM_ARM},
                                 // A processor of 64 bits whose kernel says that it has 32.
                                 {"arm-32", "armv8l", EM_ARM},
                                 {"riscv-64", "riscv64", EM_RISCV}};

}  // namespace

absl::StatusOr<absl::string_view> FindBareRunner(absl::string_view machine) {
  std::vector<std::string> there;
  for (const Machine& known : kMachines) {
    const EmbeddedFile* const file = FindFileFor(known.number, BareRunnerFiles());
    if (file == nullptr) continue;
    if (known.name == machine) return file->contents;
    there.push_back(absl::StrCat(known.architecture, " (", known.name, ")"));
  }
  return absl::UnimplementedError(absl::StrCat(
      "the attached device is a machine that this agent has no bare runner for: \"",
      absl::Utf8SafeCEscape(machine), "\"; it has those for ", absl::StrJoin(there, ", ")));
}

const std::string& BareRunnerName() {
  static const std::string* const name = [] {
    std::string all;
    for (const EmbeddedFile& file : BareRunnerFiles()) {
      absl::StrAppend(&all, Digest::Of(file.contents).hex());
    }
    return new std::string(
        absl::StrCat("slipway-bare-runner-", Digest::Of(all).hex().substr(0, 16)));
  }();
  return *name;
}

}  // namespace slipway
