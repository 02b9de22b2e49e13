#include "core/runtime/drivers/cuda/ptx_entries.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Parameters that a kernel may have, of 4 KiB.
constexpr uint32_t kMaxParameters = 512;

bool IsOfWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

// Words (names, numbers and directives with their dots) and single signs, without comments.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : rest_(text) {}

  // Empty at the end.
  absl::string_view Next() {
    SkipBlanks();
    if (rest_.empty()) return rest_;
    size_t length = 1;
    if (rest_[0] == '"') {
      const size_t end = rest_.find('"', 1);
      length = end == absl::string_view::npos ? rest_.size() : end + 1;
    } else if (IsOfWord(rest_[0])) {
      while (length < rest_.size() && IsOfWord(rest_[length])) ++length;
    }
    const absl::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty()) {
      if (absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
        rest_.remove_prefix(1);
      } else if (absl::string_view end = CommentEnd(); !end.empty()) {
        const size_t at = rest_.find(end, 2);
        rest_.remove_prefix(at == absl::string_view::npos ? rest_.size() : at + end.size());
      } else {
        return;
      }
    }
  }
  absl::string_view CommentEnd() const {
    if (rest_.substr(0, 2) == "//") return "\n";
    return rest_.substr(0, 2) == "/*" ? "*/" : "";
  }

  absl::string_view rest_;
};

// One parameter's words, from its ".param" on.
absl::Status AddParameter(const std::string& name, const std::vector<absl::string_view>& words,
                          PtxEntry& entry) {
  const auto has = [&words](absl::string_view word) { return absl::c_linear_search(words, word); };
  const bool is_number = has(".u64") || has(".s64") || has(".b64");
  if (!has(".param") || !is_number || has("[")) {
    return absl::InvalidArgumentError(absl::StrCat("parameter ", entry.parameters, " of entry '",
                                                   absl::Utf8SafeCEscape(name),
                                                   "' is no number of 64 bits"));
  }
  if (has(".ptr")) {
    // Behind a number there are extents alone.
    if (entry.tensors.value_or(0) == entry.parameters) entry.tensors = entry.parameters + 1;
  }
  if (++entry.parameters <= kMaxParameters) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "entry '", absl::Utf8SafeCEscape(name), "' has more than ", kMaxParameters, " parameters"));
}

// From behind the entry's name to the end of its parameters, if it has a list of them.
absl::StatusOr<PtxEntry> ReadParameters(const std::string& name, Lexer& lexer) {
  PtxEntry entry;
  if (lexer.Next() != "(") return entry;
  std::vector<absl::string_view> words;
  while (true) {
    const absl::string_view word = lexer.Next();
    if (word.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the parameters of entry '", absl::Utf8SafeCEscape(name), "' do not end"));
    }
    if (word != "," && word != ")") {
      words.push_back(word);
      continue;
    }
    if (!words.empty()) SLIPWAY_RETURN_IF_ERROR(AddParameter(name, words, entry));
    words.clear();
    if (word == ")") return entry;
  }
}

}  // namespace

absl::StatusOr<PtxText> ReadPtx(absl::string_view text) {
  if (text.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError("a text of PTX has no zero byte");
  }
  PtxText read;
  Lexer lexer(text);
  for (absl::string_view word = lexer.Next(); !word.empty(); word = lexer.Next()) {
    if (word == ".version" && read.version.empty()) {
      read.version = std::string(lexer.Next());
    } else if (word == ".target" && read.target.empty()) {
      read.target = std::string(lexer.Next());
    } else if (word == ".entry") {
      const std::string name(lexer.Next());
      SLIPWAY_ASSIGN_OR_RETURN(read.entries[name], ReadParameters(name, lexer));
    }
  }
  if (read.version.empty() || read.target.empty()) {
    return absl::InvalidArgumentError("a text of PTX says its .version and its .target");
  }
  return read;
}

}  // namespace slipway
