#include "core/codegen/table_object.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <map>

#include "core/codegen/wasm_table_object.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

// The layout of both structures on the 64-bit targets the object is written for.
constexpr size_t kRowBytes = 16;    // slipway_kernel_entry
constexpr size_t kTableBytes = 16;  // slipway_kernel_table
constexpr size_t kTableRows = 8;    // Offset of slipway_kernel_table::kernels.
constexpr size_t kRowCount = 8;     // Offset of slipway_kernel_entry::argument_count.
static_assert(sizeof(void*) != 8 || (sizeof(slipway_kernel_entry) == kRowBytes &&
                                     offsetof(slipway_kernel_entry, argument_count) == kRowCount));
static_assert(sizeof(void*) != 8 || (sizeof(slipway_kernel_table) == kTableBytes &&
                                     offsetof(slipway_kernel_table, kernels) == kTableRows));

enum Section : uint16_t { kNull, kData, kRela, kSymbols, kStrings, kNames, kNote, kSectionCount };

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A string table: every string once, and where it begins.
class Strings {
 public:
  uint32_t Add(const std::string& text) {
    const auto [entry, added] = offsets_.emplace(text, static_cast<uint32_t>(bytes_.size()));
    if (added) bytes_.append(text.c_str(), text.size() + 1);
    return entry->second;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
  std::map<std::string, uint32_t> offsets_;
};

Elf64_Sym Symbol(uint32_t name, uint8_t binding, uint8_t type, uint8_t visibility, uint16_t section,
                 uint64_t value, uint64_t size) {
  Elf64_Sym symbol = {};
  symbol.st_name = name;
  symbol.st_info = ELF64_ST_INFO(binding, type);
  symbol.st_other = visibility;
  symbol.st_shndx = section;
  symbol.st_value = value;
  symbol.st_size = size;
  return symbol;
}

Elf64_Shdr Header(uint32_t name, uint32_t type, uint64_t flags, const std::string& contents,
                  uint64_t alignment) {
  Elf64_Shdr header = {};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_size = contents.size();
  header.sh_addralign = alignment;
  return header;
}

}  // namespace

absl::StatusOr<std::string> MakeTableObject(Arch arch, const std::vector<TableRow>& rows) {
  if (arch == Arch::kWasm32) return MakeWasmTableObject(rows);
  uint16_t machine = 0;
  uint32_t relocation = 0;
  uint32_t flags = 0;
  if (arch == Arch::kX86_64) {
    machine = EM_X86_64;
    relocation = R_X86_64_64;
  } else if (arch == Arch::kArm64) {
    machine = EM_AARCH64;
    relocation = R_AARCH64_ABS64;
  } else if (arch == Arch::kRiscv64) {
    machine = EM_RISCV;
    relocation = R_RISCV_64;
    flags = EF_RISCV_FLOAT_ABI_DOUBLE;  // As kernels have it, or they cannot be linked.
  } else {
    return absl::UnimplementedError(
        "programs can only be linked for x86-64, arm-64, riscv-64 and wasm-32");
  }

  // The data section: the table, then its rows.
  std::string data;
  Append(data, uint32_t{SLIPWAY_ABI_VERSION});
  Append(data, static_cast<uint32_t>(rows.size()));
  Append(data, uint64_t{0});  // Relocated: the rows.
  for (const TableRow& row : rows) {
    Append(data, uint64_t{0});  // Relocated: the kernel.
    Append(data, static_cast<int32_t>(row.argument_count));
    Append(data, int32_t{0});
  }

  // Symbols: none, the data section, the table, then the kernels, each once.
  Strings strings;
  std::string symbols;
  Append(symbols, Elf64_Sym{});
  Append(symbols, Symbol(0, STB_LOCAL, STT_SECTION, STV_DEFAULT, kData, 0, 0));
  constexpr uint32_t kSectionSymbol = 1;
  constexpr uint32_t kFirstGlobal = 2;
  Append(symbols, Symbol(strings.Add("slipway_program_kernels"), STB_GLOBAL, STT_OBJECT, STV_HIDDEN,
                         kData, 0, kTableBytes));
  uint32_t next_symbol = kFirstGlobal + 1;
  std::map<std::string, uint32_t> symbol_of;
  std::string relocations;
  Append(relocations, Elf64_Rela{kTableRows, ELF64_R_INFO(kSectionSymbol, relocation),
                                 static_cast<Elf64_Sxword>(kTableBytes)});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [entry, added] = symbol_of.emplace(rows[i].symbol, next_symbol);
    if (added) {
      Append(symbols, Symbol(strings.Add(rows[i].symbol), STB_GLOBAL, STT_NOTYPE, STV_DEFAULT,
                             SHN_UNDEF, 0, 0));
      ++next_symbol;
    }
    Append(relocations, Elf64_Rela{kTableBytes + i * kRowBytes,
                                   ELF64_R_INFO(uint64_t{entry->second}, relocation), 0});
  }

  Strings names;
  Elf64_Shdr headers[kSectionCount] = {};
  headers[kData] = Header(names.Add(".data.rel.ro"), SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data, 16);
  headers[kRela] = Header(names.Add(".rela.data.rel.ro"), SHT_RELA, SHF_INFO_LINK, relocations, 8);
  headers[kRela].sh_link = kSymbols;
  headers[kRela].sh_info = kData;
  headers[kRela].sh_entsize = sizeof(Elf64_Rela);
  headers[kSymbols] = Header(names.Add(".symtab"), SHT_SYMTAB, 0, symbols, 8);
  headers[kSymbols].sh_link = kStrings;
  headers[kSymbols].sh_info = kFirstGlobal;
  headers[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  headers[kStrings] = Header(names.Add(".strtab"), SHT_STRTAB, 0, strings.bytes(), 1);
  // Says that the code needs no executable stack.
  headers[kNote] = Header(names.Add(".note.GNU-stack"), SHT_PROGBITS, 0, "", 1);
  const uint32_t names_name = names.Add(".shstrtab");
  headers[kNames] = Header(names_name, SHT_STRTAB, 0, names.bytes(), 1);

  std::string object(sizeof(Elf64_Ehdr), '\0');
  const std::string* contents[kSectionCount] = {
      nullptr, &data, &relocations, &symbols, &strings.bytes(), &names.bytes(), nullptr};
  for (int i = 1; i < kSectionCount; ++i) {
    while (object.size() % 16 != 0) object.push_back('\0');
    headers[i].sh_offset = object.size();
    if (contents[i] != nullptr) object.append(*contents[i]);
  }
  while (object.size() % 16 != 0) object.push_back('\0');

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = ELFOSABI_NONE;
  header.e_type = ET_REL;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_flags = flags;
  header.e_shoff = object.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kNames;
  std::memcpy(object.data(), &header, sizeof(header));
  for (const Elf64_Shdr& section : headers) Append(object, section);
  return object;
}

}  // namespace slipway
