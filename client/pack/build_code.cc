#include "client/pack/build_code.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/pack/kernel_headers.h"
#include "core/base/embedded_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

constexpr int64_t kMaxCodeBytes = int64_t{1} << 30;

std::string MachineFlag(const DeviceTarget& target) {
  if (target.arch != Arch::kX86_64) return "-march=armv8-a";
  return target.level > 1 ? absl::StrCat("-march=x86-64-v", target.level) : "-march=x86-64";
}

// Where kernels include them from.
absl::StatusOr<std::string> WriteHeaders(const std::string& folder) {
  const std::string headers = JoinPath(folder, "core/kernel_abi");
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(headers));
  for (const EmbeddedFile& header : KernelHeaders()) {
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(headers, header.name), header.contents,
                                                /*durable=*/false));
  }
  return folder;
}

absl::StatusOr<std::unique_ptr<Subprocess>> StartCompiler(
    const std::string& wish, const std::vector<std::string>& arguments) {
  const std::vector<std::string> candidates = wish.empty()
                                                  ? std::vector<std::string>{"cc", "clang", "gcc"}
                                                  : std::vector<std::string>{wish};
  for (const std::string& candidate : candidates) {
    SubprocessOptions options;
    options.argv = {candidate};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.stdout_stream = ChildStream::Fd(STDERR_FILENO);
    options.limits.file_size_bytes = kMaxCodeBytes;
    absl::StatusOr<std::unique_ptr<Subprocess>> started = Subprocess::Start(options);
    if (!absl::IsNotFound(started.status())) return started;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("there is no C compiler \"", absl::StrJoin(candidates, "\", \""),
                   "\" in $PATH; install one, name one with \"--cc\", or give a shared object"));
}

}  // namespace

absl::StatusOr<std::string> BuildCode(const std::string& path, const DeviceTarget& target,
                                      const BuildCodeOptions& options) {
  if (absl::EndsWith(path, ".so")) return path;
  if (!absl::EndsWith(path, ".c") && !absl::EndsWith(path, ".o")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path, "\" ends in none of .c (C source), .o (object file) and .so (shared object)"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::string headers, WriteHeaders(options.folder));
  const std::string output = JoinPath(options.folder, "program.so");
  const std::string exports = JoinPath(options.folder, "exports");
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(
      exports, absl::StrCat("{ global: ", SLIPWAY_QUERY_SYMBOL, "; local: *; };\n"),
      /*durable=*/false));
  std::vector<std::string> arguments = {"-O3",
                                        "-ffreestanding",
                                        "-fno-builtin",
                                        "-fno-math-errno",
                                        "-fno-stack-protector",
                                        "-fPIC",
                                        MachineFlag(target),
                                        "-I",
                                        headers,
                                        "-shared",
                                        "-nostdlib",
                                        "-Wl,-z,defs",
                                        "-Wl,-z,noexecstack",
                                        "-Wl,-Bsymbolic",
                                        absl::StrCat("-Wl,--version-script=", exports),
                                        "-Wl,--hash-style=gnu",
                                        "-Wl,--build-id=none",
                                        "-Wl,-s",
                                        "-o",
                                        output};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  arguments.push_back(path);
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> compiler,
                           StartCompiler(options.compiler, arguments));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, compiler->Wait(options.deadline),
                                absl::StrCat("building \"", path, "\""));
  if (end.ok()) return output;
  return absl::InvalidArgumentError(absl::StrCat("building \"", path,
                                                 "\" failed: the compiler ended with ",
                                                 end.ToString(), "; above is what it says"));
}

}  // namespace slipway
