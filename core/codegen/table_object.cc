#include "core/codegen/table_object.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <map>

#include "core/codegen/wasm_table_object.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

// The layout of both structures, by the size of a pointer.
constexpr size_t RowBytes(size_t pointer) { return pointer + 8; }    // slipway_kernel_entry
constexpr size_t TableBytes(size_t pointer) { return 8 + pointer; }  // slipway_kernel_table
constexpr size_t kTableRows = 8;  // Offset of slipway_kernel_table::kernels.
static_assert(sizeof(slipway_kernel_entry) == RowBytes(sizeof(void*)) &&
              offsetof(slipway_kernel_entry, argument_count) == sizeof(void*));
static_assert(sizeof(slipway_kernel_table) == TableBytes(sizeof(void*)) &&
              offsetof(slipway_kernel_table, kernels) == kTableRows);

// Both classes of ELF have the same members, not always in the same order, of the numbers that fit.
struct Elf32 {
  using Header = Elf32_Ehdr;
  using SectionHeader = Elf32_Shdr;
  using Symbol = Elf32_Sym;
  using Pointer = uint32_t;
  using Relocation = Elf32_Rel;  // What is added lies in what is relocated.
  static constexpr uint8_t kClass = ELFCLASS32;
  static constexpr uint32_t kRelocations = SHT_REL;
  static Relocation Relocate(size_t offset, uint32_t symbol, uint32_t type, size_t) {
    return {static_cast<uint32_t>(offset), ELF32_R_INFO(symbol, type)};
  }
};

struct Elf64 {
  using Header = Elf64_Ehdr;
  using SectionHeader = Elf64_Shdr;
  using Symbol = Elf64_Sym;
  using Pointer = uint64_t;
  using Relocation = Elf64_Rela;
  static constexpr uint8_t kClass = ELFCLASS64;
  static constexpr uint32_t kRelocations = SHT_RELA;
  static Relocation Relocate(size_t offset, uint32_t symbol, uint32_t type, size_t addend) {
    return {offset, ELF64_R_INFO(uint64_t{symbol}, type), static_cast<int64_t>(addend)};
  }
};

struct Machine {
  Arch arch;
  bool is_64_bit;
  uint16_t machine;
  uint32_t relocation;  // Of a pointer.
  uint32_t flags;       // As kernels have them, or they cannot be linked.
};

constexpr Machine kMachines[] = {
    {Arch::kX86_64, true, EM_X86_64, R_X86_64_64, 0},
    {Arch::kArm64, true, EM_AARCH64, R_AARCH64_ABS64, 0},
    {Arch::kArm32, false, EM_ARM, R_ARM_ABS32, EF_ARM_EABI_VER5 | EF_ARM_ABI_FLOAT_HARD},
    {Arch::kRiscv64, true, EM_RISCV, R_RISCV_64, EF_RISCV_FLOAT_ABI_DOUBLE},
};

enum Section : uint16_t {
  kNull,
  kData,
  kRelocations,
  kSymbols,
  kStrings,
  kNames,
  kNote,
  kSectionCount
};

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

template <typename Elf>
typename Elf::Symbol Symbol(uint32_t name, uint8_t binding, uint8_t type, uint8_t visibility,
                            uint16_t section, size_t size) {
  typename Elf::Symbol symbol = {};
  symbol.st_name = name;
  symbol.st_info = ELF64_ST_INFO(binding, type);  // As ELF32_ST_INFO.
  symbol.st_other = visibility;
  symbol.st_shndx = section;
  symbol.st_size = static_cast<typename Elf::Pointer>(size);
  return symbol;
}

template <typename Elf>
typename Elf::SectionHeader Header(uint32_t name, uint32_t type, uint32_t flags,
                                   const std::string& contents, uint32_t alignment) {
  typename Elf::SectionHeader header = {};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_size = static_cast<typename Elf::Pointer>(contents.size());
  header.sh_addralign = alignment;
  return header;
}

