#include "core/codegen/tensor_cores/ptx_writer.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"

namespace slipway {
namespace {

struct KindRow {
  const char* type;
  const char* prefix;
};
constexpr KindRow kKinds[] = {{".b32", "%r"}, {".f32", "%f"}, {".b64", "%rd"}, {".pred", "%p"}};

}  // namespace

std::string PtxWriter::Register(Kind kind) {
  const auto row = static_cast<size_t>(kind);
  return absl::StrCat(kKinds[row].prefix, counts_[row]++);
}

std::vector<std::string> PtxWriter::Registers(Kind kind, int count) {
  std::vector<std::string> registers;
  for (int i = 0; i < count; ++i) registers.push_back(Register(kind));
  return registers;
}

std::string PtxWriter::Make(Kind kind, absl::string_view instruction,
                            std::vector<std::string> operands) {
  std::string made = Register(kind);
  operands.insert(operands.begin(), made);
  Do(instruction, operands);
  return made;
}

std::string PtxWriter::Entry(absl::string_view name, size_t parameters, int instances) const {
  std::string text = absl::StrCat(before_, ".visible .entry ", name, "(");
  for (size_t i = 0; i < parameters; ++i) {
    // A tensor may begin at any element of another one.
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "\t.param .u64 .ptr .global .align 1 ", name,
                    "_param_", i);
  }
  absl::StrAppend(&text, "\n)\n.maxntid ", instances, ", 1, 1\n{\n");
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (counts_[i] == 0) continue;
    absl::StrAppend(&text, "\t.reg ", kKinds[i].type, " ", kKinds[i].prefix, "<", counts_[i],
                    ">;\n");
  }
  absl::StrAppend(&text, declarations_, body_, "\tret;\n}\n");
  return text;
}

std::string InBraces(const std::vector<std::string>& registers) {
  return absl::StrCat("{", absl::StrJoin(registers, ", "), "}");
}

std::string At(absl::string_view address, int64_t offset) {
  if (offset == 0) return absl::StrCat("[", address, "]");
  return absl::StrCat("[", address, "+", offset, "]");
}

std::string FloatLiteral(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return absl::StrFormat("0f%08X", bits);
}

}  // namespace slipway
