#include "core/kernels/number_text.h"

#include "core/kernels/big_number.h"
#include "core/kernels/elements.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"
#include "core/kernels/string_operand.h"

namespace slipway::kernels {
namespace {

// A format of floats: bits of the significand, and the exponent of the smallest normal number.
struct Format {
  int precision;
  int least;
};

Format FormatOf(Type type) {
  switch (type) {
    case Type::kFloat16:
      return {11, -14};
    case Type::kBfloat16:
      return {8, -126};
    case Type::kFloat32:
      return {24, -126};
    default:
      return {53, -1022};
  }
}

// 0.d1d2... * 10^exponent
struct Decimal {
  char digits[17];  // The shortest text of an f64 has no more.
  int count = 0;
  int exponent = 0;
};

// significand * 2^exponent > 0 as the shortest decimal number between it and its neighbours' middles.
Decimal ShortestDecimal(uint64_t significand, int exponent, const Format& format) {
  const bool is_even = significand % 2 == 0;
  // The number below is nearer where this is a power of two.
  const bool is_uneven = significand == uint64_t{1} << (format.precision - 1) &&
                         exponent > format.least - format.precision + 1;
  const int extra = is_uneven ? 2 : 1;
  // The number is rest / scale, half the way to the neighbours above / scale and below / scale.
  BigNumber rest(significand);
  BigNumber scale(1);
  BigNumber below(1);
  BigNumber above(is_uneven ? 2 : 1);
  rest.ShiftLeft(extra + (exponent > 0 ? exponent : 0));
  scale.ShiftLeft(extra + (exponent < 0 ? -exponent : 0));
  if (exponent > 0) {
    below.ShiftLeft(exponent);
    above.ShiftLeft(exponent);
  }
  BigNumber* const numbers[] = {&rest, &below, &above};
  const auto reaches = [&] {  // Whether the number and what is above it fill `scale`.
    BigNumber sum = rest;
    sum.Add(above);
    const int compared = Compare(sum, scale);
    return is_even ? compared >= 0 : compared > 0;
  };
  Decimal decimal;
  // Not above the power of ten that is wanted, which is found below: log10(2) is 0.30103 and a bit less.
  const int bits = 64 - __builtin_clzll(significand) + exponent - 1;
  decimal.exponent = static_cast<int>(Floor(bits * 0.30102999)) - 1;
  if (decimal.exponent >= 0) {
    scale.MultiplyByPowerOfTen(decimal.exponent);
  } else {
    for (BigNumber* number : numbers) number->MultiplyByPowerOfTen(-decimal.exponent);
  }
  while (reaches()) {
    scale.MultiplyAdd(10, 0);
    ++decimal.exponent;
  }
  for (bool is_last = false; !is_last;) {
    for (BigNumber* number : numbers) number->MultiplyAdd(10, 0);
    int digit = 0;
    for (; Compare(rest, scale) >= 0; ++digit) rest.Subtract(scale);
    const int compared = Compare(rest, below);
    const bool low = is_even ? compared <= 0 : compared < 0;
    const bool high = reaches();
    is_last = low || high;
    if (is_last && !(low && !high)) {
      BigNumber twice = rest;
      twice.ShiftLeft(1);
      const int middle = Compare(twice, scale);  // In the very middle the even digit is taken.
      if (!low || middle > 0 || (middle == 0 && digit % 2 == 1)) ++digit;
    }
    decimal.digits[decimal.count++] = static_cast<char>('0' + digit);
  }
  return decimal;
}

class Writer {
 public:
  explicit Writer(char* to) : to_(to) {}
  int size() const { return size_; }
  void Add(char c) { to_[size_++] = c; }
  void Add(const char* text) {
    while (*text != 0) Add(*text++);
  }

