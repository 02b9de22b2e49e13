// Selector::Parse: by recursive descent, a method for each rule of the grammar in selector.h.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/byte_size.h"
#include "core/base/status_macros.h"
#include "core/selector/operators.h"
#include "core/selector/selector.h"

namespace slipway {
namespace {

using Kind = AttributeRow::Kind;

// What a terminal shows in one line.
constexpr size_t kShownBytes = 72;

bool IsPrintable(char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); }
bool IsNamePart(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; }
bool IsKeyPart(char c) { return IsNamePart(c) || c == '.' || c == '_'; }

// The text around a place in it, and a caret below that.
std::string Pointed(absl::string_view text, size_t at) {
  const size_t begin = at < kShownBytes ? 0 : at - kShownBytes / 2;
  std::string line(text.substr(begin, kShownBytes));
  for (char& c : line) {
    if (!IsPrintable(c)) c = '?';
  }
  const absl::string_view before = begin > 0 ? "..." : "";
  const absl::string_view after = begin + kShownBytes < text.size() ? "..." : "";
  return absl::StrCat("\n", before, line, after, "\n", std::string(before.size() + at - begin, ' '),
                      "^");
}

std::string AttributeNames() {
  return absl::StrCat(absl::StrJoin(AttributeRows(), ", ",
                                    [](std::string* out, const AttributeRow& row) {
                                      out->append(row.name.data(), row.name.size());
                                    }),
                      " and ", kLabelPrefix, "KEY");
}

}  // namespace

