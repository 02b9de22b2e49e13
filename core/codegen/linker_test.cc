#include "core/codegen/linker.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codegen/table_object.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceTarget TargetOf(const char* name) { return ParseTarget(name)->host(); }

// An object that defines nothing but a table, under another name than the program's own.
std::string Renamed(Arch arch, const char* name) {
  std::string object = *MakeTableObject(arch, {});
  const std::string from = "slipway_program_kernels";
  const size_t at = object.find(from);
  EXPECT_NE(at, std::string::npos);
  std::string to = name;
  EXPECT_LE(to.size(), from.size());
  to.resize(from.size(), '\0');
  object.replace(at, from.size(), to);
  return object;
}

// Both classes of ELF.
struct Elf32 {
  using Header = Elf32_Ehdr;
  using SectionHeader = Elf32_Shdr;
  using Dynamic = Elf32_Dyn;
  using Symbol = Elf32_Sym;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using SectionHeader = Elf64_Shdr;
  using Dynamic = Elf64_Dyn;
  using Symbol = Elf64_Sym;
};

struct Parsed {
  int type = 0, machine = 0;
  std::set<std::string> defined, undefined;  // Dynamic symbols.
  int needed = 0;
};

template <typename Elf>
Parsed ParseAs(const std::string& elf) {
  Parsed parsed;
  typename Elf::Header header;
  std::memcpy(&header, elf.data(), sizeof(header));
  parsed.type = header.e_type;
  parsed.machine = header.e_machine;
  std::vector<typename Elf::SectionHeader> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff,
              sections.size() * sizeof(typename Elf::SectionHeader));
  for (const typename Elf::SectionHeader& section : sections) {
    if (section.sh_type == SHT_DYNAMIC) {
      for (uint64_t i = 0; i < section.sh_size / sizeof(typename Elf::Dynamic); ++i) {
        typename Elf::Dynamic entry;
        std::memcpy(&entry, elf.data() + section.sh_offset + i * sizeof(entry), sizeof(entry));
        if (entry.d_tag == DT_NEEDED) ++parsed.needed;
      }
    }
    if (section.sh_type != SHT_DYNSYM) continue;
    const typename Elf::SectionHeader& strings = sections[section.sh_link];
    for (uint64_t i = 1; i < section.sh_size / sizeof(typename Elf::Symbol); ++i) {
      typename Elf::Symbol symbol;
      std::memcpy(&symbol, elf.data() + section.sh_offset + i * sizeof(symbol), sizeof(symbol));
      const std::string name = elf.c_str() + strings.sh_offset + symbol.st_name;
      (symbol.st_shndx == SHN_UNDEF ? parsed.undefined : parsed.defined).insert(name);
    }
  }
  return parsed;
}

bool IsOf32Bits(const std::string& elf) { return elf[EI_CLASS] == ELFCLASS32; }

Parsed Parse(const std::string& elf) {
  return IsOf32Bits(elf) ? ParseAs<Elf32>(elf) : ParseAs<Elf64>(elf);
}

TEST(LinkerTest, MakesSelfContainedSharedObjectsForEveryArchitecture) {
  for (const auto& [name, machine] :
       std::vector<std::pair<const char*, int>>{{"x86-64-linux", EM_X86_64},
                                                {"arm-64-linux", EM_AARCH64},
                                                {"arm-32-linux-neon", EM_ARM},
                                                {"riscv-64-linux", EM_RISCV}}) {
    const DeviceTarget target = TargetOf(name);
    const std::string a = Renamed(target.arch, "kernel_a"), b = Renamed(target.arch, "kernel_b");
    const std::vector<LinkedKernel> kernels = {{"kernel_a", &a, 3}, {"kernel_b", &b, 2}};
    ASSERT_OK_AND_ASSIGN(const std::string elf, LinkProgram(target, kernels, {}));
    const Parsed parsed = Parse(elf);
    EXPECT_EQ(parsed.type, ET_DYN);
    EXPECT_EQ(parsed.machine, machine);
    EXPECT_EQ(parsed.needed, 0);
    EXPECT_EQ(parsed.defined, std::set<std::string>{"slipway_program_query"});
    EXPECT_TRUE(parsed.undefined.empty());
    ASSERT_OK_AND_ASSIGN(const std::string again, LinkProgram(target, kernels, {}));
    EXPECT_EQ(elf, again);
  }
}

