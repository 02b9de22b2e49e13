#include "core/kernels/features.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

bool IsInteger(Type type) {
  return type == Type::kInt64 || type == Type::kInt32 || type == Type::kInt16;
}

int64_t IntegerAt(const Operand& operand, int64_t i) {
  if (operand.type() == Type::kInt16) return operand.data<const int16_t>()[i];
  return IndexAt(operand, i);
}

// A list of labels in the parameters of a call.
class Labels {
 public:
  Labels(const Call& call, int first) : call_(call), first_(first) {}

  int size() const { return static_cast<int>(call_.Integer(first_)); }
  int end() const { return first_ + 1 + 2 * size(); }  // Where the next parameter is.
  int64_t Integer(int64_t i) const { return call_.Integer(first_ + 1 + 2 * static_cast<int>(i)); }
  double Real(int64_t i) const { return call_.Real(first_ + 2 + 2 * static_cast<int>(i)); }
  // That of a feature: there is one for all, or one for each.
  int64_t Of(int64_t feature) const { return size() == 1 ? 0 : feature; }

 private:
  const Call& call_;
  int first_;
};

bool SameReal(double a, double b) { return a == b || (IsNan(a) && IsNan(b)); }

void Set(const Operand& y, int64_t i, int64_t integer, double real) {
  if (y.type() == Type::kInt64) {
    y.data<int64_t>()[i] = integer;
  } else if (y.type() == Type::kInt32) {
    y.data<int32_t>()[i] = static_cast<int32_t>(integer);
  } else if (y.type() == Type::kInt16) {
    y.data<int16_t>()[i] = static_cast<int16_t>(integer);
  } else {
    SetNumber(y, i, real);
  }
}

// Elements of the last dimension; 1 for a scalar.
int64_t Features(const Operand& x) { return x.rank() == 0 ? 1 : x.extent(x.rank() - 1); }

int32_t ArrayFeatureExtractor(const Call& call) {
  const Operand x = call.input(0);
  const Operand indices = call.input(1);
  const Operand y = call.output(0);
  const int64_t features = Features(x);
  const int64_t count = indices.elements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = IndexAt(indices, i);
    if (index < 0 || index >= features) return call.Fail("an index (input 1) is outside of x");
  }
  return DispatchSize(call, x.type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < y.elements(); ++i) {
      y.data<T>()[i] = x.data<const T>()[i / count * features + IndexAt(indices, i % count)];
    }
    return 0;
  });
}

int32_t Imputer(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const Labels values(call, 2);
  const int64_t features = Features(x);
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t value = values.Of(i % features);
    if (IsInteger(x.type())) {
      const int64_t integer = IntegerAt(x, i);
      Set(y, i, integer == call.Integer(0) ? values.Integer(value) : integer, 0);
    } else {
      const double real = NumberAt(x, i);
      Set(y, i, 0, SameReal(real, call.Real(1)) ? values.Real(value) : real);
    }
  }
  return 0;
}

int32_t LabelEncoder(const Call& call) {
  const Operand x = call.input(0);
  const Labels keys(call, 2);
  const Labels values(call, keys.end());
  for (int64_t i = 0; i < x.elements(); ++i) {
    int key = keys.size() - 1;
    if (IsInteger(x.type())) {
      const int64_t integer = IntegerAt(x, i);
      while (key >= 0 && keys.Integer(key) != integer) --key;
    } else {
      const double real = NumberAt(x, i);
      while (key >= 0 && !SameReal(keys.Real(key), real)) --key;
    }
    if (key >= 0) {
      Set(call.output(0), i, values.Integer(key), values.Real(key));
    } else {
      Set(call.output(0), i, call.Integer(0), call.Real(1));
    }
  }
  return 0;
}

