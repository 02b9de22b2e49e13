#include "tests/codegen/inner_loops.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/common/command.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

struct Instruction {
  uint64_t address = 0;
  std::string name;
  std::string operands;
};

// Of a line "      a0:       fmla    v22.4s, v25.4s, v23.s[0]".
std::optional<Instruction> ParseLine(absl::string_view line) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  Instruction instruction;
  const absl::string_view address = absl::StripAsciiWhitespace(parts.first);
  if (address.empty() || !absl::SimpleHexAtoi(address, &instruction.address)) return std::nullopt;
  const std::vector<absl::string_view> words = absl::StrSplit(
      absl::StripAsciiWhitespace(parts.second), absl::MaxSplits(absl::ByAnyChar("\t "), 1));
  if (words[0].empty()) return std::nullopt;
  instruction.name = std::string(words[0]);
  if (words.size() == 2) instruction.operands = std::string(absl::StripAsciiWhitespace(words[1]));
  return instruction;
}

// Where a branch leads; its operands are "0x84 <k+0x84>", "x1, 0x84 <k+0x84>" or "0x84".
std::optional<uint64_t> Destination(const Instruction& instruction) {
  static constexpr absl::string_view kBranches[] = {"b", "cbz", "cbnz", "tbz", "tbnz"};
  // Of x86-64 all that begins with a j is one.
  bool is_branch =
      absl::StartsWith(instruction.name, "b.") || absl::StartsWith(instruction.name, "j");
  for (const absl::string_view name : kBranches) is_branch |= instruction.name == name;
  const size_t at = instruction.operands.find("0x");
  if (!is_branch || at == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::string_view(instruction.operands).substr(at), ' ');
  uint64_t address = 0;
  if (!absl::SimpleHexAtoi(words[0], &address)) return std::nullopt;
  return address;
}

bool NamesVector(const Instruction& instruction) {
  if (absl::StrContains(instruction.operands, "mm")) return true;  // %xmm, %ymm, %zmm
  for (absl::string_view word :
       absl::StrSplit(instruction.operands, absl::ByAnyChar(" ,{}[]"), absl::SkipEmpty())) {
    word = word.substr(0, word.find('.'));
    int number = 0;
    if (word.size() > 1 && absl::StrContains("vqdsh", word[0]) &&
        absl::SimpleAtoi(word.substr(1), &number)) {
      return true;
    }
  }
  return false;
}

bool MultipliesAndAdds(absl::string_view name) {
  static constexpr absl::string_view kStarts[] = {"fmla",    "fmls",      "vfmadd",
                                                  "vfnmadd", "vdpbf16ps", "vpdp"};
  return absl::c_any_of(kStarts,
                        [name](absl::string_view start) { return absl::StartsWith(name, start); });
}

InnerLoop Count(const std::vector<Instruction>& code, size_t first, size_t last) {
  InnerLoop loop;
  for (size_t i = first; i <= last; ++i) {
    ++loop.all;
    if (!NamesVector(code[i])) continue;
    ++loop.vector;
    const bool multiplies_and_adds = MultipliesAndAdds(code[i].name);
    loop.multiply_adds += multiplies_and_adds;
    loop.by_element += multiplies_and_adds && absl::EndsWith(code[i].operands, "]");
    loop.stack_accesses +=
        absl::StrContains(code[i].operands, "[sp") || absl::StrContains(code[i].operands, "(%rsp");
  }
  return loop;
}

// Adds the inner loops of one section, whose instructions are at ascending addresses.
void AddInnerLoops(const std::vector<Instruction>& code, std::vector<InnerLoop>& inner) {
  std::map<uint64_t, size_t> index_of;
  for (size_t i = 0; i < code.size(); ++i) index_of[code[i].address] = i;
  std::vector<std::pair<size_t, size_t>> loops;  // First and last instruction.
  for (size_t i = 0; i < code.size(); ++i) {
    const std::optional<uint64_t> destination = Destination(code[i]);
    if (!destination.has_value() || *destination > code[i].address) continue;
    const auto first = index_of.find(*destination);
    if (first != index_of.end()) loops.emplace_back(first->second, i);
  }
  for (const auto& loop : loops) {
    bool is_inner = true;
    for (const auto& other : loops) {
      is_inner &= other == loop || other.first < loop.first || other.second > loop.second;
    }
    if (is_inner) inner.push_back(Count(code, loop.first, loop.second));
  }
}

}  // namespace

std::vector<InnerLoop> InnerLoopsOf(absl::string_view disassembly) {
  std::vector<InnerLoop> inner;
  std::vector<Instruction> code;
  for (const absl::string_view line : absl::StrSplit(disassembly, '\n')) {
    // Every section of an object has addresses of its own.
    if (absl::StartsWith(line, "Disassembly of section")) {
      AddInnerLoops(code, inner);
      code.clear();
    }
    std::optional<Instruction> instruction = ParseLine(line);
    if (instruction.has_value()) code.push_back(*std::move(instruction));
  }
  AddInnerLoops(code, inner);
  return inner;
}

absl::StatusOr<std::string> Disassemble(const std::string& object) {
  const testing::TempTree tree;
  const testing::CommandResult result =
      testing::RunCommand({.argv = {"/usr/bin/llvm-objdump-14", "--disassemble",
                                    "--no-show-raw-insn", tree.Write("kernel.o", object)}});
  if (!result.status.ok()) return absl::InternalError(result.ToString());
  return result.out;
}

}  // namespace slipway
