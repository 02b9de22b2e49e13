#include "core/artifact/constant_outputs.h"

#include <string>
#include <vector>

#include "core/artifact/test_manifest.h"
#include "core/base/digest.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

// Of which no part is like another.
std::string Constants() {
  std::string bytes;
  for (char i = 0; i < 96; ++i) bytes.push_back(i);
  return bytes;
}

absl::StatusOr<Blob> TestBlob(const Digest& digest) {
  for (const std::string& bytes : {TestCode(), TestConstants(), Constants()}) {
    if (Digest::Of(bytes) == digest) return Blob::Own(bytes);
  }
  return absl::NotFoundError("no such blob");
}

// The test program without its kernel: a copy of its constant to an output f32[8].
v1::Manifest CopyOfConstant() {
  v1::Manifest manifest = TestManifest();
  *manifest.mutable_constants(0)->mutable_blob() = ToProto(Digest::Of(Constants()));
  v1::Function& entry = *manifest.mutable_functions(0);
  entry.clear_inputs();
  manifest.mutable_buffers(0)->set_class_(v1::Buffer::CLASS_STATIC);  // Nobody brings it.
  entry.clear_steps();
  *manifest.mutable_values(3)->mutable_shape() = manifest.values(1).shape();
  const uint32_t buffer = manifest.values(3).buffer();
  *manifest.mutable_buffers(static_cast<int>(buffer))->mutable_size() =
      manifest.buffers(static_cast<int>(manifest.values(1).buffer())).size();
  v1::Step& step = *entry.add_steps();
  step.mutable_copy()->set_from(1);
  step.mutable_copy()->set_to(3);
  return manifest;
}

TEST(ConstantOutputs, ReadsWhatIsCopied) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, Artifact::Create(CopyOfConstant(), TestBlob));
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> outputs, ConstantOutputs(artifact));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "y");
  EXPECT_EQ(ToString(outputs[0].tensor.type()), "f32[8]");
  EXPECT_EQ(outputs[0].tensor.bytes(), Constants().substr(64, 32));
}

TEST(ConstantOutputs, RefusesWhatComputes) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, Artifact::Create(TestManifest(), TestBlob));
  EXPECT_THAT(ConstantOutputs(artifact),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("takes inputs")));
}

}  // namespace
}  // namespace slipway
