#include "client/pack/pack_artifact.h"

#include <string>
#include <utility>
#include <vector>

#include "client/pack/described_tensor.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/signature.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

std::vector<DescribedTensor> Tensors(const std::vector<std::string>& texts) {
  std::vector<DescribedTensor> tensors;
  for (const std::string& text : texts) tensors.push_back(*ParseDescribedTensor(text));
  return tensors;
}

PackRequest Request(const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs) {
  PackRequest request;
  request.code = "this would be code";
  request.facts.argument_counts = {1, static_cast<int32_t>(inputs.size() + outputs.size())};
  request.target = *ParseTarget("x86-64-v3-linux");
  request.kernel = 1;
  request.name = "mine";
  request.inputs = Tensors(inputs);
  request.outputs = Tensors(outputs);
  return request;
}

TEST(PackArtifact, CallsOneKernelOnInputsAndOutputs) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, PackArtifact(Request({"x=f32[2,8]", "b=f32[8]"},
                                                                     {"y=f16[2,8]", "n=i64[]"})));
  const CheckedManifest& manifest = artifact.manifest();
  EXPECT_EQ(manifest.proto().format_version(), 1u);
  EXPECT_EQ(manifest.proto().name(), "mine");
  EXPECT_EQ(manifest.proto().target(), "x86-64-v3-linux");
  EXPECT_EQ(artifact.blob(manifest.blobs()[0]).bytes(), "this would be code");
  EXPECT_EQ(manifest.signature().inputs[1].name, "b");
  EXPECT_EQ(manifest.signature().outputs[0].type.dtype, DataType::kFloat16);
  ASSERT_EQ(manifest.entry().steps_size(), 1);
  EXPECT_EQ(manifest.entry().steps(0).name(), "mine");
  EXPECT_EQ(manifest.entry().steps(0).kernel().kernel(), 1u);
  EXPECT_EQ(manifest.proto().code(0).kernel_count(), 2u);
}

TEST(PackArtifact, SymbolsAreExtentsOfInputs) {
  PackRequest request = Request({"x=f32[n,4,m]", "z=u8[m]"}, {"y=f64[m,n]"});
  request.dimensions = {{"n", 2, 16}};
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, PackArtifact(request));
  const CheckedManifest& manifest = artifact.manifest();
  EXPECT_EQ(manifest.proto().format_version(), 2u);
  ASSERT_EQ(manifest.proto().symbols_size(), 2);
  EXPECT_EQ(manifest.proto().symbols(0).name(), "n");
  EXPECT_EQ(manifest.proto().symbols(0).min(), 2);
  EXPECT_EQ(manifest.proto().symbols(0).max(), 16);
  EXPECT_EQ(manifest.proto().symbols(1).max(), 2147483647);
}

TEST(PackArtifact, NamesWhatDoesNotFit) {
  PackRequest request = Request({"x=f32[2]"}, {"y=f32[2]"});
  request.kernel = 0;
  EXPECT_THAT(PackArtifact(request),
              StatusIs(Code::kInvalidArgument,
                       "kernel 0 takes 1 tensors, but 1 inputs and 1 outputs are described"));
  request.kernel = 2;
  EXPECT_THAT(PackArtifact(request),
              StatusIs(Code::kInvalidArgument, "there is no kernel 2: the code has 2"));
  EXPECT_THAT(PackArtifact(Request({"x=f32[n]"}, {"y=f32[m]"})),
              StatusIs(Code::kInvalidArgument, HasSubstr("extent \"m\" of output \"y\"")));
  EXPECT_THAT(PackArtifact(Request({"x=f32[2]", "x=f32[2]"}, {"y=f32[2]"})),
              StatusIs(Code::kInvalidArgument, HasSubstr("used twice")));
  EXPECT_THAT(PackArtifact(Request({"x=f32[2147483647,2147483647,2147483647]"}, {"y=f32[2]"})),
              StatusIs(Code::kInvalidArgument, HasSubstr("\"x\" is too large")));
  request = Request({"x=f32[n]"}, {"y=f32[n]"});
  request.dimensions = {{"k", 1, 2}};
  EXPECT_THAT(PackArtifact(request),
              StatusIs(Code::kInvalidArgument, HasSubstr("dimension \"k\" is given bounds")));
}

}  // namespace
}  // namespace slipway
