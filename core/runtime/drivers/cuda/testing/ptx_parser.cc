// ParsePtx of ptx_machine.h.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "core/runtime/drivers/cuda/testing/ptx_machine.h"

namespace slipway::fake_cuda {
namespace {

[[noreturn]] void Unknown(const std::string& what) { throw std::runtime_error(what); }

std::string Strip(const std::string& text) {
  const char* const kBlanks = " \t\n\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// At each `sign` that is within no brackets.
std::vector<std::string> Split(const std::string& text, char sign) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == sign && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Strip(part);
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

std::string WithoutComments(std::string text) {
  for (size_t at = text.find("//"); at != std::string::npos; at = text.find("//", at)) {
    text.erase(at, std::min(text.find('\n', at), text.size()) - at);
  }
  return text;
}

bool ParseType(const std::string& word, PtxType& type) {
  if (word == "pred") {
    type = {'p', 8};
    return true;
  }
  if (word.size() < 2 || std::string("busf").find(word[0]) == std::string::npos) return false;
  const std::string bits = word.substr(1);
  if (bits != "8" && bits != "16" && bits != "32" && bits != "64") return false;
  type = {word[0], std::stoi(bits)};
  return true;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && (isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-');
}

// "12", "-3", "0x1f", "0f3F800000", "0d3FF0000000000000".
uint64_t ParseNumber(const std::string& text) {
  if (text.rfind("0f", 0) == 0 || text.rfind("0d", 0) == 0) {
    return std::stoull(text.substr(2), nullptr, 16);
  }
  if (text[0] == '-') return static_cast<uint64_t>(std::stoll(text, nullptr, 0));
  return std::stoull(text, nullptr, 0);
}

class Parser {
 public:
  explicit Parser(std::string text) : text_(WithoutComments(std::move(text))) {}

  PtxProgram Parse() {
    while (true) {
      SkipBlanks();
      if (at_ >= text_.size()) return std::move(program_);
      if (text_.compare(at_, 8, ".version") == 0 || text_.compare(at_, 7, ".target") == 0 ||
          text_.compare(at_, 13, ".address_size") == 0) {
        TakeUntil('\n');
      } else if (text_.compare(at_, 7, ".extern") == 0) {
        ParseDynamicMemory(TakeUntil(';'));
      } else if (text_.compare(at_, 7, ".global") == 0) {
        ParseTable(TakeUntil(';'));
      } else {
        ParseFunction();
      }
    }
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string TakeUntil(char end) {
    const size_t begin = at_;
    const size_t found = text_.find(end, at_);
    if (found == std::string::npos) Unknown("a text that does not end");
    at_ = found + 1;
    return text_.substr(begin, found - begin);
  }

  // ".global .align 16 .b32 name[4] = {0x1,0x2,0x3,0x4}".
  void ParseTable(const std::string& text) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos) Unknown("'" + text + "'");
    std::istringstream head(text.substr(0, text.find('[')));
    std::string word, name;
    PtxType type;
    while (head >> word) {
      if (word[0] == '.') ParseType(word.substr(1), type);
      name = word;
    }
    while (program_.tables.size() % 16 != 0) program_.tables.push_back(0);
    symbols_[name] = kPtxTables + program_.tables.size();
    const std::string list = Strip(text.substr(sign + 1));
    for (const std::string& element : Split(list.substr(1, list.size() - 2), ',')) {
      const uint64_t bits = ParseNumber(element);
      const auto* const bytes = reinterpret_cast<const uint8_t*>(&bits);
      program_.tables.insert(program_.tables.end(), bytes, bytes + type.bits / 8);
    }
  }

  // ".extern .shared .align 1024 .b8 name[]": all such are one memory.
  void ParseDynamicMemory(const std::string& text) {
    std::istringstream words(text);
    std::string is_extern, space, align, type, name;
    size_t alignment = 0;
    words >> is_extern >> space >> align >> alignment >> type >> name;
    if (space != ".shared" || align != ".align" || type != ".b8" || name.size() < 3 ||
        name.substr(name.size() - 2) != "[]" || alignment == 0 ||
        (has_dynamic_ && alignment != program_.dynamic_alignment)) {
      Unknown("'" + text + "'");
    }
    has_dynamic_ = true;
    program_.dynamic_alignment = alignment;
    symbols_[name.substr(0, name.size() - 2)] = kPtxShared + alignment;
  }

  // ".visible .entry name ( parameters ) { body }".
  void ParseFunction() {
    const std::string head = TakeUntil('(');
    std::istringstream words(head);
    std::string word, name;
    bool is_entry = false;
    while (words >> word) {
      is_entry |= word == ".entry";
      name = word;
    }
    if (!is_entry) Unknown("'" + Strip(head) + "'");
    PtxFunction& function = program_.functions[name];
    function_ = &function;
    labels_.clear();
    branches_.clear();
    for (const std::string& parameter : Split(TakeUntil(')'), ',')) {
      symbols_[parameter.substr(parameter.find_last_of(" \t") + 1)] =
          kPtxParameters + 8 * function.is_pointer.size();
      function.is_pointer.push_back(parameter.find(".ptr") != std::string::npos);
    }
    TakeUntil('{');
    int depth = 1;
    std::string statement;
    for (; depth > 0; ++at_) {
      if (at_ >= text_.size()) Unknown("a body that does not end");
      const char c = text_[at_];
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (c == ';') {
        ParseStatement(Strip(statement));
        statement.clear();
      } else if (c == ':' && text_[at_ + 1] != ':' && text_[at_ - 1] != ':' &&
                 Strip(statement).find_first_of(" \t,") == std::string::npos) {
        labels_[Strip(statement)] = function.code.size();
        statement.clear();
      } else if (depth > 0) {
        statement += c;
      }
    }
    if (!Strip(statement).empty()) Unknown("'" + Strip(statement) + "'");
    for (const auto& [index, label] : branches_) {
      if (labels_.count(label) == 0) Unknown("the label '" + label + "'");
      function.code[index].target = labels_[label];
    }
  }

  void ParseStatement(std::string text) {
    while (!text.empty() && (text[0] == '{' || text[0] == '}')) text = Strip(text.substr(1));
    if (text.empty()) return;
    if (text.compare(0, 7, ".pragma") == 0) return;
    if (text.compare(0, 4, ".reg") == 0) {
      // ".reg .b32 %r<9>", or ".reg .b16 tmp".
      if (text.find('<') == std::string::npos) Register(text.substr(text.find_last_of(" \t") + 1));
      return;
    }
    if (text.compare(0, 6, ".local") == 0) {
      return ParseMemory(text, kPtxLocal, function_->local_bytes);
    }
    if (text.compare(0, 7, ".shared") == 0) {
      return ParseMemory(text, kPtxShared, function_->shared_bytes);
    }
    PtxInstruction instruction;
    instruction.text = text;
    std::string rest = text;
    if (rest[0] == '@') {
      const size_t end = rest.find_first_of(" \t");
      instruction.guard_is = rest[1] != '!';
      instruction.guard = Register(rest.substr(instruction.guard_is ? 1 : 2, end - 1));
      rest = Strip(rest.substr(end));
    }
    const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    instruction.words = Split(rest.substr(0, end), '.');
    for (const std::string& word : instruction.words) {
      PtxType type;
      if (ParseType(word, type)) instruction.types.push_back(type);
    }
    rest = Strip(rest.substr(end));
    if (instruction.words[0] == "bra") {
      branches_.emplace_back(function_->code.size(), rest);
    } else {
      for (const std::string& operand : Split(rest, ',')) {
        instruction.operands.push_back(Operand(operand));
      }
    }
    function_->code.push_back(std::move(instruction));
  }

  // ".local .align 16 .b8 name[32]".
  void ParseMemory(const std::string& text, uint64_t base, size_t& bytes) {
    const size_t open = text.find('[');
    const std::string head = text.substr(0, open);
    if (open == std::string::npos || head.find(".b8") == std::string::npos) {
      Unknown("'" + text + "'");
    }
    bytes = (bytes + 15) / 16 * 16;
    symbols_[head.substr(head.find_last_of(" \t") + 1)] = base + bytes;
    bytes += std::stoull(text.substr(open + 1));
  }

  int Register(std::string name) {
    name = Strip(name);
    return function_->registers.emplace(name, static_cast<int>(function_->registers.size()))
        .first->second;
  }

  PtxOperand Operand(const std::string& text) {
    PtxOperand operand;
    if (text[0] == '{') {
      operand.kind = PtxOperand::Kind::kMany;
      for (const std::string& part : Split(text.substr(1, text.size() - 2), ',')) {
        operand.parts.push_back(Operand(part));
      }
    } else if (text[0] == '[') {
      const std::string inside = text.substr(1, text.size() - 2);
      const size_t sign = inside.find('+');
      operand = Operand(Strip(inside.substr(0, sign)));
      if (sign != std::string::npos) operand.number += ParseNumber(Strip(inside.substr(sign + 1)));
    } else if (text[0] == '!') {
      operand = Operand(text.substr(1));
      operand.is_not = true;
    } else if (text[0] == '%') {
      operand.kind = PtxOperand::Kind::kInstance;
      constexpr const char* kInstance[] = {"%tid", "%ctaid", "%ntid", "%nctaid"};
      for (int i = 0; i < 4; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
          if (text != std::string(kInstance[i]) + "." + "xyz"[axis]) continue;
          operand.index = 3 * i + axis;
          return operand;
        }
      }
      operand.kind = PtxOperand::Kind::kRegister;
      operand.index = Register(text);
    } else if (IsNumber(text)) {
      operand.number = ParseNumber(text);
    } else if (function_->registers.count(text) > 0) {
      operand.kind = PtxOperand::Kind::kRegister;
      operand.index = Register(text);
    } else if (symbols_.count(text) > 0) {
      operand.number = symbols_[text];
    } else {
      Unknown("'" + text + "'");
    }
    return operand;
  }

  const std::string text_;
  size_t at_ = 0;
  PtxProgram program_;
  PtxFunction* function_ = nullptr;
  std::map<std::string, uint64_t> symbols_;  // Addresses by name.
  bool has_dynamic_ = false;
  std::map<std::string, size_t> labels_;
  std::vector<std::pair<size_t, std::string>> branches_;
};

}  // namespace

std::shared_ptr<const PtxProgram> ParsePtx(const std::string& text, std::string& error) {
  try {
    return std::make_shared<const PtxProgram>(Parser(text).Parse());
  } catch (const std::exception& unknown) {
    error = std::string("unknown is ") + unknown.what();
    return nullptr;
  }
}

}  // namespace slipway::fake_cuda
