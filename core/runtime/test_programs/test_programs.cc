#include "core/runtime/test_programs/test_programs.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/artifact/test_manifest.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "core/runtime/test_programs/test_code_files.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr int kBiasOffset = 64;
constexpr int kColumns = 8;

// By TestAbi.
constexpr absl::string_view kCodeFiles[] = {"good.so", "abi_2.so", "abi_3.so", "other_abi.so",
                                            "no_query.so"};

std::string ConstantBytes() {
  std::string bytes(kBiasOffset + kColumns * sizeof(float), '\0');
  for (int i = 0; i < kColumns; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(&bytes[kBiasOffset + i * sizeof(float)], &value, sizeof(value));
  }
  return bytes;
}

}  // namespace

absl::string_view TestCodeBytes(TestAbi abi) {
  const absl::string_view name = kCodeFiles[static_cast<int>(abi)];
  for (const EmbeddedFile& file : TestCodeFiles()) {
    if (file.name == name) return file.contents;
  }
  SLIPWAY_CHECK(false, absl::StrCat("no embedded file ", name));
}

v1::Manifest TestProgramManifest(TestKernel kernel, TestAbi abi) {
  v1::Manifest manifest = TestManifest();
  *manifest.mutable_code(0)->mutable_blob() = ToProto(Digest::Of(TestCodeBytes(abi)));
  manifest.mutable_code(0)->set_kernel_count(kTestKernelCount);
  *manifest.mutable_constants(0)->mutable_blob() = ToProto(Digest::Of(ConstantBytes()));
  v1::Function& main = *manifest.mutable_functions(0);
  main.mutable_steps(0)->set_name("Kernel");
  main.mutable_steps(0)->mutable_kernel()->set_kernel(static_cast<uint32_t>(kernel));
  main.mutable_steps(1)->set_name("Copy");
  return manifest;
}

absl::StatusOr<Blob> GetTestProgramBlob(const Digest& digest) {
  for (const TestAbi abi :
       {TestAbi::kGood, TestAbi::kVersion2, TestAbi::kOtherAbi, TestAbi::kNoQuery}) {
    if (Digest::Of(TestCodeBytes(abi)) == digest) return Blob(TestCodeBytes(abi), nullptr);
  }
  if (Digest::Of(ConstantBytes()) == digest) return Blob::Own(ConstantBytes());
  return absl::NotFoundError(absl::StrCat("blob ", digest.ToString(), " is no test's"));
}

Artifact TestProgram(TestKernel kernel, TestAbi abi) {
  absl::StatusOr<Artifact> artifact =
      Artifact::Create(TestProgramManifest(kernel, abi), GetTestProgramBlob);
  SLIPWAY_CHECK(artifact.ok(), artifact.status().ToString());
  return *std::move(artifact);
}

}  // namespace slipway
