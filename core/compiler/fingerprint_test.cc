#include "core/compiler/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/compiler/compiler_source_digest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Fingerprint, NamesWhatMakesArtifacts) {
  ASSERT_OK_AND_ASSIGN(const auto texts, FingerprintTexts());
  EXPECT_THAT(
      texts.at("x86-64-linux"),
      AllOf(HasSubstr("slipway 0."), HasSubstr("\ncompiler "), HasSubstr("\ncpu "),
            HasSubstr("\ncodegen "), HasSubstr("\nlibHalide14.so"), HasSubstr("\nlibLLVM-14.so")));
}

TEST(Fingerprint, IsTheDigestOfThat) {
  ASSERT_OK_AND_ASSIGN(const auto texts, FingerprintTexts());
  ASSERT_OK_AND_ASSIGN(const auto targets, CompilerTargets());
  ASSERT_EQ(targets.size(), texts.size());
  for (const CompilerTarget& target : targets) {
    EXPECT_EQ(target.fingerprint, Digest::Of(texts.at(target.family)).hex());
  }
}

TEST(Fingerprint, CoversTheSourcesThatDecideOverArtifacts) {
  ASSERT_OK_AND_ASSIGN(const std::string compiler,
                       ReadFile("core/compiler/compiler_source_digest.sha256", 1 << 20));
  EXPECT_EQ(Digest::Of(compiler).hex(), CompilerSourceDigest());
  for (const char* path :
       {"core/compiler/compiler.cc", "core/passes/dead_code_pass.cc", "core/passes/pipeline.cc",
        "core/importers/onnx/onnx_importer.cc", "core/reference/reference.cc",
        "core/kernels/convolution.cc", "core/operators/convolution.cc", "core/graph/graph.h",
        "core/tensor/tensor.cc"}) {
    EXPECT_THAT(compiler, HasSubstr(std::string(" ") + path + "\n"));
  }
  ASSERT_OK_AND_ASSIGN(const std::string cpu,
                       ReadFile("core/backends/cpu/cpu_backend_source_digest.sha256", 1 << 20));
  for (const char* path :
       {"core/backends/cpu/cpu_backend.cc", "core/backends/program/program_manifest.cc",
        "core/passes/fuse_ops_pass.cc", "core/codegen/linker.cc", "core/codegen/table_object.cc",
        "core/codegen/program_support_data.o", "core/codegen/lower/convolution.cc",
        "core/artifact/artifact.cc"}) {
    EXPECT_THAT(cpu, HasSubstr(std::string(" ") + path + "\n"));
  }
}

}  // namespace
}  // namespace slipway
