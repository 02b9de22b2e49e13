#include "core/kernels/strings.h"

#include "core/kernels/elements.h"
#include "core/kernels/letter_case.h"
#include "core/kernels/sorting.h"
#include "core/kernels/string_operand.h"

namespace slipway::kernels {
namespace {

StringOperand StringInput(const Call& call, int first) {
  return StringOperand(call.input(first), call.input(first + 1));
}

// Calls visit(i, a, b) for each element of y and those of two inputs that broadcast there. `visit` returns whether to go on.
template <typename Visit>
void ForEachPair(const StringOperand& a, const StringOperand& b, const Operand& y, Visit visit) {
  const Operand inputs[] = {a.places(), b.places()};
  BroadcastRows rows(inputs, 2, y);
  bool goes_on = true;
  ForEachRun(rows, 2, [&](int64_t first, const int64_t* at, int64_t count) {
    for (int64_t i = 0; goes_on && i < count; ++i) {
      goes_on = visit(first + i, at[0] + i * rows.step(0), at[1] + i * rows.step(1));
    }
  });
}

int32_t StringEqual(const Call& call) {
  const StringOperand a = StringInput(call, 0);
  const StringOperand b = StringInput(call, 2);
  if (!a.IsGood() || !b.IsGood()) return call.Fail(kBadPlace);
  bool* y = call.output(0).data<bool>();
  ForEachPair(a, b, call.output(0), [&](int64_t i, int64_t from_a, int64_t from_b) {
    y[i] = Same(a[from_a], b[from_b]);
    return true;
  });
  return 0;
}

// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t HashOf(const String& string) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t i = 0; i < string.size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(string.data[i])) * 0x100000001b3;
  }
  return hash;
}

// Keys by what they are: open addressing in a table at least twice as large.
class KeyTable {
 public:
  KeyTable(const Call& call, const StringOperand& keys)
      : keys_(keys), size_(SizeFor(keys.elements())), slots_(call, size_) {}

  // False where there is no memory.
  bool Fill() {
    if (!slots_) return false;
    for (int64_t s = 0; s < size_; ++s) slots_[s] = -1;
    for (int64_t k = 0; k < keys_.elements(); ++k) slots_[SlotOf(keys_[k])] = k;
    return true;
  }
  int64_t Find(const String& string) const {
    const int64_t key = slots_[SlotOf(string)];
    return key < 0 ? keys_.elements() : key;
  }

 private:
  static int64_t SizeFor(int64_t keys) {
    int64_t size = 2;
    while (size < 2 * keys) size *= 2;
    return size;
  }
  // Where the string is, or is to be.
  int64_t SlotOf(const String& string) const {
    int64_t slot = static_cast<int64_t>(HashOf(string)) & (size_ - 1);
    while (slots_[slot] >= 0 && !Same(keys_[slots_[slot]], string)) slot = (slot + 1) & (size_ - 1);
    return slot;
  }

  const StringOperand& keys_;
  int64_t size_;
  Scratch<int64_t> slots_;
};

int32_t StringFind(const Call& call) {
  const StringOperand x = StringInput(call, 0);
  const StringOperand keys = StringInput(call, 2);
  if (!x.IsGood() || !keys.IsGood()) return call.Fail(kBadPlace);
  KeyTable table(call, keys);
  if (!table.Fill()) return call.Fail(kOutOfScratch);
  int64_t* y = call.output(0).data<int64_t>();
  for (int64_t i = 0; i < x.elements(); ++i) y[i] = table.Find(x[i]);
  return 0;
}

int32_t StringRank(const Call& call) {
  const StringOperand x = StringInput(call, 0);
  if (!x.IsGood()) return call.Fail(kBadPlace);
  const Scratch<int64_t> order(call, x.elements());
  if (!order) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < x.elements(); ++i) order[i] = i;
  SortPlaces(order.get(), x.elements(), [&x](int64_t a, int64_t b) {
    const int compared = Compare(x[a], x[b]);
    return compared != 0 ? compared < 0 : a < b;
  });
  int64_t rank = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (i > 0 && !Same(x[order[i - 1]], x[order[i]])) ++rank;
    call.output(0).data<int64_t>()[order[i]] = rank;
  }
  return 0;
}

// Bytes that all pairs have together; -1 where they are too many. `y` has the shape that both broadcast to.
int64_t PairBytes(const StringOperand& a, const StringOperand& b, const Operand& y) {
  int64_t bytes = 0;
  ForEachPair(a, b, y, [&](int64_t, int64_t from_a, int64_t from_b) {
    bytes += a[from_a].size + b[from_b].size;
    if (bytes > kMostStringBytes) bytes = -1;
    return bytes >= 0;
  });
  return bytes;
}

// An operand's shape without elements: what two inputs broadcast to, where there is no output yet.
class BroadcastShape {
 public:
  BroadcastShape(const Operand& a, const Operand& b) {
    buffer_.dimensions = a.rank() > b.rank() ? a.rank() : b.rank();
    buffer_.dim = dimensions_;
    for (int d = 0; d < buffer_.dimensions; ++d) {  // From the inside.
      const int64_t of_a = d < a.rank() ? a.extent(a.rank() - 1 - d) : 1;
      const int64_t of_b = d < b.rank() ? b.extent(b.rank() - 1 - d) : 1;
      dimensions_[d].extent = static_cast<int32_t>(of_a == 1 ? of_b : of_a);
    }
  }
  BroadcastShape(const BroadcastShape&) = delete;
  BroadcastShape& operator=(const BroadcastShape&) = delete;
  Operand operand() const { return Operand(Type::kInt64, &buffer_); }

 private:
  slipway_dimension dimensions_[kMostDimensions] = {};
  slipway_buffer buffer_ = {};
};

