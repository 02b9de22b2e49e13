#include "tests/common/emulator.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

struct Row {
  absl::string_view architecture;
  absl::string_view program;
  absl::string_view libraries;  // The root below which they are; empty: the sysroot.
};

constexpr absl::string_view kNoLibraries = "-";

constexpr Row kRows[] = {
    {"arm-32", "/usr/bin/qemu-arm-static", ""},
    {"arm-64", "/usr/bin/qemu-aarch64-static", ""},
    {"riscv-64", "/usr/bin/qemu-riscv64-static", "/usr/riscv64-linux-gnu"},
    {"wasm-32", "/usr/bin/node", kNoLibraries},
};

absl::StatusOr<std::string> Existing(std::string path) {
  if (std::filesystem::exists(path)) return path;
  return absl::NotFoundError(absl::StrCat("\"", path, "\" is not there: run deploy/install-deps"));
}

}  // namespace

absl::StatusOr<Emulator> FindEmulator(absl::string_view architecture, absl::string_view processor) {
  for (const Row& row : kRows) {
    if (row.architecture != architecture) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const std::string program, Existing(std::string(row.program)));
    if (row.libraries == kNoLibraries) return Emulator{{program}};
    std::string root(row.libraries);
    if (root.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(const std::string sysroots,
                               ReadFile(RunfilePath("../cross_sysroots/folder"), 4096));
      root = JoinPath(absl::StripAsciiWhitespace(sysroots), architecture);
    }
    SLIPWAY_ASSIGN_OR_RETURN(root, Existing(std::move(root)));
    Emulator emulator = {{program, "-L", root}};
    if (!processor.empty()) {
      emulator.command.insert(emulator.command.end(), {"-cpu", std::string(processor)});
    }
    return emulator;
  }
  return absl::NotFoundError(absl::StrCat("no emulator for \"", architecture, "\""));
}

}  // namespace slipway::testing