// LEB128.
uint32_t ReadNumber(absl::string_view& bytes) {
  uint32_t number = 0;
  for (int shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    number |= uint32_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  return number;
}

std::string ReadText(absl::string_view& bytes) {
  const size_t size = std::min<size_t>(ReadNumber(bytes), bytes.size());
  const std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

// Of the section of a module whose entries are two or one names and what they name.
std::set<std::string> NamesIn(absl::string_view module, uint8_t section, int names) {
  std::set<std::string> found;
  module.remove_prefix(std::min<size_t>(8, module.size()));
  while (!module.empty()) {
    const auto id = static_cast<uint8_t>(module[0]);
    module.remove_prefix(1);
    const std::string contents = ReadText(module);
    if (id != section) continue;
    absl::string_view rest = contents;
    for (uint32_t count = ReadNumber(rest); count > 0 && !rest.empty(); --count) {
      std::string name = ReadText(rest);
      if (names == 2) name += "." + ReadText(rest);
      found.insert(name);
      const uint32_t kind = ReadNumber(rest);
      // Of an import, a memory without a maximum has one more number than a function.
      if (names == 2 && kind == 2) ReadNumber(rest);
      ReadNumber(rest);
    }
  }
  return found;
}

TEST(LinkerTest, MakesModulesForWebAssembly) {
  constexpr uint8_t kImports = 2, kExports = 7;
  const DeviceTarget target = TargetOf("wasm-32-wasi-simd128");
  const std::vector<LinkedKernel> kernels = {{"slipway_TopK", nullptr, 5},
                                             {"slipway_LSTMSteps", nullptr, 5},
                                             {"slipway_TopK", nullptr, 4}};
  ASSERT_OK_AND_ASSIGN(const std::string module, LinkProgram(target, kernels, {}));
  EXPECT_EQ(module.substr(0, 4), std::string("\0asm", 4));
  EXPECT_EQ(NamesIn(module, kImports, 2),
            (std::set<std::string>{"env.memory", "slipway.parallel_for", "slipway.allocate",
                                   "slipway.release", "slipway.error"}));
  EXPECT_EQ(NamesIn(module, kExports, 1),
            (std::set<std::string>{"slipway_program_query", "__indirect_function_table",
                                   "__heap_base", "__stack_pointer"}));
  ASSERT_OK_AND_ASSIGN(const std::string again, LinkProgram(target, kernels, {}));
  EXPECT_EQ(module, again);
  ASSERT_OK_AND_ASSIGN(const std::string scalar,
                       LinkProgram(TargetOf("wasm-32-wasi"), kernels, {}));
  EXPECT_NE(module, scalar);
  EXPECT_OK(LinkProgram(target, {}, {}).status());
}

TEST(LinkerTest, MakesModulesOfSharedMemoryForThreads) {
  const std::vector<LinkedKernel> kernels = {{"slipway_TopK", nullptr, 5}};
  // Of the import: a memory, with a maximum and shared.
  const std::string import("\3env\6memory\2\3", 13);
  ASSERT_OK_AND_ASSIGN(const std::string module,
                       LinkProgram(TargetOf("wasm-32-wasi-simd128-threads"), kernels, {}));
  EXPECT_THAT(module, HasSubstr(import));
  ASSERT_OK_AND_ASSIGN(const std::string one_thread,
                       LinkProgram(TargetOf("wasm-32-wasi-simd128"), kernels, {}));
  EXPECT_THAT(one_thread, Not(HasSubstr(import)));
}

TEST(LinkerTest, NamesWhatAModuleWouldLackOrCannotBe) {
  const DeviceTarget target = TargetOf("wasm-32-wasi-simd128");
  EXPECT_THAT(LinkProgram(target, {{"kernel_a", nullptr, 1}}, {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("undefined symbol: kernel_a")));
  EXPECT_THAT(LinkProgram(target, {}, {.wasm_lld = "/nowhere/wasm-ld"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/nowhere/wasm-ld")));
  EXPECT_THAT(LinkLibrary(target, {}, {"k", "i"}, {}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("wasm-32-wasi-simd128")));
}

TEST(LinkerTest, TakesKernelsForTheVectorsOfTheTarget) {
  const auto linked = [](const char* target) {
    const absl::StatusOr<std::string> elf =
        LinkProgram(TargetOf(target), {{"slipway_LSTMSteps", nullptr, 5}}, {});
    EXPECT_OK(elf.status()) << target;
    return elf.value_or("");
  };
  EXPECT_EQ(linked("x86-64-v2-linux"), linked("x86-64-linux"));
  EXPECT_EQ(std::set<std::string>({linked("arm-64-linux"), linked("arm-32-linux"),
                                   linked("arm-32-linux-neon"), linked("arm-32-linux-fma"),
                                   linked("riscv-64-linux"), linked("x86-64-linux"),
                                   linked("x86-64-v3-linux"), linked("x86-64-v4-linux")})
                .size(),
            8u);
}

// Global symbols of a relocatable object, by whether it defines them, and what kinds of writable sections it has.
struct ParsedObject {
  int type = 0, machine = 0;
  std::set<std::string> defined, undefined;
  std::set<std::string> writable;
  bool has_groups = false;
};

template <typename Elf>
ParsedObject ParseObjectAs(const std::string& elf) {
  ParsedObject parsed;
  typename Elf::Header header;
  std::memcpy(&header, elf.data(), sizeof(header));
  parsed.type = header.e_type;
  parsed.machine = header.e_machine;
  std::vector<typename Elf::SectionHeader> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff,
              sections.size() * sizeof(typename Elf::SectionHeader));
  const typename Elf::SectionHeader& names = sections[header.e_shstrndx];
  for (const typename Elf::SectionHeader& section : sections) {
    parsed.has_groups |= section.sh_type == SHT_GROUP || (section.sh_flags & SHF_GROUP) != 0;
    if ((section.sh_flags & SHF_WRITE) != 0 && section.sh_size > 0) {
      parsed.writable.insert(elf.c_str() + names.sh_offset + section.sh_name);
    }
    if (section.sh_type != SHT_SYMTAB) continue;
    const typename Elf::SectionHeader& strings = sections[section.sh_link];
    for (uint64_t i = 1; i < section.sh_size / sizeof(typename Elf::Symbol); ++i) {
      typename Elf::Symbol symbol;
      std::memcpy(&symbol, elf.data() + section.sh_offset + i * sizeof(symbol), sizeof(symbol));
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      EXPECT_EQ(symbol.st_other, STV_HIDDEN);
      (symbol.st_shndx == SHN_UNDEF ? parsed.undefined : parsed.defined)
          .insert(elf.c_str() + strings.sh_offset + symbol.st_name);
    }
  }
  return parsed;
}

ParsedObject ParseObject(const std::string& elf) {
  return IsOf32Bits(elf) ? ParseObjectAs<Elf32>(elf) : ParseObjectAs<Elf64>(elf);
}

TEST(LinkerTest, MakesLibrariesThatShareNoSymbolAndHaveNoVariables) {
  for (const auto& [name, machine] :
       std::vector<std::pair<const char*, int>>{{"x86-64-linux", EM_X86_64},
                                                {"arm-64-linux", EM_AARCH64},
                                                {"arm-32-linux-neon", EM_ARM},
                                                {"riscv-64-linux", EM_RISCV}}) {
    const DeviceTarget target = TargetOf(name);
    const std::string a = Renamed(target.arch, "kernel_a");
    // One of the archives, with templates that others have, too.
    const std::vector<LinkedKernel> kernels = {{"kernel_a", &a, 3},
                                               {"slipway_LSTMSteps", nullptr, 5}};
    ASSERT_OK_AND_ASSIGN(const std::string elf,
                         LinkLibrary(target, kernels, {"net_kernels", "net_imports"}, {}));
    const ParsedObject parsed = ParseObject(elf);
    EXPECT_EQ(parsed.type, ET_REL);
    EXPECT_EQ(parsed.machine, machine);
    EXPECT_EQ(parsed.defined, std::set<std::string>{"net_kernels"});
    EXPECT_EQ(parsed.undefined, std::set<std::string>{"net_imports"});
    EXPECT_FALSE(parsed.has_groups);
    for (const std::string& section : parsed.writable)
      EXPECT_THAT(section, HasSubstr(".data.rel.ro"));
    ASSERT_OK_AND_ASSIGN(const std::string again,
                         LinkLibrary(target, kernels, {"net_kernels", "net_imports"}, {}));
    EXPECT_EQ(elf, again);
  }
}

TEST(LinkerTest, NamesWhatIsUndefinedInALibrary) {
  const std::string object = Renamed(Arch::kX86_64, "kernel_a");
  EXPECT_THAT(LinkLibrary(TargetOf("x86-64-linux"), {{"kernel_b", &object, 1}}, {"k", "i"}, {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("kernel_b")));
  EXPECT_THAT(
      LinkLibrary(TargetOf("x86-64-linux"), {}, {"k", "i"}, {.objcopy = "/nowhere/objcopy"}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("llvm-14")));
}

TEST(LinkerTest, AProgramMayHaveNoKernels) {
  EXPECT_OK(LinkProgram(TargetOf("x86-64-linux"), {}, {}).status());
}

TEST(LinkerTest, NamesWhatIsUndefined) {
  const std::string object = Renamed(Arch::kX86_64, "kernel_a");
  EXPECT_THAT(LinkProgram(TargetOf("x86-64-linux"), {{"kernel_b", &object, 1}}, {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("kernel_b")));
}

TEST(LinkerTest, SaysThatThereIsNoLinker) {
  EXPECT_THAT(LinkProgram(TargetOf("x86-64-linux"), {}, {.lld = "/nowhere/ld.lld"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/nowhere/ld.lld")));
}

TEST(LinkerTest, ALinkerThatWasKilledMayBeTriedAgain) {
  testing::TempTree tree;
  const std::string lld = tree.Write("lld", "#!/bin/sh\nkill -9 $$\n");
  ASSERT_EQ(chmod(lld.c_str(), 0755), 0);
  EXPECT_THAT(LinkProgram(TargetOf("x86-64-linux"), {}, {.lld = lld}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("killed by signal 9")));
}

TEST(LinkerTest, RefusesWhatIsNoObject) {
  const std::string object = "not an object";
  EXPECT_THAT(LinkProgram(TargetOf("x86-64-linux"), {{"kernel", &object, 1}}, {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("linker failed")));
}

TEST(LinkerTest, RefusesOtherArchitectures) {
  EXPECT_THAT(LinkProgram(ParseTarget("x86-64-linux,cuda-sm90")->devices[1], {}, {}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("cuda-sm90")));
}

}  // namespace
}  // namespace slipway
