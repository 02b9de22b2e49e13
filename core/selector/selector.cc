#include "core/selector/selector.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/byte_size.h"
#include "core/base/wildcard.h"
#include "core/selector/operators.h"

namespace slipway {
namespace {

using Kind = AttributeRow::Kind;

const AttributeRow& RowOf(DeviceAttribute attribute) {
  return AttributeRows()[static_cast<size_t>(attribute)];
}

bool IsOneOf(absl::string_view value, const std::vector<std::string>& patterns) {
  return absl::c_any_of(patterns,
                        [&](const std::string& pattern) { return MatchesPattern(pattern, value); });
}

// As it must be written to be one value.
std::string Quoted(const std::string& value) {
  const bool is_word = !value.empty() && absl::c_all_of(value, [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '|';
  });
  return is_word ? value : absl::StrCat("\"", value, "\"");
}

std::string NumberText(DeviceAttribute attribute, int64_t number) {
  return RowOf(attribute).kind == Kind::kBytes ? ExactByteSize(number) : absl::StrCat(number);
}

Reason Have(absl::string_view what) {
  return {absl::StrCat("has ", what), absl::StrCat("have ", what)};
}

Reason DoNotTell(absl::string_view what) {
  return {absl::StrCat("does not tell its ", what), absl::StrCat("do not tell their ", what)};
}

}  // namespace

bool IsSelector(absl::string_view device) {
  return absl::c_any_of(device, [](char c) {
    return !absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-';
  });
}

bool Selector::Matches(const DeviceAttributes& device) const {
  return absl::c_all_of(terms_, [&](const Term& term) { return Holds(term, device); });
}

std::optional<Reason> Selector::WhyNot(const DeviceAttributes& device) const {
  const auto broken =
      absl::c_find_if_not(terms_, [&](const Term& term) { return Holds(term, device); });
  if (broken == terms_.end()) return std::nullopt;
  return WhyNot(*broken, device);
}

bool Selector::Holds(const Term& term, const DeviceAttributes& device) {
  const bool is_wanted = term.op != Operator::kIsNot;
  if (!term.attribute.has_value()) {
    const auto label = device.labels.find(term.key);
    if (label == device.labels.end()) return !is_wanted;
    return (term.texts.empty() || IsOneOf(label->second, term.texts)) == is_wanted;
  }
  if (RowOf(*term.attribute).kind == Kind::kText) {
    const auto values = device.texts.find(*term.attribute);
    if (values == device.texts.end()) return !is_wanted;
    return absl::c_any_of(values->second, [&](const std::string& value) {
             return IsOneOf(value, term.texts);
           }) == is_wanted;
  }
  const auto known = device.numbers.find(*term.attribute);
  if (known == device.numbers.end()) return !is_wanted;
  const int64_t number = known->second;
  switch (term.op) {
    case Operator::kIs:
    case Operator::kIsNot:
      return absl::c_linear_search(term.numbers, number) == is_wanted;
    case Operator::kLess:
      return number < term.numbers.front();
    case Operator::kAtMost:
      return number <= term.numbers.front();
    case Operator::kMore:
      return number > term.numbers.front();
    case Operator::kAtLeast:
      return number >= term.numbers.front();
  }
  return false;
}

Reason Selector::WhyNot(const Term& term, const DeviceAttributes& device) {
  if (!term.attribute.has_value()) {
    const auto label = device.labels.find(term.key);
    if (label == device.labels.end()) return Have(absl::StrCat("no label ", term.key));
    return Have(absl::StrCat("label ", term.key, label->second.empty() ? "" : "=", label->second));
  }
  const AttributeRow& row = RowOf(*term.attribute);
  if (row.kind == Kind::kText) {
    const auto values = device.texts.find(*term.attribute);
    if (*term.attribute == DeviceAttribute::kId) return Have("another id");
    const bool can_be_several = *term.attribute == DeviceAttribute::kFeature ||
                                *term.attribute == DeviceAttribute::kAccelerator;
    if (can_be_several && term.op == Operator::kIs) {
      const std::string lacked = absl::StrJoin(term.texts, " or ");
      return {absl::StrCat("lacks ", lacked), absl::StrCat("lack ", lacked)};
    }
    if (values == device.texts.end()) return DoNotTell(row.name);
    std::vector<std::string> shown = values->second;
    if (can_be_several) {
      shown.erase(
          std::remove_if(shown.begin(), shown.end(),
                         [&](const std::string& value) { return !IsOneOf(value, term.texts); }),
          shown.end());
    }
    return Have(absl::StrCat(row.name, " ", absl::StrJoin(shown, " and ")));
  }
  if (!device.numbers.contains(*term.attribute)) return DoNotTell(row.name);
  // What holds instead.
  constexpr Operator kOpposites[] = {Operator::kIsNot, Operator::kIs,     Operator::kAtLeast,
                                     Operator::kMore,  Operator::kAtMost, Operator::kLess};
  Term opposite = term;
  opposite.op = kOpposites[static_cast<size_t>(term.op)];
  return Have(ToString(opposite));
}

std::string Selector::ToString(const Term& term) {
  std::string text;
  if (term.attribute.has_value()) {
    text = std::string(RowOf(*term.attribute).name);
  } else {
    const bool is_absence = term.texts.empty() && term.op == Operator::kIsNot;
    text = absl::StrCat(is_absence ? "!" : "", kLabelPrefix, term.key);
    if (term.texts.empty()) return text;
  }
  absl::StrAppend(&text, kOperatorTexts[static_cast<size_t>(term.op)]);
  std::vector<std::string> values;
  for (const std::string& value : term.texts) values.push_back(Quoted(value));
  for (const int64_t number : term.numbers) values.push_back(NumberText(*term.attribute, number));
  return absl::StrCat(text, absl::StrJoin(values, "|"));
}

std::string Selector::ToString() const {
  return absl::StrJoin(terms_, " ",
                       [](std::string* out, const Term& term) { out->append(ToString(term)); });
}

}  // namespace slipway
