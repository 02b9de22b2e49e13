// Selectors: which devices are meant, by what they are.
//
//   arch=arm-64 memory>=4GiB label:lab=berlin
//   arch=x86-64|arm-64 feature=avx2 id=board-* !label:broken
//   model="AMD EPYC*" cores!=1 label:lab
//
// Grammar (RFC 5234, without blanks but where SP stands):
//   selector  = *SP term *( 1*SP term ) *SP               ; a device matches when all terms hold
//   term      = attribute operator values
//             / "label:" key [ operator values ]          ; without values: it has the label
//             / "!label:" key                             ; it has not
//   attribute = one of AttributeRows()
//   key       = as CheckLabelKey has it
//   operator  = "=" / "!=" / "<" / "<=" / ">" / ">="      ; texts and labels: "=" and "!=" alone
//   values    = value *( "|" value )                      ; several with "=", one of them; with "!=", none of them
//   value     = word / DQUOTE *( SP / VCHAR but DQUOTE ) DQUOTE
//   word      = 1*( VCHAR but DQUOTE and "|" )
//
// In values of texts and labels "*" stands for any characters. Numbers are decimal; sizes have units as ParseByteSize reads them.
// What has several values, as features, is equal to a value when one of them is. What is not known of a device is equal to
// nothing and neither less nor more; "!=" holds where "=" does not. The form is this project's own; requirements with operators over labels are
// those of Kubernetes' label selectors, in one line.
#ifndef SLIPWAY_CORE_SELECTOR_SELECTOR_H_
#define SLIPWAY_CORE_SELECTOR_SELECTOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/selector/device_attributes.h"
#include "core/selector/explanation.h"

namespace slipway {

inline constexpr size_t kMaxSelectorBytes = 1'024;

// The version of this grammar, as ServerInfo.selectors has it; it rises with whatever a parser from before would refuse.
inline constexpr int kSelectorVersion = 1;

// Whether what stands where a device is named is a selector: all that has another character than the id of a device has.
bool IsSelector(absl::string_view device);

// A value type.
class Selector {
 public:
  // All devices.
  Selector() = default;
  // INVALID_ARGUMENT says what was expected, and on two further lines shows the text and, by a caret, where.
  static absl::StatusOr<Selector> Parse(absl::string_view text);

  bool Matches(const DeviceAttributes& device) const;
  // The first term that does not hold, in words; nothing when all do.
  std::optional<Reason> WhyNot(const DeviceAttributes& device) const;

  // The canonical form, which parses to an equal selector: terms in their order, one blank between them.
  std::string ToString() const;

  friend bool operator==(const Selector& a, const Selector& b) { return a.terms_ == b.terms_; }

 private:
  friend class SelectorParser;
  enum class Operator { kIs, kIsNot, kLess, kAtMost, kMore, kAtLeast };
  struct Term {
    std::optional<DeviceAttribute> attribute;  // None: a label.
    std::string key;                           // Of a label.
    Operator op = Operator::kIs;
    // One or more; none: a label is there, or with kIsNot is not.
    std::vector<std::string> texts;
    std::vector<int64_t> numbers;  // In place of texts, where the attribute has one.

    friend bool operator==(const Term& a, const Term& b) = default;
  };

  static bool Holds(const Term& term, const DeviceAttributes& device);
  static Reason WhyNot(const Term& term, const DeviceAttributes& device);
  static std::string ToString(const Term& term);

  std::vector<Term> terms_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_SELECTOR_SELECTOR_H_
