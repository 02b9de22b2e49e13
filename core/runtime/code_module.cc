#include "core/runtime/code_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/context.h"

namespace slipway {
namespace {

absl::StatusOr<UniqueFd> MakeMemoryFile(absl::string_view bytes) {
  UniqueFd file(memfd_create("slipway-program", MFD_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(errno, "cannot make a file in memory");
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "cannot write code to memory");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return file;
}

// A path of the descriptor by which nothing is loaded. The loader knows libraries by their paths and would take one that
// was loaded from a descriptor of the same number, now closed, for this one. Keeping all of them open is no way out: a
// runner may have few (core/confinement).
std::string UnusedPath(int fd) {
  std::string folder = "/proc/self/fd/";
  while (true) {
    std::string path = absl::StrCat(folder, fd);
    void* const other = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (other == nullptr) return path;
    dlclose(other);
    folder += "./";
  }
}

absl::Status CheckSpoken(uint32_t abi, const VersionRange& spoken) {
  if (spoken.Includes(abi)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "the code is built for kernel ABI ", abi, ", but this runtime speaks ", ToString(spoken),
      "; ", abi > spoken.highest ? "update Slipway on this device" : "compile the model again"));
}

absl::Status CheckTable(const slipway_kernel_table* table, uint32_t kernel_count, uint32_t abi) {
  if (table == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the code does not speak kernel ABI ", abi,
                                                   ", which its manifest says it is built for; "
                                                   "compile the model again"));
  }
  if (table->abi_version != abi) {
    return absl::InvalidArgumentError(absl::StrCat("the code speaks kernel ABI ",
                                                   table->abi_version, ", but its manifest says ",
                                                   abi, "; compile the model again"));
  }
  if (table->kernel_count != kernel_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "code has ", table->kernel_count, " kernels, but the manifest says ", kernel_count));
  }
  for (uint32_t i = 0; i < kernel_count; ++i) {
    if (table->kernels[i].function == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("kernel ", i, " of the code is null"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CodeModule>> CodeModule::Load(absl::string_view elf,
                                                             uint32_t kernel_count, uint32_t abi,
                                                             const VersionRange& spoken) {
  SLIPWAY_RETURN_IF_ERROR(CheckSpoken(abi, spoken));
  SLIPWAY_ASSIGN_OR_RETURN(const UniqueFd file, MakeMemoryFile(elf));
  std::unique_ptr<CodeModule> module(new CodeModule);
  const std::string path = UnusedPath(file.get());
  module->library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module->library_ == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("code cannot be loaded: ", dlerror()));
  }
  const auto query =
      reinterpret_cast<slipway_query_function>(dlsym(module->library_, SLIPWAY_QUERY_SYMBOL));
  if (query == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("code does not export ", SLIPWAY_QUERY_SYMBOL));
  }
  module->table_ = query(abi, &KernelImports());
  SLIPWAY_RETURN_IF_ERROR(CheckTable(module->table_, kernel_count, abi));
  return module;
}

CodeModule::~CodeModule() {
  if (library_ != nullptr) dlclose(library_);
}

}  // namespace slipway