class SelectorParser {
 public:
  explicit SelectorParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Selector> Parse() {
    if (text_.size() > kMaxSelectorBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("a selector has ", text_.size(), " bytes; at most ", kMaxSelectorBytes));
    }
    const auto odd = absl::c_find_if_not(text_, IsPrintable);
    if (odd != text_.end()) {
      return Error(static_cast<size_t>(odd - text_.begin()),
                   absl::StrFormat("the byte 0x%02x", static_cast<unsigned char>(*odd)),
                   "printable ASCII");
    }
    Selector selector;
    SkipBlanks();
    do {
      SLIPWAY_ASSIGN_OR_RETURN(Selector::Term term, ParseTerm());
      selector.terms_.push_back(std::move(term));
      if (at_ < text_.size() && text_[at_] != ' ') {
        return Error(at_, Found(), "a blank, \"|\" or the end");
      }
      SkipBlanks();
    } while (at_ < text_.size());
    return selector;
  }

 private:
  using Operator = Selector::Operator;

  absl::StatusOr<Selector::Term> ParseTerm() {
    Selector::Term term;
    const size_t begin = at_;
    const bool is_absence = Take("!");
    if (Take(kLabelPrefix)) {
      const size_t key = at_;
      term.key = std::string(TakeWhile(IsKeyPart));
      if (const absl::Status status = CheckLabelKey(term.key); !status.ok()) {
        return Error(key, std::string(status.message()), "the key of a label");
      }
      const std::optional<Operator> op = TakeOperator();
      if (is_absence) {
        if (op.has_value()) {
          return Error(begin, "\"!\" before a label that is compared",
                       absl::StrCat("\"", kLabelPrefix, term.key, "!=...\""));
        }
        term.op = Operator::kIsNot;
        return term;
      }
      if (!op.has_value()) return term;
      term.op = *op;
      SLIPWAY_RETURN_IF_ERROR(CheckTextOperator(term.op));
      SLIPWAY_RETURN_IF_ERROR(ParseTexts(term));
      return term;
    }
    if (is_absence) return Error(at_, Found(), absl::StrCat("\"", kLabelPrefix, "\" after \"!\""));
    const absl::string_view name = TakeWhile(IsNamePart);
    if (name.empty()) return Error(at_, Found(), absl::StrCat("one of ", AttributeNames()));
    const absl::Span<const AttributeRow> rows = AttributeRows();
    const auto row =
        absl::c_find_if(rows, [name](const AttributeRow& known) { return known.name == name; });
    if (row == rows.end()) {
      return Error(begin, absl::StrCat("\"", name, "\""),
                   absl::StrCat("one of ", AttributeNames()));
    }
    term.attribute = row->attribute;
    const std::optional<Operator> op = TakeOperator();
    if (!op.has_value()) {
      return Error(at_, Found(), absl::StrCat("one of ", absl::StrJoin(kOperatorTexts, " ")));
    }
    term.op = *op;
    if (row->kind == Kind::kText) {
      SLIPWAY_RETURN_IF_ERROR(CheckTextOperator(term.op));
      SLIPWAY_RETURN_IF_ERROR(ParseTexts(term));
    } else {
      SLIPWAY_RETURN_IF_ERROR(ParseNumbers(row->kind, term));
    }
    return term;
  }

  absl::Status CheckTextOperator(Operator op) {
    if (op == Operator::kIs || op == Operator::kIsNot) return absl::OkStatus();
    const size_t size = kOperatorTexts[static_cast<size_t>(op)].size();
    return Error(at_ - size, "an order of texts", "\"=\" or \"!=\"");
  }

  absl::Status ParseTexts(Selector::Term& term) {
    do {
      SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view value, ParseValue());
      term.texts.emplace_back(value);
    } while (Take("|"));
    return absl::OkStatus();
  }

  absl::Status ParseNumbers(Kind kind, Selector::Term& term) {
    do {
      const size_t begin = at_;
      SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view value, ParseValue());
      int64_t number = 0;
      bool is_number =
          absl::c_all_of(value, absl::ascii_isdigit) && absl::SimpleAtoi(value, &number);
      if (kind == Kind::kBytes) {
        const absl::StatusOr<int64_t> bytes = ParseByteSize(value);
        is_number = bytes.ok();
        number = bytes.value_or(0);
      }
      if (!is_number) {
        return Error(begin, absl::StrCat("\"", value, "\""),
                     kind == Kind::kBytes ? "a size such as 4GiB, below 8,388,608 TiB"
                                          : "a whole number below 2^63");
      }
      term.numbers.push_back(number);
    } while (Take("|"));
    if (term.numbers.size() == 1 || term.op == Operator::kIs || term.op == Operator::kIsNot) {
      return absl::OkStatus();
    }
    return Error(at_, "several values", "one value after an order");
  }

  absl::StatusOr<absl::string_view> ParseValue() {
    const size_t begin = at_;
    if (Take("\"")) {
      const absl::string_view value = TakeWhile([](char c) { return c != '"'; });
      if (Take("\"")) return value;
      return Error(begin, "a quote that is not closed", "another one");
    }
    const absl::string_view value =
        TakeWhile([](char c) { return c != ' ' && c != '"' && c != '|'; });
    if (value.empty()) return Error(at_, Found(), "a value");
    return value;
  }

  std::optional<Operator> TakeOperator() {
    std::optional<Operator> longest;
    size_t size = 0;
    for (size_t i = 0; i < std::size(kOperatorTexts); ++i) {
      if (kOperatorTexts[i].size() <= size) continue;
      if (!absl::StartsWith(text_.substr(at_), kOperatorTexts[i])) continue;
      longest = static_cast<Operator>(i);
      size = kOperatorTexts[i].size();
    }
    at_ += size;
    return longest;
  }

  bool Take(absl::string_view wanted) {
    if (!absl::StartsWith(text_.substr(at_), wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  template <typename Predicate>
  absl::string_view TakeWhile(Predicate is_part) {
    const size_t begin = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void SkipBlanks() {
    TakeWhile([](char c) { return c == ' '; });
  }

  // What stands here.
  std::string Found() const {
    if (at_ == text_.size()) return "the end";
    return text_[at_] == ' ' ? "a blank" : absl::StrCat("\"", text_.substr(at_, 1), "\"");
  }

  absl::Status Error(size_t at, absl::string_view found, absl::string_view expected) const {
    return absl::InvalidArgumentError(absl::StrCat("no selector: ", found, " at byte ", at,
                                                   ", expected ", expected, Pointed(text_, at)));
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<Selector> Selector::Parse(absl::string_view text) {
  return SelectorParser(text).Parse();
}

}  // namespace slipway
