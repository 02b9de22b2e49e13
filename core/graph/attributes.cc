#include "core/graph/attributes.h"

#include <algorithm>
#include <cstring>

#include "core/graph/graph.h"

namespace slipway {
namespace {

bool SameBits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

auto LowerBound(std::vector<Attributes::Entry>& entries, absl::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Attributes::Entry& entry, absl::string_view n) { return entry.first < n; });
}

}  // namespace

absl::string_view Name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "int";
    case AttributeKind::kFloat:
      return "float";
    case AttributeKind::kString:
      return "string";
    case AttributeKind::kInts:
      return "ints";
    case AttributeKind::kFloats:
      return "floats";
    case AttributeKind::kStrings:
      return "strings";
    case AttributeKind::kTensor:
      return "tensor";
    case AttributeKind::kGraph:
      return "graph";
  }
  return "invalid";
}

bool Equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  switch (KindOf(a)) {
    case AttributeKind::kFloat:
      return SameBits(std::get<float>(a), std::get<float>(b));
    case AttributeKind::kFloats: {
      const auto& x = std::get<std::vector<float>>(a);
      const auto& y = std::get<std::vector<float>>(b);
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), SameBits);
    }
    case AttributeKind::kTensor: {
      const Tensor& x = std::get<Tensor>(a);
      const Tensor& y = std::get<Tensor>(b);
      return x.type() == y.type() && x.bytes() == y.bytes();
    }
    case AttributeKind::kGraph: {
      const auto& x = std::get<std::shared_ptr<const Graph>>(a);
      const auto& y = std::get<std::shared_ptr<const Graph>>(b);
      return x == y || (x != nullptr && y != nullptr && *x == *y);
    }
    case AttributeKind::kInt:
      return std::get<int64_t>(a) == std::get<int64_t>(b);
    case AttributeKind::kString:
      return std::get<std::string>(a) == std::get<std::string>(b);
    case AttributeKind::kInts:
      return std::get<std::vector<int64_t>>(a) == std::get<std::vector<int64_t>>(b);
    case AttributeKind::kStrings:
      return std::get<std::vector<std::string>>(a) == std::get<std::vector<std::string>>(b);
  }
  return false;
}

Attributes::Attributes(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) Set(entry.first, entry.second);
}

void Attributes::Set(absl::string_view name, Attribute value) {
  auto at = LowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, Entry(std::string(name), std::move(value)));
  }
}

void Attributes::Erase(absl::string_view name) {
  auto at = LowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) entries_.erase(at);
}

const Attribute* Attributes::Find(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

bool operator==(const Attributes& a, const Attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Attributes::Entry& x, const Attributes::Entry& y) {
                      return x.first == y.first && Equal(x.second, y.second);
                    });
}

}  // namespace slipway
