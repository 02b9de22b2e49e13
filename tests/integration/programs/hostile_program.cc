#include "tests/integration/programs/hostile_program.h"

#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "tests/integration/programs/hostile_code.h"

namespace slipway::testing {
namespace {

constexpr uint32_t kKernels = 6;

}  // namespace

Artifact HostileProgram(HostileKernel kernel) {
  const absl::string_view bytes = HostileCode()[0].contents;
  const Digest digest = Digest::Of(bytes);
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  *manifest.mutable_code(0)->mutable_blob() = ToProto(digest);
  manifest.mutable_code(0)->set_kernel_count(kKernels);
  manifest.mutable_functions(0)->mutable_steps(0)->mutable_kernel()->set_kernel(
      static_cast<uint32_t>(kernel));
  absl::StatusOr<Artifact> artifact =
      Artifact::Create(manifest, [&](const Digest& wanted) -> absl::StatusOr<Blob> {
        if (wanted == digest) return Blob::Own(std::string(bytes));
        return GetTestProgramBlob(wanted);
      });
  SLIPWAY_CHECK(artifact.ok(), artifact.status().message());
  return *std::move(artifact);
}

}  // namespace slipway::testing