 private:
  char* to_;
  int size_ = 0;
};

void AddPlain(const Decimal& decimal, Writer& writer) {
  if (decimal.exponent <= 0) writer.Add("0.");
  for (int i = decimal.exponent; i < 0; ++i) writer.Add('0');
  for (int i = 0; i < decimal.count; ++i) {
    if (i == decimal.exponent && i > 0) writer.Add('.');
    writer.Add(decimal.digits[i]);
  }
  for (int i = decimal.count; i < decimal.exponent; ++i) writer.Add('0');
  if (decimal.count <= decimal.exponent) writer.Add(".0");
}

void AddScientific(const Decimal& decimal, Writer& writer) {
  for (int i = 0; i < decimal.count; ++i) {
    if (i == 1) writer.Add('.');
    writer.Add(decimal.digits[i]);
  }
  const int exponent = decimal.exponent - 1;
  const int magnitude = exponent < 0 ? -exponent : exponent;
  writer.Add(exponent < 0 ? "e-" : "e+");
  if (magnitude >= 100) writer.Add(static_cast<char>('0' + magnitude / 100));
  writer.Add(static_cast<char>('0' + magnitude / 10 % 10));
  writer.Add(static_cast<char>('0' + magnitude % 10));
}

// value * 2^exponent where that is a double, or too large for one.
double Scaled(double value, int exponent) {
  while (exponent != 0) {
    const int step = exponent > 512 ? 512 : exponent < -512 ? -512 : exponent;
    value *= DoubleOf(static_cast<uint64_t>(1023 + step) << 52);
    exponent -= step;
  }
  return value;
}

// numerator / denominator, neither 0, rounded to the format.
double Rounded(BigNumber numerator, BigNumber denominator, const Format& format) {
  int exponent = numerator.bits() - denominator.bits();
  if (exponent > 0) denominator.ShiftLeft(exponent);
  if (exponent < 0) numerator.ShiftLeft(-exponent);
  if (Compare(numerator, denominator) < 0) {
    numerator.ShiftLeft(1);
    --exponent;
  }
  // Now the quotient is 1 to 2, times 2^exponent.
  int precision = format.precision;
  if (exponent < format.least) precision -= format.least - exponent;
  if (precision < 0) return 0;
  uint64_t bits = 0;  // One more than are kept.
  for (int i = 0; i <= precision; ++i) {
    const bool bit = Compare(numerator, denominator) >= 0;
    if (bit) numerator.Subtract(denominator);
    bits = bits << 1 | static_cast<uint64_t>(bit);
    numerator.ShiftLeft(1);
  }
  const bool up = (bits & 1) != 0 && (!numerator.IsZero() || (bits & 2) != 0);
  return Scaled(static_cast<double>((bits >> 1) + up), exponent - precision + 1);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether the text is this word of small letters, in any case.
bool IsWord(const char* text, int64_t size, const char* word) {
  for (int64_t i = 0; i < size; ++i, ++word) {
    if (*word == 0 || (text[i] | 0x20) != *word) return false;
  }
  return *word == 0;
}

// Reads the sign; returns whether it is a minus.
bool TakeSign(const char*& text, int64_t& size) {
  if (size == 0 || (text[0] != '-' && text[0] != '+')) return false;
  const bool is_negative = text[0] == '-';
  ++text;
  --size;
  return is_negative;
}

// The digits, the point and the exponent of a number without sign.
struct Parsed {
  BigNumber digits{0};
  int64_t exponent = 0;  // Of ten.
  int64_t count = 0;     // Of digits, without zeros in front.
};

// More digits than these decide nothing but ties: whether one of them is not 0 stands for them.
constexpr int64_t kMostParsedDigits = 800;
constexpr int64_t kMostExponent = 100000;

bool ParseDecimal(const char* text, int64_t size, Parsed& parsed) {
  bool has_digits = false;
  bool has_point = false;
  bool has_rest = false;
  int64_t at = 0;
  for (; at < size; ++at) {
    if (text[at] == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!IsDigit(text[at])) break;
    has_digits = true;
    if (parsed.count == kMostParsedDigits) {
      has_rest |= text[at] != '0';
      parsed.exponent += !has_point;
      continue;
    }
    if (parsed.count > 0 || text[at] != '0') ++parsed.count;
    parsed.digits.MultiplyAdd(10, static_cast<uint32_t>(text[at] - '0'));
    parsed.exponent -= has_point;
  }
  if (has_rest) {
    parsed.digits.MultiplyAdd(10, 1);
    --parsed.exponent;
    ++parsed.count;
  }
  if (!has_digits) return false;
  if (at == size) return true;
  if ((text[at] | 0x20) != 'e') return false;
  const char* rest = text + at + 1;
  int64_t left = size - at - 1;
  const bool is_negative = TakeSign(rest, left);
  if (left == 0) return false;
  int64_t exponent = 0;
  for (int64_t i = 0; i < left; ++i) {
    if (!IsDigit(rest[i])) return false;
    if (exponent < kMostExponent) exponent = 10 * exponent + (rest[i] - '0');
  }
  parsed.exponent += is_negative ? -exponent : exponent;
  return true;
}

}  // namespace

int FormatInteger(bool is_negative, uint64_t magnitude, char* to) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  Writer writer(to);
  if (is_negative) writer.Add('-');
  while (count > 0) writer.Add(digits[--count]);
  return writer.size();
}

int FormatFloat(double value, Type type, char* to) {
  Writer writer(to);
  if (value != value) {
    writer.Add("NaN");
    return writer.size();
  }
  if (BitsOf(value) >> 63 != 0) writer.Add('-');
  const double magnitude = Abs(value);
  if (magnitude == kInfinity) {
    writer.Add("INF");
  } else if (magnitude == 0) {
    writer.Add("0.0");
  } else {
    const Format format = FormatOf(type);
    // The significand and exponent in the format, whose smallest numbers are normal ones of f64.
    int exponent = static_cast<int>(BitsOf(magnitude) >> 52) - 1023;
    if (exponent < format.least) exponent = format.least;
    exponent -= format.precision - 1;
    const auto significand = static_cast<uint64_t>(Scaled(magnitude, -exponent));
    const Decimal decimal = ShortestDecimal(significand, exponent, format);
    const bool is_plain = decimal.exponent > -4 && decimal.exponent <= 16;
    (is_plain ? AddPlain : AddScientific)(decimal, writer);
  }
  return writer.size();
}

bool ParseInteger(const char* text, int64_t size, bool* is_negative, uint64_t* magnitude) {
  *is_negative = TakeSign(text, size);
  *magnitude = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (!IsDigit(text[i]) || __builtin_mul_overflow(*magnitude, 10, magnitude) ||
        __builtin_add_overflow(*magnitude, static_cast<uint64_t>(text[i] - '0'), magnitude)) {
      return false;
    }
  }
  return size > 0;
}