int32_t Normalizer(const Call& call) {
  const Operand x = call.input(0);
  const int64_t features = Features(x);
  for (int64_t first = 0; first < x.elements(); first += features) {
    double norm = call.Integer(0) == 0 ? -kInfinity : 0;
    for (int64_t i = first; i < first + features; ++i) {
      const double value = NumberAt(x, i);
      if (call.Integer(0) == 0) norm = value > norm ? value : norm;
      if (call.Integer(0) == 1) norm += Abs(value);
      if (call.Integer(0) == 2) norm += value * value;
    }
    if (call.Integer(0) == 2) norm = Sqrt(norm);
    for (int64_t i = first; i < first + features; ++i) {
      const double value = NumberAt(x, i);
      SetNumber(call.output(0), i, norm == 0 ? value : value / norm);
    }
  }
  return 0;
}

int32_t OneHotEncoder(const Call& call) {
  const Operand x = call.input(0);
  const bool zeros = call.Integer(0) != 0;
  const Labels categories(call, 1);
  for (int64_t i = 0; i < x.elements(); ++i) {
    bool found = false;
    for (int c = 0; c < categories.size(); ++c) {
      const bool hit = IsInteger(x.type())
                           ? IntegerAt(x, i) == categories.Integer(c)
                           : Trunc(NumberAt(x, i)) == static_cast<double>(categories.Integer(c));
      SetNumber(call.output(0), i * categories.size() + c, hit ? 1 : 0);
      found |= hit;
    }
    if (!found && !zeros) return call.Fail("an element of x is of no category");
  }
  return 0;
}

// The sorted grams of one length among the parameters of a call.
struct Grams {
  const int64_t* first;
  int64_t count;
  int64_t length;

  int64_t size() const { return length + 2; }
  // Null where there is none like the `length` elements of x from `start` on that are `step` apart.
  const int64_t* Find(const Operand& x, int64_t start, int64_t step) const {
    int64_t low = 0;
    int64_t high = count;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const int64_t* gram = first + middle * size();
      int order = 0;
      for (int64_t i = 0; order == 0 && i < length; ++i) {
        const int64_t item = IndexAt(x, start + i * step);
        order = gram[i] < item ? -1 : gram[i] > item ? 1 : 0;
      }
      if (order == 0) return gram;
      (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
    }
    return nullptr;
  }
};

void CountGrams(const Call& call, const Grams& grams, int64_t row, float* to) {
  const Operand x = call.input(0);
  const int64_t items = Features(x);
  const int64_t steps = grams.length == 1 ? 1 : call.Integer(3) + 1;
  for (int64_t step = 1; step <= steps && step <= items; ++step) {
    for (int64_t start = 0; start + (grams.length - 1) * step < items; ++start) {
      const int64_t* gram = grams.Find(x, row * items + start, step);
      if (gram == nullptr) continue;
      const auto weight = static_cast<float>(__builtin_bit_cast(double, gram[grams.length + 1]));
      float& y = to[gram[grams.length]];
      y = call.Integer(0) == 0 ? y + 1 : call.Integer(0) == 1 ? weight : y + weight;
    }
  }
}

int32_t TfIdfVectorizer(const Call& call) {
  const Operand y = call.output(0);
  const int64_t columns = Features(y);
  const int64_t rows = y.rank() == 2 ? y.extent(0) : 1;
  for (int64_t i = 0; i < y.elements(); ++i) y.data<float>()[i] = 0;
  const int64_t* counts = call.Integers() + 5;
  const int64_t* gram = counts + call.Integer(4);
  for (int64_t length = 1; length <= call.Integer(2); ++length) {
    const Grams grams = {gram, counts[length - 1], length};
    gram += grams.count * grams.size();
    if (length < call.Integer(1)) continue;
    for (int64_t r = 0; r < rows; ++r) CountGrams(call, grams, r, y.data<float>() + r * columns);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_ArrayFeatureExtractor(void** arguments) {
  return ArrayFeatureExtractor(Call(arguments));
}
int32_t slipway_Imputer(void** arguments) { return Imputer(Call(arguments)); }
int32_t slipway_LabelEncoder(void** arguments) { return LabelEncoder(Call(arguments)); }
int32_t slipway_Normalizer(void** arguments) { return Normalizer(Call(arguments)); }
int32_t slipway_OneHotEncoder(void** arguments) { return OneHotEncoder(Call(arguments)); }
int32_t slipway_TfIdfVectorizer(void** arguments) { return TfIdfVectorizer(Call(arguments)); }
