#include "core/kernels/number_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

std::string Written(double value, Type type) {
  char text[kMostNumberBytes];
  return std::string(text, static_cast<size_t>(FormatFloat(value, type, text)));
}

double Read(const std::string& text, Type type) {
  double value = -12345;
  EXPECT_TRUE(ParseFloat(text.data(), static_cast<int64_t>(text.size()), type, &value)) << text;
  return value;
}

TEST(NumberText, WritesFloatsAsShortlyAsTheyReadBack) {
  EXPECT_EQ(Written(0.1f, Type::kFloat32), "0.1");
  EXPECT_EQ(Written(0.1f, Type::kFloat64), "0.10000000149011612");
  EXPECT_EQ(Written(5, Type::kFloat32), "5.0");
  EXPECT_EQ(Written(-0.0, Type::kFloat64), "-0.0");
  EXPECT_EQ(Written(1e15, Type::kFloat64), "1000000000000000.0");
  EXPECT_EQ(Written(1e16, Type::kFloat64), "1e+16");
  EXPECT_EQ(Written(123456789.0, Type::kFloat64), "123456789.0");
  EXPECT_EQ(Written(0.0001, Type::kFloat64), "0.0001");
  EXPECT_EQ(Written(0.000015, Type::kFloat64), "1.5e-05");
  EXPECT_EQ(Written(5e-324, Type::kFloat64), "5e-324");
  EXPECT_EQ(Written(std::numeric_limits<double>::max(), Type::kFloat64), "1.7976931348623157e+308");
  EXPECT_EQ(Written(0.0999755859375, Type::kFloat16), "0.1");
  EXPECT_EQ(Written(INFINITY, Type::kFloat32), "INF");
  EXPECT_EQ(Written(-INFINITY, Type::kFloat32), "-INF");
  EXPECT_EQ(Written(NAN, Type::kFloat32), "NaN");
}

TEST(NumberText, ReadsWhatAStandardLibraryReads) {
  for (const char* text :
       {"0", "-0.0", "1", "+2.5", ".5", "5.", "1e-5", "1E8", "9007199254740993",
        "2.2250738585072011e-308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "1.7976931348623159e308", "1e400", "-1e-400", "0e999999999999",
        "179769313486231580793728971405301e276", "8.5899345922500009e9"}) {
    EXPECT_EQ(Read(text, Type::kFloat64), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(Read(text, Type::kFloat32), std::strtof(text, nullptr)) << text;
  }
  const std::string tie = "1.00000000000000011102230246251565404236316680908203125";
  EXPECT_EQ(Read(tie, Type::kFloat64), 1);
  EXPECT_GT(Read(tie + std::string(2000, '0') + "1", Type::kFloat64), 1);
  EXPECT_EQ(Read(std::string(2000, '1') + "e-1999", Type::kFloat64), 1.1111111111111112);
  EXPECT_EQ(Read("-INF", Type::kFloat32), -INFINITY);
  EXPECT_EQ(Read("inf", Type::kFloat32), INFINITY);
  EXPECT_TRUE(std::isnan(Read("nAn", Type::kFloat64)));
}

TEST(NumberText, RefusesWhatIsNoNumber) {
  double value;
  for (const std::string text : {"", "+", ".", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "0x10", "1f",
                                 "infinity", "na", "--1"}) {
    EXPECT_FALSE(ParseFloat(text.data(), static_cast<int64_t>(text.size()), Type::kFloat64, &value))
        << text;
  }
  bool is_negative;
  uint64_t magnitude;
  for (const std::string text : {"", "-", "1.0", "18446744073709551616", "1e3", " 1"}) {
    EXPECT_FALSE(
        ParseInteger(text.data(), static_cast<int64_t>(text.size()), &is_negative, &magnitude))
        << text;
  }
}

TEST(NumberText, RandomFloatsAgreeWithTheStandardLibrary) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    double value;
    const uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
    const std::string text = Written(value, Type::kFloat64);
    EXPECT_EQ(Read(text, Type::kFloat64), value) << text;
    const auto digits = [](const std::string& number) {
      std::string kept;
      for (const char c : number.substr(0, number.find('e'))) {
        if (c >= '0' && c <= '9') kept += c;
      }
      kept.erase(0, kept.find_first_not_of('0'));
      kept.erase(kept.find_last_not_of('0') + 1);
      return kept;
    };
    EXPECT_EQ(digits(text), digits(std::string(buffer, end.ptr)));
    const auto single = static_cast<float>(value);
    if (std::isfinite(single))
      EXPECT_EQ(Read(Written(single, Type::kFloat32), Type::kFloat32), single);
    EXPECT_EQ(Read(text, Type::kFloat32), std::strtof(text.c_str(), nullptr)) << text;
  }
}

TEST(NumberText, IntegersOfEverySize) {
  char text[kMostNumberBytes];
  const int size = FormatInteger(true, uint64_t{1} << 63, text);
  EXPECT_EQ(std::string(text, static_cast<size_t>(size)), "-9223372036854775808");
  bool is_negative;
  uint64_t magnitude;
  EXPECT_TRUE(ParseInteger(text, size, &is_negative, &magnitude));
  EXPECT_TRUE(is_negative);
  EXPECT_EQ(magnitude, uint64_t{1} << 63);
}

}  // namespace
}  // namespace slipway::kernels
