#include "client/pack/code_facts.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/artifact/limits.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

// Where the child writes its answer: what the code itself prints goes elsewhere.
constexpr int kAnswerFd = 3;
constexpr int64_t kMaxAnswerBytes = int64_t{4} << 20;
constexpr char kErrorPrefix[] = "error: ";

// --- The child. ---

// Code may store these when it is asked, and calls none of them.
int32_t ParallelFor(slipway_context*, slipway_task, int32_t, int32_t, uint8_t*) { return 1; }
void* Allocate(slipway_context*, uint64_t) { return nullptr; }
void Release(slipway_context*, void*) {}
void Error(slipway_context*, const char*) {}
constexpr slipway_imports kImports = {ParallelFor, Allocate, Release, Error};

// What the dynamic section of a loaded object says.
struct DynamicSection {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  uint32_t first_defined = 0;  // Of `symbols`; those that are not defined come before it.
  std::vector<size_t> needed;  // Offsets into `strings`.
};

DynamicSection ReadDynamicSection(const link_map& map) {
  DynamicSection section;
  // The loader turns addresses of the file into addresses of the process; of some architectures it leaves them.
  const auto pointer = [&map](ElfW(Addr) address) {
    return reinterpret_cast<const void*>(address < map.l_addr ? address + map.l_addr : address);
  };
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) {
      section.strings = static_cast<const char*>(pointer(entry->d_un.d_ptr));
    } else if (entry->d_tag == DT_SYMTAB) {
      section.symbols = static_cast<const ElfW(Sym)*>(pointer(entry->d_un.d_ptr));
    } else if (entry->d_tag == DT_GNU_HASH) {
      // Word 1: the first symbol that the table finds.
      section.first_defined = static_cast<const uint32_t*>(pointer(entry->d_un.d_ptr))[1];
    } else if (entry->d_tag == DT_NEEDED) {
      section.needed.push_back(entry->d_un.d_val);
    }
  }
  return section;
}

// What it lacks, in a process where other libraries may have it.
std::string MissingFrom(const link_map& map) {
  const DynamicSection section = ReadDynamicSection(map);
  if (section.strings == nullptr) return "";
  std::vector<std::string> missing;
  for (uint32_t i = 1; section.symbols != nullptr && i < section.first_defined; ++i) {
    const ElfW(Sym)& symbol = section.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_WEAK) continue;
    missing.emplace_back(section.strings + symbol.st_name);
  }
  if (!missing.empty()) {
    return absl::StrCat("it has undefined symbols: ", absl::StrJoin(missing, ", "),
                        "; what kernels need from outside they get through slipway_imports");
  }
  for (const size_t offset : section.needed) missing.emplace_back(section.strings + offset);
  if (missing.empty()) return "";
  return absl::StrCat("it needs ", absl::StrJoin(missing, ", "),
                      "; code needs no libraries: link it with -nostdlib");
}

absl::StatusOr<std::string> Ask(const char* path) {
  // Lazily, so that what is undefined can be told in full.
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return absl::InvalidArgumentError(dlerror());
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return absl::InternalError(dlerror());
  if (const std::string missing = MissingFrom(*map); !missing.empty()) {
    return absl::InvalidArgumentError(missing);
  }
  const auto query = reinterpret_cast<slipway_query_function>(dlsym(library, SLIPWAY_QUERY_SYMBOL));
  if (query == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("it does not export ", SLIPWAY_QUERY_SYMBOL,
                     "; SLIPWAY_KERNELS of core/kernel_abi/kernel_source.h defines it"));
  }
  const slipway_kernel_table* const table = query(SLIPWAY_ABI_VERSION, &kImports);
  if (table == nullptr || table->abi_version != SLIPWAY_ABI_VERSION) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is not built for kernel ABI ", SLIPWAY_ABI_VERSION,
                     table == nullptr ? "" : absl::StrCat(", but for ", table->abi_version)));
  }
  if (table->kernel_count < 1 || table->kernel_count > ReaderLimits().kernels_per_code) {
    return absl::InvalidArgumentError(
        absl::StrCat("its table has ", table->kernel_count, " kernels; 1 to ",
                     ReaderLimits().kernels_per_code, " are allowed"));
  }
  std::string answer;
  for (uint32_t i = 0; i < table->kernel_count; ++i) {
    if (table->kernels[i].function == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("its kernel ", i, " is null"));
    }
    absl::StrAppend(&answer, table->kernels[i].argument_count, "\n");
  }
  return answer;
}

// --- The parent. ---

absl::StatusOr<CodeFacts> ParseAnswer(absl::string_view answer) {
  if (absl::ConsumePrefix(&answer, kErrorPrefix)) return absl::InvalidArgumentError(answer);
  CodeFacts facts;
  for (const absl::string_view line : absl::StrSplit(answer, '\n', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(line, &facts.argument_counts.emplace_back())) {
      return absl::InternalError("the process that loaded it answered with something else");
    }
  }
  if (facts.argument_counts.empty() ||
      facts.argument_counts.size() > ReaderLimits().kernels_per_code) {
    return absl::InternalError("the process that loaded it gave no answer");
  }
  return facts;
}

}  // namespace

int ReadCodeFactsMain(int argc, char** argv) {
  if (argc != 3) return 2;
  absl::StatusOr<std::string> answer = Ask(argv[2]);
  const std::string text =
      answer.ok() ? *answer : absl::StrCat(kErrorPrefix, answer.status().message());
  // At once, and gone: the code's destructors are not run.
  const ssize_t written = pwrite(kAnswerFd, text.data(), text.size(), 0);
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 2);
}

absl::StatusOr<CodeFacts> ReadCodeFacts(const std::string& executable, const std::string& path,
                                        absl::Duration deadline) {
  const UniqueFd answer(memfd_create("slipway-code-facts", MFD_CLOEXEC));
  if (!answer.is_open()) return ErrnoStatus(errno, "cannot make a file in memory");
  SubprocessOptions options;
  options.argv = {executable, kReadCodeFactsArgument, path};
  options.fds = {{kAnswerFd, answer.get()}};
  options.stdout_stream = ChildStream::Null();
  options.stderr_stream = ChildStream::Null();
  options.limits.cpu_time = deadline;
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> child, Subprocess::Start(options));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, child->Wait(deadline), "loading it");
  if (!end.ok())
    return absl::InternalError(absl::StrCat("the process that loaded it ended: ", end.ToString()));
  std::string text(static_cast<size_t>(kMaxAnswerBytes), '\0');
  const ssize_t size = pread(answer.get(), text.data(), text.size(), 0);
  if (size < 0) return ErrnoStatus(errno, "cannot read what it said");
  text.resize(static_cast<size_t>(size));
  return ParseAnswer(text);
}

}  // namespace slipway
