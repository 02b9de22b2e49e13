// Writes the manifest and the .slip file of version 2 that tests/testdata/artifact records:
//   bazel run //core/artifact:write_test_artifact -- $PWD/tests/testdata/artifact
#include <cstdio>

#include "absl/status/status.h"
#include "core/artifact/artifact.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

absl::Status Write(const char* folder) {
  const auto get_blob = [](const Digest& digest) -> absl::StatusOr<Blob> {
    return Blob::Own(digest == Digest::Of(TestCode()) ? TestCode() : TestConstants());
  };
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, Artifact::Create(TestManifest2(), get_blob));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, "version_2.manifest"),
                                              artifact.manifest().bytes(), /*durable=*/false));
  return WriteSlip(artifact, JoinPath(folder, "version_2.slip"));
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_test_artifact FOLDER\n");
    return 2;
  }
  const absl::Status status = slipway::Write(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
