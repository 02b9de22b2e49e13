// Writes the manifest of version 2 that tests/testdata/artifact records:
//   bazel run //core/artifact:write_test_manifest -- $PWD/tests/testdata/artifact/version_2.manifest
#include <cstdio>

#include "absl/status/status.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_test_manifest FILE\n");
    return 2;
  }
  const absl::Status status = slipway::WriteFileAtomically(
      argv[1], slipway::SerializeManifest(slipway::TestManifest2()), /*durable=*/false);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
