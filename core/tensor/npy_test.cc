#include "core/tensor/npy.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kBad = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kNotYet = absl::StatusCode::kUnimplemented;

// A file of version `major` with this header and these elements.
std::string File(absl::string_view header, absl::string_view data, int major = 1) {
  std::string file = absl::StrCat("\x93NUMPY", std::string(1, static_cast<char>(major)),
                                  absl::string_view("\0", 1));
  const size_t length_bytes = major == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return absl::StrCat(file, header, data);
}

std::string Header(absl::string_view descr, absl::string_view shape) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }\n");
}

// What numpy.save (NumPy 1.24) wrote for np.array([[1, 2, 3], [4, 5, 6]], dtype='<f4').
std::string SavedByNumPy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.append(58, ' ');
  return File(absl::StrCat(header, "\n"),
              absl::string_view("\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@\0\0\xc0@", 24));
}

TEST(NpyTest, ReadsAndWritesExactlyWhatNumPyDoes) {
  const std::string file = SavedByNumPy();
  ASSERT_EQ(file.size(), 128u + 24u);
  ASSERT_OK_AND_ASSIGN(const Tensor tensor, ParseNpy(file));
  EXPECT_EQ(ToString(tensor.type()), "f32[2, 3]");
  EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(FormatNpy(tensor), IsOkAndHolds(file));
}

TEST(NpyTest, TransposesColumnMajorFiles) {
  // np.asfortranarray(np.arange(24, dtype='u1').reshape(2, 3, 4)), as version 2.0.
  const absl::string_view data(
      "\x00\x0c\x04\x10\x08\x14\x01\x0d\x05\x11\x09\x15\x02\x0e\x06\x12\x0a\x16\x03\x0f\x07\x13"
      "\x0b\x17",
      24);
  ASSERT_OK_AND_ASSIGN(
      const Tensor tensor,
      ParseNpy(File("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }\n", data, 2)));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(tensor.values<uint8_t>()[i], i);
}

TEST(NpyTest, EveryTypeOfNumPyComesBack) {
  for (const DataType dtype :
       {DataType::kFloat16, DataType::kFloat32, DataType::kFloat64, DataType::kInt8,
        DataType::kInt16, DataType::kInt32, DataType::kInt64, DataType::kUint8, DataType::kUint16,
        DataType::kUint32, DataType::kUint64, DataType::kBool, DataType::kComplex64,
        DataType::kComplex128}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape(16, 1)}) {
      Tensor tensor = Tensor::Zeros(dtype, shape);
      for (int64_t i = 0; i < tensor.byte_size(); ++i) {
        tensor.mutable_bytes()[i] = static_cast<char>(i % 2);
      }
      ASSERT_OK_AND_ASSIGN(const std::string file, FormatNpy(tensor));
      EXPECT_EQ((file.size() - static_cast<size_t>(tensor.byte_size())) % 64, 0u);
      ASSERT_OK_AND_ASSIGN(const Tensor back, ParseNpy(file));
      EXPECT_EQ(back.type(), tensor.type());
      EXPECT_EQ(back.bytes(), tensor.bytes());
    }
  }
  EXPECT_THAT(FormatNpy(Tensor::Zeros(DataType::kBfloat16, {1})), StatusIs(kNotYet));
  EXPECT_THAT(FormatNpy(Tensor()), StatusIs(kNotYet));
}

TEST(NpyTest, AcceptsOtherSpellingsOfTheHeader) {
  EXPECT_OK(ParseNpy(File("{\"shape\":(1L,),'fortran_order':False,'descr':'|b1'}", "\1")));
  EXPECT_OK(ParseNpy(File(Header("|i1", "(2, 1,)"), "ab", 3)));
}

TEST(NpyTest, EveryTruncationIsRefused) {
  const std::string file = SavedByNumPy();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THAT(ParseNpy(absl::string_view(file).substr(0, size)), StatusIs(kBad)) << size;
  }
  EXPECT_THAT(ParseNpy(file + "x"), StatusIs(kBad, HasSubstr("but it has 25")));
}

TEST(NpyTest, RefusesMalformedHeaders) {
  EXPECT_THAT(ParseNpy("GIF89a"), StatusIs(kBad, HasSubstr("NUMPY")));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(1,)"), "abcd", 4)), StatusIs(kNotYet));
  EXPECT_THAT(ParseNpy(File("", "")), StatusIs(kBad, HasSubstr("expected '{'")));
  EXPECT_THAT(ParseNpy(File("{}", "")), StatusIs(kBad, HasSubstr("missing")));
  EXPECT_THAT(ParseNpy(File("{'descr': '<f4', 'descr': '<f4'}", "")),
              StatusIs(kBad, HasSubstr("given twice")));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(1)"), "abcd")), StatusIs(kBad, HasSubstr("','")));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(-1,)"), "")), StatusIs(kBad, HasSubstr("an extent")));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(99999999999999999999,)"), "")),
              StatusIs(kBad, HasSubstr("2^63")));
  EXPECT_THAT(
      ParseNpy(File(Header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"), "abcd")),
      StatusIs(kBad, HasSubstr("16 extents")));
  EXPECT_THAT(ParseNpy(File("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "abcd")),
              StatusIs(kBad, HasSubstr("True or False")));
  EXPECT_THAT(ParseNpy(File(absl::StrCat(Header("<f4", "()"), "x"), "abcd")),
              StatusIs(kBad, HasSubstr("the end")));
  EXPECT_THAT(ParseNpy(File(std::string(70000, ' '), "", 2)),
              StatusIs(kBad, HasSubstr("70000 bytes")));
}

TEST(NpyTest, RefusesSizesThatOverflow) {
  EXPECT_THAT(ParseNpy(File(Header("<f8", "(2147483647, 2147483647, 4)"), "")),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(ParseNpy(File(Header("<f8", "(2147483648,)"), "")), StatusIs(kNotYet));
  // Sane, but there is nothing behind it: no gigabytes are allocated for it.
  EXPECT_THAT(ParseNpy(File(Header("<f8", "(2147483647, 64)"), "")), StatusIs(kBad));
}

TEST(NpyTest, NamesElementTypesATensorLacks) {
  EXPECT_THAT(ParseNpy(File(Header("|O", "()"), "")), StatusIs(kNotYet, HasSubstr("'|O'")));
  EXPECT_THAT(ParseNpy(File(Header(">f4", "()"), "abcd")),
              StatusIs(kNotYet, HasSubstr("big-endian, save them with .astype('<f4')")));
  EXPECT_THAT(ParseNpy(File(Header("<U3", "()"), "")), StatusIs(kNotYet));
  EXPECT_THAT(ParseNpy(File(Header("<M8[ns]", "()"), "")), StatusIs(kNotYet));
  EXPECT_THAT(ParseNpy(File(Header("|f4", "()"), "abcd")), StatusIs(kNotYet));
  EXPECT_THAT(
      ParseNpy(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "abcd")),
      StatusIs(kNotYet, HasSubstr("structures")));
  EXPECT_THAT(ParseNpy(File(Header("|b1", "()"), "\2")), StatusIs(kBad, HasSubstr("not 0 or 1")));
}

}  // namespace
}  // namespace slipway
