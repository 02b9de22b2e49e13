#include "tests/security/hostile_code.h"

#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/embedded_file.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "tests/security/hostile_program_files.h"

namespace slipway::testing {

ConfinementPart PartAgainst(Escape escape) {
  switch (escape) {
    case Escape::open_file:
    case Escape::open_process:
    case Escape::list_folder:
      return ConfinementPart::kFiles;
    case Escape::thread_bomb:
      return ConfinementPart::kTasks;
    default:
      return ConfinementPart::kSystemCalls;
  }
}

absl::string_view HostileCode() { return HostileProgramFiles()[0].contents; }

Artifact HostileProgram(uint32_t kernel) {
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  *manifest.mutable_code(0)->mutable_blob() = ToProto(Digest::Of(HostileCode()));
  manifest.mutable_code(0)->set_kernel_count(kHostileKernels);
  manifest.mutable_functions(0)->mutable_steps(0)->mutable_kernel()->set_kernel(kernel);
  absl::StatusOr<Artifact> artifact =
      Artifact::Create(manifest, [](const Digest& digest) -> absl::StatusOr<Blob> {
        if (digest == Digest::Of(HostileCode())) return Blob(HostileCode(), nullptr);
        return GetTestProgramBlob(digest);
      });
  SLIPWAY_CHECK(artifact.ok(), artifact.status().ToString());
  return *std::move(artifact);
}

}  // namespace slipway::testing
