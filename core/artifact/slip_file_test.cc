#include "core/artifact/slip_file.h"

#include <string>

#include "absl/status/status.h"
#include "core/artifact/slip_layout.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// Written by version 1 of the format, before there was another one.
constexpr char kRecordedSlip[] = "tests/testdata/artifact/version_1.slip";
constexpr char kRecordedManifest[] = "tests/testdata/artifact/version_1.manifest";

absl::StatusOr<Blob> GetTestBlob(const Digest& digest) {
  for (const std::string& bytes : {TestCode(), TestConstants()}) {
    if (Digest::Of(bytes) == digest) return Blob::Own(bytes);
  }
  return absl::NotFoundError(digest.ToString());
}

Artifact TestArtifact() { return *Artifact::Create(TestManifest(), GetTestBlob); }

absl::StatusOr<Artifact> Parse(const std::string& bytes) { return ParseSlip(Blob::Own(bytes)); }

TEST(Artifact, HoldsItsBlobs) {
  const Artifact artifact = TestArtifact();
  EXPECT_EQ(artifact.digest(), Digest::Of(artifact.manifest().bytes()));
  EXPECT_EQ(artifact.blob(Digest::Of(TestCode())).bytes(), TestCode());
  EXPECT_EQ(artifact.size_bytes(),
            static_cast<int64_t>(artifact.manifest().bytes().size() + TestCode().size() +
                                 TestConstants().size()));
}

TEST(Artifact, RefusesMissingAndShortBlobs) {
  EXPECT_THAT(Artifact::Create(TestManifest(),
                               [](const Digest&) -> absl::StatusOr<Blob> {
                                 return absl::NotFoundError("no such blob");
                               }),
              StatusIs(Code::kNotFound, HasSubstr("no such blob")));
  EXPECT_THAT(Artifact::Create(TestManifest(),
                               [](const Digest&) -> absl::StatusOr<Blob> {
                                 return Blob::Own(std::string("short"));
                               }),
              StatusIs(Code::kDataLoss, HasSubstr("has 5 bytes")));
}

TEST(SlipFile, RoundTripsThroughAFile) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("slip"));
  const std::string path = JoinPath(folder.path(), "a.slip");
  const Artifact artifact = TestArtifact();
  ASSERT_OK(WriteSlip(artifact, path));
  ASSERT_OK_AND_ASSIGN(const Artifact back, ReadSlip(path));
  EXPECT_EQ(back.digest(), artifact.digest());
  EXPECT_EQ(back.blob(Digest::Of(TestCode())).bytes(), TestCode());
  EXPECT_EQ(back.blob(Digest::Of(TestConstants())).bytes(), TestConstants());
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path, 1 << 20));
  EXPECT_EQ(bytes, FormatSlip(artifact));
  EXPECT_TRUE(LooksLikeSlip(bytes));
}

TEST(SlipFile, SectionsAreAligned) {
  const std::string bytes = FormatSlip(TestArtifact());
  EXPECT_EQ(bytes.substr(2 * 65536, TestCode().size()), TestCode());
  EXPECT_EQ(bytes.size(), 3 * 65536 + TestConstants().size());
}

TEST(SlipFile, LeavesNothingBehindWhereItCannotWrite) {
  EXPECT_THAT(WriteSlip(TestArtifact(), "/nonexistent/folder/a.slip"),
              StatusIs(Code::kNotFound, HasSubstr("/nonexistent/folder")));
  EXPECT_THAT(ReadSlip("/nonexistent/a.slip"), StatusIs(Code::kNotFound));
}

TEST(SlipFile, RefusesOtherFiles) {
  EXPECT_THAT(Parse(""), StatusIs(Code::kInvalidArgument, HasSubstr("not a .slip file")));
  EXPECT_THAT(Parse("\x08\x07onnx"), StatusIs(Code::kInvalidArgument));
  std::string bytes = FormatSlip(TestArtifact());
  bytes[8] = 2;
  EXPECT_THAT(Parse(bytes), StatusIs(Code::kUnimplemented, HasSubstr(".slip version 2")));
}

