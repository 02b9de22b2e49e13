#include "core/codegen/linker.h"

#include <signal.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/embedded_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/codegen/callable_kernels.h"
#include "core/codegen/limits.h"
#include "core/codegen/program_support.h"
#include "core/codegen/table_object.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

struct ArchNames {
  const char* support;         // The embedded object of support/program_support.c.
  const char* kernels;         // The embedded archive of callable kernels.
  const char* vector_kernels;  // And of those whose vectors are the machine's.
  const char* emulation;       // lld's.
};

absl::StatusOr<ArchNames> NamesOf(const DeviceTarget& target) {
  if (target.arch == Arch::kX86_64) {
    return ArchNames{"program_support_x86_64.o", "callable_kernels.x86-64.a",
                     target.level >= 4   ? "vector_kernels.x86-64-v4.a"
                     : target.level >= 3 ? "vector_kernels.x86-64-v3.a"
                                         : "vector_kernels.x86-64.a",
                     "elf_x86_64"};
  }
  if (target.arch == Arch::kArm64) {
    return ArchNames{"program_support_aarch64.o", "callable_kernels.arm-64.a",
                     "vector_kernels.arm-64.a", "aarch64linux"};
  }
  return absl::UnimplementedError(absl::StrCat("programs for target \"", target.ToString(),
                                               "\" cannot be linked: only x86-64 and arm-64 can"));
}

absl::StatusOr<absl::string_view> Embedded(absl::Span<const EmbeddedFile> files,
                                           absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.contents;
  }
  return absl::InternalError(absl::StrCat("\"", name, "\" is not part of this build"));
}

}  // namespace

absl::StatusOr<std::string> LinkProgram(const DeviceTarget& target,
                                        absl::Span<const LinkedKernel> kernels,
                                        const LinkOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArchNames names, NamesOf(target));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view support,
                           Embedded(ProgramSupport(), names.support));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view callable,
                           Embedded(CallableKernels(), names.kernels));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view vector_kernels,
                           Embedded(CallableKernels(), names.vector_kernels));
  std::vector<TableRow> rows;
  for (const LinkedKernel& kernel : kernels) rows.push_back({kernel.symbol, kernel.argument_count});
  SLIPWAY_ASSIGN_OR_RETURN(const std::string table, MakeTableObject(target.arch, rows));

  SLIPWAY_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("slipway-link"));
  const auto write = [&folder](const std::string& name,
                               absl::string_view bytes) -> absl::StatusOr<std::string> {
    std::string path = JoinPath(folder.path(), name);
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, bytes, /*durable=*/false));
    return path;
  };
  const std::string output = JoinPath(folder.path(), "program.so");
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::string exports,
      write("exports", absl::StrCat("{ global: ", SLIPWAY_QUERY_SYMBOL, "; local: *; };\n")));
  std::vector<std::string> arguments = {options.lld,
                                        "-m",
                                        names.emulation,
                                        "-shared",
                                        "-o",
                                        output,
                                        "-Bsymbolic",
                                        "--gc-sections",
                                        "--no-undefined",
                                        "--version-script",
                                        exports,
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--build-id=none",
                                        "--strip-all",
                                        "--hash-style=gnu",
                                        "--threads=1"};
  SLIPWAY_ASSIGN_OR_RETURN(std::string path, write("table.o", table));
  arguments.push_back(path);
  SLIPWAY_ASSIGN_OR_RETURN(path, write("support.o", support));
  arguments.push_back(path);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].object == nullptr) continue;
    SLIPWAY_ASSIGN_OR_RETURN(path, write(absl::StrCat("kernel", i, ".o"), *kernels[i].object));
    arguments.push_back(path);
  }
  SLIPWAY_ASSIGN_OR_RETURN(path, write("callable.a", callable));
  arguments.push_back(path);
  SLIPWAY_ASSIGN_OR_RETURN(path, write("vector.a", vector_kernels));
  arguments.push_back(path);

  SubprocessOptions process;
  // A response file: a program may have more kernels than a command line has room for.
  std::string response;
  for (size_t i = 1; i < arguments.size(); ++i)
    absl::StrAppend(&response, "\"", arguments[i], "\"\n");
  SLIPWAY_ASSIGN_OR_RETURN(path, write("arguments", response));
  process.argv = {options.lld, absl::StrCat("@", path)};
  process.stdout_stream = ChildStream::Tail();
  process.stderr_stream = ChildStream::Tail();
  process.limits.file_size_bytes = kMaxProgramBytes;
  absl::StatusOr<std::unique_ptr<Subprocess>> lld = Subprocess::Start(process);
  if (!lld.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("cannot start the linker \"", options.lld,
                                                      "\": ", lld.status().message(),
                                                      "; install it (Debian: lld-14)"));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, (*lld)->Wait(options.deadline),
                                "linking the program");
  // Linkers do not kill themselves: another attempt may succeed.
  if (end.signal == SIGKILL || end.signal == SIGTERM) {
    return absl::AbortedError(
        absl::StrCat("the linker was ", end.ToString(),
                     ": from outside, or because the machine has no memory left"));
  }
  if (!end.ok()) {
    return absl::InternalError(
        absl::StrCat("the linker failed with ", end.ToString(), ": ", (*lld)->OutputTail()));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::string code, ReadFile(output, kMaxProgramBytes),
                                "the linked program");
  return code;
}

}  // namespace slipway
