#include "core/codegen/linker.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
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
  const char* library;         // The same for libraries; null where there are none.
  const char* kernels;         // The embedded archive of callable kernels.
  const char* vector_kernels;  // And of those whose vectors are the machine's.
  const char* emulation;       // lld's; null where programs are modules.
  // The embedded archive of what the machine has no instructions for.
  const char* run_time = nullptr;
};

absl::StatusOr<ArchNames> NamesOf(const DeviceTarget& target) {
  if (target.arch == Arch::kX86_64) {
    return ArchNames{"program_support_x86_64.o", "library_support_x86_64.o",
                     "callable_kernels.x86-64.a",
                     target.level >= 4   ? "vector_kernels.x86-64-v4.a"
                     : target.level >= 3 ? "vector_kernels.x86-64-v3.a"
                                         : "vector_kernels.x86-64.a",
                     "elf_x86_64"};
  }
  if (target.arch == Arch::kArm64) {
    return ArchNames{"program_support_aarch64.o", "library_support_aarch64.o",
                     "callable_kernels.arm-64.a", "vector_kernels.arm-64.a", "aarch64linux"};
  }
  if (target.arch == Arch::kArm32) {
    return ArchNames{"program_support_arm.o",
                     "library_support_arm.o",
                     "callable_kernels.arm-32.a",
                     target.Has("fma")    ? "vector_kernels.arm-32-fma.a"
                     : target.Has("neon") ? "vector_kernels.arm-32-neon.a"
                                          : "vector_kernels.arm-32.a",
                     "armelf_linux_eabi",
                     "arm_run_time.arm-32.a"};
  }
  if (target.arch == Arch::kRiscv64) {
    return ArchNames{"program_support_riscv64.o", "library_support_riscv64.o",
                     "callable_kernels.riscv-64.a", "vector_kernels.riscv-64.a", "elf64lriscv"};
  }
  if (target.arch == Arch::kWasm32) {
    return ArchNames{
        "program_support_wasm32.o", nullptr, "callable_kernels.wasm-32.a",
        target.Has("simd128") ? "vector_kernels.wasm-32-simd128.a" : "vector_kernels.wasm-32.a",
        nullptr};
  }
  return absl::UnimplementedError(
      absl::StrCat("programs for target \"", target.ToString(),
                   "\" cannot be linked: only x86-64, arm-64, arm-32, riscv-64 and wasm-32 can"));
}

absl::StatusOr<absl::string_view> Embedded(absl::Span<const EmbeddedFile> files,
                                           absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.contents;
  }
  return absl::InternalError(absl::StrCat("\"", name, "\" is not part of this build"));
}

// A folder of files to link, and the tools that do it.
class Linking {
 public:
  static absl::StatusOr<Linking> Begin(const LinkOptions& options) {
    SLIPWAY_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("slipway-link"));
    return Linking(std::move(folder), options);
  }

  std::string PathOf(absl::string_view name) const { return JoinPath(folder_.path(), name); }
  absl::StatusOr<std::string> Write(absl::string_view name, absl::string_view bytes) const {
    std::string path = PathOf(name);
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, bytes, /*durable=*/false));
    return path;
  }
  // Table, support, kernels, and the archives that define the callable ones.
  absl::StatusOr<std::vector<std::string>> WriteParts(const DeviceTarget& target,
                                                      absl::Span<const LinkedKernel> kernels,
                                                      const ArchNames& names,
                                                      const char* support_name) const;
  // OK when it ended well. `debian` is the package that has the tool.
  absl::Status Run(const std::string& tool, const char* debian,
                   const std::vector<std::string>& arguments,
                   ChildStream out = ChildStream::Tail()) const;
  absl::StatusOr<std::string> Read(const std::string& path) const {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(std::string code, ReadFile(path, kMaxProgramBytes),
                                  "the linked program");
    return code;
  }

 private:
  Linking(TemporaryFolder folder, const LinkOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  TemporaryFolder folder_;
  LinkOptions options_;
};

