#include "core/codegen/wasm_table_object.h"

#include <cstdint>
#include <map>

#include "absl/strings/string_view.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {
namespace {

// The layout of both structures where pointers have 32 bits.
constexpr uint32_t kTableBytes = 12;  // slipway_kernel_table
constexpr uint32_t kTableRows = 8;    // Offset of its `kernels`, behind which the rows follow.
constexpr uint32_t kRowBytes = 12;    // slipway_kernel_entry, whose first member is the function.

// Numbers of the binary format and of its conventions for linking.
constexpr uint8_t kCustomSection = 0, kTypeSection = 1, kImportSection = 2, kElementSection = 9,
                  kDataSection = 11;
constexpr uint8_t kFunctionType = 0x60, kI32 = 0x7f, kFuncref = 0x70;
constexpr uint8_t kImportFunction = 0, kImportTable = 1, kImportMemory = 2;
constexpr uint8_t kI32Const = 0x41, kEnd = 0x0b;
constexpr uint8_t kLinkingVersion = 2, kSegmentInfo = 5, kSymbolTable = 8;
constexpr uint8_t kFunctionSymbol = 0, kDataSymbol = 1;
constexpr uint32_t kHidden = 0x4, kUndefined = 0x10;
constexpr uint8_t kTableIndexI32 = 2, kMemoryAddressI32 = 5;

// LEB128 of numbers that are not negative, in the form for unsigned ones and in that for signed ones.
std::string Unsigned(uint32_t value) {
  std::string bytes;
  do {
    const uint8_t low = value & 0x7f;
    value >>= 7;
    bytes.push_back(static_cast<char>(value == 0 ? low : low | 0x80));
  } while (value != 0);
  return bytes;
}
std::string Signed(uint32_t value) {
  std::string bytes;
  while (value >= 0x40) {
    bytes.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Byte(uint8_t byte) { return std::string(1, static_cast<char>(byte)); }
std::string Word(uint32_t value) {
  return Byte(static_cast<uint8_t>(value)) + Byte(static_cast<uint8_t>(value >> 8)) +
         Byte(static_cast<uint8_t>(value >> 16)) + Byte(static_cast<uint8_t>(value >> 24));
}
std::string Sized(absl::string_view bytes) {
  return Unsigned(static_cast<uint32_t>(bytes.size())) + std::string(bytes);
}
std::string Section(uint8_t id, const std::string& contents) { return Byte(id) + Sized(contents); }
std::string ConstantOffset(uint32_t offset) {
  return Byte(kI32Const) + Signed(offset) + Byte(kEnd);
}

// Kernels, each once, in the order of their first rows.
struct Functions {
  explicit Functions(const std::vector<TableRow>& rows) {
    for (const TableRow& row : rows) {
      const auto [entry, added] = numbers.emplace(row.symbol, static_cast<uint32_t>(names.size()));
      if (added) names.push_back(row.symbol);
    }
  }
  uint32_t count() const { return static_cast<uint32_t>(names.size()); }

  std::vector<std::string> names;
  std::map<std::string, uint32_t> numbers;
};

std::string Imports(const Functions& functions) {
  std::string imports = Unsigned(functions.count() + 2);
  imports +=
      Sized("env") + Sized("__linear_memory") + Byte(kImportMemory) + Unsigned(0) + Unsigned(1);
  for (const std::string& name : functions.names) {
    imports += Sized("env") + Sized(name) + Byte(kImportFunction) + Unsigned(0);
  }
  imports += Sized("env") + Sized("__indirect_function_table") + Byte(kImportTable) +
             Byte(kFuncref) + Unsigned(0) + Unsigned(functions.count());
  return imports;
}

// Of the table of functions, which indices of kernels are relocated to.
std::string Elements(const Functions& functions) {
  std::string elements =
      Unsigned(1) + Unsigned(0) + ConstantOffset(1) + Unsigned(functions.count());
  for (uint32_t i = 0; i < functions.count(); ++i) elements += Unsigned(i);
  return elements;
}

std::string Table(const std::vector<TableRow>& rows) {
  std::string table = Word(SLIPWAY_ABI_VERSION) + Word(static_cast<uint32_t>(rows.size())) +
                      Word(kTableBytes);  // Relocated: the rows.
  for (const TableRow& row : rows) {
    // Relocated: the kernel.
    table += Word(0) + Word(static_cast<uint32_t>(row.argument_count)) + Word(0);
  }
  return table;
}

// Symbol 0 is the table, the others are the functions.
std::string Linking(const Functions& functions, uint32_t table_bytes) {
  std::string symbols = Unsigned(functions.count() + 1);
  symbols += Byte(kDataSymbol) + Unsigned(kHidden) + Sized("slipway_program_kernels") +
             Unsigned(0) + Unsigned(0) + Unsigned(table_bytes);
  for (uint32_t i = 0; i < functions.count(); ++i) {
    symbols += Byte(kFunctionSymbol) + Unsigned(kUndefined) + Unsigned(i);
  }
  const std::string segments = Unsigned(1) + Sized(".rodata.slipway_program_kernels") +
                               Unsigned(2) /* log of the alignment */ + Unsigned(0);
  return Sized("linking") + Unsigned(kLinkingVersion) + Byte(kSymbolTable) + Sized(symbols) +
         Byte(kSegmentInfo) + Sized(segments);
}

// `section` is the number of that of the data, where the table begins at `begin`.
std::string Relocations(const std::vector<TableRow>& rows, const Functions& functions,
                        uint32_t section, uint32_t begin) {
  std::string relocations =
      Sized("reloc.DATA") + Unsigned(section) + Unsigned(static_cast<uint32_t>(rows.size()) + 1);
  relocations +=
      Byte(kMemoryAddressI32) + Unsigned(begin + kTableRows) + Unsigned(0) + Signed(kTableBytes);
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t offset = begin + kTableBytes + static_cast<uint32_t>(i) * kRowBytes;
    relocations += Byte(kTableIndexI32) + Unsigned(offset) +
                   Unsigned(1 + functions.numbers.at(rows[i].symbol));
  }
  return relocations;
}

}  // namespace

std::string MakeWasmTableObject(const std::vector<TableRow>& rows) {
  const Functions functions(rows);
  const std::string table = Table(rows);
  const std::string before =
      Unsigned(1) + Unsigned(0) + ConstantOffset(0) + Unsigned(static_cast<uint32_t>(table.size()));
  constexpr uint32_t kDataSectionNumber = 3;
  std::string object(absl::string_view("\0asm\1\0\0\0", 8));
  object += Section(kTypeSection, Unsigned(1) + Byte(kFunctionType) + Unsigned(1) + Byte(kI32) +
                                      Unsigned(1) + Byte(kI32));
  object += Section(kImportSection, Imports(functions));
  object += Section(kElementSection, Elements(functions));
  object += Section(kDataSection, before + table);
  object += Section(kCustomSection, Linking(functions, static_cast<uint32_t>(table.size())));
  object += Section(kCustomSection, Relocations(rows, functions, kDataSectionNumber,
                                                static_cast<uint32_t>(before.size())));
  return object;
}

}  // namespace slipway