template <typename Elf>
std::string TableObject(const Machine& machine, const std::vector<TableRow>& rows) {
  using Pointer = typename Elf::Pointer;
  constexpr size_t kTableBytes = TableBytes(sizeof(Pointer));
  constexpr size_t kRowBytes = RowBytes(sizeof(Pointer));

  // The data section: the table, then its rows.
  std::string data;
  Append(data, uint32_t{SLIPWAY_ABI_VERSION});
  Append(data, static_cast<uint32_t>(rows.size()));
  Append(data, Pointer{Elf::kRelocations == SHT_REL ? kTableBytes : 0});  // Relocated: the rows.
  for (const TableRow& row : rows) {
    Append(data, Pointer{0});  // Relocated: the kernel.
    Append(data, static_cast<int32_t>(row.argument_count));
    Append(data, int32_t{0});
  }

  // Symbols: none, the data section, the table, then the kernels, each once.
  Strings strings;
  std::string symbols;
  Append(symbols, typename Elf::Symbol{});
  Append(symbols, Symbol<Elf>(0, STB_LOCAL, STT_SECTION, STV_DEFAULT, kData, 0));
  constexpr uint32_t kSectionSymbol = 1;
  constexpr uint32_t kFirstGlobal = 2;
  Append(symbols, Symbol<Elf>(strings.Add("slipway_program_kernels"), STB_GLOBAL, STT_OBJECT,
                              STV_HIDDEN, kData, kTableBytes));
  uint32_t next_symbol = kFirstGlobal + 1;
  std::map<std::string, uint32_t> symbol_of;
  std::string relocations;
  Append(relocations, Elf::Relocate(kTableRows, kSectionSymbol, machine.relocation, kTableBytes));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [entry, added] = symbol_of.emplace(rows[i].symbol, next_symbol);
    if (added) {
      Append(symbols, Symbol<Elf>(strings.Add(rows[i].symbol), STB_GLOBAL, STT_NOTYPE, STV_DEFAULT,
                                  SHN_UNDEF, 0));
      ++next_symbol;
    }
    Append(relocations,
           Elf::Relocate(kTableBytes + i * kRowBytes, entry->second, machine.relocation, 0));
  }

  Strings names;
  typename Elf::SectionHeader headers[kSectionCount] = {};
  headers[kData] =
      Header<Elf>(names.Add(".data.rel.ro"), SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data, 16);
  headers[kRelocations] = Header<Elf>(
      names.Add(Elf::kRelocations == SHT_RELA ? ".rela.data.rel.ro" : ".rel.data.rel.ro"),
      Elf::kRelocations, SHF_INFO_LINK, relocations, sizeof(Pointer));
  headers[kRelocations].sh_link = kSymbols;
  headers[kRelocations].sh_info = kData;
  headers[kRelocations].sh_entsize = sizeof(typename Elf::Relocation);
  headers[kSymbols] = Header<Elf>(names.Add(".symtab"), SHT_SYMTAB, 0, symbols, sizeof(Pointer));
  headers[kSymbols].sh_link = kStrings;
  headers[kSymbols].sh_info = kFirstGlobal;
  headers[kSymbols].sh_entsize = sizeof(typename Elf::Symbol);
  headers[kStrings] = Header<Elf>(names.Add(".strtab"), SHT_STRTAB, 0, strings.bytes(), 1);
  // Says that the code needs no executable stack.
  headers[kNote] = Header<Elf>(names.Add(".note.GNU-stack"), SHT_PROGBITS, 0, "", 1);
  const uint32_t names_name = names.Add(".shstrtab");
  headers[kNames] = Header<Elf>(names_name, SHT_STRTAB, 0, names.bytes(), 1);

  std::string object(sizeof(typename Elf::Header), '\0');
  const std::string* contents[kSectionCount] = {
      nullptr, &data, &relocations, &symbols, &strings.bytes(), &names.bytes(), nullptr};
  for (int i = 1; i < kSectionCount; ++i) {
    while (object.size() % 16 != 0) object.push_back('\0');
    headers[i].sh_offset = static_cast<Pointer>(object.size());
    if (contents[i] != nullptr) object.append(*contents[i]);
  }
  while (object.size() % 16 != 0) object.push_back('\0');

  typename Elf::Header header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Elf::kClass;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = ELFOSABI_NONE;
  header.e_type = ET_REL;
  header.e_machine = machine.machine;
  header.e_version = EV_CURRENT;
  header.e_flags = machine.flags;
  header.e_shoff = static_cast<Pointer>(object.size());
  header.e_ehsize = sizeof(typename Elf::Header);
  header.e_shentsize = sizeof(typename Elf::SectionHeader);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kNames;
  std::memcpy(object.data(), &header, sizeof(header));
  for (const auto& section : headers) Append(object, section);
  return object;
}

}  // namespace

absl::StatusOr<std::string> MakeTableObject(Arch arch, const std::vector<TableRow>& rows) {
  if (arch == Arch::kWasm32) return MakeWasmTableObject(rows);
  for (const Machine& machine : kMachines) {
    if (machine.arch != arch) continue;
    return machine.is_64_bit ? TableObject<Elf64>(machine, rows)
                             : TableObject<Elf32>(machine, rows);
  }
  return absl::UnimplementedError(
      "programs can only be linked for x86-64, arm-64, arm-32, riscv-64 and wasm-32");
}

}  // namespace slipway