absl::StatusOr<std::vector<std::string>> Linking::WriteParts(const DeviceTarget& target,
                                                             absl::Span<const LinkedKernel> kernels,
                                                             const ArchNames& names,
                                                             const char* support_name) const {
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view support,
                           Embedded(ProgramSupport(), support_name));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view callable,
                           Embedded(CallableKernels(), names.kernels));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view vector_kernels,
                           Embedded(CallableKernels(), names.vector_kernels));
  std::vector<TableRow> rows;
  for (const LinkedKernel& kernel : kernels) rows.push_back({kernel.symbol, kernel.argument_count});
  SLIPWAY_ASSIGN_OR_RETURN(const std::string table, MakeTableObject(target.arch, rows));
  std::vector<std::string> paths;
  const auto add = [&](absl::string_view name, absl::string_view bytes) -> absl::Status {
    SLIPWAY_ASSIGN_OR_RETURN(std::string path, Write(name, bytes));
    paths.push_back(std::move(path));
    return absl::OkStatus();
  };
  SLIPWAY_RETURN_IF_ERROR(add("table.o", table));
  SLIPWAY_RETURN_IF_ERROR(add("support.o", support));
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].object == nullptr) continue;
    SLIPWAY_RETURN_IF_ERROR(add(absl::StrCat("kernel", i, ".o"), *kernels[i].object));
  }
  SLIPWAY_RETURN_IF_ERROR(add("callable.a", callable));
  SLIPWAY_RETURN_IF_ERROR(add("vector.a", vector_kernels));
  if (names.run_time != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view run_time,
                             Embedded(CallableKernels(), names.run_time));
    SLIPWAY_RETURN_IF_ERROR(add("run_time.a", run_time));
  }
  return paths;
}

absl::Status Linking::Run(const std::string& tool, const char* debian,
                          const std::vector<std::string>& arguments, ChildStream out) const {
  SubprocessOptions process;
  // A response file: a program may have more kernels than a command line has room for.
  std::string response;
  for (const std::string& argument : arguments) absl::StrAppend(&response, "\"", argument, "\"\n");
  SLIPWAY_ASSIGN_OR_RETURN(const std::string path, Write("arguments", response));
  process.argv = {tool, absl::StrCat("@", path)};
  process.stdout_stream = out;
  process.stderr_stream = ChildStream::Tail();
  process.limits.file_size_bytes = kMaxProgramBytes;
  absl::StatusOr<std::unique_ptr<Subprocess>> child = Subprocess::Start(process);
  if (!child.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("cannot start the linker \"", tool,
                                                      "\": ", child.status().message(),
                                                      "; install it (Debian: ", debian, ")"));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, (*child)->Wait(options_.deadline),
                                "linking the program");
  // Linkers do not kill themselves: another attempt may succeed.
  if (end.signal == SIGKILL || end.signal == SIGTERM) {
    return absl::AbortedError(
        absl::StrCat("the linker was ", end.ToString(),
                     ": from outside, or because the machine has no memory left"));
  }
  if (!end.ok()) {
    return absl::InternalError(
        absl::StrCat("the linker failed with ", end.ToString(), ": ", (*child)->OutputTail()));
  }
  return absl::OkStatus();
}

std::vector<std::string> SharedObjectArguments(const char* emulation, const std::string& output,
                                               const std::string& exports) {
  return {"-m",
          emulation,
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
}

std::vector<std::string> ModuleArguments(const DeviceTarget& target, const std::string& output) {
  std::vector<std::string> arguments = {
      "-o", output, "--no-entry", "--import-memory", "--export-table",
      "--export=" SLIPWAY_QUERY_SYMBOL, "--export=__heap_base",
      // A global that changes, which lld takes for a feature that objects have to ask for.
      "--export=__stack_pointer", "--no-check-features",
      // So that who needs more of it traps and overwrites nothing.
      "--stack-first", "-z", absl::StrCat("stack-size=", SLIPWAY_MODULE_STACK_BYTES),
      // A function of another type than its caller believes is a warning there, and a trap later.
      "--fatal-warnings", "--strip-all", "--threads=1"};
  if (target.Has("threads")) {
    // The largest there is: whoever makes the memory says how much of it may be used.
    arguments.insert(arguments.end(), {"--shared-memory", "--max-memory=4294967296"});
  }
  return arguments;
}

constexpr char kLldPackage[] = "lld-14";
constexpr char kObjcopyPackage[] = "llvm-14";

}  // namespace

