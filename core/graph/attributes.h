// Attributes: what a node carries beside its inputs, as a sorted list of (name, value).
#ifndef SLIPWAY_CORE_GRAPH_ATTRIBUTES_H_
#define SLIPWAY_CORE_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace slipway {

struct Graph;

// The closed set of attribute values. A graph is shared because bodies are never edited in place.
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, std::shared_ptr<const Graph>>;

// In the order of Attribute's alternatives.
enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kGraph };

inline AttributeKind KindOf(const Attribute& attribute) {
  return static_cast<AttributeKind>(attribute.index());
}

// "int", "float", "string", "ints", "floats", "strings", "tensor", "graph".
absl::string_view Name(AttributeKind kind);

// A list attribute from braces, as in {"strides", Ints({1, 1})}.
inline Attribute Ints(std::vector<int64_t> values) { return values; }
inline Attribute Floats(std::vector<float> values) { return values; }
inline Attribute Strings(std::vector<std::string> values) { return values; }

// Equal kinds and values: floats and tensors bit by bit (a NaN equals itself), graphs deeply.
bool Equal(const Attribute& a, const Attribute& b);

// A value type; entries are sorted by name and names are unique.
class Attributes {
 public:
  using Entry = std::pair<std::string, Attribute>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries);  // NOLINT: {{"axis", 1}} reads well at calls.

  // Adds or replaces.
  void Set(absl::string_view name, Attribute value);
  // Does nothing when there is none.
  void Erase(absl::string_view name);
  // Null when there is none. Valid until the next change.
  const Attribute* Find(absl::string_view name) const;
  // Null when there is none or it is of another kind.
  template <typename T>
  const T* FindAs(absl::string_view name) const {
    const Attribute* found = Find(name);
    return found == nullptr ? nullptr : std::get_if<T>(found);
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

  friend bool operator==(const Attributes& a, const Attributes& b);
  friend bool operator!=(const Attributes& a, const Attributes& b) { return !(a == b); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_ATTRIBUTES_H_