TEST(SlipFile, EveryTruncationIsFound) {
  const std::string bytes = FormatSlip(TestArtifact());
  for (const size_t size : {size_t{8}, size_t{63}, size_t{64}, size_t{100}, size_t{65536},
                            size_t{131072}, bytes.size() - 1}) {
    EXPECT_THAT(Parse(bytes.substr(0, size)), StatusIs(Code::kDataLoss, HasSubstr("truncated")))
        << size;
  }
  EXPECT_THAT(Parse(bytes + "x"), StatusIs(Code::kDataLoss, HasSubstr("1 bytes too many")));
}

TEST(SlipFile, CorruptionNamesTheSection) {
  const std::string bytes = FormatSlip(TestArtifact());
  const auto flipped = [&](size_t at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    return changed;
  };
  EXPECT_THAT(Parse(flipped(70)), StatusIs(Code::kDataLoss, HasSubstr("section table")));
  EXPECT_THAT(Parse(flipped(65536)),
              StatusIs(Code::kDataLoss, HasSubstr("section 0, the manifest")));
  EXPECT_THAT(
      Parse(flipped(2 * 65536)),
      StatusIs(Code::kDataLoss, HasSubstr("section 1, blob " + Digest::Of(TestCode()).hex())));
  EXPECT_THAT(Parse(flipped(65535)),
              StatusIs(Code::kDataLoss, HasSubstr("padding before section 0")));
}

TEST(SlipFile, EveryByteOfTheHeadCounts) {
  const std::string bytes = FormatSlip(TestArtifact());
  for (size_t i = 0; i < kSlipHeaderBytes + 3 * kSlipEntryBytes; ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    EXPECT_FALSE(Parse(changed).ok()) << i;
  }
}

TEST(SlipFile, RefusesHugeClaims) {
  // A table that claims a section of 2^62 bytes, with a right hash.
  SlipLayout layout = LayOutSlip({Digest::Of("x")});
  layout.sections[0].digest = *Digest::FromHex(Digest::Of("x").hex(), int64_t{1} << 62);
  EXPECT_THAT(Parse(FormatSlipHead(layout)),
              StatusIs(Code::kResourceExhausted, HasSubstr("section 0")));
  std::string bytes = FormatSlip(TestArtifact());
  bytes[14] = '\x7f';  // Eight million sections.
  EXPECT_THAT(Parse(bytes), StatusIs(Code::kResourceExhausted));
}

TEST(SlipFile, RefusesSectionsThatAreNotTheManifests) {
  const Artifact artifact = TestArtifact();
  const SlipLayout layout = LayOutSlip({artifact.digest()});
  std::string bytes = FormatSlipHead(layout);
  bytes.resize(65536);
  bytes += artifact.manifest().bytes();
  EXPECT_THAT(Parse(bytes),
              StatusIs(Code::kInvalidArgument, HasSubstr("section 1 should be blob")));
}

TEST(SlipFile, ARecordedOldFileIsStillRead) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, ReadSlip(kRecordedSlip));
  EXPECT_EQ(artifact.digest().hex(),
            "8c59251669a18df259d3836ff8ce12fc8b09056463420beb5c38fa47508ed4f4");
  ASSERT_OK_AND_ASSIGN(const std::string manifest, ReadFile(kRecordedManifest, 1 << 20));
  EXPECT_EQ(artifact.manifest().bytes(), manifest);
  EXPECT_EQ(artifact.manifest().signature().inputs[0].name, "x");
}

TEST(SlipFile, HoldsManifestsOfVersion2) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, ReadSlip("tests/testdata/artifact/version_2.slip"));
  ASSERT_OK_AND_ASSIGN(const std::string manifest,
                       ReadFile("tests/testdata/artifact/version_2.manifest", 1 << 20));
  EXPECT_EQ(artifact.manifest().bytes(), manifest);
  EXPECT_EQ(FormatSlip(artifact), *ReadFile("tests/testdata/artifact/version_2.slip", 1 << 20));
}

}  // namespace
}  // namespace slipway