bool ParseFloat(const char* text, int64_t size, Type type, double* value) {
  const bool is_negative = TakeSign(text, size);
  Parsed parsed;
  if (IsWord(text, size, "inf")) {
    *value = kInfinity;
  } else if (IsWord(text, size, "nan")) {
    *value = __builtin_nan("");
  } else if (!ParseDecimal(text, size, parsed)) {
    return false;
  } else if (parsed.digits.IsZero() || parsed.count + parsed.exponent < -330) {
    *value = 0;
  } else if (parsed.count + parsed.exponent > 320) {
    *value = kInfinity;
  } else {
    BigNumber denominator(1);
    const auto exponent = static_cast<int>(parsed.exponent);
    if (exponent > 0) parsed.digits.MultiplyByPowerOfTen(exponent);
    if (exponent < 0) denominator.MultiplyByPowerOfTen(-exponent);
    *value = RoundTo(type, Rounded(parsed.digits, denominator, FormatOf(type)));
  }
  if (is_negative) *value = -*value;
  return true;
}

namespace {

int FormatElement(const Operand& x, int64_t i, char* to) {
  if (IsFloat(x.type())) return FormatFloat(NumberAt(x, i), x.type(), to);
  if (x.type() == Type::kUint64) return FormatInteger(false, x.data<const uint64_t>()[i], to);
  int64_t value;
  Load(x, i, 1, 1, &value);
  const auto bits = static_cast<uint64_t>(value);
  return FormatInteger(value < 0, value < 0 ? 0 - bits : bits, to);
}

int32_t StringOfNumberCount(const Call& call) {
  const Operand x = call.input(0);
  char text[kMostNumberBytes];
  int64_t bytes = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    bytes += FormatElement(x, i, text);
    if (bytes > kMostStringBytes) return call.Fail(kTooManyBytes);
  }
  return call.Count(bytes);
}

int32_t StringOfNumber(const Call& call) {
  const Operand x = call.input(0);
  const Operand contents = call.output(1);
  int64_t offset = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    char text[kMostNumberBytes];
    const int size = FormatElement(x, i, text);
    if (size > contents.elements() - offset) {
      return call.Fail("its result has more bytes than were counted");
    }
    __builtin_memcpy(contents.data<char>() + offset, text, static_cast<uint64_t>(size));
    call.output(0).data<int64_t>()[i] = Place(offset, size);
    offset += size;
  }
  return 0;
}

bool ReadElement(const String& string, const Operand& y, int64_t i) {
  if (IsFloat(y.type())) {
    double value;
    if (!ParseFloat(string.data, string.size, y.type(), &value)) return false;
    SetNumber(y, i, value);
    return true;
  }
  bool is_negative;
  uint64_t magnitude;
  if (!ParseInteger(string.data, string.size, &is_negative, &magnitude)) return false;
  const uint64_t most = y.type() == Type::kUint64 ? (is_negative ? 0 : ~uint64_t{0})
                                                  : (uint64_t{1} << 63) - !is_negative;
  if (magnitude > most) return false;
  y.data<uint64_t>()[i] = is_negative ? 0 - magnitude : magnitude;
  return true;
}

int32_t NumberOfString(const Call& call) {
  const StringOperand x(call.input(0), call.input(1));
  if (!x.IsGood()) return call.Fail(kBadPlace);
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (!ReadElement(x[i], call.output(0), i)) return call.Fail("a string is no such number");
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_StringOfNumber(void** arguments) { return StringOfNumber(Call(arguments)); }
int32_t slipway_StringOfNumber_count(void** arguments) {
  return StringOfNumberCount(Call(arguments));
}
int32_t slipway_NumberOfString(void** arguments) { return NumberOfString(Call(arguments)); }
