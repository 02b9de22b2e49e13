#include "core/tensor/npz.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::RunfilePath;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

constexpr int64_t kMaxBytes = 1 << 20;

// Written by NumPy.
std::string Recorded(const std::string& name) {
  return ReadFile(RunfilePath(absl::StrCat("core/tensor/npz_corpus/", name)), kMaxBytes).value();
}

void Append(std::string& bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

struct File {
  std::string name;
  std::string contents;
  uint16_t flags = 0;
  uint16_t method = 0;
  // Instead of what is right.
  int checksum_off_by = 0;
  int64_t size = -1;
};

// An archive of stored files.
std::string Zip(const std::vector<File>& files) {
  std::string bytes, directory;
  for (const File& file : files) {
    const size_t offset = bytes.size();
    const uint64_t checksum = crc32(0, reinterpret_cast<const Bytef*>(file.contents.data()),
                                    static_cast<uInt>(file.contents.size())) +
                              static_cast<uint64_t>(file.checksum_off_by);
    const uint64_t size = file.size < 0 ? file.contents.size() : static_cast<uint64_t>(file.size);
    Append(bytes, 0x04034b50, 4);
    bytes.append(22, '\0');
    Append(bytes, file.name.size(), 2);
    Append(bytes, 0, 2);
    bytes += file.name + file.contents;
    Append(directory, 0x02014b50, 4);
    Append(directory, 0, 4);
    Append(directory, file.flags, 2);
    Append(directory, file.method, 2);
    Append(directory, 0, 4);
    Append(directory, checksum, 4);
    Append(directory, file.contents.size(), 4);
    Append(directory, size, 4);
    Append(directory, file.name.size(), 2);
    directory.append(12, '\0');
    Append(directory, offset, 4);
    directory += file.name;
  }
  const size_t begin = bytes.size();
  bytes += directory;
  Append(bytes, 0x06054b50, 4);
  Append(bytes, 0, 4);
  Append(bytes, files.size(), 2);
  Append(bytes, files.size(), 2);
  Append(bytes, directory.size(), 4);
  Append(bytes, begin, 4);
  Append(bytes, 0, 2);
  return bytes;
}

std::string Npy() { return FormatNpy(Tensor::Of<float>({3}, {1, 2, 3})).value(); }

TEST(NpzTest, WhatNumPyStores) {
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> arrays,
                       ParseNpz(Recorded("stored.npz"), kMaxBytes));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "x");
  EXPECT_THAT(arrays[0].tensor.values<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(arrays[1].name, "layer/w");
  EXPECT_EQ(ToString(arrays[1].tensor.type()), "i64[2, 3]");
  EXPECT_EQ(arrays[1].tensor.values<int64_t>()[5], 5);
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> none,
                       ParseNpz(Recorded("empty.npz"), kMaxBytes));
  EXPECT_THAT(none, IsEmpty());
}

TEST(NpzTest, WhatNumPyCompresses) {
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> arrays,
                       ParseNpz(Recorded("deflated.npz"), kMaxBytes));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(ToString(arrays[0].tensor.type()), "f32[40, 50]");
  EXPECT_EQ(arrays[0].tensor.values<float>()[1999], 0);
  EXPECT_EQ(arrays[1].name, "y");
  EXPECT_EQ(arrays[1].tensor.values<int8_t>()[0], 7);
}

TEST(NpzTest, ErrorsNameTheArray) {
  EXPECT_THAT(ParseNpz(Recorded("objects.npz"), kMaxBytes),
              StatusIs(Code::kUnimplemented, HasSubstr("array \"bad\": ")));
  EXPECT_THAT(ParseNpz(Zip({{"x.npy", Npy()}, {"notes.txt", "hello"}}), kMaxBytes),
              StatusIs(Code::kInvalidArgument, HasSubstr("array \"notes.txt\": ")));
  EXPECT_THAT(ParseNpz(Zip({{"x.npy", Npy()}, {"x.npy", Npy()}}), kMaxBytes),
              StatusIs(Code::kInvalidArgument, HasSubstr("array \"x\" is there twice")));
  EXPECT_THAT(ParseNpz(Zip({{.name = "x.npy", .contents = Npy(), .flags = 1}}), kMaxBytes),
              StatusIs(Code::kUnimplemented, HasSubstr("array \"x\": it is encrypted")));
  EXPECT_THAT(ParseNpz(Zip({{.name = "x.npy", .contents = Npy(), .method = 14}}), kMaxBytes),
              StatusIs(Code::kUnimplemented, HasSubstr("method 14")));
  EXPECT_THAT(
      ParseNpz(Zip({{.name = "x.npy", .contents = Npy(), .checksum_off_by = 1}}), kMaxBytes),
      StatusIs(Code::kDataLoss, HasSubstr("array \"x\": its checksum")));
  EXPECT_THAT(ParseNpz(Zip({{.name = "x.npy", .contents = Npy(), .size = 7}}), kMaxBytes),
              StatusIs(Code::kInvalidArgument, HasSubstr("its sizes do not agree")));
}

TEST(NpzTest, SizesAreCheckedBeforeMemoryIsTaken) {
  const std::string bytes = Recorded("deflated.npz");
  EXPECT_THAT(ParseNpz(bytes, 8000),
              StatusIs(Code::kResourceExhausted, HasSubstr("array \"zeros\": ")));
  // No byte becomes a gigabyte.
  EXPECT_THAT(ParseNpz(Zip({{.name = "x.npy", .contents = "x", .method = 8, .size = 1 << 30}}),
                       int64_t{1} << 40),
              StatusIs(Code::kInvalidArgument, HasSubstr("cannot be unpacked to the size")));
  EXPECT_THAT(
      ParseNpz(Zip({{.name = "x.npy", .contents = "xyz", .method = 8, .size = 10}}), kMaxBytes),
      StatusIs(Code::kInvalidArgument, HasSubstr("compressed bytes are damaged")));
}

TEST(NpzTest, WhatIsCutOffIsNoArchive) {
  for (const std::string& whole : {Recorded("stored.npz"), Recorded("deflated.npz")}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ParseNpz(absl::string_view(whole).substr(0, size), kMaxBytes).ok()) << size;
    }
  }
}

}  // namespace
}  // namespace slipway