absl::StatusOr<std::string> LinkProgram(const DeviceTarget& target,
                                        absl::Span<const LinkedKernel> kernels,
                                        const LinkOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArchNames names, NamesOf(target));
  SLIPWAY_ASSIGN_OR_RETURN(const Linking linking, Linking::Begin(options));
  const bool is_module = names.emulation == nullptr;
  const std::string output = linking.PathOf("program");
  std::vector<std::string> arguments;
  if (is_module) {
    arguments = ModuleArguments(target, output);
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::string exports,
        linking.Write("exports",
                      absl::StrCat("{ global: ", SLIPWAY_QUERY_SYMBOL, "; local: *; };\n")));
    arguments = SharedObjectArguments(names.emulation, output, exports);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                           linking.WriteParts(target, kernels, names, names.support));
  arguments.insert(arguments.end(), parts.begin(), parts.end());
  SLIPWAY_RETURN_IF_ERROR(
      linking.Run(is_module ? options.wasm_lld : options.lld, kLldPackage, arguments));
  return linking.Read(output);
}

absl::StatusOr<std::string> LinkLibrary(const DeviceTarget& target,
                                        absl::Span<const LinkedKernel> kernels,
                                        const LibrarySymbols& symbols, const LinkOptions& options) {
  constexpr char kKernels[] = "slipway_program_kernels";  // As MakeTableObject and
  constexpr char kImports[] = "slipway_program_imports";  // program_support.c call them.
  SLIPWAY_ASSIGN_OR_RETURN(const ArchNames names, NamesOf(target));
  if (names.library == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("no libraries are made for target \"", target.ToString(),
                     "\": its programs are modules, which are instantiated and not linked"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Linking linking, Linking::Begin(options));
  const std::string joined = linking.PathOf("joined.o");
  std::vector<std::string> arguments = {"-m", names.emulation, "-r", "-o", joined, "--threads=1"};
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                           linking.WriteParts(target, kernels, names, names.library));
  arguments.insert(arguments.end(), parts.begin(), parts.end());
  SLIPWAY_RETURN_IF_ERROR(linking.Run(options.lld, kLldPackage, arguments));
  // What is undefined, a relocatable link does not tell.
  SLIPWAY_RETURN_IF_ERROR(linking.Run(
      options.lld, kLldPackage,
      {"-m", names.emulation, "-shared", "-o", linking.PathOf("tried.so"), "--no-undefined",
       absl::StrCat("--defsym=", kImports, "=0"), "--threads=1", joined}));
  const std::string output = linking.PathOf("library.o");
  const UniqueFd file(open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, "cannot write the library's object");
  // Groups would be merged with those of other libraries, whose members are not the same. To its output: of a file it would set the
  // mode, which confined compilers may not (core/confinement).
  SLIPWAY_RETURN_IF_ERROR(
      linking.Run(options.objcopy, kObjcopyPackage,
                  {absl::StrCat("--keep-global-symbol=", kKernels),
                   absl::StrCat("--redefine-sym=", kKernels, "=", symbols.kernels),
                   absl::StrCat("--redefine-sym=", kImports, "=", symbols.imports),
                   "--remove-section=.group", "--remove-section=.llvm_addrsig",
                   "--remove-section=.comment", "--remove-section=.eh_frame", joined, "-"},
                  ChildStream::Fd(file.get())));
  return linking.Read(output);
}

}  // namespace slipway