int32_t StringConcatCount(const Call& call) {
  const StringOperand a = StringInput(call, 0);
  const StringOperand b = StringInput(call, 2);
  if (!a.IsGood() || !b.IsGood()) return call.Fail(kBadPlace);
  const BroadcastShape shape(a.places(), b.places());
  const int64_t bytes = PairBytes(a, b, shape.operand());
  return bytes < 0 ? call.Fail(kTooManyBytes) : call.Count(bytes);
}

int32_t StringConcat(const Call& call) {
  const StringOperand a = StringInput(call, 0);
  const StringOperand b = StringInput(call, 2);
  if (!a.IsGood() || !b.IsGood()) return call.Fail(kBadPlace);
  const Operand contents = call.output(1);
  if (PairBytes(a, b, call.output(0)) != contents.elements()) {
    return call.Fail("its result has another number of bytes than was counted");
  }
  int64_t offset = 0;
  const auto append = [&](const String& string) {
    __builtin_memcpy(contents.data<char>() + offset, string.data,
                     static_cast<uint64_t>(string.size));
    offset += string.size;
  };
  ForEachPair(a, b, call.output(0), [&](int64_t i, int64_t from_a, int64_t from_b) {
    call.output(0).data<int64_t>()[i] = Place(offset, a[from_a].size + b[from_b].size);
    append(a[from_a]);
    append(b[from_b]);
    return true;
  });
  return 0;
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// How StringSplit takes a string apart.
class Splitter {
 public:
  explicit Splitter(const Call& call) : call_(call), most_(call.Integer(0)) {}

  // Calls visit(number, begin, end) for each piece. Returns how many there are.
  template <typename Visit>
  int64_t Split(const String& string, Visit visit) const {
    return call_.Integer(1) == 0 ? AtSpaces(string, visit) : AtDelimiters(string, visit);
  }

 private:
  template <typename Visit>
  int64_t AtSpaces(const String& string, Visit visit) const {
    int64_t pieces = 0;
    int64_t end = string.size;
    while (end > 0 && IsSpace(string.data[end - 1])) --end;
    for (int64_t at = 0; at < end;) {
      if (IsSpace(string.data[at])) {
        ++at;
        continue;
      }
      int64_t stop = pieces == most_ ? end : at;
      while (stop < end && !IsSpace(string.data[stop])) ++stop;
      visit(pieces++, at, stop);
      at = stop;
    }
    return pieces;
  }
  template <typename Visit>
  int64_t AtDelimiters(const String& string, Visit visit) const {
    const int64_t length = call_.Integer(1);
    int64_t pieces = 0;
    int64_t begin = 0;
    for (int64_t at = 0; at + length <= string.size && pieces != most_;) {
      if (!IsDelimiter(string.data + at, length)) {
        ++at;
        continue;
      }
      visit(pieces++, begin, at);
      at += length;
      begin = at;
    }
    visit(pieces++, begin, string.size);
    return pieces;
  }
  bool IsDelimiter(const char* at, int64_t length) const {
    for (int64_t i = 0; i < length; ++i) {
      if (static_cast<unsigned char>(at[i]) != call_.Integer(2 + static_cast<int>(i))) return false;
    }
    return true;
  }

  const Call& call_;
  int64_t most_;  // Splits; -1 for any number.
};

int32_t StringSplitCount(const Call& call) {
  const StringOperand x = StringInput(call, 0);
  if (!x.IsGood()) return call.Fail(kBadPlace);
  const Splitter splitter(call);
  int64_t most = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t pieces = splitter.Split(x[i], [](int64_t, int64_t, int64_t) {});
    most = pieces > most ? pieces : most;
  }
  return call.Count(most);
}

int32_t StringSplit(const Call& call) {
  const StringOperand x = StringInput(call, 0);
  if (!x.IsGood()) return call.Fail(kBadPlace);
  const Operand y = call.output(0);
  const Operand counts = call.output(1);
  const int64_t most = y.extent(y.rank() - 1);
  const Splitter splitter(call);
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t* pieces = y.data<int64_t>() + i * most;
    for (int64_t k = 0; k < most; ++k) pieces[k] = 0;
    const int64_t count = splitter.Split(x[i], [&](int64_t k, int64_t begin, int64_t end) {
      if (k < most) pieces[k] = Place(x.offset(i) + begin, end - begin);
    });
    if (count > most) return call.Fail("a string has more pieces than were counted");
    if (counts.present()) counts.data<int64_t>()[i] = count;
  }
  return 0;
}

int32_t StringCase(const Call& call) {
  const StringOperand x = StringInput(call, 0);
  if (!x.IsGood()) return call.Fail(kBadPlace);
  char* y = call.output(0).data<char>();
  __builtin_memcpy(y, call.input(1).data<const char>(),
                   static_cast<uint64_t>(call.input(1).elements()));
  for (int64_t i = 0; i < x.elements(); ++i) {
    const String string = x[i];
    ChangeCase(string.data, string.size, call.Integer(0) != 0, y + x.offset(i));
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_StringEqual(void** arguments) { return StringEqual(Call(arguments)); }
int32_t slipway_StringFind(void** arguments) { return StringFind(Call(arguments)); }
int32_t slipway_StringRank(void** arguments) { return StringRank(Call(arguments)); }
int32_t slipway_StringConcat(void** arguments) { return StringConcat(Call(arguments)); }
int32_t slipway_StringConcat_count(void** arguments) { return StringConcatCount(Call(arguments)); }
int32_t slipway_StringSplit(void** arguments) { return StringSplit(Call(arguments)); }
int32_t slipway_StringSplit_count(void** arguments) { return StringSplitCount(Call(arguments)); }
int32_t slipway_StringCase(void** arguments) { return StringCase(Call(arguments)); }
