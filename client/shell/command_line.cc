#include "client/shell/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/pack/described_tensor.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

struct Word {
  std::string text;
  bool is_quoted = false;
};

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

// `at` is behind the opening quote; afterwards behind the closing one.
absl::StatusOr<std::string> TakeQuoted(absl::string_view line, size_t& at) {
  std::string text;
  for (; at < line.size(); ++at) {
    if (line[at] == '"') {
      ++at;
      return text;
    }
    if (line[at] == '\\' && ++at == line.size()) break;
    text.push_back(line[at]);
  }
  return Wrong("a quote is opened and not closed");
}

absl::StatusOr<std::vector<Word>> TakeWords(absl::string_view line) {
  std::vector<Word> words;
  for (size_t at = 0; at < line.size();) {
    if (absl::ascii_isspace(line[at])) {
      ++at;
      continue;
    }
    if (line[at] == '#') break;
    Word& word = words.emplace_back();
    if (line[at] == '"') {
      SLIPWAY_ASSIGN_OR_RETURN(word.text, TakeQuoted(line, ++at));
      word.is_quoted = true;
      if (at < line.size() && !absl::ascii_isspace(line[at]) && line[at] != ',') {
        return Wrong("a blank is missing after a quote");
      }
      continue;
    }
    // A comma stands by itself; inside of a word, as in "f32[2,3]", it does not part.
    const size_t begin = at;
    while (at < line.size() && !absl::ascii_isspace(line[at]) && line[at] != '"') ++at;
    if (at < line.size() && line[at] == '"' && line[at - 1] != ',') {
      return Wrong("a blank is missing before a quote");
    }
    word.text = std::string(line.substr(begin, at - begin));
  }
  return words;
}

// "a,", "b" or "a,b" or "a", ",", "b": the names before "=".
absl::StatusOr<std::vector<std::string>> TakeResults(const std::vector<Word>& words, size_t count) {
  std::vector<std::string> names;
  bool wants_name = true;
  for (size_t i = 0; i < count; ++i) {
    absl::string_view rest = words[i].text;
    if (words[i].is_quoted) {
      if (!wants_name) return Wrong("a \",\" is missing between the names before \"=\"");
      names.push_back(words[i].text);
      wants_name = false;
      continue;
    }
    while (!rest.empty()) {
      if (rest[0] == ',') {
        if (wants_name) return Wrong("a name is missing before \",\"");
        wants_name = true;
        rest.remove_prefix(1);
        continue;
      }
      if (!wants_name) return Wrong("a \",\" is missing between the names before \"=\"");
      const size_t end = std::min(rest.find(','), rest.size());
      names.push_back(std::string(rest.substr(0, end)));
      wants_name = false;
      rest.remove_prefix(end);
    }
  }
  if (wants_name) return Wrong("a name is missing before \"=\"");
  for (const std::string& name : names) {
    if (name.empty()) return Wrong("a name is empty");
    if (std::count(names.begin(), names.end(), name) > 1) {
      return Wrong(absl::StrCat("name \"", name, "\" is given twice"));
    }
  }
  return names;
}

bool IsKey(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return absl::ascii_islower(c) || c == '-'; });
}

}  // namespace

const std::string* CommandLine::Find(absl::string_view key) const {
  for (const auto& [name, value] : options) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<int64_t> CommandLine::Integer(absl::string_view key, int64_t otherwise, int64_t min,
                                             int64_t max) const {
  const std::string* const text = Find(key);
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  if (absl::SimpleAtoi(*text, &value) && value >= min && value <= max) return value;
  return Wrong(absl::StrCat("\"", key, "\" is \"", *text, "\"; ", min, " to ", max, " wanted"));
}

absl::StatusOr<double> CommandLine::Real(absl::string_view key, double otherwise) const {
  const std::string* const text = Find(key);
  if (text == nullptr) return otherwise;
  double value = 0;
  if (absl::SimpleAtod(*text, &value) && value >= 0) return value;
  return Wrong(
      absl::StrCat("\"", key, "\" is \"", *text, "\"; a number that is not negative wanted"));
}

absl::StatusOr<CommandLine> ParseCommandLine(absl::string_view line) {
  if (line.size() > kMaxCommandBytes) {
    return Wrong(absl::StrCat("the line has more than ", kMaxCommandBytes, " bytes"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Word> words, TakeWords(line));
  CommandLine parsed;
  const auto is_equals = [](const Word& word) { return !word.is_quoted && word.text == "="; };
  const auto equals = std::find_if(words.begin(), words.end(), is_equals);
  size_t next = 0;
  if (equals != words.end()) {
    next = static_cast<size_t>(equals - words.begin());
    SLIPWAY_ASSIGN_OR_RETURN(parsed.results, TakeResults(words, next));
    ++next;
    if (next == words.size()) return Wrong("a command is missing after \"=\"");
  }
  if (next == words.size()) return parsed;
  parsed.command = words[next].text;
  for (++next; next < words.size(); ++next) {
    Word& word = words[next];
    if (is_equals(word)) return Wrong("one \"=\" is too many");
    const size_t at = word.text.find('=');
    const bool is_option = !word.is_quoted && at != std::string::npos &&
                           IsKey(absl::string_view(word.text).substr(0, at));
    if (!is_option) {
      parsed.words.push_back(std::move(word.text));
      continue;
    }
    std::string key = word.text.substr(0, at);
    if (parsed.Find(key) != nullptr) return Wrong(absl::StrCat("\"", key, "\" is given twice"));
    parsed.options.emplace_back(std::move(key), word.text.substr(at + 1));
  }
  return parsed;
}

absl::StatusOr<TensorType> ParseTensorType(absl::string_view text) {
  SLIPWAY_ASSIGN_OR_RETURN(const DescribedTensor described,
                           ParseDescribedTensor(absl::StrCat("x=", text)));
  TensorType type{described.dtype, {}};
  for (const DescribedExtent& extent : described.extents) {
    if (!extent.symbol.empty()) {
      return Wrong(absl::StrCat("extent \"", extent.symbol, "\" of \"", text, "\" is no number"));
    }
    type.shape.push_back(extent.value);
  }
  return type;
}

absl::StatusOr<Range> ParseRange(absl::string_view text, int64_t extent) {
  const size_t colon = text.find(':');
  const auto take = [&](absl::string_view number, int64_t otherwise, int64_t& value) {
    value = otherwise;
    return number.empty() || absl::SimpleAtoi(number, &value);
  };
  int64_t begin = 0;
  int64_t end = 0;
  if (colon == absl::string_view::npos || !take(text.substr(0, colon), 0, begin) ||
      !take(text.substr(colon + 1), extent, end) || begin < 0 || end < begin || end > extent) {
    return Wrong(absl::StrCat("\"", text, "\" is no BEGIN:END inside of 0:", extent));
  }
  return Range{.begin = begin, .size = end - begin};
}

}  // namespace slipway::cli
